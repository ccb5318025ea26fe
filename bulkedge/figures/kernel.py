"""K.kernels and K.decay: dual kernels against the correlation, and their eigenvalues on the sphere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.plotting import PALETTE, new_figure
from bulkedge.result import Table
from theory.sphere import Eigenvalue, eigenvalues

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from theory.nonlinearity import Nonlinearity

NAMES = ("relu", "abs", "step", "erf", "gelu", "tanh")
DIMENSION, DEGREE = 20, 12


def kernel_figure(functions: Sequence[Nonlinearity], s: float = 1.0, t: float = 1.0) -> Figure:
    """kappa(rho)/kappa(1) against rho for unit scales, kappa itself for one function."""
    return _kernels(functions, s, t)[0]


def _kernels(functions: Sequence[Nonlinearity], s: float, t: float) -> tuple[Figure, Table]:
    from numerics.dual_kernel import curve
    from theory.errors import ConvergenceError

    figure, axes = new_figure()
    rows: list[tuple[str, ...]] = []
    for index, f in enumerate(functions):
        r = np.linspace(-1, 1, 201)
        try:
            kappa = curve(f, r, s, t)
        except ConvergenceError:  # a kink without a closed form: the series is slow at the two ends
            r = r[np.abs(r) < 0.99]
            kappa = curve(f, r, s, t, tolerance=1e-4)
        shown = kappa / np.max(np.abs(kappa)) if len(functions) > 1 else kappa
        axes.plot(r, shown, color=PALETTE[index % len(PALETTE)], label=f.name)
        rows += [(f.name, repr(float(x)), repr(float(y))) for x, y in zip(r, kappa, strict=True)]
    axes.set_xlabel("correlation")
    axes.set_ylabel("kernel over its value at one" if len(functions) > 1 else "kernel")
    axes.legend()
    return figure, Table(("function", "correlation", "kernel"), tuple(rows))


def decay_figure(spectra: Mapping[str, Sequence[Eigenvalue]], dimension: int) -> Figure:
    """eta_l^2 against the degree, on a logarithmic scale; zeros are left out."""
    return _decay(spectra, dimension)[0]


def _decay(spectra: Mapping[str, Sequence[Eigenvalue]], dimension: int) -> tuple[Figure, Table]:
    figure, axes = new_figure()
    rows: list[tuple[str, ...]] = []
    for index, (name, found) in enumerate(spectra.items()):
        points = [(x.degree, float(x.value)) for x in found if x.value.value > x.value.error]
        axes.semilogy(*zip(*points, strict=True), "o-", color=PALETTE[index % len(PALETTE)], label=name, markersize=3)
        rows += [(name, str(degree), repr(value)) for degree, value in points]
    axes.set_xlabel("degree")
    axes.set_ylabel("eigenvalue")
    axes.set_title(f"d = {dimension}")
    axes.legend()
    return figure, Table(("function", "degree", "eigenvalue"), tuple(rows))


def _all_kernels() -> tuple[Figure, Table]:
    from theory.nonlinearity import nonlinearity

    return _kernels(tuple(map(nonlinearity, NAMES)), 1.0, 1.0)


def _all_decays() -> tuple[Figure, Table]:
    from theory.nonlinearity import nonlinearity

    return _decay({name: eigenvalues(nonlinearity(name), DIMENSION, DEGREE) for name in NAMES}, DIMENSION)


FIGURES = (
    Picture("K.kernels", "Dual kernels", "Unit variances; each over its value at correlation one.", _all_kernels),
    Picture(
        "K.decay",
        "Eigenvalues on the sphere",
        f"d = {DIMENSION}, weight uniform on the unit sphere, points on the unit sphere; zero eigenvalues left out.",
        _all_decays,
    ),
)
