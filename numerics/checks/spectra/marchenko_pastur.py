"""R1 checked on sampled matrices, on both sides of ratio 1; the natural mistake is ratio n/p for p/n."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.numbers.symbols import c, sigma2
from bulkedge.theory.spectra import marchenko_pastur as theory

_SOURCE = "Marchenko & Pastur 1967; Bai & Silverstein 2010, section 3"
_Z = 0.5 + 0.5j  # left of the middle of both bulks, where the one-root branch is wrong


@stream("R1.atom")
def spectrum(rng: np.random.Generator, size: int, ratio: float, scale: float) -> dict[str, float]:
    """Statistics of the spectrum of (1/n) Z^T Z with n = size, p = ratio n and +-1 entries (the law is universal)."""
    n, p = size, round(ratio * size)
    z = np.sqrt(scale) * rng.choice([-1.0, 1.0], (n, p))
    gram = z.T @ z if p <= n else z @ z.T
    nonzero = np.linalg.eigvalsh(gram / n)
    values = np.concatenate([nonzero, np.zeros(p - nonzero.size)])
    return {
        "third": float(np.mean(values**3)),
        "atom": float(np.mean(values < 1e-9 * scale)),
        "below": float(np.mean(values < scale)),
        "re": float(np.mean(1 / (values - _Z)).real),
        "largest": float(values.max()),
    }


@stream("R1.free")
def _free_sum(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The third moment of A + B, independent with ratios 1/2 and 2."""
    total = np.zeros((size, size))
    for ratio in (0.5, 2.0):
        z = rng.standard_normal((round(size / ratio), size))
        total += z.T @ z / len(z)
    return {"third": float(np.trace(total @ total @ total)) / size}


def _free_third(cumulant: Callable[[int], float]) -> float:
    k1, k2, k3 = (cumulant(order) for order in (1, 2, 3))
    return k3 + 3 * k1 * k2 + k1**3


def _cumulants(first: float, second: float) -> Callable[[int], float]:
    def of(order: int) -> float:
        kappa = theory.free_cumulant(order)
        return float(sum(kappa.subs({c: ratio, sigma2: 1}) for ratio in (first, second)))

    return of


def _checks(ids: tuple[str, str, str, str], ratio: float, scale: float) -> tuple[Check, ...]:
    law, exchanged = MarchenkoPastur(ratio, scale), MarchenkoPastur(1 / ratio, scale)
    trial = partial(spectrum, ratio=ratio, scale=scale)

    def check(
        id: str,
        component: str,
        claim: str,
        of: Callable[[MarchenkoPastur], float],
        resolution: float,
        rate: float = 1,
    ) -> Check:
        return Check(
            id=id,
            claim=f"{claim} at ratio {ratio:g}, scale {scale:g}",
            source=_SOURCE,
            predict=partial(of, law),
            measure=Ladder(trial, component, (80, 160, 320), rate, 48, (200, 400, 800), 40),
            resolution=resolution,
            control=Control("ratio `n/p` instead of `p/n`", partial(of, exchanged)),
        )

    moment, cdf, stieltjes, edge = ids
    return (
        # Linear statistics are O(1/n) away; the slower rate is a bound, for the reason given at the edge.
        check(moment, "third", "third moment", lambda m: m.moment(3), 0.08 * law.moment(3), rate=1 / 2),
        check(cdf, "below", "share of eigenvalues below the mean", lambda m: float(m.cdf(scale)), 0.02, rate=1 / 2),
        check(stieltjes, "re", "Re `m(1/2 + i/2)`", lambda m: float(m.stieltjes(_Z).real), 0.02, rate=1 / 2),
        # The mean is n^(-2/3) away from the edge, by several standard errors: with that rate the noise of the fitted
        # term, which goes against the gap's own, would eat into the four standard errors. Half is a bound.
        check(edge, "largest", "largest eigenvalue", lambda m: m.edges[1], 0.1 * law.edges[1], rate=1 / 2),
    )


CHECKS = (
    *_checks(("R1.moment.tall", "R1.cdf.tall", "R1.stieltjes.tall", "R1.edge.tall"), 0.5, 2.0),
    *_checks(("R1.moment.wide", "R1.cdf.wide", "R1.stieltjes.wide", "R1.edge.wide"), 2.0, 0.5),
    Check(
        id="R1.atom",
        claim="share of zero eigenvalues at ratio 2",
        source=_SOURCE,
        predict=lambda: MarchenkoPastur(2.0, 0.5).atom,
        measure=MonteCarlo(partial(spectrum, ratio=2.0, scale=0.5), "atom", 320, 16, 40),
        resolution=0.1,
        control=Control("ratio `n/p` instead of `p/n` (no atom)", lambda: MarchenkoPastur(0.5, 0.5).atom),
    ),
    Check(
        id="R1.free",
        claim="free cumulants add: third moment of `A + B`, ratios 1/2 and 2",
        source="Voiculescu 1986; Nica & Speicher 2006, lecture 12",
        predict=lambda: _free_third(_cumulants(0.5, 2.0)),
        measure=Ladder(_free_sum, "third", (60, 120, 240), 1, 30, (100, 200, 400), 40),
        resolution=2.0,
        control=Control("the second ratio inverted", lambda: _free_third(_cumulants(0.5, 0.5))),
    ),
)
