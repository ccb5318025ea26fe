"""The leading eigenvalues of k1 over its sectors, whichever route the activation allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from numerics.spiked_spectrum import Homogeneous, Sector, multiplicity, sector
from numerics.truncated_spectrum import TruncatedSector, truncated_sector
from theory.errors import InputError
from theory.nonlinearity import Nonlinearity

LISTED = 8
TRUNCATED_DEGREE = 20


@dataclass(frozen=True)
class Value:
    """An eigenvalue, a bound of its error, its multiplicity, and the sector and parity it belongs to."""

    value: float
    error: float
    multiplicity: int
    sector: int
    parity: int


@dataclass(frozen=True)
class Leading:
    """The largest eigenvalue with its eigenfunction's weights, the second of its sector, the linear ones, and a list.

    Shapes/units: `weights` pairs (degree, weight): components on normalised harmonics for a homogeneous activation,
    the norm of the Hermite-degree part otherwise. `weight_error` bounds each of them.
    """

    activation: Nonlinearity
    top: Value
    second: Value
    aligned: Value
    orthogonal: Value
    weights: tuple[tuple[int, float], ...]
    weight_error: float
    listed: tuple[Value, ...]
    degree: int
    notes: tuple[str, ...]


def homogeneous(f: Nonlinearity) -> Homogeneous | None:
    """f as right z_+^p + left z_-^p, or None."""
    p = f.homogeneity
    if p is None:
        return None
    from numerics.functions import vectorised

    left, right = vectorised(f)(np.array([-1.0, 1.0]))
    return Homogeneous(float(p), float(right), float(left))


def leading(
    d: int,
    A: float,
    B: float,
    f: Nonlinearity,
    tolerance: float = 3e-11,
    degree: int = 8,
    sectors: int = 0,
) -> Leading:
    """The leading eigenvalues; see Leading.

    Accuracy: the errors in the values; a weight's error from the eigenvalue's, divided by the gap to the second.
    Errors: InputError for the zero activation, and where `sector` refuses.
    Source: G6.
    """
    if f.is_zero:
        raise InputError("activation", "it vanishes", "give one that does not")
    shape = homogeneous(f)

    def solve(j: int, parity: int) -> Sector | TruncatedSector:
        if shape is not None:
            return sector(d, A, B, j, parity, shape, tolerance)
        return truncated_sector(d, A, B, f, j, parity, TRUNCATED_DEGREE)

    count = min(sectors, 1) if d == 2 else sectors
    parts = {(j, q): solve(j, q) for j in range(max(count, 0) + 1) for q in (0, 1)}
    best = max((parts[0, 0], parts[0, 1]), key=lambda p: p.eigenvalues[0] if p.eigenvalues.size else -1.0)
    tilted = parts[1, 0] if (1, 0) in parts else solve(1, 0)
    # A + B is rounded before it is used, relatively by this much where they cancel; an eigenvalue feels a power of it.
    rounding = 2.0**-52 * max(2.0, shape.power if shape else 2.0) * (A + abs(B)) / (A + B)
    values = sorted((_rounded(v, rounding) for p in parts.values() for v in _values(p)), key=lambda v: -v.value)
    top = _rounded(_value(best, 0), rounding)
    second = _rounded(_value(best, 1), rounding)
    return Leading(
        f,
        top,
        second,
        _rounded(_linear(f, parts[0, 1], A + B, d, 0), rounding),
        _rounded(_linear(f, tilted, A, d, 1), rounding),
        _weights(best, degree),
        min(1.0, 2 * top.error / max(top.value - second.value, 1e-300)),
        tuple(values[:LISTED]),
        int(best.degrees[-1]) if isinstance(best, Sector) else int(best.basis[-1, 0]),
        _notes(shape, f) + _alone(best),
    )


def _alone(best: Sector | TruncatedSector) -> tuple[str, ...]:
    if best.eigenvalues.size > 1:
        return ()
    return (
        "second is 0: the top eigenfunction is alone in its sector and parity, where the activation has one degree",
    )


def _value(part: Sector | TruncatedSector, i: int) -> Value:
    if i >= part.eigenvalues.size:
        return Value(0.0, 0.0, part.multiplicity, part.j, part.parity)
    return Value(float(part.eigenvalues[i]), float(part.errors[i]), part.multiplicity, part.j, part.parity)


def _rounded(value: Value, relative: float) -> Value:
    return replace(value, error=value.error + relative * abs(value.value))


def _values(part: Sector | TruncatedSector) -> list[Value]:
    return [_value(part, i) for i in range(min(LISTED, part.eigenvalues.size))]


def _linear(f: Nonlinearity, part: Sector | TruncatedSector, variance: float, d: int, j: int) -> Value:
    """The linear functions' eigenvalue: c_1^2 variance/d for a degree-one homogeneous sigma, else the part's first."""
    shape = homogeneous(f)
    if shape is not None and shape.power == 1:
        value = ((shape.right - shape.left) / 2) ** 2 * variance / d
        return Value(value, 1e-15 * value, multiplicity(d - 1, j), j, 1 - j)
    return _value(part, 0)


def _weights(part: Sector | TruncatedSector, degree: int) -> tuple[tuple[int, float], ...]:
    if isinstance(part, Sector):
        column = part.vectors[:, 0] * (1.0 if part.vectors[0, 0] >= 0 else -1.0)
        return tuple((int(l), float(w)) for l, w in zip(part.degrees, column, strict=True) if l <= degree)
    squares: dict[int, float] = {}
    for (k, _), w in zip(part.basis, part.vectors[:, 0], strict=True):
        squares[int(k)] = squares.get(int(k), 0.0) + float(w) ** 2
    return tuple((k, math.sqrt(value)) for k, value in squares.items() if k <= degree)


def _notes(shape: Homogeneous | None, f: Nonlinearity) -> tuple[str, ...]:
    if shape is None:
        degrees = f"Hermite degree {TRUNCATED_DEGREE}"
        return (
            f"not homogeneous: the operator is cut at {degrees}; a weight is the norm of the part of that degree",
            "linear: the first eigenvalues of the sectors that hold the linear functions",
        )
    notes = ["exact at this d and B: derived and checked against quadrature in d = 2, 3 and Monte Carlo"]
    if shape.power == 1:
        notes.append("linear functions are exact eigenfunctions at every B")
    else:
        notes.append("linear: the first eigenvalues of the sectors that hold the linear functions")
    return tuple(notes)
