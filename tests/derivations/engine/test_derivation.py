"""The engine: true steps are verified by the strongest means that works, false and undecided steps fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import (
    Apply,
    Asymptotic,
    Derivation,
    DerivationError,
    Equal,
    Given,
    Primitive,
    Root,
    Step,
    Substitute,
    Tends,
    Using,
)
from bulkedge.derivations.engine.render import escape
from bulkedge.theory.numbers import symbols as s

x = sp.Symbol("x", positive=True)
sigma = sp.Function("sigma")


def chain(*steps: Step, claim: Any, domain: tuple[Any, ...] = ()) -> Derivation:
    return Derivation("X1.test", "A test", lambda: claim, lambda: steps, "the tests", domain)


def test_exact_steps() -> None:
    d = chain(Step((x + 1) ** 2), Step(x**2 + 2 * x + 1, "=", "expand"), claim=sp.Eq((x + 1) ** 2, x**2 + 2 * x + 1))
    assert d.verify().how == "exact"


def test_points_where_sympy_cannot_prove_it() -> None:
    left, right = sp.asin(x / sp.sqrt(1 + x**2)), sp.atan(x)
    d = chain(Step(left), Step(right, "=", "tangent"), claim=sp.Eq(left, right))
    assert d.verify().how in {"exact", "checked to 25 digits at 5 points"}


@pytest.mark.parametrize(
    ("before", "relation", "after"),
    [
        ((x + 1) ** 2, "=", x**2 + 2 * x),
        (sp.sin(x), "=", sp.sin(x) + sp.Rational(1, 10**20)),
        (x, "<=", x - 1),
        (x, "<", x),
        ((1 + x / s.N) ** s.N, Tends(s.N), sp.exp(x) + sp.Rational(1, 10**6)),
        (sp.loggamma(s.N + 1), Asymptotic(s.N), 2 * s.N * sp.log(s.N)),
        (sp.gamma(2 * s.N + x) / sp.gamma(2 * s.N), Asymptotic(s.N), s.N**x),
        (sp.Eq(x**2, 2), Root(x), sp.sqrt(3)),
        (2 * x, Primitive(x, 0, 1), x**2),
        (x**3, Apply(lambda e: e.diff(x)), 2 * x**2),
        (x + s.rho, Substitute({s.rho: 2 * x}), 2 * x),
        (x**2 + s.c * x, Using(sp.Eq(s.c * x, 2), x), x**2 + 3),
        (x**2 + x, "=", sp.Eq(x**2, -x, evaluate=False)),
        (sp.Abs(s.rho), "=", s.rho),
        ((-1) ** s.k, "=", sp.Integer(1)),
        ((-1) ** s.k, Equal(cases=({s.k: 2 * s.m}, {s.k: 2 * s.m + 1})), sp.Integer(1)),
    ],
)
def test_a_wrong_step_is_caught(before: Any, relation: Any, after: Any) -> None:
    with pytest.raises(DerivationError, match="step 2"):
        chain(Step(before), Step(after, relation, "wrong"), claim=after).verify()


@pytest.mark.parametrize(
    ("before", "relation", "after", "way"),
    [
        ((1 + x / s.N) ** s.N, Tends(s.N), sp.exp(x), "exact"),
        (sp.loggamma(s.N + 1), Asymptotic(s.N), s.N * sp.log(s.N) - s.N, None),
        (sp.gamma(2 * s.N + x) / sp.gamma(2 * s.N), Asymptotic(s.N), (2 * s.N) ** x, "exact"),
        (sp.Eq(x**2, 2), Root(x), sp.sqrt(2), "exact"),
        (2 * x, Primitive(x, 0, 1), x**2 + 1, "exact"),
        (sp.Eq(x**2, 2 * x), Equal(), sp.Eq(x * x, x + x), "exact"),
        (x, "<=", x + 1, "exact"),
        (sp.sin(x), "<=", x, "checked to 25 digits at 20 points"),
        (x**3, Apply(lambda e: e.diff(x)), 3 * x**2, "exact"),
        (x + s.rho, Substitute({s.rho: 2 * x}), 3 * x, "exact"),
        (x**2 + s.c * x, Using(sp.Eq(s.c * x, 2), x), x**2 + 2, "exact"),
        ((-1) ** s.k, Equal(cases=({s.k: 2 * s.m}, {s.k: 2 * s.m + 1})), sp.cos(sp.pi * s.k), "exact"),
        (sp.factorial2(2 * s.k - 1), "=", sp.factorial(2 * s.k) / (2**s.k * sp.factorial(s.k)), None),
    ],
)
def test_every_relation(before: Any, relation: Any, after: Any, way: str | None) -> None:
    verified = chain(Step(before), Step(after, relation, "right"), claim=after).verify()
    if way is not None:
        assert verified.steps[1][2] == way


def test_constants_are_enclosed() -> None:
    left, right = sp.sin(sp.pi / 7) * sp.sin(2 * sp.pi / 7) * sp.sin(3 * sp.pi / 7), sp.sqrt(7) / 8
    assert chain(Step(left), Step(right, "=", "known"), claim=right).verify().how.startswith(("exact", "enclosure"))
    with pytest.raises(DerivationError, match="refuted"):
        chain(Step(left), Step(right + sp.Rational(1, 10**8), "="), claim=right).verify()


def test_undecided_is_a_failure() -> None:
    # Nothing can be evaluated for an unnamed function, and SymPy does not prove it.
    with pytest.raises(DerivationError, match=r"stay free|no value|not stable"):
        chain(Step(sigma(x)), Step(sigma(x) * sp.gamma(x) ** 0 + sigma(2 * x), "="), claim=sigma(x)).verify()


def test_points_respect_the_domain() -> None:
    d = chain(
        Step(sp.Abs(s.rho)), Step(s.rho, "=", "not negative"), claim=sp.Eq(sp.Abs(s.rho), s.rho), domain=(s.rho > 0,)
    )
    assert d.verify().how.startswith("checked")
    with pytest.raises(DerivationError, match="admissible"):
        chain(Step(sp.sin(x)), Step(sp.cos(x), "="), claim=x, domain=(x > 1000,)).verify()


def test_definitions_are_fresh_and_used() -> None:
    t = sp.Symbol("t", real=True)
    steps = (Step(x * (x + 1)), Step(x + 1, Given(define=t), "a name"), Step(x * t, "=", "with it"))
    assert chain(*steps, claim=x * (x + 1)).verify().steps[1][2] == "definition"
    with pytest.raises(DerivationError, match="occurred before"):
        chain(Step(x + 1), Step(2 * x, Given(define=x)), claim=x).verify()


def test_the_claim_must_be_reached() -> None:
    with pytest.raises(DerivationError, match="reaches the claim"):
        chain(Step(x + x), Step(2 * x), claim=3 * x).verify()
    with pytest.raises(DerivationError, match="reaches the claim"):
        chain(Step(x + x), Step(2 * x), claim=sp.Eq(5 * x, 2 * x, evaluate=False)).verify()
    with pytest.raises(DerivationError, match="no content"):
        chain(Step(x + x), Step(2 * x), claim=sp.Eq(5 * x, 2 * x)).verify()


def test_a_claimed_equation_needs_equalities_between_its_sides() -> None:
    steps = (Step(x**2), Step(2 * x, Apply(lambda e: e.diff(x)), "differentiate"))
    with pytest.raises(DerivationError, match="reaches the claim"):
        chain(*steps, claim=sp.Eq(x**2, 2 * x)).verify()
    assert chain(*steps, claim=2 * x).verify().reached == ("exact",)
    roots = (Step(sp.Eq(x**2, s.c)), Step(sp.sqrt(s.c), Root(x), "the positive root"))
    assert chain(*roots, claim=sp.Eq(x, sp.sqrt(s.c))).verify().reached == ("exact",)
    with pytest.raises(DerivationError, match="reaches the claim"):
        chain(*roots, claim=sp.Eq(s.psi, sp.sqrt(s.c))).verify()


def test_points_do_not_depend_on_the_run() -> None:
    from bulkedge.derivations.engine.verify import Domain

    points: Callable[[], Iterable[Any]] = lambda: list(Domain((), "seed").points({x, s.rho, s.k}, 3))  # noqa: E731
    assert points() == points()


def test_rendering_prints_what_was_verified() -> None:
    d = chain(
        Step((x + 1) ** 2, reason="50% of it & more"),
        Step(x**2 + 2 * x + 1, "=", "expand"),
        claim=sp.Eq((x + 1) ** 2, x**2 + 2 * x + 1),
    )
    tex, text = d.latex(), d.text()
    assert r"50\% of it \& more" in tex
    assert r"={}&\fit{x^{2} + 2 x + 1}" in tex
    assert r"\textit{exact}" in tex.replace(r"\hfill", "") or r"}{exact}" in tex
    assert "x**2 + 2*x + 1" in text
    assert "$$\\displaystyle ={}x^{2} + 2 x + 1$$" in d._repr_markdown_()
    with pytest.raises(ValueError, match="ASCII"):
        escape("naïve")


def _named_cases(*claims: Any) -> Derivation:
    c = sp.IndexedBase("c")
    return chain(
        Step(x**2 + 3 * x + 5),
        Step(sp.Integer(5), Substitute({x: 0}, name=c[0]), "at zero"),
        Step(x**2 + 3 * x + 5, Given()),
        Step(2 * x + 3, Apply(lambda e: e.diff(x), name=c[s.m]), "its slope"),
        claim=tuple(sp.Eq(c[i], value) for i, value in claims),
    )


def test_a_result_may_have_a_name() -> None:
    d = _named_cases((0, 5), (s.m, 2 * x + 3))
    assert d.verify().reached == ("exact", "exact")
    assert "claim: Eq(c[0], 5)" in d.text()
    assert "=> c[0] = 5" in d.text()
    assert r"c_{0} = 5" in d.latex().split("Derivation")[0]
    assert r"\Longrightarrow{}&\fit{c_{m} = 2 x + 3}" in d.latex()


@pytest.mark.parametrize("wrong", [((0, 6),), ((1, 5),), ((s.m, 5),), ((0, 2 * x + 3),)])
def test_a_named_result_is_not_another(wrong: Any) -> None:
    with pytest.raises(DerivationError, match="no chain of steps reaches the claim"):
        _named_cases(*wrong).verify()


def test_a_result_has_a_name_of_its_own() -> None:
    d = chain(
        Step(x**2),
        Step(sp.Integer(0), Substitute({x: 0}, name=s.mu1)),
        Step(x + 1, Given()),
        Step(sp.Integer(1), Substitute({x: 0}, name=s.mu1)),
        claim=sp.Eq(s.mu1, 1),
    )
    with pytest.raises(DerivationError, match="has occurred before"):
        d.verify()
