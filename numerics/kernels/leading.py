"""The leading eigenvalues of k1 over its sectors, whichever route the activation allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from bulkedge.numerics.kernels import spiked_spectrum, truncated_spectrum
from bulkedge.numerics.kernels.spiked_spectrum import Homogeneous, Sector, multiplicity, sector
from bulkedge.numerics.kernels.truncated_spectrum import TruncatedSector, truncated_sector
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.numbers.errors import InputError, PrecisionError

LISTED = 8
_TRUNCATED_DEGREE = 20
_MAX_SECTOR = 12  # no sector beyond is searched for the largest eigenvalues; the errors then hold what it could have


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
    """The largest eigenvalue with its eigenfunction's weights, the second largest, the linear ones, and a list.

    `top` and `second` are the largest of all sectors, counted with their multiplicities (`second` equals a top that is
    not simple); `companion` is the second of the top's own sector and parity.
    Shapes/units: `weights` pairs (degree, weight): components on normalised harmonics for a homogeneous activation,
    the norm of the Hermite-degree part otherwise. `weight_error` bounds each of them.
    `mixing` is tau = <Psi, Y2>/<Psi, Y0> of the largest with its error, where a homogeneous activation's eigenfunction
    is even and about w* and has both.
    """

    activation: Nonlinearity
    top: Value
    second: Value
    companion: Value
    aligned: Value
    orthogonal: Value
    weights: tuple[tuple[int, float], ...]
    weight_error: float
    listed: tuple[Value, ...]
    degree: int
    notes: tuple[str, ...]
    mixing: tuple[float, float] | None = None


def homogeneous(f: Nonlinearity) -> Homogeneous | None:
    """f as right z_+^p + left z_-^p, or None."""
    p = f.homogeneity
    if p is None:
        return None
    from bulkedge.numerics.functions.functions import vectorised

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
            return sector(d, A, B, j, parity, shape, tolerance, LISTED)
        return truncated_sector(d, A, B, f, j, parity, _TRUNCATED_DEGREE)

    parts, beyond = _searched(d, solve, _trace(d, A, B, f, shape))
    # On the circle the functions orthogonal to the spike are even or odd, and that is all.
    last = min(sectors, 1) if d == 2 else sectors
    shown = {(j, q): parts.get((j, q)) or solve(j, q) for j in range(last + 1) for q in (0, 1)}
    # The orthogonal linear functions live in sector 1, whether or not the search went there.
    tilted = parts.get((1, 0)) or solve(1, 0)
    # A + B is rounded before it is used, relatively by this much where they cancel; an eigenvalue feels a power of it.
    rounding = 2.0**-52 * max(2.0, shape.power if shape else 2.0) * (A + abs(B)) / (A + B)
    ranked = _ranked((parts | shown).values(), rounding)
    best = (parts | shown)[ranked[0].sector, ranked[0].parity]
    # A sector that was not solved could still hold something between: its bound is part of the error.
    top, second = (replace(v, error=max(v.error, beyond - v.value)) for v in ranked[:2])
    companion = _rounded(_value(best, 1), rounding)
    # Davis-Kahan: an eigenvector turns by the error of the matrix over the gap to the rest of its sector.
    weight_error = min(1.0, 2 * top.error / max(top.value - companion.value, 1e-300))
    return Leading(
        f,
        top,
        second,
        companion,
        _rounded(_linear(f, parts[0, 1], A + B, d, 0), rounding),
        _rounded(_linear(f, tilted, A, d, 1), rounding),
        _weights(best, degree),
        weight_error,
        tuple(v for v in ranked if (v.sector, v.parity) in shown and v.value > 0)[:LISTED],
        int(best.degrees[-1]) if isinstance(best, Sector) else int(best.basis[-1, 0]),
        _notes(shape, f) + _ranks(top, second),
        _mixing(best, weight_error),
    )


def _mixing(part: Sector | TruncatedSector, error: float) -> tuple[float, float] | None:
    """tau of the part's first eigenfunction; the error of a quotient of two weights, each known to `error`."""
    if not isinstance(part, Sector) or (part.j, part.parity) != (0, 0) or list(part.degrees[:2]) != [0, 2]:
        return None
    zero, two = float(part.vectors[0, 0]), float(part.vectors[1, 0])
    # A quotient by a weight that may vanish has no error worth stating.
    if abs(zero) <= 2 * error:
        return None
    tau = two / zero
    return tau, (1 + abs(tau)) * error / (abs(zero) - error) + 4e-16 * abs(tau)


def _searched(
    d: int, solve: Callable[[int, int], Sector | TruncatedSector], trace: float
) -> tuple[dict[tuple[int, int], Sector | TruncatedSector], float]:
    """Sectors j = 0, 1, ... until none beyond can hold the largest two, and a bound of what one beyond could hold.

    The eigenvalues of sector j occur multiplicity(d - 1, j) times, which does not fall with j: each is at most what the
    sectors before leave of the trace, over the next multiplicity. A truncated sector's sum is a lower bound of its own.
    """
    parts: dict[tuple[int, int], Sector | TruncatedSector] = {}
    # A hair more than the trace, whose own rounding must not exclude a sector.
    rest, j = trace * (1 + 1e-12), 0
    while True:
        for q in (0, 1):
            try:
                parts[j, q] = part = solve(j, q)
            except PrecisionError:
                if j < 2:
                    raise
                return parts, max(rest, 0.0) / multiplicity(d - 1, j)  # what its degrees do not resolve is bounded
            rest -= part.multiplicity * float(np.sum(part.eigenvalues))
        copies = multiplicity(d - 1, j + 1)
        beyond = max(rest, 0.0) / copies if copies else 0.0
        if beyond <= _ranked(parts.values(), 0.0)[1].value or j == _MAX_SECTOR:
            return parts, beyond
        j += 1


def _trace(d: int, A: float, B: float, f: Nonlinearity, shape: Homogeneous | None) -> float:
    """E sigma(w.x)^2, the sum of all eigenvalues."""
    if shape is not None:
        spiked_spectrum.check_inputs(d, A, B, shape)
        return spiked_spectrum.mean_square(d, A, B, shape)
    return truncated_spectrum.mean_square(d, A, B, f, _TRUNCATED_DEGREE)


def _ranked(parts: Iterable[Sector | TruncatedSector], rounding: float) -> list[Value]:
    """The sectors' leading eigenvalues, descending, as often as they occur (twice is enough); at least two entries."""
    # Twice in the list is enough: only the two largest are asked for.
    values = sorted((_rounded(v, rounding) for p in parts for v in _values(p)), key=lambda v: -v.value)
    if not values or (len(values) == 1 and values[0].multiplicity == 1):
        values.append(Value(0.0, 0.0, 1, 0, 0))
    return [values[0], *values] if values[0].multiplicity > 1 else values


def _ranks(top: Value, second: Value) -> tuple[str, ...]:
    if second.value == 0:
        return ("second is 0: the kernel has one eigenvalue, and it is simple",)
    notes = []
    if top.multiplicity > 1:
        notes.append(f"the largest eigenvalue occurs {top.multiplicity} times, so that the second equals it")
    if top.sector > 0:
        notes.append(f"the largest eigenvalue lies in sector {top.sector}: the weights are those of that sector")
    return tuple(notes)


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
    # Several basis functions share a Hermite degree; their weights are one norm.
    squares: dict[int, float] = {}
    for (k, _), w in zip(part.basis, part.vectors[:, 0], strict=True):
        squares[int(k)] = squares.get(int(k), 0.0) + float(w) ** 2
    return tuple((k, math.sqrt(value)) for k, value in squares.items() if k <= degree)


def _notes(shape: Homogeneous | None, f: Nonlinearity) -> tuple[str, ...]:
    if shape is None:
        degrees = f"Hermite degree {_TRUNCATED_DEGREE}"
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
