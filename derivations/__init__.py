"""Derivations: steps verified one by one and printed from the expressions that were verified."""
