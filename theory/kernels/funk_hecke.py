"""Funk-Hecke coefficients of any function, every degree at once: one rule in the angle, rigorously bounded.

eta_l = E[f(t) P_l(t)], t = cos a, a of density sin^(d-2)(a)/B(1/2, (d-1)/2). P_l(cos a) is a mean of cos(m a), m <= l
(Gegenbauer's polynomials have positive Fourier coefficients), and |sin(x + iy)|^2 = sin^2 x + sinh^2 y, so that

    |sin^(d-2)(a) P_l(cos a)| <= (1 - cos^2 x + sinh^2 y)^((d-2)/2) e^(l |y|),   a = x + iy,

holds for all degrees up to l together. Panels shrink to the width 1/sqrt d of the weight by themselves: the cost grows
with log d.

Source: K2; theory.gaussian.gauss_legendre.
"""

from __future__ import annotations

import math
from typing import Any

from flint import acb, arb

from bulkedge.theory.functions.pieces import Piece
from bulkedge.theory.gaussian import gauss_legendre
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.symbols import z


def working_bits(dimension: int, degree: int, log_tolerance: float) -> int:
    """The precision at which `coefficients` works: 1 + sqrt 2 a step in the recurrence at most, and powers of sines."""
    return int(1.45 * -log_tolerance + 1.3 * degree + 3 * math.log2(dimension)) + 64


def coefficients(
    pieces: tuple[Piece, ...], parity: int, dimension: int, degree: int, log_tolerance: float
) -> list[Any]:
    """eta_l, l = 0..degree, of a function given by its pieces, at `working_bits` of precision.

    The error aims at e^log_tolerance. A function with a parity is integrated over t > 0, its other degrees are exact
    zeros. Errors: gauss_legendre.UnresolvedError where it takes too many panels.
    """
    bits = working_bits(dimension, degree, log_tolerance)
    with ball.precision(bits):
        return _coefficients(pieces, parity, dimension, degree, log_tolerance - math.log(4 * len(pieces) + 4), bits)


def _coefficients(
    pieces: tuple[Piece, ...], parity: int, dimension: int, degree: int, log_share: float, bits: int
) -> list[Any]:
    half = arb(1) / 2
    log_norm = (arb(dimension) * half).lgamma() - ((arb(dimension) - 1) * half).lgamma() - arb.pi().log() / 2
    power = arb(dimension - 2)

    def others(real: Any, high: Any) -> Any:
        # On the ellipse |sin|^2 <= 1 - cos^2 + sinh^2 of the height: the weight's growth off the axis, which the number
        # of nodes has to pay for.
        nearest = real.cos().abs_lower()
        log_sine = (1 - nearest * nearest + high.sinh() ** 2).upper().log() * power / 2
        return log_norm + log_sine + degree * high

    sums, missing = [arb(0)] * (degree + 1), arb(0)
    for piece in pieces:
        ends = _angles(piece, bool(parity))
        if piece.expr == 0 or ends is None:
            continue
        # Each piece may miss its share of the tolerance; all of them are added to every degree at the end.
        missing += arb(log_share).exp()
        for panel in gauss_legendre.panels(_of_angle(piece), *ends, others, log_share):
            for a, value in gauss_legendre.nodes(panel, bits):
                _add(sums, a.cos(), value * (log_norm + power * a.sin().log()).exp(), dimension)
    scales = _scales(dimension, degree)
    whole = [s / scale + missing * arb(0, 1) for s, scale in zip(sums, scales, strict=True)]
    if not parity:
        return whole
    return [arb(0) if (parity == 1) == (deg % 2 == 1) else 2 * value for deg, value in enumerate(whole)]


def _angles(piece: Piece, half: bool) -> tuple[Any, Any] | None:
    """The angles of a piece's ends within -1 (or 0) <= t <= 1, or None where nothing is left."""
    low = arb(-1) if piece.lower.is_infinite else ball.constant(piece.lower)
    high = arb(1) if piece.upper.is_infinite else ball.constant(piece.upper)
    bottom = 0 if half else -1
    if not (high > bottom and low < 1):
        return None
    # t falls as the angle grows: the upper end of the piece is the first angle.
    start = arb(0) if high >= 1 else high.acos()
    stop = low.acos() if low > bottom else arb.pi() / 2 if half else arb.pi()
    return start, stop


def _of_angle(piece: Piece) -> Any:
    f = ball.build(piece.expr, z, {})
    return f if isinstance(f, acb) else lambda a, analytic: f(a.cos(), analytic)


def _add(sums: list[Any], t: Any, start: Any, dimension: int) -> None:
    """Add start Q_l(t) for every l, Q_l = c_l P_l, c_l = (d-1) d ... (l+d-3): no division at the nodes.

    (l+d-2) P_{l+1} = (2l+d-2) t P_l - l P_{l-1}, so that Q_{l+1} = (2l+d-2) t Q_l - l (l+d-3) Q_{l-1}; P_1 = t.
    """
    current, following = start, t * start
    for deg in range(len(sums)):
        sums[deg] += current
        step = deg + 1
        before = step * (step + dimension - 3) if step > 1 else 1
        current, following = following, (2 * step + dimension - 2) * t * following - before * current


def _scales(dimension: int, degree: int) -> list[Any]:
    """The c_l of `_add`."""
    scales = [arb(1), arb(1)]
    for deg in range(1, degree):
        scales.append(scales[-1] * (deg + dimension - 2))
    return scales[: degree + 1]
