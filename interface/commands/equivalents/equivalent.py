"""`bulkedge equivalent`: the deterministic equivalent of a rational expression in random matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Argument, Count, Digits, Numeric, Seed, read
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import Atom, Each, Row, Simulation, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from numpy.typing import ArrayLike

    from bulkedge.numerics.equivalents.equivalent_simulation import Simulated
    from bulkedge.numerics.trials.check import Check
    from bulkedge.theory.equivalents.equivalent import Equivalent
    from bulkedge.theory.equivalents.equivalent_spectrum import EquivalentSpectrum, Outlier
    from bulkedge.theory.equivalents.matrix_expression import Feature
    from bulkedge.theory.numbers.enclosure import Enclosure


HAS_PROGRAM = True


@dataclass(frozen=True)
class EquivalentResult(Result):
    """The equations of what was typed, the value's polynomial, its value with a bound, and a simulation."""

    command: ClassVar[str] = "equivalent"
    theory: Equivalent
    digits: int
    enclosure: Enclosure | None
    status: str
    certain: bool
    simulated: Simulated | None
    variable: sp.Symbol | None = None
    spectrum: EquivalentSpectrum | None = None
    numeric: Equivalent | None = None  # where the spectrum's polynomial needs numbers for the functions' constants

    @property
    def exit_status(self) -> int:
        """3 where a value was asked for and its branch is not certain."""
        return 0 if self.certain else 3

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The unknowns of the reduced system; the last is `value`."""
        return self.theory.reduced.unknowns

    @property
    def equations(self) -> tuple[sp.Expr, ...]:
        """The reduced system, each = 0."""
        return self.theory.reduced.equations

    @property
    def polynomial(self) -> sp.Expr | None:
        """The polynomial of which `value` is a root, in the declared symbols, or None."""
        return self.theory.reduced.polynomial

    def value(self, **values: ArrayLike) -> Any:
        """The value at numbers or arrays of the symbols (those given by `set` may be left out); a float, or an array.

        Errors: InputError for a symbol without a value; ConvergenceError where the branch is not certain.
        """
        from bulkedge.numerics.equivalents.equivalent import values as evaluate

        return _scalar(evaluate(self.theory, self._fixed(), values)[0])

    def error(self, **values: ArrayLike) -> Any:
        """The bound of the error of `value` at the same arguments."""
        from bulkedge.numerics.equivalents.equivalent import values as evaluate

        return _scalar(evaluate(self.theory, self._fixed(), values)[1])

    def derivative(self, symbol: str, **values: ArrayLike) -> Any:
        """The derivative of the value in a symbol, by implicit differentiation, at numbers or arrays."""
        from bulkedge.numerics.equivalents.equivalent import slopes

        return _scalar(slopes(self.theory, symbol, self._fixed(), values)[0])

    def density(self, x: ArrayLike) -> Any:
        """The spectrum's density at numbers or an array (for a result with `spectrum`)."""
        from bulkedge.numerics.equivalents.equivalent import density

        return _scalar(density(self.numeric or self.theory, self._spectral()[0], x)[0])

    def edges(self) -> tuple[float, ...]:
        """The edges of all components of the support, ascending."""
        return tuple(float(edge) for edge in self._spectral()[1].edges)

    def atoms(self) -> tuple[tuple[float, float], ...]:
        """The atoms: positions and weights."""
        return tuple((float(place), float(weight)) for place, weight in self._spectral()[1].atoms)

    def outliers(self) -> tuple[Outlier, ...]:
        """The eigenvalues outside the bulk, ascending, with the residue of a form (a squared overlap)."""
        return self._spectral()[1].outliers

    def check(self, id: str, *, size: int = 100, trials: int = 40, resolution: float, broken: str) -> Check:
        """A check of the value against a simulation of the expression, for the ledger or a file of your own.

        The ladder of sizes is size, 2 size, 4 size; the control is the equivalent with the variance of the matrix
        `broken` doubled, which must come out REFUTED.
        Errors: InputError if a symbol has no value, or `broken` is no Gaussian matrix.
        """
        from bulkedge.numerics.equivalents.equivalent_simulation import expression_check

        return expression_check(id, self.theory, self._fixed(), size, trials, resolution, broken)

    def _fixed(self) -> dict[sp.Symbol, sp.Rational]:
        from bulkedge.theory.equivalents.equivalent import values_of

        return values_of(dict(self.inputs["set"]), self.theory.symbols)

    def _spectral(self) -> tuple[sp.Symbol, EquivalentSpectrum]:
        if self.variable is None or self.spectrum is None:
            from bulkedge.theory.numbers.errors import InputError

            raise InputError("spectrum", "no spectrum was asked for", 'give spectrum="z", z the resolvent\'s variable')
        return self.variable, self.spectrum

    def quantities(self) -> Row:
        """`unknowns`, `equations`, `polynomial`, `value`, `error`, `pencil`, `simulated`, `status`; of a spectrum
        `edges`, `atoms`, `outliers` and `overlaps`.
        """
        run = self.simulated
        return Row(
            {
                **({} if self.spectrum is None else _spectral(self.spectrum, self.digits)),
                "unknowns": list(self.unknowns),
                "equations": [str(e) for e in self.equations],
                "polynomial": None if self.polynomial is None else str(self.polynomial),
                "value": self._number,
                **({"error": None} if self.enclosure is None else {}),
                "pencil": {"blocks": self.theory.system.pencil.blocks, "before": self.theory.system.pencil.before},
                "simulated": None if run is None else _simulation(run),
                "status": self.status,
                "symbols": {s.name: _assumption(s) for s in self.theory.symbols},
            }
        )

    @property
    def _number(self) -> Number | None:
        return None if self.enclosure is None else Number.of(self.enclosure, digits=self.digits)

    def tables(self) -> tuple[Table, ...]:
        """The value, the equations and the simulation; of a spectrum, the density (the CSV) before them."""
        pencil = self.theory.system.pencil
        cells = [] if self._number is None else [row("value", self._number)[:3]]
        cells += [("blocks of the pencil", str(pencil.before), ""), ("after reduction", str(pencil.blocks), "")]
        cells += [("equation", _short(str(e)), "= 0") for e in self.equations]
        if self.polynomial is not None:
            cells.append(("polynomial", _short(str(self.polynomial)), "= 0"))
        if self.simulated is not None:
            shape = ", ".join(f"{name} = {size}" for name, size in self.simulated.sizes)
            cells.append(row(f"simulated ({shape})", _simulation(self.simulated)["value"])[:3])
        stated = Table(("quantity", "value", "error"), tuple(cells), self.status)
        return (stated,) if self.spectrum is None else (self._density_table(), stated)

    def python(self) -> str:
        """A program: one function of the free symbols that needs NumPy alone, broadcasts and tests the branch."""
        from bulkedge.numerics.equivalents.program import program

        return program(self.theory)

    def _density_table(self) -> Table:
        """Edges, atoms and outliers, and the density between the edges."""
        from bulkedge.numerics.equivalents.equivalent import density

        variable, spectrum = self._spectral()
        found = _spectral(spectrum, self.digits)
        rows = [("edge", e.decimal(), "", e.bound()) for e in found["edges"]]
        rows += [("atom", a["value"].decimal(), a["weight"].decimal(), a["weight"].bound()) for a in found["atoms"]]
        for position, overlap in zip(found["outliers"], found["overlaps"], strict=True):
            residue = ("", position.bound()) if overlap is None else (overlap.decimal(), overlap.bound())
            rows.append(("outlier", position.decimal(), *residue))
        ends = [float(e) for e in spectrum.edges]
        for lower, upper in zip(ends[::2], ends[1::2], strict=True):
            points = [lower + (upper - lower) * (2 * k + 1) / (2 * _POINTS) for k in range(_POINTS)]
            values = [
                (x, *found) for x in points for found in _densities(density, self.numeric or self.theory, variable, x)
            ]
            # The table's place is rounded to twelve digits, which moves the density by about as much of it.
            drawn = [(short(x, 12), Number.of(float(y), float(e + 1e-11 * y), digits=12)) for x, y, e in values]
            rows += [("density", x, y.decimal(), y.bound()) for x, y in drawn]
        return Table(("kind", str(variable), "value", "error"), tuple(rows), "the spectrum")

    def latex(self) -> str:
        """The polynomial, or the equations."""
        from bulkedge.derivations.engine.latex import latex

        shown = self.equations if self.polynomial is None else (self.polynomial,)
        return r",\quad ".join(f"{latex(e)} = 0" for e in shown)


_POINTS = 25  # of the density's table, in each component


def _densities(density: Any, theory: Equivalent, variable: sp.Symbol, x: float) -> list[tuple[Any, Any]]:
    """The density at a point and its error; nothing where a point of the table happens to be a cusp."""
    from bulkedge.theory.numbers.errors import ConvergenceError

    try:
        value, error = density(theory, variable, x)
    except ConvergenceError:
        return []
    return [(value, error)]


def _scalar(array: Any) -> Any:
    return float(array) if array.shape == () else array


def _spectral(spectrum: EquivalentSpectrum, digits: int) -> dict[str, Any]:
    def number(found: Enclosure) -> Number:
        return Number.of(found, digits=digits)

    return {
        "edges": Each(map(number, spectrum.edges)),
        "atoms": [Atom({"value": number(place), "weight": number(weight)}) for place, weight in spectrum.atoms],
        "outliers": Each(number(o.position) for o in spectrum.outliers),
        "overlaps": Each(None if o.residue is None else number(o.residue) for o in spectrum.outliers),
    }


def _simulation(run: Simulated) -> Simulation:
    value = Number.of(run.estimate, digits=9)
    return Simulation({"value": value, "size": run.size, "trials": run.estimate.n, "dimensions": dict(run.sizes)})


def _assumption(symbol: sp.Symbol) -> str:
    return "positive" if symbol.is_positive else "real"


def _short(text: str) -> str:
    return text if len(text) <= 300 else text[:297] + "..."


def equivalent(
    expression: Annotated[
        object, Argument('"tr(inv(X.T*X + lam))"; "let A = ...;" names a part', "EXPRESSION", place=True)
    ],
    gaussian: Annotated[
        object, Argument('"X: n x d, 1/n", "H: n x n symmetric, 1/n"; once a matrix', "DECL", many=True)
    ] = None,
    *,
    size: Annotated[object, Argument("relative sizes of the dimensions", "n=2,d=1")] = None,
    deterministic: Annotated[
        object, Argument('"S: d, atoms 1:1/2 4:1/2", "S: d, uniform 1 3"', "DECL", many=True)
    ] = None,
    positive: Annotated[object, Argument("declared symbols > 0, comma separated", "NAMES")] = None,
    real: Annotated[object, Argument("declared real symbols", "NAMES")] = None,
    set: Annotated[
        Mapping[Any, Any] | str | Iterable[str] | None,
        Argument("numbers for declared symbols", "lam=3/10", many=True),
    ] = None,
    spectrum: Annotated[object, Argument("the expression is a resolvent in z: edges, atoms, outliers", "z")] = None,
    simulate: Annotated[
        Numeric | None, Count("simulate the expression at this common size", "D", low=2, group="simulation")
    ] = None,
    trials: Annotated[Numeric, Count("simulated samples", "T", low=2, group="simulation")] = 20,
    seed: Seed = 0,
    digits: Digits = 15,
) -> EquivalentResult:
    """The large-size limit of a rational expression in Gaussian and deterministic matrices.

    (L_0 - S(G)) G = I, the operator-valued Dyson equation of a linearisation u L^-1 v of the expression.
    Valid for: sums, products, transposes and inverses of Gaussian matrices with iid entries (or symmetric ones), of
    deterministic symmetric matrices that commute (a law by atoms, or with a density: `uniform 1 3`, `semicircle`,
    `arcsine`, `density 2*S on 0 1`), and of scalars; functions applied entrywise to X*W with entries of
    size one, tanh(X*W) or relu(X*(W0 + u*a.T)), replaced by mu0 1 1^T + mu1 X W + mu2 Z (centred(relu(X*W)): less the
    mean); `ones(n, N)`; `tr` (normalised) or a 1 x 1 form outside. All sizes grow together; a dimension 1 is one. An
    inverse must exist where the Gaussian matrices vanish.
    Shapes/units: sizes are relative, variances are expressions in the dimensions (1/n).
    Accuracy: the solution is enclosed (interval Newton) and its branch certain: the one solution at which the map
    Y -> G E[X Y X*] G* has spectral radius below one; else no value is given (exit status 3).
    Errors: InputError for what is outside the class, with what would do.
    Source: E1-E4.

    Example:

    >>> bulkedge.equivalent("tr(inv(X.T*X + lam))", "X: n x d, 1/n", size="n=2,d=1", positive="lam").polynomial
    lam*value**2 + 2*lam*value + value - 2
    """
    given = read(equivalent, locals())
    from bulkedge.theory.equivalents import matrix_text
    from bulkedge.theory.equivalents.equivalent import declare, values_of
    from bulkedge.theory.equivalents.equivalent import read as read_expression
    from bulkedge.theory.equivalents.equivalent_spectrum import rounded
    from bulkedge.theory.equivalents.equivalent_spectrum import spectrum as spectrum_of
    from bulkedge.theory.numbers.errors import ConvergenceError, InputError

    digits = given.digits
    variable = None if spectrum is None else matrix_text.variable(spectrum)
    extra = () if variable is None else (variable,)
    model = declare(gaussian, size=size, deterministic=deterministic, positive=positive, real=real, extra=extra)
    theory = read_expression(expression, model)
    continuous = model.continuous
    if continuous and variable is not None:
        raise InputError("spectrum", "a law with a density has no finite equation", "give the law by atoms")
    _used(theory, variable, (expression, gaussian, size, deterministic))
    values = values_of(set, theory.symbols)
    theory.system  # noqa: B018 -- what is outside the class is refused before anything long
    missing = [s.name for s in theory.symbols if s not in values]
    found, certain, status = None, True, "symbolic: set " + ", ".join(missing) + " for a value"
    if not missing:
        try:
            found = theory.enclose(values, digits)
            status = (
                "two Gauss rules of the density agree, branch certain" if continuous else "enclosed, branch certain"
            )
        except ConvergenceError as error:
            certain, status = False, f"no value: {error}"
    found_spectrum, numeric = None, None
    if variable is not None:
        if variable in values:
            raise InputError("set", f"{variable} is the variable of the spectrum", f"leave {variable} free")
        fixed = {s.name: v for s, v in values.items()}
        rounding = 3 * digits + 40 if theory.question.model.constants else None
        theory = read_expression(expression, model, fixed)
        numeric = None if rounding is None else read_expression(expression, model, fixed, rounding)
        try:
            found_spectrum = spectrum_of(numeric or theory, variable, digits)
            if rounding is not None:
                found_spectrum = rounded(found_spectrum, digits)
            status = "spectrum: branch certain in every interval"
        except ConvergenceError as error:
            certain, status = False, str(error)
    run = None
    if simulate is not None:
        from bulkedge.numerics.equivalents.equivalent_simulation import simulated

        run = simulated(theory, values, given.simulate, given.trials, given.seed)
    inputs = {
        "expression": str(expression),
        "gaussian": [str(g) for g in _listed(gaussian)],
        "deterministic": [str(s) for s in _listed(deterministic)],
        "size": {name: str(ratio) for name, ratio in model.sizes},
        "symbols": {s.name: _assumption(s) for s in theory.symbols},
        "set": {s.name: str(v) for s, v in values.items()},
        **({} if variable is None else {"spectrum": variable.name}),
        "digits": digits,
    }
    setting = "all sizes grow together at the given ratios; tr is the normalised trace"
    notes: tuple[str, ...] = (
        "derived; limit of large sizes; Gaussian entries (finite-size corrections are of order 1/size)",
        "entries of G that are equal or zero: to 25 digits at two points of the symbols",
    )
    if continuous:
        notes += (
            "a law with a density: the difference of two Gauss rules is in the error; no equations are eliminated",
        )
    if run is not None:
        notes += ("simulated: the standard error holds a quarter of the finite-size term, seen from half the size",)
    notes += tuple(_feature_note(f) for f in theory.question.model.features)
    return EquivalentResult(
        inputs,
        setting,
        ("E1", "E2", "E3", "E4"),
        notes,
        theory,
        digits,
        found,
        status,
        certain,
        run,
        variable,
        found_spectrum,
        numeric,
    )


def _feature_note(feature: Feature) -> str:
    """What a function was replaced by."""
    from bulkedge.theory.equivalents import entrywise
    from bulkedge.theory.equivalents.matrix_expression import HermiteConstant

    parts = []
    for name, c in (("mu0", feature.mean), ("mu1", feature.linear), ("mu2", feature.level)):
        if c == 0:
            continue
        if isinstance(c, HermiteConstant):
            parts.append(f"{c.name} = {short(float(entrywise.enclosed(c, 64).mid()), 12)}")
        else:
            parts.append(f"{name}{'^2' if name == 'mu2' else ''} = {c}")
    inner = "A" if feature.deviation == 1 else f"A/({feature.deviation})"
    less = " less its mean" if feature.centred else ""
    mean = "" if feature.mean == 0 else "mu0 1 1^T + "
    outliers = "; the few outliers that its even part makes by itself are not in it" if feature.even else ""
    if mean and "1" not in (feature.rows, feature.cols):
        outliers = "; its mean is taken as infinitely beyond the rest (they differ by a factor of order 1/size)"
    return (
        f"{feature.function.name} of A{less}: {mean}mu1 {inner} + mu2 {feature.residue}, {', '.join(parts)}{outliers}"
    )


def _used(theory: Equivalent, variable: sp.Symbol | None, texts: Iterable[object]) -> None:
    """A symbol that occurs nowhere is a slip of the pen.

    Errors: InputError.
    """
    import re

    from bulkedge.theory.numbers.errors import InputError

    words = {word for text in texts for word in re.findall(r"[A-Za-z]\w*", str(text))}
    for symbol in theory.symbols:
        if symbol.name not in words:
            argument = "spectrum" if symbol == variable else _assumption(symbol)
            raise InputError(argument, f"{symbol.name} occurs nowhere", "leave it out, or check its name")


def _listed(value: object) -> list[object]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [f"{key}: {variance}" for key, variance in value.items()]
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
