"""R4's formulas are those that numerics evaluates, and the kurtosis term is R2's second order."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.numerics.spectra import edge, tracy_widom
from bulkedge.theory.numbers.symbols import n, p
from bulkedge.theory.spectra import edge as theory


@pytest.mark.parametrize(("rows", "columns"), [(400, 100), (30, 70)])
def test_twin_of_the_symbols(rows, columns):
    at = {n: rows, p: columns}
    centre, scale = tracy_widom.johnstone(rows, columns)
    assert centre == pytest.approx(float(theory.centre().subs(at)), rel=1e-14)
    assert scale == pytest.approx(float(theory.width().subs(at)), rel=1e-14)
    factor = float(theory.kurtosis_factor().subs({**at, theory.kappa: -2}))
    law = edge.noise_edge((rows, columns), 0, 1.0, -2.0)
    assert law.centre == pytest.approx(centre * factor, rel=1e-14)
    assert law.threshold(0.1) == pytest.approx(law.centre + law.scale * float(tracy_widom.isf(0.1)))


def test_the_limit_width():
    # n^(-1/3) width at p = c n: (1 + sqrt c)^(4/3) c^(-1/6).
    c = sp.Rational(1, 4)
    scaled = (theory.width() / n ** sp.Rational(1, 3)).subs(p, c * n)
    limit = sp.Rational(3, 2) ** sp.Rational(4, 3) * c ** sp.Rational(-1, 6)
    assert float(scaled.subs(n, 10**12)) == pytest.approx(float(limit), rel=1e-9)


def test_the_statement_is_an_equation():
    assert isinstance(theory.largest_eigenvalue(), sp.Eq)
