"""Expectations over Gaussians: moments of one function, of a pair, Hermite coefficients and their general terms."""
