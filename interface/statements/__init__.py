"""The statements, one module per theory layer; each exports STATEMENTS, a tuple of Statement."""
