"""Polynomials multiplied out by flint, against SymPy."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from bulkedge.theory.functions.polynomial import multiplied_out
from bulkedge.theory.numbers.symbols import z

LEAVES = st.just(z) | st.fractions(-9, 9, max_denominator=7).map(lambda x: sp.Rational(x.numerator, x.denominator))
POLYNOMIALS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(sp.Add, inner, inner) | st.builds(sp.Mul, inner, inner) | st.builds(sp.Pow, inner, st.integers(0, 4))
    ),
    max_leaves=6,
)


@given(POLYNOMIALS)
def test_multiplied_out_as_by_sympy(expr: sp.Expr) -> None:
    assert multiplied_out(expr) == sp.expand(expr)


@pytest.mark.parametrize("expr", [sp.sqrt(2) * (z + sp.pi) ** 3, (z + sp.sqrt(3)) * (z - sp.sqrt(3)), z**1001])
def test_irrational_or_long_ones_too(expr: sp.Expr) -> None:
    assert multiplied_out(expr) == sp.expand(expr)


def test_long_products_at_once() -> None:
    product = sp.Mul(*(z + i for i in range(1, 201)))
    expanded = multiplied_out(product)
    assert expanded.coeff(z, 200) == 1
    assert expanded.coeff(z, 0) == sp.factorial(200)
    assert expanded.subs(z, 1) == sp.factorial(201)
