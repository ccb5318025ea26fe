"""The largest eigenvalue of a finite noise matrix (R4): Johnstone's centre and width, and what the entries' tails add.

Z is n x p with iid entries of mean 0 and variance 1; (lambda_1(Z^T Z) - centre)/width is Tracy-Widom, beta = 1.
Source: R4; Johnstone 2001, Ma 2012; the kurtosis term derived here.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import n, p

half = sp.Rational(1, 2)
kappa = sp.Symbol("kappa", real=True)


def centre() -> sp.Expr:
    """(sqrt(n - 1/2) + sqrt(p - 1/2))^2, right to second order for real Gaussian entries."""
    return (sp.sqrt(n - half) + sp.sqrt(p - half)) ** 2


def width() -> sp.Expr:
    """(sqrt(n - 1/2) + sqrt(p - 1/2)) (1/sqrt(n - 1/2) + 1/sqrt(p - 1/2))^(1/3)."""
    a, b = sp.sqrt(n - half), sp.sqrt(p - half)
    return (a + b) * (1 / a + 1 / b) ** sp.Rational(1, 3)


def kurtosis_factor() -> sp.Expr:
    """What an excess kurtosis kappa of the entries multiplies the centre by, 1 + kappa/sqrt(n p).

    The norms^2 of the rows then vary by kappa/n more (relatively) than Gaussian ones, and a population of variance v
    about 1 has its edge further out by the factor 1 + v/sqrt c (R2 to second order,
    derivations/spectra/silverstein.py); at c = p/n that is kappa/sqrt(n p). Rows of equal norm are kappa = -2 whatever
    the entries.
    """
    return 1 + kappa / sp.sqrt(n * p)


def largest_eigenvalue() -> sp.Eq:
    """R4's statement: the largest eigenvalue of Z^T Z, with T a Tracy-Widom number."""
    return sp.Eq(sp.Symbol("lambda_1"), centre() * kurtosis_factor() + width() * sp.Symbol("T"))


STATEMENTS = (
    Statement(
        id="R4",
        title="The largest eigenvalue of finite noise, and how many outliers a matrix has at a false-alarm rate",
        formula=largest_eigenvalue,
        assumptions=(
            "iid entries of mean 0 and variance 1, excess kurtosis `kappa` of order one; T is Tracy-Widom, `beta = 1`",
            "unequal variances of rows (or of columns) are equalised first: then `kappa = -2`",
            "unequal on both sides, heavy tails, or a bulk that is not Marchenko-Pastur: no rate is quoted",
        ),
        sources=(
            "Johnstone 2001",
            "Ma 2012",
            "Bornemann 2010",
            "Kritchman & Nadler 2009",
            "kurtosis term: derived here",
        ),
        status="derived",
    ),
)
