"""Floats: vectorised evaluation of theory/, random matrices, simulation and Monte Carlo checks."""
