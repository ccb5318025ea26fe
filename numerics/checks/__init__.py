"""The ledger's checks, one module per theory file; each exports CHECKS, a tuple of Check."""
