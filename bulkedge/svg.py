"""Two small pictures as inline SVG: predicted against measured, and the convergence over sizes."""

from __future__ import annotations

import math
from html import escape

from numerics.check import CheckResult, Rate

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 320, 150, 54, 12, 10, 26


class _Axis:
    """A linear or logarithmic axis from data to pixels."""

    def __init__(self, values: list[float], start: float, end: float, log: bool) -> None:
        self._log = log
        values = [self._of(v) for v in values]
        low, high = min(values), max(values)
        pad = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
        self._low, self._high, self._start, self._end = low - pad, high + pad, start, end

    def _of(self, value: float) -> float:
        return math.log(value) if self._log else value

    def __call__(self, value: float) -> float:
        share = (self._of(value) - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)


def _frame(name: str, height: int, body: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape(name)}"><title>{escape(name)}</title>{body}</svg>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{kind}"/>'


def _label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def comparison(result: CheckResult) -> str:
    """Measured with its margin (bar), predicted (line) and the negative control's wrong prediction (dashed)."""
    value, margin = result.measured.value, result.measured.margin
    ends = [value - margin, value + margin, result.predicted, result.control_predicted]
    axis = _Axis(ends, 14, WIDTH - 14, log=False)
    y = 34.0
    body = _line(8, y + 16, WIDTH - 8, y + 16, "axis")
    body += _line(axis(result.control_predicted), 16, axis(result.control_predicted), y + 16, "wrong")
    body += _line(axis(result.predicted), 10, axis(result.predicted), y + 16, "predicted")
    body += _line(axis(value - margin), y, axis(value + margin), y, "measured")
    body += f'<circle cx="{axis(value)}" cy="{y}" r="4" class="measured"/>'
    body += _label(8, y + 31, f"{min(ends):.4g}", "start") + _label(WIDTH - 8, y + 31, f"{max(ends):.4g}", "end")
    name = (
        f"{result.check.id}: predicted {result.predicted:.6g}, measured {value:.6g} with margin {margin:.2g}, "
        f"the control's wrong prediction {result.control_predicted:.6g}"
    )
    return _frame(name, 70, body)


def convergence(result: CheckResult) -> str:
    """The means by size with error bars of two standard errors, and the prediction (for a rate: its slope)."""
    points = result.points
    if len(points) < 2:
        return ""
    rate = isinstance(result.check.measure, Rate)
    last = points[-1]
    targets = [last.mean * (p.size / last.size) ** result.predicted if rate else result.predicted for p in points]
    bars = [(max(p.mean - 2 * p.stderr, 0.3 * p.mean) if rate else p.mean - 2 * p.stderr) for p in points]
    tops = [p.mean + 2 * p.stderr for p in points]
    x = _Axis([p.size for p in points], LEFT, WIDTH - RIGHT, log=True)
    y = _Axis([*bars, *tops, *targets], HEIGHT - BOTTOM, TOP, log=rate)
    body = _line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "axis") + _line(
        LEFT, TOP, LEFT, HEIGHT - BOTTOM, "axis"
    )
    path = " ".join(f"{x(p.size)},{y(t)}" for p, t in zip(points, targets, strict=True))
    body += f'<polyline points="{path}" class="predicted"/>'
    for p, low, high in zip(points, bars, tops, strict=True):
        body += _line(x(p.size), y(low), x(p.size), y(high), "measured")
        body += f'<circle cx="{x(p.size)}" cy="{y(p.mean)}" r="3.5" class="measured"/>'
        body += _label(x(p.size), HEIGHT - BOTTOM + 14, str(p.size))
    bottom, top = min(*bars, *targets), max(*tops, *targets)
    body += _label(LEFT - 4, y(bottom) + 3, f"{bottom:.3g}", "end") + _label(LEFT - 4, y(top) + 3, f"{top:.3g}", "end")
    values = ", ".join(f"{p.mean:.4g} at {p.size}" for p in points)
    what = f"slope {result.predicted:.4g}" if rate else f"{result.predicted:.4g}"
    return _frame(f"{result.check.id}: {values}; predicted {what}", HEIGHT, body)
