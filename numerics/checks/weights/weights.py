"""R5 checked on matrices of known content: strengths and overlaps read back, and the fit's p-value under noise."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.special import kolmogorov

from bulkedge.numerics.checks.spectra.edge import second_order as _second_order
from bulkedge.numerics.spectra.edge import outliers_of, squared_singular_values
from bulkedge.numerics.spectra.screenot import hard_threshold
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo
from bulkedge.numerics.trials.stream import stream
from bulkedge.numerics.weights.reduced import reduced
from bulkedge.numerics.weights.weights import WeightSpectrum, analyse

_DRAWS = 19
_ALARM = 0.1
_STRENGTH, _RATIO, _SCALE = 2.5, 1.5, 0.3  # in units of the noise sqrt d scale; N/d; the noise's standard deviation


@stream("R5.overlap")
def _read_back(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Strength (in noise units), squared overlap and corrected overlap of one spike, d = size."""
    shape = (size, round(_RATIO * size))
    u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(shape[0]), rng.standard_normal(shape[1])))
    unit = _SCALE * np.sqrt(size)
    noise = _SCALE * rng.standard_normal(shape)
    report = analyse(noise + _STRENGTH * unit * np.outer(u, v), v, rng=np.random.default_rng(0), draws=1)
    if not report.outliers:
        return {"strength": 0.0, "squared": 0.0, "signal": 0.0}
    own = report.overlaps[0]
    return {"strength": report.strengths[0] / unit, "squared": own.squared, "signal": own.signal}


@stream("R5.fit")
def _null_fit(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The p-value of the fit on uniform noise, size x 3/2 size."""
    return {"p": _p(analyse(rng.uniform(-1, 1, (size, 3 * size // 2)), rng=rng, draws=_DRAWS))}


@stream("R5.fit.spikes")
def _spiked_fit(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The p-value of the fit on Gaussian noise, size x 3/2 size, with size/12 spikes of strength 2 to 4 removed."""
    shape, count = (size, 3 * size // 2), size // 12
    left, right = (np.linalg.qr(rng.standard_normal((side, count)))[0] for side in shape)
    signal = left * np.linspace(2, 4, count) * np.sqrt(size) @ right.T
    return {"p": _p(analyse(rng.standard_normal(shape) + signal, rng=rng, draws=_DRAWS))}


def _p(report: WeightSpectrum) -> float:
    return 0.0 if report.fit is None else report.fit.p


@stream("R5.levels")
def _levelled(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The strength of a spike on the quiet half of the rows, noise levels 1 and 3, over the one put in."""
    shape = (size, 2 * size)
    level = np.where(np.arange(size) < size // 2, 1.0, 3.0)
    u = np.where(level == 1, rng.standard_normal(size), 0.0)
    v = rng.standard_normal(shape[1])
    planted = 4 * np.sqrt(size)
    spike = planted * np.outer(u / np.linalg.norm(u), v / np.linalg.norm(v))
    report = analyse(level[:, None] * rng.standard_normal(shape) + spike, rng=rng, draws=1)
    return {"strength": report.strengths[0] / planted if report.strengths else 0.0}


@stream("R5.alarm.dead")
def _dead_rows(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Whether an outlier is reported in noise, size x 3/2 size, of which three rows in ten are zeros."""
    noise = rng.standard_normal((size, 3 * size // 2))
    noise[: 3 * size // 10] = 0
    return {"alarm": float(outliers_of(reduced(noise).matrix, _ALARM).count > 0)}


def _correlated(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Noise, an AR(1) of coefficient 0.7 over columns, and three spikes above six times white noise's threshold."""
    shape = (size, 3 * size // 2)
    noise = rng.standard_normal(shape)
    for k in range(1, shape[1]):
        noise[:, k] = 0.7 * noise[:, k - 1] + np.sqrt(0.51) * noise[:, k]
    left, right = (np.linalg.qr(rng.standard_normal((side, 3)))[0] for side in shape)
    strengths = (shape[0] * shape[1]) ** 0.25 * np.array([6.0, 7.0, 8.0])
    return np.asarray(noise + left * strengths @ right.T)


@stream("R5.screenot")
def screened(rng: np.random.Generator, size: int) -> dict[str, float]:
    """How many singular values of it pass ScreeNOT's threshold."""
    values = np.sqrt(squared_singular_values(_correlated(rng, size)))
    return {"count": float(hard_threshold(values, 2 / 3).count)}


def _by_marchenko_pastur() -> float:
    """What the edge of Marchenko-Pastur counts in one such matrix."""
    return float(outliers_of(_correlated(np.random.default_rng(0), 90), 0.01, adjust=False).count)


def _share_beyond(size: int) -> float:
    """The threshold is the limit's: of the extrapolated values about one in size passes it at a finite size."""
    return 4 / size


def _finite_rank(size: int) -> float:
    """Spikes are 1/12 of the rows: strengths are read with errors of that order, and the shift moves by half of it."""
    return 1 / 24


def _row_only_p() -> float:
    """The mean p if the spikes' columns stayed in the bulk's law: a shift of all of them at once, next to none."""
    return 1 / (_DRAWS + 1)


@functools.cache
def _outlier() -> float:
    return float(rectangular(_RATIO).outlier(_STRENGTH))


def _naive_p() -> float:
    """What Kolmogorov's law for independent samples would call a typical distance of rigid eigenvalues, 2/size."""
    return float(kolmogorov(2 / np.sqrt(24)))


def _ladder(component: str) -> Ladder:
    return Ladder(_read_back, component, (30, 120), 1, 40, (80, 160, 320), 80)


CHECKS = (
    Check(
        "R5.strength",
        "strength read back from a matrix's leading singular value, in noise units",
        "O2, R3",
        lambda: _STRENGTH,
        _ladder("strength"),
        0.24,
        Control("the singular value itself", _outlier),
    ),
    Check(
        "R5.overlap",
        "squared overlap with the signal's direction, corrected for the vector's turn",
        "O2",
        lambda: 1.0,
        _ladder("signal"),
        0.06,
        Control("uncorrected", lambda: float(rectangular(_RATIO).overlap("N", _STRENGTH))),
    ),
    Check(
        "R5.fit",
        "mean `p`-value of the fit on noise",
        "derived here (numerics/weights/weights.py)",
        lambda: (_DRAWS + 2) / (2 * (_DRAWS + 1)),  # (1 + k)/(draws + 1), k uniform on 0..draws
        MonteCarlo(_null_fit, "p", 24, 160, 800),
        0.2,
        Control("Kolmogorov's law for independent samples", _naive_p),
    ),
    Check(
        "R5.fit.spikes",
        "mean `p`-value of the fit on what six spikes leave of noise",
        "Krein's spectral shift; derived here (numerics/weights/bulk_fit.py)",
        lambda: (_DRAWS + 2) / (2 * (_DRAWS + 1)),
        MonteCarlo(_spiked_fit, "p", 72, 100, 500, _finite_rank),
        0.22,
        Control("the whole noise's law for what is left", _row_only_p),
    ),
    Check(
        "R5.levels",
        "strength of a spike on rows of lower noise level, in the file's units, over the one planted",
        "derived here (numerics/weights/unscaled.py)",
        lambda: 1.0,
        MonteCarlo(_levelled, "strength", 120, 24, 200, lambda size: 1 / size),
        0.05,
        Control("the equalised matrix's own strength", lambda: float(np.sqrt(5.0))),
    ),
    Check(
        "R5.alarm.dead",
        f"false alarms where three rows in ten are zeros, at a rate of {_ALARM}",
        "derived here (numerics/weights/reduced.py)",
        lambda: _ALARM,
        MonteCarlo(_dead_rows, "alarm", 50, 400, 3000, _second_order),
        0.12,
        Control("the zeros counted as noise: alarms always", lambda: 1.0),
    ),
    Check(
        "R5.screenot",
        "mean count of three spikes in correlated noise by ScreeNOT",
        "Donoho, Gavish & Romanov 2023",
        lambda: 3.0,
        MonteCarlo(screened, "count", 90, 160, 600, _share_beyond),
        0.3,
        Control("counted by Marchenko-Pastur's edge", _by_marchenko_pastur),
    ),
)
