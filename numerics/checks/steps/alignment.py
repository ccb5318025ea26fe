"""Ledger of T3 and T4: alignment of the second step's directions, and outliers of W2 from the spike matrix.

`rank_one` is checked as a statement about b_k = (1/n) X^T (y p^k), from data alone; `full` as a statement about W2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from bulkedge.numerics.checks.steps.second_step import ALPHA, NOISE, function, geometry, second_gradient
from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.steps.alignment import float_moments
from bulkedge.numerics.steps.network import Teacher, draw_batch, draw_directions
from bulkedge.numerics.steps.spike_matrix import spike_matrix
from bulkedge.numerics.steps.two_steps import LINKS, SLIGHT, WEAK, Experiment
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.steps.alignment import Geometry
from bulkedge.theory.steps.second_step import Poly, powers_of_p
from bulkedge.theory.steps.setting import readout_moment
from bulkedge.theory.steps.target import AdditiveTarget, label

SOURCE = "T3"


@stream("T3.cross")
def directions(rng: np.random.Generator, size: int, link: str, batch: str) -> dict[str, float]:
    """b_k = (1/n) X^T (y p^k) at d = size, n = 2 d: beta.b_k, |b_k|^2, b_1.b_2 and the cosines, from data alone."""
    teacher = Teacher(draw_directions(size, 1, rng), (LINKS[link],), NOISE)
    n = int(ALPHA * size)
    X, y = draw_batch(teacher, n, rng).arrays()
    X1, y1 = (X, y) if batch == "reused" else draw_batch(teacher, n, rng).arrays()
    p = X @ (X1.T @ y1) / n
    b = np.stack([y * p**k for k in (1, 2)]) @ X / n
    beta = teacher.directions[:, 0]
    result = {"cross": float(b[0] @ b[1])}
    for k in (1, 2):
        result[f"signal{k}"] = float(beta @ b[k - 1])
        result[f"norm{k}"] = float(b[k - 1] @ b[k - 1])
        result[f"cosine{k}"] = result[f"signal{k}"] / float(np.sqrt(result[f"norm{k}"]))
    return result


def limits(link: str, batch: str) -> Geometry:
    """T3's limits for a link at the ledger's ratio and noise."""
    return Geometry(AdditiveTarget((float_moments(LINKS[link], nodes=400),), NOISE**2, float), 1 / ALPHA, batch)


def _p_of(k: int, link: str, batch: str) -> tuple[Geometry, Poly]:
    here = limits(link, batch)
    return here, powers_of_p(k, batch, label(here.target, 1 / ALPHA))


def signal(k: int, link: str, batch: str) -> float:
    """E[z y p^k]."""
    here, F = _p_of(k, link, batch)
    return float(here.signal(F))


def norm2(k: int, link: str, batch: str) -> float:
    """|b_k|^2."""
    here, F = _p_of(k, link, batch)
    return float(here.gram(F, F))


def cosine(k: int, link: str, batch: str) -> float:
    """The cosine between b_k and beta."""
    return float(signal(k, link, batch) / np.sqrt(norm2(k, link, batch)))


def cross(link: str, batch: str) -> float:
    """b_1.b_2."""
    here, F = _p_of(1, link, batch)
    return float(here.gram(F, _p_of(2, link, batch)[1]))


def without_memory(k: int, link: str) -> float:
    """|b_k|^2 of a reused batch with the memory term left out."""
    here, F = _p_of(k, link, "reused")
    return float(here.without_memory(F))


def full_signal(k: int, batch: str, reading: str, mean: float = 0.0) -> float:
    """beta.b_k of a reading for the ledger's activation."""
    return float(geometry(mean, batch).signal(function(k, mean, batch, reading)))


# T4 with two spikes; eta1 a_j of order one and eta2 fixed, so that the spike matrix is fixed up to its first strength.
TWO = Experiment(WEAK, 4.0, (2.5, 10.0), (0.5, 0.0))
# T4 at Lambda = 2: three spikes, all of whose strengths grow.
THREE = Experiment(SLIGHT, 4.0, (7.0, 8.0), (0.4, 0.25))
LARGEST = 420  # of a quick run


@stream("T4.limit")
def second_outlier(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The second singular value of W2 and its left vector against T4.

    `ratio`: over O2's map of the strength of the spike matrix built from the same data (T2's vectors);
    `gap`: squared overlap with that spike minus O2's; `position`: the value itself, for the limit.
    """
    start = TWO.start(rng, size)
    expected = TWO.spikes(start, 2)
    model, found = rectangular(1.0), leading_triples(TWO.train(start), 2)
    overlap = float(found.left[:, 1] @ expected.left[:, 1]) ** 2
    return {
        "position": float(found.values[1]),
        "ratio": float(found.values[1] / model.outlier(expected.strengths)[1]),
        "gap": overlap - float(model.overlap("d", expected.strengths)[1]),
    }


@stream("T4.third.position")
def third_outlier(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The third singular value of W2 at Lambda = 2 over O2's map of the same data's spike matrix (T2's vectors)."""
    start = THREE.start(rng, size)
    expected = rectangular(1.0).outlier(THREE.spikes(start, 3).strengths)[2]
    return {"ratio": float(leading_triples(THREE.train(start), 3).values[2] / expected)}


@stream("T4.third.strength")
def third_strength(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The third strength of the data's spike matrix over that of T3's Gram matrices at this size."""
    found = THREE.spikes(THREE.start(rng, size), 3).strengths[2]
    return {"ratio": float(found) / limit_third(size)}


@functools.cache
def limit_third(size: int, highest: int | None = None) -> float:
    """T4's third strength at a size; `highest` caps the derivatives of sigma in the moments, for a control."""
    return float(THREE.matrix(size, 3, highest).strengths[2])


@functools.cache
def limit_strength(fourth: int = 4) -> float:
    """The second strength of the spike matrix, N to infinity at fixed eta1/sqrt(N) and eta2 (the first one grows).

    `fourth` is the power whose moment stands for E a^4, for a control.
    """
    matrix = spike_matrix(
        TWO.target,
        WEAK.moment,
        lambda p: float(readout_moment("uniform", fourth if p == 4 else p)),
        width=10**8,
        alpha=TWO.ratio,
        steps=TWO.steps(10**8),
        orders=2,
    )
    return float(matrix.strengths[1])


def outlier(strength: float) -> float:
    """O2's map at N = d."""
    return float(rectangular(1.0).outlier(strength))


def _check(
    id: str,
    claim: str,
    predict: Callable[[], float],
    component: str,
    bound: tuple[str, str],
    resolution: float,
    mistake: str,
    wrong: Callable[[], float],
) -> Check:
    trial = functools.partial(directions, link=bound[0], batch=bound[1])
    measure = Ladder(trial, component, (80, 160, 320), 1.0, 60, (200, 400, 800), 200)
    return Check(id, claim, SOURCE, predict, measure, resolution, Control(mistake, wrong))


def _full(id: str, k: int, resolution: float) -> Check:
    return Check(
        id=id,
        claim=f"beta.b_{k} of W2 is E[z F_{k}] with F of the reading full: fresh batch, E y = 1",
        source=SOURCE,
        predict=functools.partial(full_signal, k, "fresh", "full", 1.0),
        measure=Ladder(
            functools.partial(second_gradient, batch="fresh", mean=1.0),
            f"signal{k}",
            sizes=(60, 120, 240),
            rate=1.0,
            trials=24,
            full_sizes=(150, 300, 600),
            full_trials=40,
        ),
        resolution=resolution,
        control=Control("reading rank_one", functools.partial(full_signal, k, "fresh", "rank_one", 1.0)),
    )


def _outlier(
    id: str, claim: str, predict: Callable[[], float], component: str, resolution: float, control: Control
) -> Check:
    # The spike matrix is fixed; what decays is the coupling of spike and bulk, of relative order N^(-1/2).
    measure = Ladder(second_outlier, component, (80, 160, 320), 0.5, 40, (300, 600, 1200), 24)
    return Check(id, claim, "T4, O2", predict, measure, resolution, control)


_p = functools.partial

CHECKS: tuple[Check, ...] = (
    _check(
        "T3.memory",
        "cosine of b_2, reused batch: |b_2|^2 has the memory term",
        _p(cosine, 2, "bounded", "reused"),
        "cosine2",
        ("bounded", "reused"),
        0.04,
        "memory term left out",
        lambda: signal(2, "bounded", "reused") / float(np.sqrt(without_memory(2, "bounded"))),
    ),
    _check(
        "T3.cross",
        "b_1.b_2 of a reused batch",
        _p(cross, "bounded", "reused"),
        "cross",
        ("bounded", "reused"),
        1.05,
        "fresh for reused",
        _p(cross, "bounded", "fresh"),
    ),
    _check(
        "T3.signal.fresh",
        "beta.b_2 of a fresh batch",
        _p(signal, 2, "bounded", "fresh"),
        "signal2",
        ("bounded", "fresh"),
        0.3,
        "reused for fresh",
        _p(signal, 2, "bounded", "reused"),
    ),
    _check(
        "T3.he3.reused.1",
        "odd link of information exponent 3: b_1 of a reused batch is blind to beta",
        _p(cosine, 1, "he3", "reused"),
        "cosine1",
        ("he3", "reused"),
        0.12,
        "k shifted by one",
        _p(cosine, 2, "he3", "reused"),
    ),
    _check(
        "T3.he3.reused.2",
        "odd link of information exponent 3: b_2 of a reused batch is aligned with beta",
        _p(cosine, 2, "he3", "reused"),
        "cosine2",
        ("he3", "reused"),
        0.12,
        "fresh for reused",
        _p(cosine, 2, "he3", "fresh"),
    ),
    _check(
        "T3.he3.fresh.2",
        "odd link of information exponent 3: a fresh batch never sees beta",
        _p(cosine, 2, "he3", "fresh"),
        "cosine2",
        ("he3", "fresh"),
        0.12,
        "reused for fresh",
        _p(cosine, 2, "he3", "reused"),
    ),
    _check(
        "T3.mixed.reused.1",
        "mixed parity, information exponent 2: b_1 of a reused batch is aligned with beta",
        _p(cosine, 1, "mixed", "reused"),
        "cosine1",
        ("mixed", "reused"),
        0.15,
        "fresh for reused",
        _p(cosine, 1, "mixed", "fresh"),
    ),
    _full("T3.full.1", 1, 0.15),
    _full("T3.full.2", 2, 0.13),
    _outlier(
        "T4.position",
        "the second outlier sits at O2's map of the spike matrix's second strength",
        lambda: 1.0,
        "ratio",
        0.07,
        Control("the strength itself, without O2's map", lambda: limit_strength() / outlier(limit_strength())),
    ),
    _outlier(
        "T4.overlap",
        "its left vector turns by O2's overlap",
        lambda: 0.0,
        "gap",
        0.1,
        Control("no turning: overlap 1", lambda: 1 - float(rectangular(1.0).overlap("d", limit_strength()))),
    ),
    _outlier(
        "T4.limit",
        "position of the second outlier from T3's Gram matrix and E a^4",
        lambda: outlier(limit_strength()),
        "position",
        0.3,
        Control("E a^6 in the place of E a^4", lambda: outlier(limit_strength(6))),
    ),
    Check(
        "T4.third.position",
        "Lambda = 2: the third outlier sits at O2's map of the spike matrix's third strength",
        "T4, O2",
        lambda: 1.0,
        # The rows' inflation by the second step decays as N^(2 alpha2 - 1).
        Ladder(third_outlier, "ratio", (140, 280, LARGEST), 0.5, 14, (300, 600, 1200), 16),
        0.24,
        Control(
            "third Hermite coefficient left out: it stays at the bulk's edge",
            lambda: rectangular(1.0).edges[1] / outlier(limit_third(LARGEST)),
        ),
    ),
    Check(
        "T4.third.strength",
        "Lambda = 2: the spike matrix's third strength from T3's Gram matrices and E a^6",
        "T4, T3",
        lambda: 1.0,
        Ladder(third_strength, "ratio", (100, 200, 400), 1.0, 60, (200, 400, 800), 200),
        0.12,
        Control("E[sigma''] in the place of E[sigma^(3)]", lambda: limit_third(400, 2) / limit_third(400)),
    ),
)
