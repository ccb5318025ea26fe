"""E[f(u) g(v)] for any two functions in floats, by quadrature in the plane: the twin of theory.gaussian.plane.

With u = s x and v = t (r x + c w), x and w independent, the integral is taken over x and, for each x, over w. Both are
cut into panels on which everything is smooth: at the kinks, where f or g varies (`resolved` finds these places), and,
in x, across the transitions of width c/r that a kink of g leaves once it is averaged over w. No term is larger than
the functions themselves, so nothing cancels, whatever the norms and the angle.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from bulkedge.numerics.functions.functions import Vectorised, vectorised
from bulkedge.numerics.functions.legendre import normal_density, panels
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.numbers.errors import ConvergenceError, InputError
from bulkedge.theory.numbers.symbols import z

Array = npt.NDArray[Any]

NODES = 16  # of a panel; exact for polynomials of degree 31
FINER = 24  # for a second opinion
# A panel resolves f if the last of its Chebyshev coefficients are this small; noise of f's own formula is below it.
_RESOLVED = 2e-14
_NOISE = 1e-12
_SHARE = 1e-16  # of a panel that is left unresolved, in an integral over one variable
_FINEST, _STEP = -6, 2  # exponents of two of the panels around a place
_DEGREE = 23
MAX_PANELS = 3000
# Beyond |x| = reach the second moment holds less than about this share, its root of any kernel.
_TAIL = 1e-29
_LONGEST_X, _LONGEST_W = 2.0, 3.0  # panels, in standard deviations
# Places across a transition of unit width, an error function's.
_TRANSITION = np.array([-7.0, -4.5, -2.25, 0.0, 2.25, 4.5, 7.0])


@dataclass(frozen=True)
class Resolved:
    """A function with the panels (edges, ascending) that resolve it for the scales lowest..highest."""

    f: Nonlinearity
    values: Vectorised
    edges: Array
    kinks: Array
    reach: float
    lowest: float
    highest: float

    @property
    def kinks_at_zero(self) -> bool:
        """Whether kinks and deltas, if any, are at zero: the kernel is then smooth in the scales and in the angle."""
        return not self.kinks.any() and all(d.at == 0 for d in self.f.deltas)


def _radius(f: Nonlinearity, values: Vectorised, lowest: float, highest: float) -> float:
    """|x| beyond which f(s x)^2 phi(x) is negligible, for the scales from lowest to highest.

    Found on a grid within the radius that the certified growth of f gives.
    Errors: InputError where f(s z) is not square integrable, ConvergenceError beyond the floats.
    """
    certified = 12.0
    for piece in (f.pieces[0], f.pieces[-1]):
        g = piece.growth
        a = 0.5 - 2 * float(g.c2) * highest**2
        if a <= 0:
            raise InputError("X", f"{f.name} at scale {highest:.6g} is not square integrable", "scale the rows down")
        b = 2 * float(g.c1) * highest
        certified = max(certified, (b + np.sqrt(b * b + 4 * a * (70 + max(0.0, 2 * float(g.c0))))) / (2 * a))
    kinks = np.array([float(b) for b in f.kinks] + [float(d.at) for d in f.deltas])
    certified += float(np.max(np.abs(kinks), initial=0.0)) / lowest
    # The certified radius can be far too large (log t is bounded by a line); the grid widens towards it.
    half = np.concatenate([np.linspace(0, 40, 1601), np.geomspace(40, max(certified, 41.0), 401)[1:]])
    x = np.concatenate([-half[:0:-1], half])
    reach = 9.0
    for s in {lowest, highest}:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            size = 2 * np.log(np.abs(values(s * x))) - x * x / 2
        if not np.isfinite(size.max()):
            # Nothing of f is seen at this scale (its mass lies beyond the floats), or it is beyond them.
            if np.all(size == -np.inf):
                continue
            raise ConvergenceError(f"{f.name} exceeds the floats at scale {s:.6g}; scale the rows down")
        last = np.searchsorted(half, np.max(np.abs(x[size > size.max() + np.log(_TAIL)])))
        reach = max(reach, float(half[min(last + 1, len(half) - 1)]))
    return reach


def _places(f: Nonlinearity) -> Array:
    """Kinks, zero, and where an argument that is affine or quadratic in z is zero or has its vertex."""
    found = {0.0, *(float(b) for b in f.kinks)}
    for piece in f.pieces:
        for e in sp.preorder_traversal(piece.expr):
            if e.is_Add and e.has(z) and e.is_polynomial(z) and 1 <= sp.degree(e, z) <= 2:
                # Of the polynomial, not of the sum as it is written: in 1 + (z - 1/3)^2 no addend is a power of z.
                *_, c1, c0 = coefficients = [float(c) for c in sp.Poly(e, z).all_coeffs()]
                found.add(-c1 / (2 * coefficients[0]) if len(coefficients) == 3 else -c0 / c1)
    return np.array(sorted(found))


@functools.lru_cache(maxsize=64)
def resolved(f: Nonlinearity, lowest: float, highest: float, line: bool = False) -> Resolved:
    """f with panels for the scales from lowest to highest.

    A panel is halved until the Chebyshev series of f on it has converged, relative to its size there or, where f
    is small, to what it contributes elsewhere. With `line` they serve integrals over one variable only, E f(s z) h(z)
    and E f(s z)^2: there what a short panel leaves out counts by its length, so that panels towards the kink of a
    fractional power, where no series converges, come to an end. (In the plane a kink moves with the other variable.)
    Errors: ConvergenceError where more than MAX_PANELS panels would be needed.
    """
    values = vectorised(f)
    reach = _radius(f, values, lowest, highest)
    kinks = np.array([float(b) for b in f.kinks])
    end = reach * highest
    # Panels that shrink towards every place where f can change quickly, so that none is looked at from afar only.
    places = _places(f)
    places = places[np.abs(places) < end]
    steps = np.exp2(np.arange(_FINEST, np.ceil(np.log2(2 * end)) + 1, _STEP))
    around = (places[:, None] + np.concatenate([-steps, [0.0], steps])).ravel()
    cuts = np.unique(np.concatenate([[-end, end], kinks[np.abs(kinks) < end], around[np.abs(around) < end]]))
    cuts = cuts[np.concatenate([[True], np.diff(cuts) > 1e-15 * end])]
    todo = np.stack([cuts[:-1], cuts[1:]], axis=1)
    x = np.linspace(-reach, reach, 401)
    angles = (np.arange(_DEGREE + 1) + 0.5) * np.pi / (_DEGREE + 1)
    transform = 2 / (_DEGREE + 1) * np.cos(np.outer(np.arange(_DEGREE + 1), angles))
    ends = np.array([1 - 1e-3, 1 - 1e-5, 1 - 1e-8, 0.0, 0.37])
    ends = np.concatenate([-ends, ends])
    basis = np.cos(np.outer(np.arange(_DEGREE + 1), np.arccos(ends)))
    basis[0] = 0.5
    done: list[Array] = []
    count, previous = 0, np.full(len(todo), np.inf)
    while len(todo):
        middle, half = todo.mean(axis=1), (todo[:, 1] - todo[:, 0]) / 2
        y = values(middle[:, None] + half[:, None] * np.cos(angles))
        if not np.isfinite(y).all():
            raise ConvergenceError(f"{f.name} exceeds the floats at scale {highest:.6g}; scale the rows down")
        # A place y is seen by scales above |y|/reach only: f's size there, and its noise, is compared with theirs.
        scales = np.clip(np.maximum(np.abs(middle) - half, 0) / reach, lowest, highest)
        with np.errstate(under="ignore"):
            floors = np.max(np.abs(values(scales[:, None] * x)) * np.exp(-x * x / 2), axis=1)
        size = np.maximum(np.max(np.abs(y), axis=1), floors)
        series = y @ transform.T
        tail = np.max(np.abs(series[:, -4:]), axis=1)
        # Between the points and the ends, too: a step at an end would not be seen by the points.
        between = series @ basis - values(middle[:, None] + half[:, None] * ends)
        tail = np.maximum(tail, np.max(np.abs(between), axis=1) / 16)
        # What halving does not make smaller is the noise of f's own formula.
        noise = (tail <= _NOISE * size) & (tail > previous / 4)
        fine = (tail <= _RESOLVED * size) | noise
        if line:
            # |error| of E f h <= length phi(0) tail, of E f^2 twice that by |f|; below the rounding of the whole.
            lost = np.minimum(2 * half / lowest, 1.0) * tail * np.maximum(floors, np.max(np.abs(y), axis=1))
            fine |= lost <= _SHARE * floors**2
        done.append(todo[fine])
        count += int(fine.sum())
        open_ = todo[~fine]
        # On a line panels may shrink to a kink as far as floats tell them from it: at zero, as far as floats go.
        shortest = np.maximum(4e-15 * np.abs(middle), 1e-290) if line else 1e-13 * max(1.0, end)
        if count + 2 * len(open_) > MAX_PANELS or (len(open_) and np.any(half < shortest)):
            raise ConvergenceError(f"{f.name} varies too fast for quadrature at scale {highest:.6g}")
        centre = open_.mean(axis=1)
        todo = np.concatenate([np.stack([open_[:, 0], centre], 1), np.stack([centre, open_[:, 1]], 1)])
        previous = np.tile(tail[~fine], 2)
    edges = np.unique(np.concatenate(done).ravel())
    return Resolved(f, values, edges, kinks, reach, lowest, highest)


def _filled(edges: Array, reach: float, longest: float) -> Array:
    """Edges within the reach, none further apart than `longest`."""
    count = int(np.ceil(2 * reach / longest))
    return np.unique(np.clip(np.concatenate([edges, np.linspace(-reach, reach, count + 1)]), -reach, reach))


def line_nodes(parts: tuple[tuple[Resolved, float], ...], nodes: int = NODES) -> tuple[Array, Array]:
    """x and weights with sum w h(x) = E h(z) for h a product of functions f(s z), given with their scales."""
    reach = max(p.reach for p, _ in parts)
    edges = _filled(np.concatenate([p.edges / s for p, s in parts]), reach, _LONGEST_X)
    return _panels(edges[:-1], edges[1:], nodes)


def _panels(low: Array, high: Array, nodes: int) -> tuple[Array, Array]:
    x, weight = panels(low, high, nodes)
    return x, weight * normal_density(x)


def second_moments(part: Resolved, scales: Array) -> Array:
    """E f(s z)^2 for each scale, the deltas left out."""
    found = np.empty(len(scales))
    with np.errstate(over="ignore", under="ignore"):
        if part.kinks_at_zero and len(scales) > 1:
            # The panels of the largest scale serve all: towards zero they only become finer than needed.
            x, w = line_nodes(((part, float(scales.max())),))
            for start in range(0, len(scales), 256):
                block = scales[start : start + 256]
                found[start : start + 256] = part.values(block[:, None] * x) ** 2 @ w
        else:
            for i, s in enumerate(scales):
                x, w = line_nodes(((part, float(s)),))
                found[i] = w @ part.values(float(s) * x) ** 2
    return found


def delta_mean(f: Nonlinearity, s: float) -> float:
    """What the deltas of f add to E f(s z): weight phi(at/s)/s each."""
    total = 0.0
    for delta in f.deltas:
        if delta.order:
            raise _no_derivative(f)
        total += float(delta.weight) * float(normal_density(np.array(float(delta.at) / s))) / s
    return total


def parallel(first: Resolved, second: Resolved, s: float, t: float, sign: int, nodes: int = NODES) -> float:
    """E[f(s z) g(sign t z)]: correlation one or minus one."""
    x, w = line_nodes(((first, s), (second, sign * t)), nodes)
    with np.errstate(over="ignore", under="ignore"):
        return float(w @ (first.values(s * x) * second.values(sign * t * x)))


def parallel_with_deltas(first: Resolved, second: Resolved, s: float, t: float, sign: int) -> float:
    """The same where f or g, but not both, has deltas; at a kink of the other its mean value counts."""
    total = parallel(first, second, s, t, sign)
    for one, other, a, b in ((first, second, s, t), (second, first, t, s)):
        if one.f.deltas and other.f.deltas:
            raise InputError("X", "a kernel with deltas is not finite at correlation one", "leave out parallel rows")
        for delta in one.f.deltas:
            if delta.order:
                raise _no_derivative(one.f)
            at = float(delta.at) / a
            y = sign * b * at
            near = np.array([np.nextafter(y, -np.inf), np.nextafter(y, np.inf)])
            total += float(delta.weight) * float(normal_density(np.array(at))) / a * float(other.values(near).mean())
    return total


def expectation(first: Resolved, second: Resolved, s: Array, t: Array, r: float, nodes: int = NODES) -> Array:
    """E[f(s_a z1) g(t_b z2)] for all scales s_a, t_b at one correlation |r| < 1, deltas included.

    Valid for: several scales only where the kinks are at zero (lines that do not move with the scale).
    Accuracy: about 1e-13 of the root mean squares.
    """
    c = float(np.sqrt((1 - r) * (1 + r)))
    total = _regular(first, second, s, t, r, c, nodes)
    for delta in first.f.deltas:
        total += _of_delta(delta, second, s, t, r, c, nodes)
    for delta in second.f.deltas:
        total += _of_delta(delta, first, t, s, r, c, nodes).T
    for one in first.f.deltas:
        for two in second.f.deltas:
            if one.order or two.order:
                raise _no_derivative(first.f)
            x, y = float(one.at) / s[:, None], float(two.at) / t
            # x^2 - 2 r x y + y^2 without cancellation next to r = +-1.
            square = (x - y) ** 2 + 2 * (1 - r) * x * y if r > 0 else (x + y) ** 2 - 2 * (1 + r) * x * y
            density = np.exp(-square / (2 * c * c)) / (2 * np.pi * c * s[:, None] * t)
            total += float(one.weight) * float(two.weight) * density
    return total


def _no_derivative(f: Nonlinearity) -> InputError:
    return InputError(
        "nonlinearity",
        f"the kernel of {f.name} holds the derivative of a delta, and no closed form is known here",
        "use the kernel itself, or a function without kinks",
    )


def _regular(first: Resolved, second: Resolved, s: Array, t: Array, r: float, c: float, nodes: int) -> Array:
    top_s, top_t = float(s.max()), float(t.max())
    edges = [first.edges / top_s]
    width = c / abs(r) if r else np.inf
    if width < first.reach:
        # The average over w has blurred g by this width: its panels need not be finer.
        places = second.edges / (top_t * r)
        places = places[np.abs(places) < first.reach + width]
        edges.append(np.unique(np.round(places / width)) * width if width > 1e-12 else places)
        for kink in second.kinks:
            edges.extend(kink / (b * r) + width * _TRANSITION for b in ({top_t} if kink == 0 else t))
    cuts = _filled(np.concatenate(edges), first.reach, _LONGEST_X)
    cuts = cuts[np.concatenate([[True], np.diff(cuts) > 1e-14])]
    x, weight = _panels(cuts[:-1], cuts[1:], nodes)
    averaged = _averaged(second, x, t, r, c, nodes)
    with np.errstate(under="ignore"):
        return (first.values(s[:, None] * x) * weight) @ averaged.T


def _averaged(second: Resolved, x: Array, t: Array, r: float, c: float, nodes: int) -> Array:
    """E[g(t_b (r x + c w))] over w for each t_b and x."""
    reach = second.reach
    inside = (second.edges / t.max() - r * x[:, None]) / c
    steps = np.linspace(-reach, reach, int(np.ceil(2 * reach / _LONGEST_W)) + 1)
    edges = np.concatenate([inside, np.broadcast_to(steps, (len(x), len(steps)))], axis=1)
    np.clip(edges, -reach, reach, out=edges)
    edges.sort(axis=1)
    low, high = edges[:, :-1], edges[:, 1:]
    kept = high - low > 1e-13
    which, _ = np.nonzero(kept)
    w, weight = _panels(low[kept], high[kept], nodes)
    # The argument from the place, so that no rounding of r x + c w crosses a kink that is a panel's edge.
    z2 = r * np.repeat(x[which], nodes) + c * w
    starts = np.searchsorted(which, np.arange(len(x)))
    found = np.empty((len(t), len(x)))
    with np.errstate(under="ignore"):
        for b, scale in enumerate(t):
            panels = (second.values(scale * z2) * weight).reshape(-1, nodes).sum(axis=1)
            found[b] = np.add.reduceat(panels, starts)
    return found


def _of_delta(delta: Any, second: Resolved, s: Array, t: Array, r: float, c: float, nodes: int) -> Array:
    """E[weight delta(u - at) g(v)] = weight phi(at/s)/s E[g(v) | u = at], g's regular part."""
    if delta.order:
        raise _no_derivative(second.f)
    at = float(delta.at) / s
    front = float(delta.weight) * normal_density(at) / s
    found: Array = front[:, None] * _averaged(second, at, t, r, c, nodes).T
    return found
