"""K.kernels and K.decay: dual kernels against the correlation, and their eigenvalues on the sphere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.plotting import line, new_figure, points
from bulkedge.results.result import Table
from bulkedge.theory.kernels.sphere import Eigenvalue, eigenvalues

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.theory.functions.nonlinearity import Nonlinearity

NAMES = ("relu", "abs", "step", "erf", "gelu", "tanh")
DIMENSION, DEGREE = 20, 12


def kernel_figure(
    functions: Sequence[Nonlinearity], s: float = 1.0, t: float = 1.0, other: Nonlinearity | None = None
) -> Figure:
    """kappa(rho)/kappa(1) against rho for unit scales, kappa itself for one function (`other`: with this one)."""
    return _kernels(functions, s, t, other)[0]


def _kernels(
    functions: Sequence[Nonlinearity], s: float, t: float, other: Nonlinearity | None = None
) -> tuple[Figure, Table]:
    from bulkedge.numerics.kernels.kernel_entries import curve
    from bulkedge.theory.numbers.errors import ConvergenceError

    figure, axes = new_figure()
    rows: list[tuple[str, ...]] = []
    for index, f in enumerate(functions):
        r, tolerance = np.linspace(-1, 1, 201), 1e-6
        try:
            kappa = curve(f, r, s, t, tolerance, other)
        except ConvergenceError:  # a kink without a closed form: the series is slow at the two ends
            r, tolerance = r[np.abs(r) < 0.99], 1e-4
            kappa = curve(f, r, s, t, tolerance, other)
        error = repr(tolerance * float(np.max(np.abs(kappa))))  # of the series; closed forms are far better
        shown = kappa / np.max(np.abs(kappa)) if len(functions) > 1 else kappa
        axes.plot(r, shown, **line(index), label=f.name)
        rows += [(f.name, repr(float(x)), repr(float(y)), error) for x, y in zip(r, kappa, strict=True)]
    axes.set_xlabel("correlation")
    axes.set_ylabel("kernel over its value at one" if len(functions) > 1 else "kernel")
    axes.legend()
    return figure, Table(("function", "correlation", "kernel", "error"), tuple(rows))


def decay_figure(spectra: Mapping[str, Sequence[Eigenvalue]], dimension: int) -> Figure:
    """eta_l^2 against the degree, on a logarithmic scale; zeros are left out."""
    return _decay(spectra, dimension)[0]


def _decay(spectra: Mapping[str, Sequence[Eigenvalue]], dimension: int) -> tuple[Figure, Table]:
    figure, axes = new_figure()
    rows: list[tuple[str, ...]] = []
    for index, (name, found) in enumerate(spectra.items()):
        shown = [x for x in found if x.value.value > x.value.error]
        values = [float(x.value) for x in shown]
        axes.semilogy([x.degree for x in shown], values, **line(index) | points(index), label=name)
        rows += [
            (name, str(x.degree), repr(value), x.value.error_string()) for x, value in zip(shown, values, strict=True)
        ]
    axes.set_xlabel("degree")
    axes.set_ylabel("eigenvalue")
    axes.set_title(f"d = {dimension}", fontsize=9)
    axes.legend()
    return figure, Table(("function", "degree", "eigenvalue", "error"), tuple(rows))


def _all_kernels() -> tuple[Figure, Table]:
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    return _kernels(tuple(map(nonlinearity, NAMES)), 1.0, 1.0)


def _all_decays() -> tuple[Figure, Table]:
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    return _decay({name: eigenvalues(nonlinearity(name), DIMENSION, DEGREE) for name in NAMES}, DIMENSION)


FIGURES = (
    Picture(
        "K.kernels",
        "Dual kernels",
        "Closed forms, a series for tanh (nothing is simulated); unit variances; each over its value at correlation "
        "one.",
        _all_kernels,
    ),
    Picture(
        "K.decay",
        "Eigenvalues on the sphere",
        f"Exact or enclosed (nothing is simulated); d = {DIMENSION}, weight uniform on the unit sphere, points on the "
        "unit sphere; zero eigenvalues left out.",
        _all_decays,
    ),
)
