"""Laws with a density: against integrals by hand, against Silverstein's equation by quadrature, and what is refused."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bulkedge
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read, values_of
from bulkedge.theory.functions import parse
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.spectra.spectral_density import Density


def typed(text: str, law: str, size: str = "n=2,d=1") -> Equivalent:
    return read(text, declare("X: n x d, 1/n", size=size, positive="lam", deterministic=law))


def value(e: Equivalent, lam: str) -> float:
    return float(e.enclose(values_of(f"lam={lam}", e.symbols), 15))


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        ("uniform 1 3", lambda l: mpmath.log((3 + l) / (1 + l)) / 2),
        ("semicircle 1 3", lambda l: 2 * ((2 + l) - mpmath.sqrt((2 + l) ** 2 - 1))),
        ("arcsine 1 3", lambda l: 1 / mpmath.sqrt((2 + l) ** 2 - 1)),
        ("density 2*S on 0 1", lambda l: 2 - 2 * l * mpmath.log((1 + l) / l)),
        (
            "density 3/(2*S**2) on 3/4 3/2",
            lambda l: 1.5 * ((2 / l) / 3 - mpmath.log(2 * (0.75 + l) / (1.5 + l)) / l**2),
        ),
    ],
)
def test_a_resolvent_of_the_law_itself(law: str, expected: object) -> None:
    e = typed("tr(inv(S + lam))", f"S: d, {law}")
    assert value(e, "1/7") == pytest.approx(float(expected(mpmath.mpf(1) / 7)), rel=1e-14)  # type: ignore[operator]


def test_silversteins_equation_by_quadrature() -> None:
    """g = tr (R X^T X R + lam)^-1 = mean of 1/(lam + t^2/(1 + c h)), h = mean of t^2/(...): iterated by quadrature."""
    lam, c, h = mpmath.mpf(1) / 2, mpmath.mpf(1) / 2, mpmath.mpf(1)
    for _ in range(60):
        h = mpmath.quad(lambda t, h=h: t**2 / (lam + t**2 / (1 + c * h)) / 2, [1, 3])
    g = mpmath.quad(lambda t: 1 / (lam + t**2 / (1 + c * h)) / 2, [1, 3])
    e = typed("tr(inv(R*X.T*X*R + lam))", "R: d, uniform 1 3")
    assert value(e, "1/2") == pytest.approx(float(g), rel=1e-14)
    many = bulkedge.equivalent(
        "tr(inv(R*X.T*X*R + lam))", "X: n x d, 1/n", size="n=2,d=1", positive="lam", deterministic="R: d, uniform 1 3"
    ).value(lam=np.linspace(0.5, 2, 20))
    assert many[0] == pytest.approx(float(g), rel=1e-13)


@settings(max_examples=8)
@given(
    st.sampled_from(["uniform", "semicircle", "arcsine"]),
    st.integers(min_value=-9, max_value=8),
    st.integers(min_value=1, max_value=9),
)
def test_moments_of_the_atoms(kind: str, lower: int, width: int) -> None:
    """Mean and variance of each kind, by its rule of 24 nodes."""
    law = Density(kind, parse.number(lower, "lower"), parse.number(lower + width, "upper"))
    atoms = law.atoms(24)
    assert sum(weight for _, weight in atoms) == 1
    mean = float(sum(weight * place for (place,), weight in atoms))
    variance = float(sum(weight * place**2 for (place,), weight in atoms)) - mean**2
    assert mean == pytest.approx(lower + width / 2, abs=1e-13)
    assert variance == pytest.approx(width**2 / {"uniform": 12, "semicircle": 16, "arcsine": 8}[kind], rel=1e-11)


def test_what_is_refused_and_what_is_not_reached() -> None:
    for law, said in (
        ("density 3/(4*S**2) on 3/4 3/2", r"integrates to 0\.5"),
        ("uniform 3 1", "not below"),
        ("uniform 1", "no two ends"),
        ("density 1-2*S on 0 1", "negative"),
        ("density S", "without ends"),
        ("density 1/(S-S) on 0 1", "zero|not finite|understood"),
    ):
        with pytest.raises(InputError, match=said):
            typed("tr(inv(S + lam))", f"S: d, {law}")
    with pytest.raises(InputError, match="no finite equation"):
        bulkedge.equivalent(
            "tr(inv(z - S*X.T*X*S))", "X: n x d, 1/n", size="n=2,d=1", spectrum="z", deterministic="S: d, uniform 1 3"
        )
    inside = read(
        "tr(inv(S - z))", declare("X: n x d, 1/n", size="n=2,d=1", real="z", deterministic="S: d, uniform 1 3")
    )
    with pytest.raises(PrecisionError, match="not reached"):
        inside.enclose(values_of("z=2.1", inside.symbols), 12)
