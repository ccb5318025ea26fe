"""The engine: steps that are verified one by one, and the only printer."""
