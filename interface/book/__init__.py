"""The book and the report: documents made of statements, derivations and checks."""
