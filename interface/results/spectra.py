"""Pictures of spectra: a histogram, the law over it, and predicted outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv

from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur, SingularValueLaw
from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw
from bulkedge.numerics.spectra.spike import covariance, rectangular, wigner, wishart
from bulkedge.results.number import short
from bulkedge.results.plotting import new_figure, to_the_edges

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from bulkedge.numerics.weights.weights import WeightSpectrum

_SIDE = 1200  # of the larger side of a simulated matrix: a second or two of work
_FEWEST = 40  # singular values that make a histogram


def _sizes(ratio: float) -> tuple[int, int]:
    """(other side, side of `ratio` times it), the larger being _SIDE."""
    if ratio <= 1:
        return _SIDE, max(1, round(_SIDE * ratio))
    return max(1, round(_SIDE / ratio)), _SIDE


def draw_spectrum(
    axes: Any,
    values: NDArray[np.float64],
    law: MarchenkoPastur | SingularValueLaw | Semicircle,
    outliers: Sequence[float] = (),
    *,
    histogram: str = "simulated",
    marked: str = "predicted outlier",
) -> None:
    """The histogram of the non-zero values, normalised to the law's continuous mass, the law, and outliers as lines."""
    lower, upper = law.edges
    mass = 1 - law.atom
    if values.size >= _FEWEST:
        right = max([upper, *outliers, float(values.max())])
        left = min([lower, *outliers, float(values.min())])
        width = (upper - lower) / 50
        bins = np.arange(left - width, right + 2 * width, width)
        weights = np.full(values.size, mass / values.size / width)
        axes.hist(values, bins=bins, weights=weights, color="#56B4E9", label=histogram)
    grid = to_the_edges(lower, upper, 400)
    axes.plot(
        grid,
        law.pdf(grid),
        color="#000000",
        lw=1.3,
        label="semicircle" if isinstance(law, Semicircle) else "Marchenko-Pastur",
    )
    for index, value in enumerate(outliers):
        axes.axvline(value, color="#D55E00", ls="--", lw=1.2, label=None if index else marked)
    # The density at ratio 1 is unbounded at 0; the picture need not be.
    inner = law.pdf(law.ppf(law.atom + mass * np.linspace(0.02, 0.98, 25)))
    axes.set_ylim(0, 1.4 * float(inner.max()))
    axes.set_ylabel("density")
    axes.legend(fontsize=8, frameon=False)


def mp_figure(ratio: float, scale: float, seed: int = 0) -> Figure:
    """The eigenvalues of one simulated (1/n) Z^T Z, Z Gaussian, and the law."""
    n, p = _sizes(ratio)
    z = np.sqrt(scale) * np.random.default_rng(seed).standard_normal((n, p))
    gram = z.T @ z if p <= n else z @ z.T
    law = MarchenkoPastur(ratio, scale)
    figure, axes = new_figure()
    draw_spectrum(axes, np.linalg.eigvalsh(gram / n), law)
    atom = f", atom {short(law.atom, 3)} at 0" if law.atom else ""
    axes.set_xlabel("eigenvalue")
    axes.set_title(f"ratio {ratio:g}, n = {n}, p = {p}{atom}", fontsize=9)
    return figure


def population_figure(ratio: float, values: Sequence[float], weights: Sequence[float], seed: int = 0) -> Figure:
    """The eigenvalues of one simulated sample covariance of a discrete population, and the law of every component."""
    n, p = _sizes(ratio)
    levels = np.repeat(values, np.diff(np.round(np.cumsum([0.0, *weights]) * p).astype(int)))
    z = np.random.default_rng(seed).standard_normal((n, p)) * np.sqrt(levels)
    spectrum = np.linalg.eigvalsh(z.T @ z / n if p <= n else z @ z.T / n)
    law = GeneralLaw(DiscretePopulation.of(values, weights), ratio)
    spectrum = spectrum[spectrum > 1e-9 * law.edges[-1][1]]
    figure, axes = new_figure()
    low, high = law.edges[0][0], law.edges[-1][1]
    bins = np.linspace(low - 0.02 * (high - low), high + 0.02 * (high - low), 90)
    share = np.full(spectrum.size, spectrum.size / p / spectrum.size / (bins[1] - bins[0]))
    axes.hist(spectrum, bins=bins, weights=share, color="#56B4E9", label="simulated")
    for index, (lower, upper) in enumerate(law.edges):
        grid = to_the_edges(lower, upper, 300)
        axes.plot(grid, law.pdf(grid), color="#000000", lw=1.3, label=None if index else "general law")
    axes.set_xlabel("eigenvalue")
    axes.set_ylabel("density")
    axes.set_title(f"ratio {ratio:g}, {len(law.edges)} components, n = {n}, p = {p}", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    return figure


def spike_figure(ensemble: str, ratio: float, strength: float, seed: int = 0) -> Figure:
    """One simulated spiked matrix of the ensemble: its spectrum, the bulk's law, and the predicted outlier."""
    rng = np.random.default_rng(seed)
    d, width = _sizes(ratio)
    law: MarchenkoPastur | SingularValueLaw | Semicircle
    if ensemble == "rectangular":
        u, v = (side / np.linalg.norm(side) for side in (rng.standard_normal(d), rng.standard_normal(width)))
        matrix = rng.standard_normal((d, width)) / np.sqrt(d) + strength * np.outer(u, v)
        values = np.linalg.svd(matrix, compute_uv=False)
        model, law, name = rectangular(ratio), MarchenkoPastur(ratio).singular_values(), "singular value"
    elif ensemble == "covariance":
        data = rng.standard_normal((d, width))
        data[:, 0] *= np.sqrt(strength)
        gram = data.T @ data if width <= d else data @ data.T
        values, model, law, name = np.linalg.eigvalsh(gram / d), covariance(ratio), MarchenkoPastur(ratio), "eigenvalue"
    elif ensemble == "wishart":
        data = rng.standard_normal((d, width))
        gram = data.T @ data / d
        gram[0, 0] += strength
        values, model, law, name = np.linalg.eigvalsh(gram), wishart(ratio), MarchenkoPastur(ratio), "eigenvalue"
        values = values[np.abs(values) > 1e-9]  # the law's density, and so the histogram, is that of the rest
    else:
        noise = rng.standard_normal((d, d)) / np.sqrt(2 * d)
        noise[0, 0] += strength / 2
        values, model, law, name = np.linalg.eigvalsh(noise + noise.T), wigner(), Semicircle(), "eigenvalue"
    outliers = [float(model.outlier(strength))] if model.above(strength) else []
    figure, axes = new_figure()
    draw_spectrum(axes, values, law, outliers)
    axes.set_xlabel(name)
    axes.set_title(f"{ensemble}, strength {strength:g}, {d} x {width}", fontsize=9)
    return figure


@dataclass(frozen=True)
class Semicircle:
    """The semicircle law on [-2, 2], as far as a picture needs it."""

    edges: tuple[float, float] = (-2.0, 2.0)
    atom: float = 0.0

    def pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """sqrt(4 - x^2)/(2 pi)."""
        return np.sqrt(np.maximum(4 - x**2, 0.0)) / (2 * np.pi)

    def ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Quantiles (a semicircle is a shifted beta law)."""
        return 4 * np.asarray(betaincinv(1.5, 1.5, q)) - 2


_FEW = 12  # outliers that are told apart as lines; more are ticks on the axis


def weights_figure(report: WeightSpectrum) -> Figure:
    """The singular values of a user's matrix, the law of its noise, and the outliers found."""
    count = len(report.outliers)
    law = report.law.singular_values()
    figure, axes = new_figure()
    # The histogram is that of the bulk; the outliers, few among many, are marked above the axis.
    lines = report.outliers if count <= _FEW else ()
    bulk = np.sort(report.values)[: len(report.values) - count]
    draw_spectrum(axes, bulk, law, lines, histogram="bulk", marked="outlier found")
    if count > _FEW:
        rug, height = np.array(report.outliers), 0.04 * axes.get_ylim()[1]
        axes.vlines(rug, 0, height, color="#D55E00", lw=0.8, label=f"{count} values beyond the edge")
        if rug[0] > 4 * report.edge:  # a few far ones must not squeeze the bulk into a corner
            axes.set_xscale("log")
        axes.legend(fontsize=8, frameon=False)
    axes.set_xlabel("singular value")
    fits = "no bulk left to test"
    if report.fit is not None:
        fits = f"Marchenko-Pastur {'fits' if report.trusted else 'does not fit'} (p = {short(report.fit.p, 2)})"
    axes.set_title(f"{report.shape[0]} x {report.shape[1]}: {fits}", fontsize=9)
    return figure
