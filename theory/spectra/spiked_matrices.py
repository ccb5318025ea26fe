"""Spiked covariance, Wigner and Wishart matrices (R3): the statement of their outliers; the maps are in spike.py."""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import c, ell, zeta
from bulkedge.theory.spectra.spike import COVARIANCE, WISHART


def covariance_outlier() -> sp.Eq:
    """R3's statement: the extreme eigenvalue of the sample covariance, at any population spike."""
    return sp.Eq(sp.Function("lambda")(ell, c), COVARIANCE.position())


def wishart_outlier() -> sp.Eq:
    """R3's statement: the extreme eigenvalue of a Wishart matrix with an additive spike of either sign."""
    return sp.Eq(sp.Function("lambda")(zeta, c), WISHART.position())


STATEMENTS = (
    Statement(
        id="R3",
        title="Spiked covariance, Wishart, Wigner, rectangular: thresholds, outliers, overlaps, fluctuations, inverse",
        formula=covariance_outlier,
        assumptions=(
            "spikes of fixed rank and strength, distinct, with orthogonal vectors",
            "fluctuations: Gaussian noise; the rectangular variance is derived here",
        ),
        sources=("Baik & Silverstein 2006", "Paul 2007", "Benaych-Georges & Nadakuditi 2011, 2012"),
        status="derived",
    ),
)
