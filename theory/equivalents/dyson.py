"""The operator-valued Dyson equation of a pencil (E2, E3): (L_0 - S(G)) G = I.

G_jp is the normalised trace of block (j, p) of E L^-1. A Gaussian matrix X of variance s/size pairs with its transpose
(a symmetric one with itself):

    S_iq = sum over ordered pairs of an entry c X at (i, j) and c' X^T at (p, q) of  c c' s size(j) G_jp,

size(j) the dimension of block column j relative to the common size: 0 for dimension one, whose blocks receive a
self-energy and give none. Blocks of different dimensions never meet, so the equation splits by dimension; with
deterministic matrices G is the mean of (L_0(t) - S)^-1 over their joint spectral law.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
from flint import nmod, nmod_mat

from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.equivalents.realisation import EPSILON, Coefficient, Pencil, matrix_symbol, realise
from bulkedge.theory.numbers.errors import InputError

_PRIME = 2**61 - 1
Pair = tuple[int, int]  # a block column j and a block row p of one dimension


@dataclass(frozen=True)
class Atom:
    """A point of a spectral law: its weight, and the value of every deterministic matrix (by generator)."""

    weight: Coefficient
    values: tuple[tuple[int, Coefficient], ...]


@dataclass(frozen=True)
class DysonSystem:
    """The equation of a pencil.

    `self_energy` maps an unknown G_jp to what it adds to S: (row i, column q, coefficient). `pairs` are the entries of
    G that enter S and are not identically zero, in all dimensions but one.
    """

    question: mx.Question
    pencil: Pencil
    rows: dict[str, tuple[int, ...]]
    cols: dict[str, tuple[int, ...]]
    atoms: dict[str, tuple[Atom, ...]]
    self_energy: dict[Pair, tuple[tuple[int, int, Coefficient], ...]]
    support: frozenset[Pair]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The unknowns that close the equation: entries of G that enter S and do not vanish."""
        return tuple(pair for pair in self.self_energy if pair in self.support)

    @cached_property
    def constants(self) -> dict[Pair, Coefficient]:
        """The entries of L_0."""
        return {place: entry[None] for place, entry in self.pencil.entries.items() if None in entry}

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The free symbols."""
        return self.question.model.symbols

    @cached_property
    def variances(self) -> dict[str, Coefficient]:
        """The variances of the Gaussian matrices that occur, times the common size."""
        names = {key[0] for _, _, key, _ in self.pencil.gaussian_entries()}
        return {name: _variance(self.question.model, self.pencil.field, name) for name in names}

    @cached_property
    def sizes(self) -> dict[str, Coefficient]:
        """The dimensions relative to the common size; 0 for dimension one."""
        return {dim: self.pencil.field.from_expr(self.question.model.ratio(dim)) for dim in self.rows}


def _variance(model: mx.Model, field: Any, name: str) -> Coefficient:
    gaussian = model.gaussian(name)
    assert gaussian is not None
    return field.from_expr(model.split(gaussian.variance, "gaussian")[0])


def dyson_system(question: mx.Question) -> DysonSystem:
    """The Dyson equation of everything that is asked.

    Errors: InputError where an inverse need not exist.
    """
    pencil = realise(question)
    model, field = question.model, pencil.field
    dims = dict.fromkeys((*pencil.rows, *pencil.cols))
    rows = {dim: tuple(i for i, d in enumerate(pencil.rows) if d == dim) for dim in dims}
    cols = {dim: tuple(j for j, d in enumerate(pencil.cols) if d == dim) for dim in dims}
    energy = _self_energy(model, pencil)
    # A trace of deterministic matrices alone leaves no block of its dimension, but its law.
    atoms = {dim: _atoms(model, field, dim) for dim in (*dims, *(o.dimension for o in pencil.outputs))}
    support = _support(question, pencil, rows, cols, atoms, energy)
    return DysonSystem(question, pencil, rows, cols, atoms, energy, support)


def _self_energy(model: mx.Model, pencil: Pencil) -> dict[Pair, tuple[tuple[int, int, Coefficient], ...]]:
    size = {dim: pencil.field.from_expr(model.ratio(dim)) for dim in set(pencil.cols)}
    by_key: dict[tuple[str, bool], list[tuple[int, int, Coefficient]]] = {}
    for i, j, key, c in pencil.gaussian_entries():
        by_key.setdefault(key, []).append((i, j, c))
    found: dict[Pair, list[tuple[int, int, Coefficient]]] = {}
    for (name, flipped), entries in by_key.items():
        gaussian = model.gaussian(name)
        assert gaussian is not None
        partner = (name, flipped if gaussian.symmetric else not flipped)
        s = _variance(model, pencil.field, name)
        for i, j, c in entries:
            if pencil.cols[j] == mx.ONE:
                continue
            for p, q, other in by_key.get(partner, ()):
                found.setdefault((j, p), []).append((i, q, c * other * s * size[pencil.cols[j]]))
    return {pair: tuple(parts) for pair, parts in sorted(found.items())}


def _atoms(model: mx.Model, field: Any, dim: str) -> tuple[Atom, ...]:
    law = model.law(dim)
    names = [symbol.name for symbol in field.symbols]
    none = ((names.index(EPSILON.name), field.zero),) if model.spiked else ()
    if law is None:
        return (Atom(field.one, none),)
    indices = [names.index(matrix_symbol(name).name) for name in law.names]

    def read(expr: sp.Expr) -> Coefficient:
        return field.from_expr(model.split(expr, "deterministic")[0])

    return tuple(
        Atom(read(weight), (*((k, read(value)) for k, value in zip(indices, values, strict=True)), *none))
        for values, weight in law.atoms
    )


def _support(
    question: mx.Question,
    pencil: Pencil,
    rows: dict[str, tuple[int, ...]],
    cols: dict[str, tuple[int, ...]],
    atoms: dict[str, tuple[Atom, ...]],
    energy: dict[Pair, tuple[tuple[int, int, Coefficient], ...]],
) -> frozenset[Pair]:
    """The entries of G that are not identically zero: inverses of generic matrices of the pattern, mod a prime."""
    generic = (nmod(pow(7, 1000 + 37 * k, _PRIME), _PRIME) for k in itertools.count(1))
    point = [next(generic) for _ in pencil.field.symbols]
    constants = {place: entry[None] for place, entry in pencil.entries.items() if None in entry}

    def at(c: Coefficient, values: list[Any]) -> Any:
        return _polynomial(c.numer, values) / _polynomial(c.denom, values)

    support: set[Pair] = set()
    held = {k for k, symbol in enumerate(pencil.field.symbols) if symbol == EPSILON}  # zero in the end, not here
    coefficients = {pair: [(i, q, at(c, point)) for i, q, c in parts] for pair, parts in energy.items()}

    def filled(dim: str, values: list[Any], added: dict[Pair, Any]) -> list[list[Any]]:
        none = nmod(0, _PRIME)
        return [
            [
                (at(constants[i, q], values) if (i, q) in constants else none) + added.get((i, q), none)
                for q in cols.get(dim, ())
            ]
            for i in rows.get(dim, ())
        ]

    while True:
        added: dict[Pair, Any] = {}
        for pair in sorted(support & set(energy)):
            g = next(generic)
            for i, q, c in coefficients[pair]:
                added[i, q] = added.get((i, q), nmod(0, _PRIME)) - g * c
        found: set[Pair] = set()
        for dim, members in rows.items():
            for atom in atoms[dim]:
                values = list(point)
                for k, value in atom.values:
                    if k not in held:
                        values[k] = at(value, point)
                inverse = _inverse(filled(dim, values, added))
                found |= {
                    (j, p) for a, j in enumerate(cols[dim]) for b, p in enumerate(members) if int(inverse[a, b]) != 0
                }
        if found <= support:
            if held:
                _bounded(filled(mx.ONE, [x if k not in held else nmod(0, _PRIME) for k, x in enumerate(point)], added))
            return frozenset(support)
        support |= found


def _inverse(matrix: list[list[Any]]) -> Any:
    m = nmod_mat(len(matrix), len(matrix), [int(x) for row in matrix for x in row], _PRIME)
    try:
        return m.inv()
    except ZeroDivisionError:
        raise InputError(
            "expression",
            "an inverse need not exist (it does not where the Gaussian matrices vanish)",
            "add a regularisation inside it, such as inv(X.T*X + lam), and let it become small",
        ) from None


def _bounded(matrix: list[list[Any]]) -> None:
    try:
        nmod_mat(len(matrix), len(matrix), [int(x) for row in matrix for x in row], _PRIME).inv()
    except ZeroDivisionError:
        raise InputError(
            "expression",
            "a function's mean stands outside an inverse, where its term of rank one grows with the size",
            "write centred(...) around the function, or ask for what stays bounded, such as inv(F.T*F/n + lam)",
        ) from None


def _polynomial(p: Any, values: list[Any]) -> Any:
    total = nmod(0, _PRIME)
    for monomial, c in p.terms():
        term = nmod(int(c.numerator), _PRIME) / nmod(int(c.denominator), _PRIME)
        for value, power in zip(values, monomial, strict=True):
            if power:
                term *= value**power
        total += term
    return total


def classes(nodes: Iterable[Any], edges: dict[Any, set[Any]]) -> list[list[Any]]:
    """The strongly connected classes of a directed graph, every class after those that it leads to (Tarjan)."""
    index: dict[Any, int] = {}
    low: dict[Any, int] = {}
    stack: list[Any] = []
    held: set[Any] = set()
    found: list[list[Any]] = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(sorted(edges.get(root, ()), key=str)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        held.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    held.add(successor)
                    work.append((successor, iter(sorted(edges.get(successor, ()), key=str))))
                    break
                if successor in held:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while True:
                        member = stack.pop()
                        held.discard(member)
                        members.append(member)
                        if member == node:
                            break
                    found.append(members)
    return found
