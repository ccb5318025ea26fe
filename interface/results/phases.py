"""The picture of T1: the number of new outliers over the plane of exponents."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bulkedge.results.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRID = 100  # points per half, at exact fractions
SHOWN = 8  # from here on the counts share a colour


def draw_phases(axes: Any, cap: int | None = None) -> tuple[list[Fraction], np.ndarray]:
    """Lambda, at most `cap`, on a grid of exact exponents, and the lines on which it jumps; the grid and the counts."""
    from matplotlib.colors import BoundaryNorm

    from bulkedge.theory.numbers import symbols as s
    from bulkedge.theory.steps.phases import boundary_lines, phase

    points = [Fraction(i, 2 * GRID) for i in range(GRID)]
    degree = None if cap is None else cap + 1
    counts = np.array([[phase(x, y, degree).Lambda for x in points] for y in points])
    x = [float(v) for v in points]
    most = SHOWN if cap is None else min(SHOWN, max(cap, 1))
    shade = axes.pcolormesh(
        x, x, np.minimum(counts, most), cmap="viridis", norm=BoundaryNorm(np.arange(most + 2) - 0.5, 256),
        shading="nearest", rasterized=True,
    )  # fmt: skip
    bar = axes.figure.colorbar(shade, ax=axes, ticks=range(most + 1), label=r"new outliers $\Lambda$")
    last = rf"$\geq {most}$" if int(counts.max()) > most else str(most)
    bar.ax.set_yticklabels([*map(str, range(most)), last])
    for k, line in enumerate(boundary_lines(most), start=1):
        ends = [float(line.rhs.subs(s.alpha1, at)) for at in (0, 0.5)]
        axes.plot([0, 0.5], ends, color="white", linewidth=1.6 if k == 1 else 0.6)
    # Along the first line, whatever the picture's shape.
    axes.text(0.14, 0.375, r"$\alpha_1 + \alpha_2 = 1/2$", color="white", fontsize=7, ha="center", va="center",
              rotation=-45, rotation_mode="anchor", transform_rotates_text=True)  # fmt: skip
    axes.grid(visible=False)
    axes.set_xlim(0, 0.5)
    axes.set_ylim(0, 0.5)
    axes.set_xlabel(r"$\alpha_1$ (first step $N^{\alpha_1}$)")
    axes.set_ylabel(r"$\alpha_2$ (second step $N^{\alpha_2}$)")
    return points, counts


def phase_figure(cap: int | None, alpha1: float, alpha2: float) -> Figure:
    """`draw_phases` with a point marked."""
    figure, axes = new_figure(5.2, 4.0)
    draw_phases(axes, cap)
    axes.plot([alpha1], [alpha2], "o", color="#D55E00", markeredgecolor="white", clip_on=False)
    return figure
