"""`bulkedge sphere FUNCTION --dim d --degree L`: eigenvalues of the kernel on the sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from bulkedge.arguments import Count, Digits, FunctionOfZ, Numeric, Real, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import Multiplicity, Quantities, Row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.theory.functions.nonlinearity import Nonlinearity
    from bulkedge.theory.kernels.sphere import Eigenvalue
    from bulkedge.theory.numbers.enclosure import Enclosure

HAS_CURVE = True


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


def sphere(
    function: FunctionOfZ,
    dim: Annotated[Numeric, Count("dimension of the space, at least 2 (the circle is 2)", "d")],
    degree: Annotated[Numeric, Count("degrees 0..L, at most 20000 (500 where there is no closed form)", "L")],
    radius: Annotated[Numeric, Real("radius of the points' sphere", "R")] = 1,
    digits: Digits = 15,
) -> SphereResult:
    """The eigenvalues eta_l^2 and multiplicities N(d, l), l = 0..degree, of a function's kernel on the sphere.

    eta_l = E[f(R t) P_l(t)], t the first coordinate of a uniform point of the unit sphere of R^d, P_l(1) = 1.
    Valid for: d >= 2; the weight uniform on the unit sphere, the points of radius R (weights N(0, I/d) multiply the
    eigenvalue of a p-homogeneous function by prod_{i<p} (d + 2i)/d^p).
    Accuracy: rigorous. Errors: InputError for d < 2, a negative degree, a radius that is not positive.
    Source: K2.

    Example:

    >>> bulkedge.sphere("relu", dim=3, degree=2).eigenvalues[2].eta.decimal(6)
    '0.0625'
    """
    given = read(sphere, locals())
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
