"""The spectrum behind a resolvent: edges of every component, atoms, outliers with their residues, the density.

The value of the question is tr (z - A)^-1, or a 1 x 1 form of it, as a function of z; P(value, z) = 0 its polynomial.

Edges: the support can begin or end only where two branches meet or one is infinite: at real roots of P's discriminant
or leading coefficient. Between two neighbours the line lies within the support or outside it; which, is decided from
the solution just above it (whose branch is certain), and outside by the branch test on the line itself.
Atoms: the weight is the limit of (z - x) value, a root of the polynomial of leading terms of P at value = m/(z - x).
Outliers: zeros, outside the support, of the determinant of the dimension-one part of L_0 - S; their positions are
roots of the polynomial of that determinant at zero, confirmed by a change of its sign. Residues: contour integrals.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp
from flint import acb, arb, fmpq, fmpz, fmpz_mpoly_ctx, fmpz_poly

from bulkedge.theory.equivalents import elimination
from bulkedge.theory.equivalents.dyson_root import Root, find_root
from bulkedge.theory.equivalents.equivalent import Equivalent
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

_FAR = 10**6
_CONTOUR = 40
_ABOVE = Fraction(1, 2000)  # of an interval: how far above the real line branches are told apart


@dataclass(frozen=True)
class Outlier:
    """An eigenvalue outside the bulk; `residue` of a form's resolvent there (a squared overlap), None for a trace."""

    position: Enclosure
    residue: Enclosure | None


@dataclass(frozen=True)
class EquivalentSpectrum:
    """What the resolvent of an equivalent says about the spectrum."""

    edges: tuple[Enclosure, ...]
    atoms: tuple[tuple[Enclosure, Enclosure], ...]
    outliers: tuple[Outlier, ...]
    mass: Enclosure


def rounded(found: EquivalentSpectrum, digits: int) -> EquivalentSpectrum:
    """The spectrum of an equivalent whose constants were rounded far beyond `digits`: ten digits more are stated."""

    def wide(e: Enclosure) -> Enclosure:
        return replace(e, error=e.error + max(Fraction(1), abs(e.value)) / 10 ** (digits + 10))

    return EquivalentSpectrum(
        tuple(map(wide, found.edges)),
        tuple((wide(place), wide(weight)) for place, weight in found.atoms),
        tuple(Outlier(wide(o.position), None if o.residue is None else wide(o.residue)) for o in found.outliers),
        wide(found.mass),
    )


def spectrum(theory: Equivalent, z: sp.Symbol, digits: int) -> EquivalentSpectrum:
    """Edges, atoms and outliers to so many digits.

    Valid for: a question whose only free symbol is z and whose value is a resolvent of a symmetric matrix in z.
    Errors: InputError if it is no resolvent; ConvergenceError where the polynomial is not found or a branch is not
    certain: then nothing is said.
    """
    return _Spectrum(theory, z, digits).found()


def density(theory: Equivalent, z: sp.Symbol, points: list[Fraction]) -> list[tuple[float, float]]:
    """The density of the continuous part at points of the real line, with bounds of the errors.

    Errors: ConvergenceError where the branch at a point is not certain.
    """
    work = _Spectrum(theory, z, 15)
    return [work.density(x) for x in points]


class _Spectrum:
    def __init__(self, theory: Equivalent, z: sp.Symbol, digits: int) -> None:
        others = [s.name for s in theory.symbols if s.name != z.name]
        if others:
            raise InputError("set", f"{others[0]} has no value", f"set {others[0]}: a spectrum is one of numbers")
        for c in theory.question.model.constants:
            raise InputError(
                "spectrum",
                f"{c.name} of {c.function.name} is no rational number, and the polynomial's edges need one",
                "write s*X*W + t*Z in its place, with Z: n x N, 1 and rational numbers s and t for mu1 and mu2",
            )
        self.theory, self.z, self.digits = theory, z, digits
        self.bits = ball.bits(digits) + 64
        self.sign, self.mass = self._resolvent()
        if theory.reduced.polynomial is None:
            raise ConvergenceError("no spectrum: the polynomial of the resolvent was not found")
        ctx = fmpz_mpoly_ctx.get(("z", "value"))
        poly = sp.Poly(theory.reduced.polynomial, z, sp.Symbol(elimination.VALUE))
        self.poly = ctx.from_dict({tuple(map(int, m)): fmpz(int(c)) for m, c in poly.terms()})

    def _resolvent(self) -> tuple[int, Any]:
        """The sign that makes it (z - A)^-1, and the mass."""
        with ball.precision(self.bits):
            # Up the imaginary axis, where no spectrum is near: z times a resolvent tends to its mass, and to nothing
            # else.
            far = self.value(acb(0, _FAR)) * acb(0, _FAR)
            further = self.value(acb(0, 8 * _FAR)) * acb(0, 8 * _FAR)
        one, two = complex(far), complex(further)
        if not (abs(one.imag) < 1e-2 * abs(one) and abs(one - two) < 1e-2 * abs(one) and abs(one) > 1e-12):
            raise InputError(
                "spectrum", f"the expression is no resolvent in {self.z}", f"write tr(inv({self.z} - A)) of a matrix A"
            )
        # mass + O(1/z^2) for a real form of a symmetric matrix.
        return (1 if one.real > 0 else -1), abs(two.real)

    def value(self, at: Any) -> Any:
        return elimination.value_ball(self.theory.system, find_root(self.theory.system, {self.z: at}, self.bits))

    @cached_property
    def leading(self) -> Any:
        """The coefficient of the highest power of the value: it vanishes where a branch is infinite."""
        degree = self.poly.degrees()[1]
        return self.poly.context().from_dict({(m[0], 0): c for m, c in self.poly.to_dict().items() if m[1] == degree})

    @cached_property
    def candidates(self) -> list[Any]:
        """Real points where the number of branches on the line can change, as arbs in ascending order."""
        # Branches meet where the discriminant vanishes and go to infinity where the leading coefficient does; between
        # such points their number on the line is constant.
        parts = [self.leading]
        if self.poly.degrees()[1] > 1:
            parts.append(self.poly.discriminant("value"))
        return real_roots([_univariate(p, 0) for p in parts if not p.is_zero()], self.bits)

    @cached_property
    def intervals(self) -> list[tuple[Fraction, Fraction, bool]]:
        """(point, distance to the nearest candidate, whether it is in the support), between all candidates."""
        points = [ball.fraction(c.mid()) for c in self.candidates]
        if not points:
            raise ConvergenceError("no spectrum: the polynomial has no branch points")
        gaps = [
            (points[0] - 1, Fraction(1)),
            *(((a + b) / 2, (b - a) / 2) for a, b in itertools.pairwise(points)),
            (points[-1] + 1, Fraction(1)),
        ]
        found = []
        for middle, reach in gaps:
            # A short rational in the middle half of the gap: exact arithmetic at it stays cheap.
            x = Fraction(middle).limit_denominator(int(64 / reach) + 64)
            if abs(x - middle) > reach / 4:
                x = middle
            found.append((x, reach, self.inside(x, reach)))
        return found

    def branch(self, x: Fraction, reach: Fraction) -> Any:
        """The root of P(., x) that is the limit from above.

        Errors: ConvergenceError where two roots are too close to be told apart.
        """
        # Close above the line the right branch is the root nearest to the certain solution there; closer still where a
        # second root is not clearly further away.
        eta = reach * _ABOVE
        for _ in range(6):
            with ball.precision(self.bits):
                above = self.value(acb(_rational(x), _rational(eta)))
                roots = [r for r, _ in _at(self.poly, x).complex_roots()]
                order = sorted(roots, key=lambda r: float(abs(r - above).mid()))
                near = float(abs(order[0] - above).mid())
                if len(order) == 1 or near < 0.2 * float(abs(order[1] - above).mid()):
                    return order[0]
            eta /= 16
        raise ConvergenceError(f"no spectrum: the branch at {float(x):.6g} is not certain")

    def inside(self, x: Fraction, reach: Fraction) -> bool:
        root = self.branch(x, reach)
        if not root.imag.contains(0):
            # The imaginary part of a resolvent has one sign; the other one is that of the conjugate branch, taken by
            # mistake.
            if self.sign * root.imag > 0:
                raise ConvergenceError(f"no spectrum: a negative density at {float(x):.6g}")
            return True
        with ball.precision(self.bits):
            above = acb(_rational(x), _rational(reach / 64))
        near = find_root(self.theory.system, {self.z: above}, self.bits)
        self.at(x, near)
        return False

    def at(self, x: Fraction, near: Root | None = None) -> Root:
        """The solution on the real line, outside the support.

        Errors: ConvergenceError where the branch test fails.
        """
        return find_root(self.theory.system, {self.z: sp.Rational(x.numerator, x.denominator)}, self.bits, near)

    def density(self, x: Fraction) -> tuple[float, float]:
        points = [abs(ball.fraction(c.mid()) - x) for c in self.candidates]
        # The distance to the nearest branch point is the scale on which the density varies.
        reach = min(points)
        if reach == 0:
            raise ConvergenceError(f"the density at {float(x):.6g} is that of an edge or an atom")
        root = self.branch(x, reach)
        if root.imag.contains(0):
            return 0.0, 0.0
        with ball.precision(self.bits):
            value = -self.sign * root.imag / arb.pi()
        return float(value.mid()), float(value.rad()) + 2.0**-52 * abs(float(value.mid()))

    def found(self) -> EquivalentSpectrum:
        inside = [flag for _, _, flag in self.intervals]
        edges = [c for c, (a, b) in zip(self.candidates, itertools.pairwise(inside), strict=True) if a != b]
        outliers = self.outliers(inside)
        taken = [o.position for o in outliers]
        atoms = []
        for candidate in real_roots([_univariate(self.leading, 0)], self.bits):
            place = ball.to_enclosure(candidate)
            if any(abs(place.value - t.value) <= place.error + t.error for t in taken):
                continue
            weight = self.atom(candidate)
            if weight is not None:
                atoms.append((place, weight))
        mass = Enclosure(Fraction(self.mass), Fraction(1, 10**9), "tested")
        return EquivalentSpectrum(tuple(map(ball.to_enclosure, edges)), tuple(atoms), tuple(outliers), mass)

    def atom(self, candidate: Any) -> Enclosure | None:
        """The weight at a candidate, or None where there is none."""
        others = [abs(float(c.mid()) - float(candidate.mid())) for c in self.candidates if not c.overlaps(candidate)]
        reach = Fraction(min([1.0, *(o for o in others if o > 0)]))
        seen = []
        root = None
        for k in range(-2, 17):  # from far above towards the line, each solution the start of the next
            with ball.precision(self.bits):
                eta = _rational(reach) * arb(2) ** -k
                root = find_root(self.theory.system, {self.z: acb(candidate.mid(), eta)}, self.bits, root)
                if k in (10, 16):
                    value = elimination.value_ball(self.theory.system, root)
                    seen.append(complex(self.sign * acb(0, eta) * value).real)
        place = ball.fraction(candidate.mid())
        exact = place.limit_denominator(10**6)
        if abs(exact - place) > ball.fraction(candidate.rad()):
            if abs(seen[1]) > 1e-3 * self.mass and abs(seen[1]) > 0.3 * abs(seen[0]):
                raise ConvergenceError(f"no spectrum: an atom near {float(place):.6g} is not certain")
            return None
        weights = _leading(self.poly, exact)
        with ball.precision(self.bits):
            roots = [self.sign * r.real for r, _ in weights.complex_roots() if r.imag.contains(0)]
        roots = [*roots, arb(0)]
        nearest = [min(roots, key=lambda r: abs(float(r.mid()) - s)) for s in seen]
        if nearest[0] is not nearest[1] and float(nearest[0].mid()) != float(nearest[1].mid()):
            gap = abs(float(nearest[1].mid()) - seen[1])
            if gap > 0.3 * min(abs(float(a.mid()) - float(nearest[1].mid())) for a in roots if a is not nearest[1]):
                raise ConvergenceError(f"no spectrum: the atom at {float(place):.6g} is not certain")
        weight = nearest[1]
        return None if weight.contains(0) else ball.to_enclosure(weight)

    def outliers(self, inside: list[bool]) -> list[Outlier]:
        """Zeros of the dimension-one determinant outside the support."""
        if not any(dim == "1" for dim in self.theory.system.rows):
            return []
        determinant = elimination.determinant_polynomial(self.theory.system)
        if determinant is None:
            raise ConvergenceError("no outliers: the polynomial of the determinant was not found")
        poly = sp.Poly(determinant, self.z)
        if poly.degree() < 1:
            return []
        coefficients = [int(c) for c in reversed(poly.all_coeffs())]
        found = []
        for root in real_roots([fmpz_poly(coefficients)], self.bits):
            side = sum(1 for c in self.candidates if float(c.mid()) < float(root.mid()) and not c.overlaps(root))
            if inside[side] or (side + 1 < len(inside) and self.candidates[side].overlaps(root) and inside[side + 1]):
                continue
            others = [float(c.mid()) for c in self.candidates if not c.overlaps(root)]
            reach = Fraction(min([0.25, *(abs(c - float(root.mid())) / 8 for c in others)]))
            x = ball.fraction(root.mid())
            signs = [self.determinant(x + s * reach / 64) for s in (-1, 1)]
            if signs[0] * signs[1] < 0:
                found.append(Outlier(ball.to_enclosure(root), self.residue(x, reach)))
            elif signs[0] * signs[1] == 0 or abs(self.determinant(x)) < 1e-20 * abs(signs[0]):
                raise ConvergenceError(f"no outliers: one at {float(x):.6g} may be double")
        return found

    def determinant(self, x: Fraction) -> float:
        with ball.precision(self.bits):
            above = acb(_rational(x), arb(2) ** -20)
        root = self.at(x, find_root(self.theory.system, {self.z: above}, self.bits))
        return float(root.one_block()[1].real.mid())

    def residue(self, x: Fraction, reach: Fraction) -> Enclosure | None:
        """(1/2 pi i) times the integral of the resolvent around the outlier; None for traces."""
        if all(f.kind == "trace" for _, f in self.theory.question.functionals):
            return None
        sums = []
        for count in (_CONTOUR // 2, _CONTOUR):
            with ball.precision(self.bits):
                total = acb(0)
                for k in range(count):
                    # Points in conjugate pairs, none on the real line.
                    turn = (acb(0, 1) * arb.pi() * (2 * k + 1) / count).exp()
                    step = turn * _rational(reach)
                    if k < (count + 1) // 2:
                        total += 2 * (self.value(acb(_rational(x)) + step) * step).real
                sums.append(self.sign * total.real / count)
        value = ball.to_enclosure(sums[1])
        gap = abs(ball.fraction((sums[1] - sums[0]).mid()))
        return Enclosure(value.value, value.error + gap, "tested")


def real_roots(polynomials: list[Any], bits: int) -> list[Any]:
    """The distinct real roots of integer polynomials, enclosed and in ascending order."""
    found: list[Any] = []
    with ball.precision(bits + 64):
        for polynomial in polynomials:
            if polynomial.degree() < 1:
                continue
            for factor, _ in polynomial.factor()[1]:
                for root, _ in factor.complex_roots():
                    if root.imag.is_zero() or root.imag.contains(0):
                        found.append(root.real)
    found.sort(key=lambda r: float(r.mid()))
    distinct: list[Any] = []
    for root in found:
        if not distinct or not root.overlaps(distinct[-1]):
            distinct.append(root)
    return distinct


def _univariate(p: Any, place: int) -> Any:
    terms = {int(m[place]): int(c) for m, c in p.to_dict().items()}
    return fmpz_poly([terms.get(k, 0) for k in range(max(terms) + 1)])


def _at(p: Any, x: Fraction) -> Any:
    """P(., x) with integer coefficients."""
    degree = int(p.degrees()[0])
    terms: dict[int, int] = {}
    for (i, k), c in p.to_dict().items():
        terms[int(k)] = terms.get(int(k), 0) + int(c) * x.numerator ** int(i) * x.denominator ** (degree - int(i))
    return _squarefree(fmpz_poly([terms.get(k, 0) for k in range(max(terms) + 1)]))


def _squarefree(p: Any) -> Any:
    if p.degree() < 1:
        raise ConvergenceError("no spectrum: the polynomial is constant at a point")
    common = p.gcd(p.derivative())
    return p if common.degree() < 1 else p // common


def _leading(p: Any, x: Fraction) -> Any:
    """The polynomial of m in the leading terms of P(m/e, x + e) as e -> 0, without its root 0."""
    shifted: dict[int, dict[int, Fraction]] = {}
    for (i, k), c in p.to_dict().items():
        for j in range(int(i) + 1):
            term = int(c) * int(sp.binomial(int(i), j)) * x ** (int(i) - j)
            row = shifted.setdefault(int(k), {})
            row[j] = row.get(j, Fraction(0)) + term
    orders = {k: min(j for j, c in row.items() if c) - k for k, row in shifted.items() if any(row.values())}
    least = min(orders.values())
    terms = {k: shifted[k][o + k] for k, o in orders.items() if o == least}
    scale = 1
    for c in terms.values():
        scale = scale * c.denominator
    low = min(terms)
    result = fmpz_poly([int(terms.get(k, Fraction(0)) * scale) for k in range(low, max(terms) + 1)])
    return _squarefree(result) if result.degree() > 0 else fmpz_poly([1])


def _rational(x: Fraction) -> Any:
    return arb(fmpq(x.numerator, x.denominator))
