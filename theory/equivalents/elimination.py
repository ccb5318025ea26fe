"""Elimination: the Dyson equation as few polynomial equations, and the polynomial of the value where one is found.

1. Every block equation M G = I is a polynomial in the entries of G. Entries that vanish are dropped, equal ones merged:
   both are read off the enclosed solution at two points of the free symbols, to 25 digits.
2. Unknowns that occur linearly are solved for: first where their coefficient holds no other unknown, then where it
   does (it cannot vanish, for the solution is isolated), as long as the equations stay short.
3. Resultants eliminate what is left; of every resultant only the irreducible factor that vanishes at the solution is
   kept, so that nothing spurious grows.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import Ordering, acb, arb, fmpz_mpoly_ctx

from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.equivalents.dyson import DysonSystem
from bulkedge.theory.equivalents.dyson_root import Root, find_root
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import ConvergenceError

_BITS = 240
_DIGITS = 25  # to which equal entries are compared
_TRIES = 8
_TERMS = 400  # of an equation in the reduced system
_SHORT = 60  # terms up to which an unknown with an unknown coefficient is eliminated
_RESULTANT_TERMS = 4000
_WORK = 40_000  # a bound of (terms x terms x degree) before a resultant is formed

VALUE = "value"


@dataclass(frozen=True)
class Reduced:
    """The reduced equations (each = 0) in `unknowns`, `value` the last, and the polynomial of the value, or None."""

    unknowns: tuple[str, ...]
    equations: tuple[sp.Expr, ...]
    polynomial: sp.Expr | None
    merged: int  # entries of G that do not vanish, before merging
    distinct: int  # after


def sample_roots(system: DysonSystem, count: int = 2) -> list[Root]:
    """Solutions at scattered points of the free symbols: positive rationals, complex ones for symbols of any sign.

    Errors: ConvergenceError if no point is found at which the branch test passes.
    """
    found: list[Root] = []
    for attempt in range(_TRIES * count):
        point: dict[sp.Symbol, Any] = {}
        for k, symbol in enumerate(system.symbols):
            # Fractional parts of multiples of square roots of primes, spread over (1/2, 2), on a grid of rationals.
            part = math.sqrt(sp.prime(k + 2)) * (attempt + 1) % 1
            r = sp.Rational(30 + int(90 * part), 61)
            if attempt >= _TRIES // 2:  # all of order one may lie inside a spectrum: powers of four besides
                r *= sp.Rational(4) ** ((attempt * (k + 1)) % 5 - 2)
            if symbol.is_positive:
                point[symbol] = r
            else:
                with ball.precision(_BITS):
                    point[symbol] = acb(ball.rational(r - 1), ball.rational(r + attempt))
        try:
            found.append(find_root(system, point, _BITS))
        except ConvergenceError:
            if not system.symbols:
                raise
            continue
        if len(found) == count or not system.symbols:
            return found
    raise ConvergenceError("no point of the free symbols was found at which the branch test passes")


def reduce(system: DysonSystem, roots: list[Root] | None = None, polynomial: bool = True) -> Reduced:
    """The reduced equations, and the value's polynomial where elimination stays short."""
    roots = sample_roots(system) if roots is None else roots
    work = _Elimination(system, roots)
    work.linear(constant_only=True)
    work.linear(constant_only=False)
    unknowns, equations = work.result()
    return Reduced(unknowns, equations, work.polynomial() if polynomial else None, work.support, work.distinct)


def determinant_polynomial(system: DysonSystem) -> sp.Expr | None:
    """The polynomial, in the free symbols, that vanishes where the determinant of the dimension-one part does.

    None where elimination does not stay short.
    """
    work = _Elimination(system, sample_roots(system))
    work.ask_determinant()
    work.linear(constant_only=True)
    work.linear(constant_only=False)
    found = work.polynomial()
    return None if found is None else found.subs(sp.Symbol(VALUE), 0)


def dyson_equations(system: DysonSystem) -> list[tuple[sp.Expr, dict[str, sp.Symbol]]]:
    """The Dyson equation before elimination, each = 0; with the symbol of every dimension's (last) unknown."""
    work = _Elimination(system, sample_roots(system))
    symbols = {s.name: s for s in system.symbols}
    at = [symbols.get(n, sp.Symbol(n)) for n in (*work.parameters, *work.names, VALUE)]
    names = {key[0]: sp.Symbol(work.names[number]) for key, (_, number) in work.alias.items()}
    return [(_to_sympy(e, at), names) for e in work.equations]


class _Elimination:
    """Polynomials over the integers in the free symbols and the distinct entries of G, with their values at samples."""

    def __init__(self, system: DysonSystem, roots: list[Root]) -> None:
        self.system, self.roots = system, roots
        self.values_at: dict[int, Any] = {}
        with ball.precision(_BITS):
            self._entries()
            self._context()
            self._equations()

    def _entries(self) -> None:
        """The distinct non-zero entries by dimension and atom, with their values at the samples."""
        tables = [root.all_entries() for root in self.roots]
        self.alias: dict[tuple[str, int, int, int], tuple[int, int]] = {}  # -> (sign, number)
        self.samples: list[list[Any]] = []
        known: dict[tuple[str, ...], int] = {}
        self.support = 0
        for key in tables[0]:
            values = [table[key] for table in tables]
            if all(abs(complex(v)) < 10.0**-_DIGITS for v in values):
                continue
            self.support += 1
            first = complex(values[0])
            sign = -1 if (first.real, first.imag) < (0.0, 0.0) else 1
            values = [sign * v for v in values]
            mark = tuple(_mark(v) for v in values)
            if mark not in known:
                known[mark] = len(self.samples)
                self.samples.append(values)
            self.alias[key] = (sign, known[mark])
        self.distinct = len(self.samples)

    def _context(self) -> None:
        held = [s.name for s in self.system.pencil.field.symbols]
        used = {*held, VALUE}
        prefix = "g"
        while any(re.fullmatch(rf"{prefix}\d+", name) for name in used):
            prefix += "g"
        self.names = [f"{prefix}{k + 1}" for k in range(self.distinct)]
        self.parameters = held
        self.ctx = fmpz_mpoly_ctx.get((*held, *self.names, VALUE), Ordering.lex)
        gens = self.ctx.gens()
        self.generators = dict(zip((*held, *self.names, VALUE), gens, strict=True))
        self.zero = gens[0] - gens[0]
        self.one = self.zero + 1

    def _fraction(self, c: Any) -> tuple[Any, Any]:
        """A coefficient as numerator and denominator."""
        return self._poly(c.numer), self._poly(c.denom)

    def _poly(self, p: Any) -> Any:
        # Denominators of the rational coefficients are made common by the caller's field: they are integers there.
        total = self.zero
        for monomial, c in p.terms():
            term = self.one * int(c.numerator)
            for name, power in zip(self.parameters, monomial, strict=True):
                if power:
                    term *= self.generators[name] ** power
            total += term
        return total

    def _coefficient(self, c: Any) -> tuple[Any, Any]:
        scale = 1
        for part in (c.numer, c.denom):
            for _, q in part.terms():
                scale = math.lcm(scale, int(q.denominator))
        field = self.system.pencil.field
        return self._fraction(_Scaled(c.numer * field.ring(scale), c.denom * field.ring(scale)))

    def entry(self, key: tuple[str, int, int, int]) -> Any:
        """An entry of G as a signed unknown, or zero."""
        if key not in self.alias:
            return self.zero
        sign, number = self.alias[key]
        return sign * self.generators[self.names[number]]

    def _equations(self) -> None:
        system = self.system
        self.equations: list[Any] = []
        self.solved = 0
        seen: set[str] = set()
        for dim, rows in system.rows.items():
            for t, atom in enumerate(system.atoms[dim]):
                matrix = self._matrix(dim, atom)
                for i in rows:
                    for p in rows:
                        terms = [(num * self.entry((dim, t, q, p)), den) for q, (num, den) in matrix.get(i, {}).items()]
                        self._add(terms + ([(-self.one, self.one)] if i == p else []), seen)
                for q in system.cols[dim]:
                    for j in system.cols[dim]:
                        terms = [
                            (num * self.entry((dim, t, j, i)), den)
                            for i, row in matrix.items()
                            for k, (num, den) in row.items()
                            if k == q
                        ]
                        self._add(terms + ([(-self.one, self.one)] if q == j else []), seen)
        self.value_equation = self._value()

    def _matrix(self, dim: str, atom: Any) -> dict[int, dict[int, tuple[Any, Any]]]:
        """L_0 - S of a dimension at an atom, as fractions."""
        system = self.system
        found: dict[int, dict[int, tuple[Any, Any]]] = {}
        for (i, q), c in system.constants.items():
            if system.pencil.rows[i] == dim:
                found.setdefault(i, {})[q] = self._coefficient(at_atom(system, c, atom))
        for pair in system.pairs:
            j, p = pair
            source = system.pencil.cols[j]
            for i, q, c in system.self_energy[pair]:
                if system.pencil.rows[i] != dim:
                    continue
                num, den = found.get(i, {}).get(q, (self.zero, self.one))
                for t, other in enumerate(system.atoms[source]):
                    wn, wd = self._coefficient(c * other.weight)
                    num, den = _add_fractions((num, den), (-wn * self.entry((source, t, j, p)), wd))
                found.setdefault(i, {})[q] = (num, den)
        return found

    def _sum(self, terms: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        total = (self.zero, self.one)
        for term in terms:
            if not term[0].is_zero():
                total = _add_fractions(total, term)
        return total

    def _add(self, terms: list[tuple[Any, Any]], seen: set[str]) -> None:
        equation = self._primitive(self._sum(terms)[0])
        mark = str(equation)
        if not equation.is_zero() and mark not in seen:
            seen.add(mark)
            self.equations.append(equation)

    def _value(self) -> Any:
        """value * denominator - numerator, with the functionals inserted in what is asked."""
        system = self.system
        parts: dict[sp.Symbol, tuple[Any, Any]] = {}
        for (symbol, _), output in zip(system.question.functionals, system.pencil.outputs, strict=True):
            dim = output.dimension
            terms = []
            for t, atom in enumerate(system.atoms[dim]):
                terms.append(self._coefficient(at_atom(system, output.direct, atom) * atom.weight))
                for j, u in output.u.items():
                    for i, v in output.v.items():
                        num, den = self._coefficient(at_atom(system, u * v, atom) * atom.weight)
                        terms.append((num * self.entry((dim, t, j, i)), den))
            parts[symbol] = self._sum(terms)
        num, den = self._rational(system.question.value, parts)
        return self._primitive(self.generators[VALUE] * den - num)

    def ask_determinant(self) -> None:
        """Ask for the determinant of the dimension-one part of L_0 - S in place of the value."""
        rows, cols = self.system.rows[mx.ONE], self.system.cols[mx.ONE]
        with ball.precision(_BITS):
            matrix = self._matrix(mx.ONE, self.system.atoms[mx.ONE][0])
            cells = [[matrix.get(i, {}).get(q, (self.zero, self.one)) for q in cols] for i in rows]
            num, den = self._determinant(cells)
            self.value_equation = self._primitive(self.generators[VALUE] * den - num)
            self.values_at = {k: root.one_block()[1] for k, root in enumerate(self.roots)}

    def _determinant(self, cells: list[list[tuple[Any, Any]]]) -> tuple[Any, Any]:
        if not cells:
            return self.one, self.one
        terms = []
        for k, (num, den) in enumerate(cells[0]):
            if num.is_zero():
                continue
            minor = [row[:k] + row[k + 1 :] for row in cells[1:]]
            n, d = self._determinant(minor)
            terms.append((num * n * (-1) ** k, den * d))
        return self._sum(terms)

    def _rational(self, expr: sp.Expr, parts: dict[sp.Symbol, tuple[Any, Any]]) -> tuple[Any, Any]:
        if expr in parts:
            return parts[expr]
        if isinstance(expr, sp.Symbol):
            return self.generators[expr.name], self.one
        if isinstance(expr, sp.Rational):
            return self.one * int(expr.p), self.one * int(expr.q)
        if isinstance(expr, sp.Add):
            return self._sum([self._rational(a, parts) for a in expr.args])
        if isinstance(expr, sp.Mul):
            num, den = self.one, self.one
            for a in expr.args:
                n, d = self._rational(a, parts)
                num, den = num * n, den * d
            return num, den
        base, exponent = expr.as_base_exp()
        num, den = self._rational(base, parts)
        k = int(exponent)
        return (num**k, den**k) if k >= 0 else (den**-k, num**-k)

    def _primitive(self, p: Any) -> Any:
        """Without the factors that hold free symbols only, and without powers of single unknowns (they are not 0)."""
        if p.is_zero():
            return p
        p = p.primitive()[1]
        _, factors = p.factor_squarefree() if len(p) <= _TERMS else (1, [(p, 1)])
        kept = self.one
        for q, _ in factors:
            if self._unknowns(q) and not (len(q) == 1 and self.distinct):
                kept *= q
        return kept if not kept.is_one() else p

    def _unknowns(self, p: Any) -> list[str]:
        names = (*self.parameters, *self.names, VALUE)
        skip = len(self.parameters)
        return [name for name, degree in zip(names[skip:], p.degrees()[skip:], strict=True) if degree]

    def linear(self, constant_only: bool) -> None:
        """Solve for unknowns that occur linearly and substitute, shortest first, as long as everything stays short."""
        self.equations = self._closure()
        known: dict[int, tuple[Any, list[tuple[int, str, Any, Any, Any]]]] = {}  # by equation, which it keeps alive
        tried: set[tuple[int, str]] = set()
        while True:
            for equation in self.equations:
                if id(equation) not in known:
                    known[id(equation)] = (equation, self._solvable(equation, constant_only))
            candidates = [c for e in self.equations for c in known[id(e)][1] if (id(e), c[1]) not in tried]
            candidates.sort(key=lambda c: (c[0], c[1]))
            for _, name, equation, a, b in candidates:
                if self._substitute(name, equation, a, b, _TERMS if constant_only else _SHORT):
                    break
                tried.add((id(equation), name))
            else:
                return

    def _solvable(self, equation: Any, constant_only: bool) -> list[tuple[int, str, Any, Any, Any]]:
        """The unknowns that an equation can be solved for: (its length, unknown, equation, a, b), a x + b = 0."""
        found: list[tuple[int, str, Any, Any, Any]] = []
        if not constant_only and len(equation) > _SHORT:
            return found
        for name in self._unknowns(equation):
            a, b = self._split(equation, name)
            if a is None or (constant_only and self._unknowns(a)) or (not constant_only and self._vanishes(a)):
                continue
            found.append((len(equation), name, equation, a, b))
        return found

    def _split(self, p: Any, name: str) -> tuple[Any, Any]:
        """p = a x + b for the unknown x, or (None, None)."""
        x = self.generators[name]
        if name == VALUE or p.degrees()[self.ctx.variable_to_index(name)] != 1:
            return None, None
        a = p.derivative(name)
        return a, p - a * x

    def _substitute(self, name: str, equation: Any, a: Any, b: Any, limit: int) -> bool:
        """Insert x = -b/a everywhere; False (and nothing is changed) if an equation would become too long."""
        place = self.ctx.variable_to_index(name)

        def insert(p: Any) -> Any:
            degree = p.degrees()[place]
            if not degree:
                return p
            if len(p) * max(len(a), len(b)) ** degree > 20_000:
                return None
            total, x = self.zero, self.generators[name]
            for k, c in _coefficients(p, x, place, degree).items():
                total += c * (-b) ** k * a ** (degree - k)
            result = self._primitive(total)
            return None if len(result) > max(limit, len(p)) else result

        new: list[Any] = []
        for other in self.equations:
            if other is equation:
                continue
            result = insert(other)
            if result is None:
                return False
            if not result.is_zero() and not any(result == e for e in new):
                new.append(result)
        value = insert(self.value_equation)
        if value is None:
            return False
        if self._unknowns(a) and sum(map(len, new)) + len(value) > sum(map(len, self.equations)) + len(
            self.value_equation
        ):
            return False
        self.equations, self.value_equation = new, value
        return True

    def _closure(self) -> list[Any]:
        """The equations that the value needs: as many independent ones as there are unknowns that it reaches."""
        owners = self._ordered()
        reached = set(self._unknowns(self.value_equation)) - {VALUE}
        work = list(reached)
        while work:
            equation = owners.get(work.pop())
            for other in self._unknowns(equation) if equation is not None else ():
                if other not in reached:
                    reached.add(other)
                    work.append(other)
        among = [e for e in self.equations if set(self._unknowns(e)) <= reached]
        # What is asked may hold no unknown: a determinant that is a number needs no equation.
        return self._independent(among, reached) or (self.equations if reached else [])

    def _independent(self, equations: list[Any], unknowns: set[str]) -> list[Any]:
        """Short equations whose gradients in the unknowns are independent at the first sample; [] if too few are."""
        point = [complex(x) for x in (*self.roots[0].values, *(s[0] for s in self.samples), self._value_at(0))]
        basis: dict[str, dict[str, complex]] = {}
        found: list[Any] = []
        for equation in sorted(equations, key=lambda e: (len(self._unknowns(e)), len(e))):
            if len(found) == len(unknowns):
                break
            row = {name: _float_value(equation.derivative(name), point) for name in self._unknowns(equation)}
            size = max(map(abs, row.values()))
            row = {name: x / size for name, x in row.items() if abs(x) > 1e-11 * size}
            while row and (lead := next((name for name in row if name in basis), None)) is not None:
                factor = row[lead]
                for name, x in basis[lead].items():
                    row[name] = row.get(name, 0) - factor * x
                del row[lead]
                row = {name: x for name, x in row.items() if abs(x) > 1e-9}
            if row:
                lead = max(row, key=lambda name: abs(row[name]))
                new = {name: x / row[lead] for name, x in row.items()}
                for vector in basis.values():
                    if lead in vector:
                        factor = vector[lead]
                        for name, x in new.items():
                            vector[name] = vector.get(name, 0) - factor * x
                        vector.pop(lead, None)
                basis[lead] = new
                found.append(equation)
        return found if len(found) == len(unknowns) else []

    def _ordered(self) -> dict[str, Any]:
        """An equation of its own for every unknown (a matching; short equations first)."""
        equations = sorted(self.equations, key=lambda e: (len(self._unknowns(e)), len(e)))
        holder: dict[int, str] = {}
        by_name: dict[str, list[int]] = {}
        for k, e in enumerate(equations):
            for name in self._unknowns(e):
                by_name.setdefault(name, []).append(k)

        def assign(name: str, seen: set[int]) -> bool:
            for k in by_name.get(name, ()):
                if k in seen:
                    continue
                seen.add(k)
                if k not in holder or assign(holder[k], seen):
                    holder[k] = name
                    return True
            return False

        for name in by_name:
            if name != VALUE:
                assign(name, set())
        return {name: equations[k] for k, name in holder.items()}

    def _vanishes(self, p: Any) -> bool:
        """Whether a polynomial vanishes at the samples (to 25 digits of its terms)."""
        with ball.precision(_BITS):
            for k, root in enumerate(self.roots):
                total, size = acb(0), 0.0
                point = [*root.values, *(s[k] for s in self.samples), self._value_at(k)]
                for monomial, c in p.to_dict().items():
                    term = acb(int(c))
                    for x, power in zip(point, monomial, strict=True):
                        if power:
                            term *= x ** int(power)
                    total += term
                    size = max(size, abs(complex(term)))
                if abs(complex(total)) > size * 10.0**-_DIGITS:
                    return False
            return True

    def _value_at(self, k: int) -> Any:
        if k not in self.values_at:
            self.values_at[k] = value_ball(self.system, self.roots[k])
        return self.values_at[k]

    def result(self) -> tuple[tuple[str, ...], tuple[sp.Expr, ...]]:
        """The unknowns, renamed in order, and the equations as SymPy."""
        needed = self._closure()
        equations = [*needed, self.value_equation]
        held = {name for e in equations for name in self._unknowns(e)} - {VALUE}
        unknowns = [name for name in self.names if name in held]
        if len(unknowns) != len(needed):
            raise ConvergenceError("the equations could not be reduced to as many as there are unknowns")
        prefix = self.names[0].rstrip("0123456789") if self.names else "g"
        rename = {name: sp.Symbol(f"{prefix}{k + 1}") for k, name in enumerate(unknowns)}
        symbols = {s.name: s for s in self.system.symbols}
        at = [symbols.get(n, rename.get(n, sp.Symbol(n))) for n in (*self.parameters, *self.names, VALUE)]
        return (
            (*(rename[n].name for n in unknowns), VALUE),
            tuple(_to_sympy(e, at) for e in equations),
        )

    def polynomial(self) -> sp.Expr | None:
        """The irreducible polynomial of the value over the free symbols, or None where it is not found."""
        equations = [*self._closure(), self.value_equation]
        while True:
            held = {name for e in equations for name in self._unknowns(e)} - {VALUE}
            if not held:
                break
            best = None
            for name in sorted(held):
                place = self.ctx.variable_to_index(name)
                having = [e for e in equations if e.degrees()[place]]
                if len(having) < 2:
                    return None
                pivot = min(having, key=lambda e: (e.degrees()[place], len(e)))
                cost = sum(
                    len(pivot) * len(e) * e.degrees()[place] * pivot.degrees()[place] for e in having if e is not pivot
                )
                if best is None or cost < best[0]:
                    best = (cost, name, pivot, having)
            assert best is not None
            cost, name, pivot, having = best
            if cost > _WORK:
                return None
            new = [e for e in equations if not any(e is h for h in having)]
            for e in having:
                if e is pivot:
                    continue
                result = pivot.resultant(e, name)
                if result.is_zero() or len(result) > _RESULTANT_TERMS:
                    return None
                factor = self._vanishing_factor(result)
                if factor is None:
                    return None
                new.append(factor)
            equations = new
        candidates = [self._vanishing_factor(e) for e in equations if VALUE in self._unknowns(e)]
        if not candidates or candidates[0] is None:
            return None
        symbols = {s.name: s for s in self.system.symbols}
        at = [symbols.get(n, sp.Symbol(n)) for n in (*self.parameters, *self.names, VALUE)]
        return _to_sympy(candidates[0], at)

    def _vanishing_factor(self, p: Any) -> Any:
        _, factors = p.factor()
        found = [q for q, _ in factors if self._unknowns(q) and self._vanishes(q)]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class _Scaled:
    numer: Any
    denom: Any


def value_ball(system: DysonSystem, root: Root) -> Any:
    """What is asked, at a solution, as a complex ball."""
    return scalar_ball(system.question.value, system, root)


def scalar_ball(expr: sp.Expr, system: DysonSystem, root: Root) -> Any:
    """An expression in the functionals and the free symbols, at a solution, as a complex ball."""
    parts = dict(zip((s for s, _ in system.question.functionals), root.solution(), strict=True))
    at = dict(zip((s.name for s in system.pencil.field.symbols), root.values, strict=True))

    def walk(e: sp.Expr) -> Any:
        if e in parts:
            return parts[e]
        if isinstance(e, sp.Symbol):
            return at[e.name]
        if isinstance(e, sp.Rational):
            return acb(ball.rational(e))
        if isinstance(e, sp.Add):
            return sum((walk(a) for a in e.args), acb(0))
        if isinstance(e, sp.Mul):
            total = acb(1)
            for a in e.args:
                total *= walk(a)
            return total
        base, exponent = e.as_base_exp()
        return walk(base) ** int(exponent)

    with ball.precision(root.bits):
        return walk(expr)


def at_atom(system: DysonSystem, c: Any, atom: Any) -> Any:
    """A coefficient with the deterministic matrices at an atom."""
    if not atom.values:
        return c
    field = system.pencil.field
    values = list(field.gens)
    for k, value in atom.values:
        values[k] = value

    def poly(p: Any) -> Any:
        total = field.zero
        for monomial, q in p.terms():
            term = field.one * q
            for value, power in zip(values, monomial, strict=True):
                if power:
                    term = term * value**power
            total = total + term
        return total

    return poly(c.numer) / poly(c.denom)


def _coefficients(p: Any, x: Any, place: int, degree: int) -> dict[int, Any]:
    """The coefficients of the powers of one variable."""
    by_power: dict[int, dict[Any, Any]] = {}
    for monomial, c in p.to_dict().items():
        k = int(monomial[place])
        rest = list(monomial)
        rest[place] = 0
        by_power.setdefault(k, {})[tuple(rest)] = c
    del x, degree
    return {k: p.context().from_dict(terms) for k, terms in by_power.items()}


def _float_value(p: Any, point: list[complex]) -> complex:
    total = 0j
    for monomial, c in p.to_dict().items():
        term = complex(int(c))
        for x, power in zip(point, monomial, strict=True):
            if power:
                term *= x ** int(power)
        total += term
    return total


def _add_fractions(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    if left[1] == right[1]:
        return left[0] + right[0], left[1]
    common = left[1].gcd(right[1])
    a, b = left[1] / common, right[1] / common
    return left[0] * b + right[0] * a, left[1] * b


def _mark(x: Any) -> str:
    def part(y: Any) -> str:
        y = arb(y)
        return "0" if abs(float(y)) < 10.0**-_DIGITS else y.mid().str(_DIGITS, radius=False)

    return part(x.real) + "|" + part(x.imag)


def _to_sympy(p: Any, at: list[sp.Symbol]) -> sp.Expr:
    terms = []
    for monomial, c in p.to_dict().items():
        factors = [x ** int(k) for x, k in zip(at, monomial, strict=True) if k]
        terms.append(sp.Mul(sp.Integer(int(c)), *factors))
    return sp.Add(*terms)
