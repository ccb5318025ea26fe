"""Two small pictures as inline SVG: predicted against measured, and the convergence over sizes."""

from __future__ import annotations

import math
from html import escape

from bulkedge.numerics.trials.check import CheckResult, Rate
from bulkedge.results.number import short

WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 320, 150, 54, 12, 10, 26


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
    """Measured with its margin (bar), predicted (line in a band of the resolution), the control's wrong prediction.

    The scale is that of the errors that matter; a wrong prediction beyond it is an arrow at the edge.
    """
    value, margin, predicted = result.measured.value, result.measured.margin, result.predicted
    resolution, wrong = result.check.resolution, result.control_predicted
    half = max(2.5 * resolution, 1.1 * (abs(value - predicted) + margin))
    axis = _Axis([predicted - half, predicted + half], 14, WIDTH - 14, log=False)
    y, base = 32.0, 54.0
    left, right = axis(predicted - resolution), axis(predicted + resolution)
    body = f'<rect x="{left}" y="{y - 12}" width="{round(right - left, 1)}" height="{base - y + 12}" class="band"/>'
    body += _line(8, base, WIDTH - 8, base, "axis") + _line(axis(predicted), y - 14, axis(predicted), base, "predicted")
    side = "end" if wrong > predicted else "start"
    edge = WIDTH - 8 if wrong > predicted else 8
    if abs(wrong - predicted) <= half:
        body += _line(axis(wrong), y - 8, axis(wrong), base, "wrong")
    else:
        tip = 10 if wrong > predicted else -10
        body += f'<path d="M{edge} {y}l{-tip} -6v12z" class="arrow"/>'
        body += _line(edge - 3.5 * tip, y, edge - tip, y, "wrong")
    body += _line(axis(value - margin), y, axis(value + margin), y, "measured")
    for end in (value - margin, value + margin):
        body += _line(axis(end), y - 5, axis(end), y + 5, "measured")
    body += f'<circle cx="{axis(value)}" cy="{y}" r="4" class="measured"/>'
    body += _label(min(max(axis(value), 60), WIDTH - 60), 12, f"measured {short(value, 6)}")
    body += _label(axis(predicted), base + 15, f"predicted {short(predicted, 6)}")
    body += _label(edge, base + 29, f"control {short(wrong, 6)}", side)
    name = (
        f"{result.check.id}: predicted {short(predicted, 6)}, measured {short(value, 6)} with margin "
        f"{short(margin, 2)}, the control's wrong prediction {short(wrong, 6)}"
    )
    return _frame(name, 90, body)


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
    x = _Axis([p.size for p in points], _LEFT, WIDTH - _RIGHT, log=True)
    y = _Axis([*bars, *tops, *targets], _HEIGHT - _BOTTOM, _TOP, log=rate)
    body = _line(_LEFT, _HEIGHT - _BOTTOM, WIDTH - _RIGHT, _HEIGHT - _BOTTOM, "axis") + _line(
        _LEFT, _TOP, _LEFT, _HEIGHT - _BOTTOM, "axis"
    )
    path = " ".join(f"{x(p.size)},{y(t)}" for p, t in zip(points, targets, strict=True))
    body += f'<polyline points="{path}" class="predicted"/>'
    for p, low, high in zip(points, bars, tops, strict=True):
        body += _line(x(p.size), y(low), x(p.size), y(high), "measured")
        body += f'<circle cx="{x(p.size)}" cy="{y(p.mean)}" r="3.5" class="measured"/>'
        body += _label(x(p.size), _HEIGHT - _BOTTOM + 14, str(p.size))
    body += _label(_LEFT - 4, _HEIGHT - _BOTTOM + 14, "size", "end")
    bottom, top = min(*bars, *targets), max(*tops, *targets)
    body += _label(_LEFT - 4, y(bottom) + 3, short(bottom, 3), "end") + _label(
        _LEFT - 4, y(top) + 3, short(top, 3), "end"
    )
    values = ", ".join(f"{short(p.mean)} at {p.size}" for p in points)
    what = f"slope {short(result.predicted)}" if rate else short(result.predicted)
    return _frame(f"{result.check.id}: {values}; predicted {what}", _HEIGHT, body)
