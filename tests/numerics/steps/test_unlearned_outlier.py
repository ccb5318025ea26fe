"""numerics/steps/unlearned_outlier.py: hand-made values, laws over settings, what is refused, and the picture."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.figures.unlearned_outlier import _exponent
from bulkedge.numerics.steps.gradient import spike_strength
from bulkedge.numerics.steps.unlearned_outlier import unlearned_outlier
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import Growth, Limit


def test_he_3_by_hand() -> None:
    """ReLU, He_3/sqrt 6, alpha = 1, eta = 4: theta = 2 sqrt(E y^2); E z^2 y^2 = 7 + s^2."""
    model = Limit(width=1, batch=1, activation="relu", links="He(3,z)/sqrt(6)", noise="1/5", steps=(4,))
    theta2 = 4 * 1.04
    omega = 1 - 1 / theta2
    found = unlearned_outlier(model)
    assert found.outlier == pytest.approx((1 + theta2) / math.sqrt(theta2), rel=1e-12)
    assert found.overlap_u == pytest.approx(omega, rel=1e-12)
    assert found.scaled_overlap == pytest.approx(omega * 7.04 / 1.04 + 1 - omega, rel=1e-11)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(4, 40), st.sampled_from(["He(2,z)", "He(3,z)/2", "abs(z)"]))
def test_laws(width: int, batch: int, step: int, link: str) -> None:
    """A larger step turns the vector further to u; the scale of label, noise and 1/step together does not matter."""
    fields = {"width": width, "batch": batch, "activation": "tanh"}
    first = Limit(**fields, links=link, noise="1/2", steps=(step,))
    if spike_strength(first) ** 4 <= width:
        return
    small = unlearned_outlier(first)
    large = unlearned_outlier(Limit(**fields, links=link, noise="1/2", steps=(2 * step,)))
    scaled = unlearned_outlier(Limit(**fields, links=f"2*({link})", noise="1", steps=(Growth(f"{step}/2"),)))
    assert 1 + math.sqrt(width) <= small.outlier < large.outlier
    assert 0 <= small.overlap_u < large.overlap_u < 1
    assert scaled.outlier == pytest.approx(small.outlier, rel=1e-10)
    assert scaled.scaled_overlap == pytest.approx(small.scaled_overlap, rel=1e-9)


@pytest.mark.parametrize(
    ("links", "step", "named"),
    [("tanh", 4, "links"), ("He(3,z)", "1/10", "steps"), (["He(2,z)", "He(3,z)"], 4, "links")],
)
def test_what_it_does_not_cover_is_refused(links: object, step: object, named: str) -> None:
    with pytest.raises(InputError) as caught:
        unlearned_outlier(Limit(width=1, batch=1, activation="relu", links=links, steps=(step,)))
    assert caught.value.argument == named


def test_the_picture_s_overlaps_fall_for_exponent_three_alone() -> None:
    _, table = _exponent(sizes=(20, 60), trials=30, at=20)
    values = {row[:3]: float(row[3]) for row in table.rows}
    for kind, factor in (("predicted", 1e-12), ("simulated", 0.6)):
        three = [values["exponent 3", f"overlap2, {kind}", d] for d in ("20", "60")]
        one = [values["exponent 1", f"overlap2, {kind}", d] for d in ("20", "60")]
        assert three[0] / three[1] == pytest.approx(3, rel=factor)
        assert one[0] == pytest.approx(one[1], rel=0.1)
