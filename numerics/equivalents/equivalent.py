"""Values, derivatives and densities of an equivalent over arrays: each point enclosed, its branch tested."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from bulkedge.numerics.equivalents import program_values
from bulkedge.numerics.equivalents.batched import dyson_solve
from bulkedge.theory.equivalents import equivalent_spectrum
from bulkedge.theory.equivalents.equivalent import Equivalent, values_of
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError
from bulkedge.theory.spectra.spectral_density import NODES

Array = NDArray[np.float64]
MAX_POINTS = 100_000
_DIGITS = 17
_MANY = 16  # points from which they are solved together
_BATCH_ERROR = 1e-9  # relative: a larger bound sends the point to the enclosure


def values(
    theory: Equivalent, fixed: Mapping[sp.Symbol, sp.Rational], arrays: Mapping[str, ArrayLike]
) -> tuple[Array, Array]:
    """The value at arrays of parameters, which broadcast, and bounds of its error.

    Many points are solved together, each in two working precisions and with its branch tested, by a program that was
    tested against an enclosed solution; what is not certain there is enclosed on its own.
    Errors: InputError for a symbol that is unknown or has no value; ConvergenceError, naming the point, where the
    branch is not certain.
    """
    if theory.question.model.continuous and _many(arrays):
        # Two rules for the density, both for all points.
        (coarse, wide), (fine, narrow) = (
            _over(rule, fixed, arrays, functools.partial(_enclosed, rule), functools.partial(_batch, rule))
            for rule in (theory.refined(NODES), theory.refined(2 * NODES))
        )
        return fine, narrow + wide + np.abs(fine - coarse)
    return _over(theory, fixed, arrays, functools.partial(_enclosed, theory), functools.partial(_batch, theory))


def _enclosed(theory: Equivalent, point: Mapping[sp.Symbol, Any]) -> Enclosure:
    return theory.enclose(point, _DIGITS)


def _many(arrays: Mapping[str, ArrayLike]) -> bool:
    return max((np.size(a) for a in arrays.values()), default=0) >= _MANY


def slopes(
    theory: Equivalent, symbol: str, fixed: Mapping[sp.Symbol, sp.Rational], arrays: Mapping[str, ArrayLike]
) -> tuple[Array, Array]:
    """The derivative in one symbol at arrays of parameters, by implicit differentiation, and bounds of its error.

    Errors: as `values`.
    """
    (found,) = [s for s in theory.symbols if s.name == symbol] or [None]
    if found is None:
        raise InputError("symbol", f"{symbol!r} is not declared", f"the symbols are {_names(theory)}")
    return _over(theory, fixed, arrays, lambda point: theory.slope(point, found, _DIGITS))


def _names(theory: Equivalent) -> str:
    return ", ".join(s.name for s in theory.symbols) or "none"


def _over(
    theory: Equivalent,
    fixed: Mapping[sp.Symbol, sp.Rational],
    arrays: Mapping[str, ArrayLike],
    evaluate: Callable[[Mapping[sp.Symbol, Any]], Enclosure],
    together: Callable[[Mapping[str, Array]], tuple[Array, Array, NDArray[np.bool_]]] | None = None,
) -> tuple[Array, Array]:
    names = [s.name for s in theory.symbols]
    for name in arrays:
        if name not in names:
            raise InputError(name, "is not a declared symbol", f"the symbols are {_names(theory)}")
    columns: dict[str, NDArray[Any]] = {}
    for symbol in theory.symbols:
        if symbol.name in arrays:
            columns[symbol.name] = np.asarray(arrays[symbol.name], dtype=object)
        elif symbol in fixed:
            columns[symbol.name] = np.asarray(fixed[symbol], dtype=object)
        else:
            raise InputError(symbol.name, "has no value", f"give {symbol.name}=...")
    try:
        table = np.broadcast_arrays(*columns.values()) if columns else [np.zeros(())]
    except ValueError:
        raise InputError("arrays", "their shapes do not broadcast", "give arrays of one shape") from None
    shape = table[0].shape
    if table[0].size > MAX_POINTS:
        raise InputError("arrays", f"{table[0].size} points are too many", f"use at most {MAX_POINTS}")
    found, errors = np.empty(shape), np.empty(shape)
    known: dict[tuple[Any, ...], Enclosure] = {}
    done = np.zeros(shape, dtype=bool)
    if together is not None and columns and table[0].size >= _MANY:
        _checked(columns, theory)
        flat = {name: np.array(column.ravel(), dtype=float) for name, column in zip(columns, table, strict=True)}
        parts = together(flat)
        found, errors, done = parts[0].reshape(shape), parts[1].reshape(shape), parts[2].reshape(shape)
    for index in np.ndindex(shape):
        if done[index]:
            continue
        row = tuple(column[index] for column in table) if columns else ()
        if row not in known:
            point = values_of(dict(zip(columns, row, strict=True)), theory.symbols)
            try:
                known[row] = evaluate(point)
            except ConvergenceError as error:
                at = ", ".join(f"{s.name} = {v}" for s, v in point.items())
                raise ConvergenceError(f"at {at}: {error}") from None
        enclosed = known[row]
        found[index] = float(enclosed.value)
        # What rounding to a float loses belongs to the error.
        errors[index] = enclosed.bound + 2.0**-53 * abs(found[index])
    return found, errors


def _checked(columns: Mapping[str, NDArray[Any]], theory: Equivalent) -> None:
    """Every number must be one that its symbol admits.

    Errors: InputError.
    """
    for symbol in theory.symbols:
        column = columns[symbol.name]
        try:
            numbers = np.asarray(column, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise InputError(symbol.name, "is no number", "give finite numbers") from None
        if not np.all(np.isfinite(numbers)) or (symbol.is_positive and np.any(numbers <= 0)):
            kind = "positive" if symbol.is_positive else "finite"
            raise InputError(symbol.name, f"is not {kind} everywhere", f"give {kind} numbers")


def _batch(theory: Equivalent, columns: Mapping[str, Array]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Values, bounds and which of them are certain, all points at once: the program, then the whole equation."""
    points = [columns[s.name] for s in theory.symbols]
    n = len(points[0])
    value, error, certain = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    program = program_values.compiled(theory)
    if program is not None:
        value, error, certain = program.solve(points)
        certain &= error <= _BATCH_ERROR * np.maximum(np.abs(value), 1e-6)
    left = np.flatnonzero(~certain)
    if left.size:
        value[left], error[left], certain[left] = _whole(theory, [p[left] for p in points])
    return value, error, certain


def _whole(theory: Equivalent, points: list[Array]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The same by Newton's method on all unknowns, enclosed besides at both ends."""
    table, n = theory.table, len(points[0])
    known = theory.constants(64)
    held = {s: sp.Float(float(v.mid()), 17) for s, v in known.items()}
    coefficients = sp.lambdify(theory.symbols, [c.xreplace(held) for c in table.coefficients], "numpy")(*points)
    spread = [np.broadcast_to(np.asarray(c, dtype=float), (n,)) for c in coefficients]
    parts, errors, certain = dyson_solve(table.plain(), spread)
    names = [s for s, _ in theory.question.functionals]
    value_of = theory.question.value.xreplace(held)
    asked = [value_of, *(value_of.diff(s) for s in names)]
    given = (*points, *(parts[:, k] for k in range(len(names))))
    value, *gradient = (
        np.broadcast_to(np.asarray(v, dtype=float), (n,))
        for v in sp.lambdify((*theory.symbols, *names), asked, "numpy")(*given)
    )
    error = 2.0**-50 * np.abs(value)
    for k, slope in enumerate(gradient):
        error = error + 2 * np.abs(slope) * errors[:, k]
    certain &= np.isfinite(value) & (error <= _BATCH_ERROR * np.maximum(np.abs(value), 1e-6))
    for k in {0, n - 1}:  # a second route at both ends: where it contradicts, nothing of the batch is kept
        if certain[k]:
            point = values_of(
                {s.name: float(p[k]) for s, p in zip(theory.symbols, points, strict=True)}, theory.symbols
            )
            exact = theory.enclose(point, _DIGITS)
            if abs(float(exact) - value[k]) > error[k] + exact.bound:
                certain[:] = False
    return np.array(value), error, certain


def density(theory: Equivalent, z: sp.Symbol, x: ArrayLike) -> tuple[Array, Array]:
    """The density of the spectrum's continuous part at an array of points, and bounds of its error.

    Errors: InputError for points that are not finite; ConvergenceError where the branch is not certain.
    """
    points = np.asarray(x, dtype=float)
    if not np.all(np.isfinite(points)):
        raise InputError("x", "a point is not finite", "give finite numbers")
    pairs = equivalent_spectrum.density(theory, z, [Fraction(float(p)) for p in points.ravel()])
    found = np.array([p[0] for p in pairs]).reshape(points.shape)
    return found, np.array([p[1] for p in pairs]).reshape(points.shape)
