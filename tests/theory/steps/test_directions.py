"""T3 in numbers and closed forms: two kinds of number, the table of reached directions, generative exponents."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.steps.alignment import further_direction
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.directions import Problem, closed_form, further_orders, reach_table, vanishing_spikes
from bulkedge.theory.steps.kink import kinks


def problem(*links: str, alpha: str = "2", noise: str = "0", activation: str | None = None) -> Problem:
    sigma = None if activation is None else nonlinearity(activation)
    return Problem(tuple(map(nonlinearity, links)), Fraction(alpha), Fraction(noise), sigma)


@pytest.mark.parametrize("batch", ["reused", "fresh"])
@pytest.mark.parametrize("activation", [None, "z + z**2/5"])
def test_the_closed_form_takes_the_values(batch: str, activation: str | None) -> None:
    g, c = (sp.Rational(1, 2), sp.Rational(-1, 3), sp.Rational(1, 4)), (sp.Integer(1), sp.Rational(1, 5))
    link = " + ".join(f"({x})*He({j},z)" for j, x in enumerate(g, start=1))
    found = problem(link, alpha="3/2", noise="1/5", activation=activation).direction(1, batch, 30)
    values = {sp.Symbol(f"g{j}", real=True): x for j, x in enumerate(g, start=1)}
    values |= {sp.Symbol(f"c{j}", real=True): x for j, x in enumerate(c, start=1)}
    values |= {s.alpha: sp.Rational(3, 2), s.s_eps: sp.Rational(1, 5)}
    _, signal, norm2 = closed_form(3, 1, batch, None if activation is None else 2)
    if activation is not None:
        # sigma = z + z^2/5 is He_1 + He_2/5 and a constant, which no derivative sees.
        assert found.signals[0].exact != 0
    assert sp.simplify(signal.subs(values) - found.signals[0].exact) == 0
    assert sp.simplify(norm2.subs(values) - found.norm2.exact) == 0
    value = found.cosines[0].enclosure
    assert abs(sp.N(found.cosines[0].exact, 40) - sp.Rational(value.value.numerator, value.value.denominator)) < 1e-30


@given(
    st.lists(st.fractions(-1, 1, max_denominator=5), min_size=4, max_size=4),
    st.lists(st.fractions(-1, 1, max_denominator=5), min_size=2, max_size=2),
    st.sampled_from(["reused", "fresh"]),
    st.sampled_from([0, 1]),
    st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_closed_forms_take_the_exact_values(
    g: list[Fraction], c: list[Fraction], batch: str, k: int, full: bool
) -> None:
    """Any polynomial link, its mean included: the printed form at the link's own coefficients is the printed value."""
    link = " + ".join(f"({x})*He({j},z)" for j, x in enumerate([*g[:3], g[3] or 1]))
    activation = f"z + ({c[0]})*He(2,z) + ({c[1]})*He(3,z) + 1/3" if full else None
    # Two routes: the exact moments of the Nonlinearity, and symbols replaced by numbers.
    route = problem(link, alpha="3/2", noise="1/5", activation=activation)._exact(k, batch)
    assert route is not None
    _, signal, norm2 = closed_form(3, k, batch, 3 if full else None, mean=True)
    values = {sp.Symbol(f"g{j}", real=True): sp.Rational(str(x)) for j, x in enumerate([*g[:3], g[3] or 1])}
    values |= {sp.Symbol(f"c{j}", real=True): sp.Rational(str(x)) for j, x in enumerate([1, *c], start=1)}
    values |= {s.alpha: sp.Rational(3, 2), s.s_eps: sp.Rational(1, 5)}
    assert sp.expand(signal.subs(values) - route[0][0]) == 0
    assert sp.expand(norm2.subs(values) - route[1]) == 0


def test_rank_one_and_full_agree_up_to_the_constant_where_nothing_is_neglected() -> None:
    """sigma' linear, centred link: F_1 of `full` is 2 c_2 c_1 y p, so the cosines are the same."""
    rank_one = problem("z + He(3,z)/5").direction(1, "reused", 20)
    full = problem("z + He(3,z)/5", activation="z + z**2/7").direction(1, "reused", 20)
    assert sp.simplify(rank_one.cosines[0].exact - full.cosines[0].exact) == 0


def test_enclosures_without_closed_form() -> None:
    found = problem("tanh(z) + z**2/3", alpha="1.7", noise="0.1", activation="softplus").direction(2, "reused", 25)
    assert found.signals[0].exact is None
    assert found.signals[0].enclosure.reaches(25)
    assert found.norm2.enclosure.reaches(25)
    coarse = problem("tanh(z) + z**2/3", alpha="1.7", noise="0.1", activation="softplus").direction(2, "reused", 5)
    assert coarse.norm2.enclosure.contains(found.norm2.enclosure.value)


def test_reached_from() -> None:
    def rows(*links: str, **options: str) -> list[tuple[object, object]]:
        return [(row["reused"], row["fresh"]) for row in reach_table(problem(*links, **options), 4)]

    assert rows("z**3 - 3*z") == [(2, None)]
    assert rows("He(2,z)/2 + He(3,z)/6") == [(1, None)]
    assert rows("cos(z)") == [(None, None)]
    assert rows("tanh") == [(0, 0)]
    # Memory carries one direction's label into the other: z_2 is reached at k = 1 only through its own mixed parity.
    assert rows("tanh", "He(3,z)") == [(0, 0), (2, None)]
    assert rows("z**3 - 3*z", activation="z + z**2/4") == [(None, None)]  # degree 2: no spike 2
    # A kink and a reused batch: a^2 is blind to an odd link, a^3 vanishes for ReLU, and a^4 is even again.
    assert rows("z**3 - 3*z", activation="relu") == [(None, None)]
    assert rows("z**3 - 3*z", activation="Max(z - 1/2, 0)") == [(2, None)]


def test_bad_input() -> None:
    with pytest.raises(InputError, match="vanishes"):
        problem("z**2 - 1", activation="relu").direction(2, "fresh", 15)
    with pytest.raises(InputError, match="finite mean"):
        problem("exp(z**2/9)").direction(2, "reused", 15)
    with pytest.raises(InputError, match="vanishes"):
        problem("tanh", activation="relu").direction(2, "reused", 15)
    with pytest.raises(InputError):
        closed_form(0, 1, "reused")


def test_vanishing_spikes() -> None:
    def found(name: str, batch: str) -> tuple[int, ...]:
        return vanishing_spikes(nonlinearity(name), batch, 3)

    assert found("tanh", "fresh") == (1, 3)  # the even derivatives are odd functions
    assert found("tanh", "reused") == (1, 3)  # by parity the mixed moments vanish too
    assert found("relu", "fresh") == (2,)  # the third derivative has mean zero
    assert found("relu", "reused") == (2,)  # what crosses the kink at 0 is even in P to second order (T6)
    assert found("Max(z - 1/2, 0)", "reused") == ()
    assert found("z + z**2/5", "reused") == (2, 3)
    # A third derivative of mean zero does not remove spike 2 of a reused batch: the mixed moments remain.
    assert vanishing_spikes(nonlinearity("softplus"), "fresh", 2) == (2,)
    assert vanishing_spikes(nonlinearity("softplus"), "reused", 2) == ()
    assert 0 in found("z**2", "fresh")  # E sigma' = 0: the first step has no direction
    # A mean of the labels brings e G: ReLU's spike 2 is back.
    assert vanishing_spikes(nonlinearity("relu"), "fresh", 3, centred=False) == ()
    assert vanishing_spikes(nonlinearity("tanh"), "reused", 3, centred=False) == (1, 3)


NAMES = ["relu", "abs", "hard_tanh", "relu6", "Abs(z) + z/5", "Abs(z) + He(2, z)/5", "Max(z - 7/10, 0)", "tanh", "elu"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mean", [0, 0.7])
def test_the_further_direction_is_there_where_its_function_is_not_zero(name: str, mean: float) -> None:
    """The exact rule against T6's function evaluated on a grid."""
    sigma = nonlinearity(name)
    here, orders = constants(sigma), further_orders(sigma, 3, centred=mean == 0)
    y, q = np.meshgrid([-1.3, 0.4, 0.9], [-1.1, 0.2, 0.8])
    for k in (1, 2, 3):
        F, _ = further_direction(kinks(sigma, k), here.mu1, mean * here.curvature, 0.4, 1.5, k)
        assert (k in orders) == bool(np.max(np.abs(F(y, q))) > 1e-12)
