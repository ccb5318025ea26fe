"""`bulkedge hermite FUNCTION --degree K`: Hermite coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Digits, FunctionOfZ, Numeric, Word, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import Row, coefficient_table
from bulkedge.results.result import Result, Table
from bulkedge.theory.gaussian.conventions import CONVENTIONS, MAX_DEGREE
from bulkedge.theory.numbers.errors import PrecisionError

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.theory.functions.nonlinearity import Nonlinearity
    from bulkedge.theory.gaussian.hermite import Coefficient

HAS_CURVE = True


@dataclass(frozen=True)
class HermiteResult(Result):
    """The Hermite coefficients of a function.

    `found` are the coefficients as they were computed; `general_term` is SymPy in k (theory.numbers.symbols.k) or None.
    """

    command: ClassVar[str] = "hermite"
    function: Nonlinearity
    convention: str
    digits: int
    found: tuple[Coefficient, ...]
    general_term: sp.Expr | None
    information_exponent: int | None
    unreached: tuple[int, ...]

    @property
    def exit_status(self) -> int:
        """3 if a coefficient did not reach the digits asked for, else 0."""
        return 3 if self.unreached else 0

    def quantities(self) -> dict[str, Any]:
        """`convention`, `general_term` (or None), `information_exponent`, `coefficients`: k, exact, value, error."""
        return {
            "function": str(self.function.expr),
            "convention": self.convention,
            "general_term": None if self.general_term is None else str(self.general_term),
            "information_exponent": self.information_exponent,
            "coefficients": [Row({"k": c.k, "value": Number.of(c, digits=self.digits)}) for c in self.found],
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per coefficient."""
        title = f"{self.function.name}: {self.convention} Hermite coefficients"
        exponent = self.information_exponent
        summary = [("information exponent", "none" if exponent is None else str(exponent))]
        if self.general_term is not None:
            summary.append(("general term", str(self.general_term)))
        return (coefficient_table(self.coefficients, title), Table(("", ""), tuple(summary)))

    def latex(self) -> str:
        """The general term where one is known, else the truncated expansion."""
        from bulkedge.derivations.engine.latex import latex

        if self.general_term is not None:
            return rf"c_{{k}} = {latex(self.general_term)}"
        basis = {
            "orthonormal": r"h_{%d}(z)",
            "probabilist": r"\mathrm{He}_{%d}(z)",
            "moment": r"\frac{\mathrm{He}_{%d}(z)}{%d!}",
        }
        form = basis[self.convention]
        terms = []
        for c in self.found:
            if c.exact == 0:
                continue
            number = Number.of(c, digits=self.digits)
            value = number.latex if number.exact is not None else number.rounded_latex(self.digits)
            name = form % ((c.k, c.k) if self.convention == "moment" else c.k)
            terms.append(rf"\left({value}\right) {name}")
        return "f(z) = " + (" + ".join(terms) if terms else "0") + r" + \cdots"

    def figure(self) -> Figure:
        """The size of the coefficients against k."""
        from bulkedge.results.plotting import PALETTE, new_figure

        figure, axes = new_figure()
        points = [(c.k, float(c.enclosure)) for c in self.found]
        for sign, colour, marker in ((1, PALETTE[0], "o"), (-1, PALETTE[1], "v")):
            chosen = [(k, abs(v)) for k, v in points if v * sign > 0]
            if chosen:
                label = "positive" if sign > 0 else "negative"
                axes.plot(*zip(*chosen, strict=True), marker, color=colour, label=label, markersize=4)
        axes.set_yscale("log")
        axes.set_xlabel("k")
        axes.set_ylabel(f"|c_k| ({self.convention})")
        axes.set_title(self.function.name)
        axes.legend()
        return figure


def hermite(
    function: FunctionOfZ,
    degree: Annotated[Numeric, Count("coefficients k = 0..K", "K", low=0, high=MAX_DEGREE)],
    convention: Annotated[str, Word("what the coefficients multiply", words=CONVENTIONS)] = "orthonormal",
    digits: Digits = 15,
) -> HermiteResult:
    """The Hermite coefficients k = 0..degree of a function, exact or rigorously enclosed.

    orthonormal: f = sum c_k h_k; probabilist: f = sum c_k He_k; moment: f = sum c_k He_k/k!.
    Valid for: functions shown to be in L2 of the Gaussian (catalogue name, expression in z, SymPy expression).
    Accuracy: exact where a closed form is known, else a rigorous error bound at `digits` significant digits; a
    coefficient that cannot be told from zero keeps its honest error, and the exit status says so.
    Errors: InputError. Source: H1, H2.

    Example:

    >>> bulkedge.hermite("relu", degree=2).coefficients[2].exact
    1/(2*sqrt(pi))
    """
    given = read(hermite, locals())
    from bulkedge.theory.gaussian.hermite import Coefficient, coefficient, general_term, information_exponent

    f, degree, convention, digits = given.function, given.degree, given.convention, given.digits
    found, unreached = [], []
    for k in range(degree + 1):
        try:
            found.append(coefficient(f, k, convention, digits))
        except PrecisionError as error:
            if error.best is None:
                raise
            unreached.append(k)
            found.append(Coefficient(k, None, error.best))
    notes = [f"c_{k} did not reach {digits} digits; its error bound is honest" for k in unreached]
    try:
        exponent = information_exponent(f)
    except PrecisionError as error:
        exponent = None
        notes.append(f"the information exponent is not decided: {error}")
    return HermiteResult(
        inputs=given.inputs,
        setting="z ~ N(0, 1), He_k probabilists' Hermite polynomial, h_k = He_k/sqrt(k!)",
        source=("H1", "H2"),
        notes=tuple(notes),
        function=f,
        convention=convention,
        digits=digits,
        found=tuple(found),
        general_term=general_term(f, convention),
        information_exponent=exponent,
        unreached=tuple(unreached),
    )
