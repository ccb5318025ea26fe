"""T4 checked: outliers of W2 against the spike matrix of the same data and against its limit."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.steps.spike_matrix import spike_matrix
from bulkedge.numerics.steps.two_steps import SLIGHT, WEAK, Experiment
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.steps.setting import readout_moment

# T4 with two spikes; eta1 a_j of order one and eta2 fixed, so that the spike matrix is fixed up to its first strength.
_TWO = Experiment(WEAK, 4.0, (2.5, 10.0), (0.5, 0.0))


# T4 at Lambda = 2: three spikes, all of whose strengths grow.
THREE = Experiment(SLIGHT, 4.0, (7.0, 8.0), (0.4, 0.25))


LARGEST = 420  # of a quick run


@stream("T4.limit")
def _second_outlier(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The second singular value of W2 and its left vector against T4.

    `ratio`: over O2's map of the strength of the spike matrix built from the same data (T2's vectors);
    `gap`: squared overlap with that spike minus O2's; `position`: the value itself, for the limit.
    """
    start = _TWO.start(rng, size)
    expected = _TWO.spikes(start, 2)
    model, found = rectangular(1.0), leading_triples(_TWO.train(start), 2)
    overlap = float(found.left[:, 1] @ expected.left[:, 1]) ** 2
    return {
        "position": float(found.values[1]),
        "ratio": float(found.values[1] / model.outlier(expected.strengths)[1]),
        "gap": overlap - float(model.overlap("d", expected.strengths)[1]),
    }


@stream("T4.third.position")
def _third_outlier(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The third singular value of W2 at Lambda = 2 over O2's map of the same data's spike matrix (T2's vectors)."""
    start = THREE.start(rng, size)
    expected = rectangular(1.0).outlier(THREE.spikes(start, 3).strengths)[2]
    return {"ratio": float(leading_triples(THREE.train(start), 3).values[2] / expected)}


@stream("T4.third.strength")
def _third_strength(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The third strength of the data's spike matrix over that of T3's Gram matrices at this size."""
    found = THREE.spikes(THREE.start(rng, size), 3).strengths[2]
    return {"ratio": float(found) / _limit_third(size)}


@functools.cache
def _limit_third(size: int, highest: int | None = None) -> float:
    """T4's third strength at a size; `highest` caps the derivatives of sigma in the moments, for a control."""
    return float(THREE.matrix(size, 3, highest).strengths[2])


@functools.cache
def _limit_strength(fourth: int = 4) -> float:
    """The second strength of the spike matrix, N to infinity at fixed eta1/sqrt(N) and eta2 (the first one grows).

    `fourth` is the power whose moment stands for E a^4, for a control.
    """
    matrix = spike_matrix(
        _TWO.target,
        WEAK.moment,
        lambda p: float(readout_moment("uniform", fourth if p == 4 else p)),
        width=10**8,
        alpha=_TWO.ratio,
        steps=_TWO.steps(10**8),
        orders=2,
    )
    return float(matrix.strengths[1])


def outlier(strength: float) -> float:
    """O2's map at N = d."""
    return float(rectangular(1.0).outlier(strength))


def _outlier(
    id: str, claim: str, predict: Callable[[], float], component: str, resolution: float, control: Control
) -> Check:
    # The spike matrix is fixed; what decays is the coupling of spike and bulk, of relative order N^(-1/2).
    measure = Ladder(_second_outlier, component, (80, 160, 320), 0.5, 40, (300, 600, 1200), 24)
    return Check(id, claim, "T4, O2", predict, measure, resolution, control)


CHECKS: tuple[Check, ...] = (
    _outlier(
        "T4.position",
        "the second outlier sits at O2's map of the spike matrix's second strength",
        lambda: 1.0,
        "ratio",
        0.07,
        Control("the strength itself, without O2's map", lambda: _limit_strength() / outlier(_limit_strength())),
    ),
    _outlier(
        "T4.overlap",
        "its left vector turns by O2's overlap",
        lambda: 0.0,
        "gap",
        0.1,
        Control("no turning: overlap 1", lambda: 1 - float(rectangular(1.0).overlap("d", _limit_strength()))),
    ),
    _outlier(
        "T4.limit",
        "position of the second outlier from T3's Gram matrix and `E a^4`",
        lambda: outlier(_limit_strength()),
        "position",
        0.3,
        Control("`E a^6` in the place of `E a^4`", lambda: outlier(_limit_strength(6))),
    ),
    Check(
        "T4.third.position",
        "`Lambda = 2`: the third outlier sits at O2's map of the spike matrix's third strength",
        "T4, O2",
        lambda: 1.0,
        # The rows' inflation by the second step decays as N^(2 alpha2 - 1).
        Ladder(_third_outlier, "ratio", (140, 280, LARGEST), 0.5, 14, (300, 600, 1200), 16),
        0.24,
        Control(
            "third Hermite coefficient left out: it stays at the bulk's edge",
            lambda: rectangular(1.0).edges[1] / outlier(_limit_third(LARGEST)),
        ),
    ),
    Check(
        "T4.third.strength",
        "`Lambda = 2`: the spike matrix's third strength from T3's Gram matrices and `E a^6`",
        "T4, T3",
        lambda: 1.0,
        Ladder(_third_strength, "ratio", (100, 200, 400), 1.0, 60, (200, 400, 800), 200),
        0.12,
        Control("`E[sigma'']` in the place of `E[sigma^(3)]`", lambda: _limit_third(400, 2) / _limit_third(400)),
    ),
)
