"""`bulkedge hermite FUNCTION --degree K`: Hermite coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Digits, FunctionOfZ, Numeric, Positive, RealNames, Word, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import Frozen, Quantities, Row, coefficient_table
from bulkedge.results.result import Result, Table
from bulkedge.theory.gaussian.conventions import CONVENTIONS, MAX_DEGREE
from bulkedge.theory.numbers.errors import PrecisionError

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.theory.functions.nonlinearity import Nonlinearity
    from bulkedge.theory.gaussian.hermite import Coefficient

HAS_CURVE = True
HAS_PROGRAM = True


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
    terms: tuple[sp.Expr, ...] = ()  # with parameters: the coefficients, and nothing in `found`

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
            "coefficients": [
                *(Row({"k": c.k, "value": Number.of(c, digits=self.digits)}) for c in self.found),
                *(Row({"k": k, "value": Number.without_value(c, self.digits)}) for k, c in enumerate(self.terms)),
            ],
        }

    @property
    def free_symbols(self) -> frozenset[Any]:
        """The parameters, and the symbols that stand for coefficients without a closed form."""
        from bulkedge.theory.functions.parametric import symbols_of

        return super().free_symbols | symbols_of(self.function) if self.terms else frozenset()

    @property
    def expr(self) -> Frozen:
        """The coefficients as SymPy expressions, in the order of k (decimals where no closed form is known)."""
        from bulkedge.results.symbolic import expressions

        return expressions({"coefficients": tuple(c["value"] for c in self.coefficients)})

    def python(self) -> str:
        """A program: one function of the parameters; the last axis of `coefficients` is k."""
        from bulkedge.results.symbolic import program

        listed = Quantities({"coefficients": tuple(c["value"] for c in self.coefficients)})
        return program(self.command, listed, self.inputs, (f"{self.setting} (H1)", *self.notes), self.constants())

    def subs(self, *values: Any) -> Quantities:
        """The quantities with values put for parameters; with all of them given, enclosures where no form is known."""
        from bulkedge.results.substitution import read_values
        from bulkedge.theory.functions.parametric import at, symbols_of

        given = read_values(values, self.free_symbols)
        if self.terms and set(given) == symbols_of(self.function):
            return hermite(at(self.function, given), len(self.terms) - 1, self.convention, self.digits)._stated
        return super().subs(given)

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
        if self.terms:
            listed = (rf"c_{{{k}}} = {latex(c)}" for k, c in enumerate(self.terms) if str(c) != f"c_{k}")
            return r", \quad ".join(listed)
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
        self.check_numbers("plot")
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


SETTING = "z ~ N(0, 1), He_k probabilists' Hermite polynomial, h_k = He_k/sqrt(k!)"


def hermite(
    function: FunctionOfZ,
    degree: Annotated[Numeric, Count("coefficients k = 0..K", "K", low=0, high=MAX_DEGREE)],
    convention: Annotated[str, Word("what the coefficients multiply", words=CONVENTIONS)] = "orthonormal",
    digits: Digits = 15,
    positive: Positive = None,
    real: RealNames = None,
) -> HermiteResult:
    """The Hermite coefficients k = 0..degree of a function, exact or rigorously enclosed.

    orthonormal: f = sum c_k h_k; probabilist: f = sum c_k He_k; moment: f = sum c_k He_k/k!.
    Valid for: functions shown to be in L2 of the Gaussian (catalogue name, expression in z, SymPy expression), also
    with declared symbols in them: the coefficients are then exact in these, and what L2 asks of them is in the notes.
    Accuracy: exact where a closed form is known, else a rigorous error bound at `digits` significant digits; a
    coefficient that cannot be told from zero keeps its honest error, and the exit status says so.
    Errors: InputError. Source: H1, H2.

    Example:

    >>> bulkedge.hermite("relu", degree=2).coefficients[2].exact
    1/(2*sqrt(pi))
    """
    given = read(hermite, locals())
    if given.symbolic:
        return _with_parameters(given)
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
        setting=SETTING,
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


def _with_parameters(given: Any) -> HermiteResult:
    """The coefficients as expressions in the parameters; where no closed form is known a symbol c_k stands for one."""
    import sympy as sp

    from bulkedge.theory.gaussian.gaussian_moments import moments
    from bulkedge.theory.gaussian.hermite import collected, general_term, normalisation

    f, convention = given.function, given.convention
    notes = [f"square integrable where {condition}" for condition in given.conditions]
    terms: list[sp.Expr] = []
    exponent, undecided = None, None
    for k, value in enumerate(moments(f, given.degree)):
        if value is None:
            terms.append(sp.Symbol(f"c_{k}", real=True))
            basis = {"orthonormal": f"h_{k}(z)", "probabilist": f"He_{k}(z)/{k}!", "moment": f"He_{k}(z)"}[convention]
            notes.append(f"c_{k} = E[f(z) {basis}], no closed form; with numbers for the symbols it is enclosed")
        else:
            terms.append(collected(value, normalisation(convention, sp.Integer(k))))
        if k > 0 and exponent is None and undecided is None and terms[-1] != 0:
            exponent, undecided = (k, None) if value is not None and terms[-1].is_nonzero else (None, k)
    if undecided is not None:
        notes.append(f"the information exponent is {undecided} unless c_{undecided} vanishes")
    return HermiteResult(
        inputs=given.inputs,
        setting=SETTING,
        source=("H1",),
        notes=tuple(notes),
        function=f,
        convention=convention,
        digits=given.digits,
        found=(),
        general_term=general_term(f, convention),
        information_exponent=exponent,
        unreached=(),
        terms=tuple(terms),
    )
