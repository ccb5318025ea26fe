"""Equivalents: rational expressions in Gaussian matrices, their linearisation, fixed points, laws and checks."""
