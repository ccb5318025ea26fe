"""Ledger of T3: alignment of the second step's directions with the target.

`rank_one` is checked as a statement about b_k = (1/n) X^T (y p^k), from data alone; `full` as a statement about W2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from bulkedge.numerics.checks.steps.second_step import ALPHA, NOISE, function, geometry, second_gradient
from bulkedge.numerics.steps.alignment import float_moments
from bulkedge.numerics.steps.network import Teacher, draw_batch, draw_directions
from bulkedge.numerics.steps.two_steps import LINKS
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.steps.alignment import Geometry
from bulkedge.theory.steps.second_step import Poly, powers_of_p
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


def _without_memory(k: int, link: str) -> float:
    """|b_k|^2 of a reused batch with the memory term left out."""
    here, F = _p_of(k, link, "reused")
    return float(here.without_memory(F))


def _full_signal(k: int, batch: str, reading: str, mean: float = 0.0) -> float:
    """beta.b_k of a reading for the ledger's activation."""
    return float(geometry(mean, batch).signal(function(k, mean, batch, reading)))


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
        claim=f"`beta.b_{k}` of `W2` is `E[z F_{k}]` with F of the reading full: fresh batch, `E y = 1`",
        source=SOURCE,
        predict=functools.partial(_full_signal, k, "fresh", "full", 1.0),
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
        control=Control("reading rank_one", functools.partial(_full_signal, k, "fresh", "rank_one", 1.0)),
    )


_p = functools.partial

CHECKS: tuple[Check, ...] = (
    _check(
        "T3.memory",
        "cosine of `b_2`, reused batch: `|b_2|^2` has the memory term",
        _p(cosine, 2, "bounded", "reused"),
        "cosine2",
        ("bounded", "reused"),
        0.04,
        "memory term left out",
        lambda: signal(2, "bounded", "reused") / float(np.sqrt(_without_memory(2, "bounded"))),
    ),
    _check(
        "T3.cross",
        "`b_1.b_2` of a reused batch",
        _p(cross, "bounded", "reused"),
        "cross",
        ("bounded", "reused"),
        1.05,
        "fresh for reused",
        _p(cross, "bounded", "fresh"),
    ),
    _check(
        "T3.signal.fresh",
        "`beta.b_2` of a fresh batch",
        _p(signal, 2, "bounded", "fresh"),
        "signal2",
        ("bounded", "fresh"),
        0.3,
        "reused for fresh",
        _p(signal, 2, "bounded", "reused"),
    ),
    _check(
        "T3.he3.reused.1",
        "odd link of information exponent 3: `b_1` of a reused batch is blind to `beta`",
        _p(cosine, 1, "he3", "reused"),
        "cosine1",
        ("he3", "reused"),
        0.12,
        "`k` shifted by one",
        _p(cosine, 2, "he3", "reused"),
    ),
    _check(
        "T3.he3.reused.2",
        "odd link of information exponent 3: `b_2` of a reused batch is aligned with `beta`",
        _p(cosine, 2, "he3", "reused"),
        "cosine2",
        ("he3", "reused"),
        0.12,
        "fresh for reused",
        _p(cosine, 2, "he3", "fresh"),
    ),
    _check(
        "T3.he3.fresh.2",
        "odd link of information exponent 3: a fresh batch never sees `beta`",
        _p(cosine, 2, "he3", "fresh"),
        "cosine2",
        ("he3", "fresh"),
        0.12,
        "reused for fresh",
        _p(cosine, 2, "he3", "reused"),
    ),
    _check(
        "T3.mixed.reused.1",
        "mixed parity, information exponent 2: `b_1` of a reused batch is aligned with `beta`",
        _p(cosine, 1, "mixed", "reused"),
        "cosine1",
        ("mixed", "reused"),
        0.15,
        "fresh for reused",
        _p(cosine, 1, "mixed", "fresh"),
    ),
    Check(
        "T3.even.reused.2",
        "even link of information exponent 2: `b_2` of a reused batch is blind to `beta`, whatever `Lambda`",
        SOURCE,
        _p(cosine, 2, "even", "reused"),
        # No bias: reflecting the samples along beta leaves the labels and turns the sign of beta.b_2.
        MonteCarlo(_p(directions, link="even", batch="reused"), "cosine2", 150, 160, 1600),
        0.12,
        Control("reuse and `Lambda = 2` suffice, as for an odd link of exponent 3", _p(cosine, 2, "he3", "reused")),
    ),
    _full("T3.full.1", 1, 0.15),
    _full("T3.full.2", 2, 0.13),
)
