"""The conventions of Hermite coefficients, and how many there may be: words and a number, so that `--help` is quick."""

CONVENTIONS = ("orthonormal", "probabilist", "moment")
MAX_DEGREE = 1000
