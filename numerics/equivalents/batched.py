"""Dyson equations at many points at once, in floats: damped iteration, Newton, and the branch test at every point.

`dyson_solve` needs NumPy alone and carries its own helpers, so that it can be printed as a program (`--python`).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def dyson_solve(table: Any, coefficients: Any) -> tuple[Any, Any, Any]:
    """Solve (L_0 - S(G)) G = I at n points: the functionals (n, k), bounds of their rounding, whether each is certain.

    `table` = (sizes, one, weights, constants, energy, where, outputs, classes), the tuples of DysonTable;
    `coefficients`: arrays of shape (n,). A point is certain if Newton's method converged and the map
    Y -> G E[X Y X*] G* has spectral radius below one there: no other solution has.
    """
    sizes, one, weights, constants, energy, where, outputs, classes = table
    co = np.array(coefficients, dtype=float)
    n, unknowns = co.shape[1], len(where)
    atoms = [1 + max(t for d, t, _ in weights if d == dim) for dim in range(len(sizes))]
    weight = {(d, t): co[e] for d, t, e in weights}

    def matrices(g: Any, scale: float, dims: tuple[int, ...]) -> Any:
        found = {(d, t): np.zeros((n, sizes[d], sizes[d])) for d in dims for t in range(atoms[d])}
        for d, t, a, b, e in constants:
            if d in dims:
                found[d, t][:, a, b] += co[e]
        for k, d, a, b, e in energy:
            if d in dims:
                for t in range(atoms[d]):
                    found[d, t][:, a, b] -= scale * co[e] * g[:, k]
        return found

    bulk = tuple(d for d in range(len(sizes)) if d != one)

    def inverses(g: Any, scale: float = 1.0, dims: tuple[int, ...] = bulk) -> Any:
        found = {}
        for place, m in matrices(g, scale, dims).items():
            bad = ~np.all(np.isfinite(m), axis=(1, 2))
            m[bad] = np.eye(m.shape[1])
            try:
                found[place] = np.linalg.inv(m)
            except np.linalg.LinAlgError:  # a singular point: all others still count
                found[place] = np.linalg.pinv(m)
            found[place][bad] = np.nan
        return found

    def image(r: Any) -> Any:
        g = np.zeros((n, unknowns))
        for k, (d, a, b) in enumerate(where):
            for t in range(atoms[d]):
                g[:, k] += weight[d, t] * r[d, t][:, a, b]
        return g

    def newton(g: Any) -> Any:
        r = inverses(g)
        jacobian = np.tile(np.eye(unknowns), (n, 1, 1))
        for k, d, a, b, e in energy:
            for t in range(atoms[d]) if d != one else ():
                factor = co[e] * weight[d, t]
                for row, (other, j, p) in enumerate(where):
                    if other == d:
                        jacobian[:, row, k] -= factor * r[d, t][:, j, a] * r[d, t][:, b, p]
        # One point at which the resolvents blew up must not stop all the others: it takes an identity and stays
        # uncertain.
        bad = ~np.all(np.isfinite(jacobian), axis=(1, 2))
        jacobian[bad] = np.eye(unknowns)
        try:
            back = np.linalg.inv(jacobian)
        except np.linalg.LinAlgError:
            back = np.linalg.pinv(jacobian)
        step = np.einsum("nij,nj->ni", back, g - image(r))
        return (
            g - step,
            np.max(np.abs(step), axis=1, initial=0.0),
            np.max(np.sum(np.abs(back), axis=2), axis=1, initial=1.0),
        )

    def values(g: Any) -> Any:
        r = inverses(g)
        if one >= 0:
            r.update(inverses(g, 1.0, (one,)))
        found = np.zeros((n, 1 + max(o[0] for o in outputs)))
        largest = np.zeros_like(found)
        for k, d, t, a, b, e in outputs:
            term = co[e] if a < 0 else co[e] * r[d, t][:, a, b]
            found[:, k] += term
            largest[:, k] = np.maximum(largest[:, k], np.abs(term))
        return found, largest, r

    with np.errstate(all="ignore"):
        # Damped iteration is a contraction towards the right branch but slow near an edge; forty steps bring Newton's
        # method into its basin, which then doubles the digits.
        g = image(inverses(np.zeros((n, unknowns)), 0.0))
        for _ in range(40):
            g = (g + image(inverses(g))) / 2
        certain, condition = np.zeros(n, dtype=bool), np.ones(n)
        before = g
        for _ in range(30):
            before = g
            g, moved, condition = newton(g)
            level = np.max(np.abs(g), axis=1, initial=1e-30)
            certain = moved < 1e-12 * level
            if np.all(certain | ~np.isfinite(moved)):
                break
        found, largest, r = values(g)
        last, _, _ = values(before)
        # The last Newton step bounds what is left of the iteration; rounding enters through the inverse Jacobian, with
        # the largest addend rather than the sum, as addends may cancel.
        error = np.abs(found - last) + 2.0**-44 * condition[:, None] * np.maximum(largest, np.abs(found))
        certain &= np.all(np.isfinite(found), axis=1) & (condition < 1e8)
        for pairs, entries in classes:
            matrix = np.zeros((n, pairs, pairs))
            for row, column, d, t, a, i, b, j, e in entries:
                matrix[:, row, column] += co[e] * r[d, t][:, a, i] * r[d, t][:, b, j]
            matrix[~np.all(np.isfinite(matrix), axis=(1, 2))] = 2 * np.eye(pairs)
            certain &= np.max(np.abs(np.linalg.eigvals(matrix)), axis=1) < 1 - 1e-7
    return found, error, certain
