"""`bulkedge sphere FUNCTION --dim d --degree L`: eigenvalues of the kernel on the sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Digits, FunctionOfZ, Numeric, Positive, Real, RealNames, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import Frozen, Multiplicity, Quantities, Row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.theory.functions.nonlinearity import Nonlinearity
    from bulkedge.theory.kernels.sphere import Eigenvalue
    from bulkedge.theory.numbers.enclosure import Enclosure

HAS_CURVE = True
HAS_PROGRAM = True


@dataclass(frozen=True)
class SphereResult(Result):
    """The eigenvalues of E_w[f(w.x) f(w.x')] on the sphere, w uniform on the unit sphere.

    `closed_form` is eta_l in SymPy (d, l) or None; `enclosed_second_moment` is E f(R t)^2, which sum N(d, l) eta_l^2
    tends to.
    """

    command: ClassVar[str] = "sphere"
    function: Nonlinearity
    dimension: int
    radius: sp.Rational
    digits: int
    closed_form: sp.Expr | None
    found: tuple[Eigenvalue, ...]
    enclosed_second_moment: Enclosure

    @property
    def exit_status(self) -> int:
        """3 if an eigenvalue is neither zero nor known to the digits asked for, else 0."""
        return 0 if all(x.value.reaches(self.digits - 1) or x.eta.contains(0) for x in self.found) else 3

    def quantities(self) -> Quantities:
        """`eigenvalues`: degree, multiplicity, eta, value, errors; closed form and sum of all eigenvalues."""
        return Row(
            {
                "function": str(self.function.expr),
                "closed_form": None if self.closed_form is None else str(self.closed_form),
                "eigenvalues": [
                    Row(
                        {
                            "degree": x.degree,
                            "multiplicity": Multiplicity(x.multiplicity),
                            "eta": Number.of(x.eta, digits=self.digits),
                            "value": Number.of(x.value, digits=self.digits),
                        }
                    )
                    for x in self.found
                ],
                "second_moment": Number.of(self.enclosed_second_moment, digits=self.digits),
            }
        )

    def tables(self) -> tuple[Table, ...]:
        """One row per degree."""
        from bulkedge.theory.numbers.enclosure import int_to_text

        listed = tuple(
            (str(x.degree), int_to_text(x.multiplicity), x.eta.decimal(), x.value.decimal(), x.value.bound())
            for x in self.eigenvalues
        )
        title = f"{self.function.name} on the sphere of radius {self.radius} in dimension {self.dimension}"
        eigen = Table(("degree", "multiplicity", "eta", "eigenvalue", "error"), listed, title)
        summary = [("sum of all eigenvalues", self.second_moment.decimal())]
        if self.closed_form is not None:
            summary.append(("eta_l", str(self.closed_form)))
        return (eigen, Table(("", ""), tuple(summary)))

    def latex(self) -> str:
        """The closed form of eta_l where there is one, else the list of eigenvalues."""
        import sympy as sp

        from bulkedge.derivations.engine.latex import latex

        if self.closed_form is not None:
            return rf"\eta_{{l}} = {latex(self.closed_form)}"
        values = ",\\ ".join(latex(sp.Float(float(x.value), 8)) for x in self.found)
        return rf"(\eta_{{l}}^2)_{{l \geq 0}} = \left({values}, \ldots\right)"

    def figure(self) -> Figure:
        """The decay of the eigenvalues."""
        from bulkedge.figures.kernel import decay_figure

        return decay_figure({self.function.name: self.found}, self.dimension)


@dataclass(frozen=True)
class SymbolicSphere(Result):
    """The eigenvalues as expressions in the dimension, the degree, the radius and the function's parameters."""

    command: ClassVar[str] = "sphere"
    function: Nonlinearity
    digits: int
    formula: sp.Expr
    found: tuple[tuple[Any, sp.Expr, sp.Expr], ...]  # degree, multiplicity, eta
    square: sp.Expr
    held: frozenset[Any]

    def quantities(self) -> Quantities:
        """`eigenvalues`: degree, and multiplicity, eta and value with eta's `exact`; closed form and second moment."""
        return Row(
            {
                "function": str(self.function.expr),
                "closed_form": str(self.formula),
                "eigenvalues": [
                    Row(
                        {
                            "degree": degree if isinstance(degree, int) else str(degree),
                            "multiplicity": str(multiplicity),
                            "value": Number.without_value(eta**2, self.digits),
                            "eta": Number.without_value(eta, self.digits),
                        }
                    )
                    for degree, multiplicity, eta in self.found
                ],
                "second_moment": Number.without_value(self.square, self.digits),
            }
        )

    def payload(self) -> dict[str, Any]:
        """The quantities; the `exact` of an eigenvalue is that of eta."""
        found = super().payload()
        for row, (_, _, eta) in zip(found["eigenvalues"], self.found, strict=True):
            row["exact"] = str(eta)
        return found

    @property
    def free_symbols(self) -> frozenset[Any]:
        """The user's symbols."""
        return self.held

    @property
    def expr(self) -> Frozen:
        """`eta`, in the order of the degrees, and `second_moment`."""
        from bulkedge.results.symbolic import expressions

        return expressions(self._listed)

    @property
    def _listed(self) -> Quantities:
        etas = tuple(Number.without_value(eta, self.digits) for _, _, eta in self.found)
        return Quantities({"eta": etas, "second_moment": Number.without_value(self.square, self.digits)})

    def python(self) -> str:
        """A program: one function of the symbols; the last axis of `eta` is the degree."""
        from bulkedge.results.symbolic import program

        return program(self.command, self._listed, self.inputs, (f"{self.setting} (K2)", *self.notes), {})

    def tables(self) -> tuple[Table, ...]:
        """One row per degree."""
        rows = tuple((str(degree), str(count), str(eta)) for degree, count, eta in self.found)
        title = f"{self.function.name} on the sphere"
        summary = (("eta_l", str(self.formula)), ("sum of all eigenvalues", str(self.square)))
        return (Table(("degree", "multiplicity", "eta"), rows, title), Table(("", ""), summary))

    def latex(self) -> str:
        """The closed form of eta_l."""
        from bulkedge.derivations.engine.latex import latex

        return rf"\eta_{{l}} = {latex(self.formula)}"

    def figure(self) -> Figure:
        """There is none with symbols."""
        self.check_numbers("plot")
        raise AssertionError("symbols are left")


def sphere(
    function: FunctionOfZ,
    dim: Annotated[Numeric, Count("dimension of the space, at least 2 (the circle is 2)", "d", letters=True)],
    degree: Annotated[
        Numeric, Count("degrees 0..L, at most 20000 (500 where there is no closed form)", "L", letters=True)
    ],
    radius: Annotated[Numeric, Real("radius of the points' sphere", "R", letters=True)] = 1,
    digits: Digits = 15,
    positive: Positive = None,
    real: RealNames = None,
) -> SphereResult | SymbolicSphere:
    """The eigenvalues eta_l^2 and multiplicities N(d, l), l = 0..degree, of a function's kernel on the sphere.

    eta_l = E[f(R t) P_l(t)], t the first coordinate of a uniform point of the unit sphere of R^d, P_l(1) = 1.
    Valid for: d >= 2; the weight uniform on the unit sphere, the points of radius R (weights N(0, I/d) multiply the
    eigenvalue of a p-homogeneous function by prod_{i<p} (d + 2i)/d^p). Dimension, radius, the degree (then one, not
    0..degree) and the function may hold declared symbols where there is a closed form: piecewise polynomials with no
    kink but 0.
    Accuracy: rigorous. Errors: InputError for d < 2, a negative degree, a radius that is not positive.
    Source: K2.

    Example:

    >>> bulkedge.sphere("relu", dim=3, degree=2).eigenvalues[2].eta.decimal(6)
    '0.0625'
    """
    given = read(sphere, locals())
    if given.symbolic:
        return _with_symbols(given)
    from bulkedge.theory.kernels.sphere import eigenvalues, eta, second_moment

    f, dim, degree, reach, digits = given.function, given.dim, given.degree, given.radius, given.digits
    found = eigenvalues(f, dim, degree, reach, digits)
    return SphereResult(
        inputs=given.inputs,
        setting="weight uniform on the unit sphere of R^d, points uniform on the sphere of the given radius",
        source=("K2",),
        notes=(),
        function=f,
        dimension=dim,
        radius=reach,
        digits=digits,
        closed_form=eta(f, reach),
        found=found,
        enclosed_second_moment=second_moment(f, dim, reach, digits),
    )


_MAX_LISTED = 500  # degrees of a table with symbols


def _with_symbols(given: Any) -> SymbolicSphere:
    """Closed forms in the user's symbols."""
    import sympy as sp

    from bulkedge.theory.functions.nonlinearity import product
    from bulkedge.theory.functions.parametric import symbols_of
    from bulkedge.theory.kernels.sphere import eta
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.numbers.symbols import d, l

    f, dim, degree, radius = (getattr(given, name) for name in ("function", "dim", "degree", "radius"))
    formula, square = eta(f, radius), eta(product(f, f), radius)
    if formula is None or square is None:
        remedy = "take a piecewise polynomial with no kink but 0, or give numbers"
        raise InputError("FUNCTION", f"no closed form of {f.name} on the sphere is known", remedy)
    if isinstance(degree, int) and degree > _MAX_LISTED:
        raise InputError("degree", f"{degree} is too large for a table with symbols", f"give at most {_MAX_LISTED}")
    formula = formula.subs(d, sp.sympify(dim, strict=True))
    degrees = range(degree + 1) if isinstance(degree, int) else (degree,)
    found = []
    for n in (sp.sympify(x, strict=True) for x in degrees):
        harmonics = sp.binomial(n + dim - 1, n) - sp.binomial(n + dim - 3, n - 2)
        count = sp.factor(sp.expand_func(harmonics)) if n.is_Integer else harmonics
        # simplified, a degree in letters would be divided by factors that vanish at some degrees
        shown = formula.subs(l, n)
        found.append((int(n) if n.is_Integer else n, count, sp.gammasimp(shown) if n.is_Integer else shown))
    at = square.subs({d: sp.sympify(dim, strict=True), l: 0})
    expressions = [sp.sympify(x, strict=True) for x in (dim, degree, radius)]
    held = symbols_of(f).union(*(e.free_symbols for e in expressions))
    return SymbolicSphere(
        inputs=given.inputs,
        setting="weight uniform on the unit sphere of R^d, points uniform on the sphere of the given radius",
        source=("K2",),
        notes=(*(f"holds where {condition}" for condition in given.conditions), "the dimension is at least 2"),
        function=f,
        digits=given.digits,
        formula=formula,
        found=tuple(found),
        square=sp.gammasimp(at),
        held=frozenset(held),
    )
