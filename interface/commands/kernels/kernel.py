"""`bulkedge kernel FUNCTION`: the dual kernel of a function, or of two, with means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Digits, Formula, Function, FunctionOfZ, Numeric, Positive, Real, RealNames, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import Frozen, Quantities, Row, coefficient_table
from bulkedge.results.result import Result, Table
from bulkedge.theory.gaussian.conventions import MAX_DEGREE
from bulkedge.theory.numbers.errors import InputError, PrecisionError

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.theory.functions.nonlinearity import Nonlinearity
    from bulkedge.theory.gaussian.hermite import Coefficient
    from bulkedge.theory.numbers.enclosure import Enclosure

HAS_CURVE = True
HAS_PROGRAM = True
_MAX_MEAN = 1000  # exponentials cut at a kink cancel over as many orders of magnitude
_PHI2 = "Phi2(h, k, r) = P(X <= h, Y <= k), standard normals of correlation r (by Owen's T)"
_LAW = "the law of (u, v), the second function"
_MEAN: dict[str, Any] = {"low": -_MAX_MEAN, "high": _MAX_MEAN, "group": _LAW, "letters": True}


@dataclass(frozen=True)
class KernelResult(Result):
    """The dual kernel E[f(u) g(v)]; g = f and means zero unless others were given.

    `first` and `second` are f and g as functions of the centred variables, their means inside; `closed_form` and
    `general_term` are SymPy or None; `terms` are the coefficients of rho^k, rho = Corr(u, v); `enclosed` is the kernel
    at the covariances given, or None, and `covaried` is Cov(f(u), g(v)) there if a second function or a mean was given;
    `reached` says whether all digits asked for were.
    """

    command: ClassVar[str] = "kernel"
    function: Nonlinearity
    with_: Nonlinearity | None
    first: Nonlinearity
    second: Nonlinearity
    closed_form: sp.Expr | None
    general_term: sp.Expr | None
    expansion_at_one: sp.Expr | None
    terms: tuple[Coefficient, ...]
    enclosed: Enclosure | None
    covaried: Enclosure | None
    digits: int
    reached: bool
    letters: tuple[sp.Expr, ...] = ()  # with symbols: the coefficients of the series, and nothing in `terms`
    at: sp.Expr | None = None  # with symbols: the kernel where it was asked for
    covaried_at: sp.Expr | None = None
    held: frozenset[Any] = frozenset()
    law: tuple[tuple[str, sp.Expr], ...] = ()  # with symbols: correlation, variances and means as they were given

    @property
    def exit_status(self) -> int:
        """3 if a number did not reach the digits asked for, else 0."""
        return 0 if self.reached else 3

    def quantities(self) -> Quantities:
        """`closed_form`, `general_term` (or None), `series`, `value`, `error`; `expansion_at_one` in e = 1 - rho;
        `with` (g, None where it is f) and `covariance` (None unless asked for): value, error."""
        return Row(
            {
                "function": str(self.function.expr),
                "with": None if self.with_ is None else str(self.with_.expr),
                "closed_form": _text(self.closed_form),
                "general_term": _text(self.general_term),
                "expansion_at_one": _text(self.expansion_at_one),
                "series": [
                    *(Row({"k": c.k, "value": Number.of(c, digits=self.digits)}) for c in self.terms),
                    *(Row({"k": k, "value": Number.without_value(c, self.digits)}) for k, c in enumerate(self.letters)),
                ],
                "value": self._number(self.enclosed, self.at),
                "covariance": self._covariance(),
            }
        )

    def _covariance(self) -> Row | None:
        found = self._number(self.covaried, self.covaried_at)
        return None if found is None else Row({"value": found})

    def _number(self, found: Enclosure | None, letter: sp.Expr | None) -> Number | None:
        if letter is not None:
            return Number.without_value(letter, self.digits)
        return None if found is None else Number.of(found, digits=self.digits)

    @property
    def free_symbols(self) -> frozenset[Any]:
        """The user's symbols (rho and the variances of a closed form are not among them)."""
        return self.held

    @property
    def expr(self) -> Frozen:
        """`value`: the kernel where it was asked for, else its closed form; and the series' coefficients."""
        series = {"series": tuple(c["value"] for c in self.series)}
        from bulkedge.results.symbolic import expressions

        shown = self.at if self.at is not None else self.closed_form if self.enclosed is None else None
        value = {} if shown is None else {"value": Number.without_value(shown, self.digits)}
        known = {} if self.enclosed is None else {"value": self._number(self.enclosed, None)}
        return expressions({**known, **value, **series})

    def subs(self, *values: Any) -> Quantities:
        """The quantities with values put for symbols; with all of them given, enclosures where no form is known."""
        from bulkedge.results.substitution import read_values
        from bulkedge.theory.functions.parametric import at, symbols_of

        given = read_values(values, self.free_symbols)
        own = symbols_of(self.first, self.second).union(*(e.free_symbols for _, e in self.law))
        if self.letters and self.closed_form is None and set(given) == own:
            law = {name: e.subs(given) for name, e in self.law}
            other = None if self.with_ is None else at(self.with_, given)
            order = len(self.letters) - 1
            return kernel(at(self.function, given), with_=other, digits=self.digits, order=order, **law)._stated
        return super().subs(given)

    def python(self) -> str:
        """A program: one function of the free symbols, the correlation and variances among them, that gives `value`.

        Errors: InputError where no closed form is known.
        """
        from bulkedge.results.symbolic import program

        shown = self.at if self.at is not None else self.closed_form
        if shown is None:
            raise InputError("python", f"no closed form is known for {self.function.name}", "use --json")
        return program(
            self.command,
            Quantities({"value": Number.without_value(shown, self.digits)}),
            self.inputs,
            (f"{self.setting} (K1)",),
            {},
        )

    def payload(self) -> dict[str, Any]:
        """The quantities; without a value its error and exact value are null."""
        return {"error": None, "exact": None, **super().payload()}

    def tables(self) -> tuple[Table, ...]:
        """The coefficients of the series, then the closed form and the value."""
        summary = [("closed form", _text(self.closed_form) or "none known")]
        if self.general_term is not None:
            summary.append(("general term", str(self.general_term)))
        if self.expansion_at_one is not None:
            summary.append(("at rho = 1 - e", str(self.expansion_at_one)))
        for name, found in (("value", self.value), ("covariance", self.covariance and self.covariance.value)):
            if found is not None and found.symbolic:
                summary.append((name, str(found.exact)))
            elif found is not None:
                its = "error" if name == "value" else "its error"
                summary += [(name, found.decimal()), (its, found.bound())]
        names = self.first.name if self.first == self.second else f"{self.first.name}, {self.second.name}"
        listed = coefficient_table(self.series, f"{names}: coefficients of rho^k")
        return (listed, Table(("", ""), tuple(summary)))

    def latex(self) -> str:
        """The closed form where there is one, else the series with its coefficients, then the value with its error."""
        from bulkedge.derivations.engine.latex import decimal, latex

        if self.at is not None:
            return rf"\kappa = {latex(self.at)}"
        if self.closed_form is not None:
            variables = r"q_{11}, q_{12}, q_{22}" if self._in_covariances else r"\rho"
            return rf"\kappa({variables}) = {latex(self.closed_form)}"
        series = r"\kappa(\rho) = " + (_signed(_series_term(c) for c in self.terms if c.enclosure.value != 0) or "0")
        series += r" + \cdots"
        if self.value is None:
            return series
        value, error = decimal(self.value.decimal()), decimal(self.value.bound())
        return rf"{series}, \qquad {self._point()} = {value} \pm {error}"

    @property
    def _in_covariances(self) -> bool:
        return any(self.inputs[name] is not None for name in ("q11", "q12", "q22"))

    def _point(self) -> str:
        """The kernel where the value was asked for."""
        import sympy as sp

        from bulkedge.derivations.engine.latex import latex

        asked = [(name, self.inputs[name]) for name in ("rho", "q11", "q12", "q22") if self.inputs[name] is not None]
        if [name for name, _ in asked] == ["rho"]:
            return rf"\kappa\left({latex(sp.Rational(self.inputs['rho']))}\right)"
        names = {"rho": r"\rho", "q11": "q_{11}", "q12": "q_{12}", "q22": "q_{22}"}
        given = ", ".join(f"{names[name]} = {latex(sp.Rational(text))}" for name, text in asked)
        return rf"\kappa_{{{given}}}"

    def figure(self) -> Figure:
        """The kernel against the correlation."""
        from bulkedge.figures.kernel import kernel_figure

        self.check_numbers("plot")

        return kernel_figure((self.first,), *self._scales(), other=self.second)

    def _scales(self) -> tuple[float, float]:
        import sympy as sp

        return tuple(float(sp.sqrt(sp.Rational(self.inputs[name] or 1))) for name in ("q11", "q22"))  # type: ignore[return-value]


def _series_term(c: Coefficient) -> str:
    import sympy as sp

    from bulkedge.derivations.engine.latex import latex

    coefficient = latex(c.exact) if c.exact is not None else latex(sp.Float(float(c.enclosure), 8))
    if c.exact is not None and c.exact.is_Add and c.k > 0:
        coefficient = rf"\left({coefficient}\right)"
    return coefficient if c.k == 0 else rf"{coefficient} \rho" if c.k == 1 else rf"{coefficient} \rho^{{{c.k}}}"


def _signed(terms: Iterable[str]) -> str:
    """A sum: a term that begins with a minus sign is subtracted."""
    text = " + ".join(terms)
    return re.sub(r"\+ -\s*", "- ", text)


def _text(expr: sp.Expr | None) -> str | None:
    return None if expr is None else str(expr)


def kernel(
    function: FunctionOfZ,
    rho: Annotated[Numeric | None, Real("the correlation", "R", low=-1, high=1, letters=True)] = None,
    q11: Annotated[Numeric | None, Real("variance of u (1 without it)", "Q", low=0, group=_LAW, letters=True)] = None,
    q12: Annotated[
        Numeric | None, Real("covariance of u and v, in the place of --rho", "Q", group=_LAW, letters=True)
    ] = None,
    q22: Annotated[Numeric | None, Real("variance of v (1 without it)", "Q", low=0, group=_LAW, letters=True)] = None,
    digits: Digits = 15,
    order: Annotated[Numeric, Count("the series' coefficients k = 0..K", "K", low=0, high=MAX_DEGREE)] = 10,
    with_: Annotated[
        Function | None, Formula("the function of v (without it the same)", "FUNCTION", group=_LAW, letters=True)
    ] = None,
    mean1: Annotated[Numeric | None, Real("mean of u (0 without it)", "M", **_MEAN)] = None,
    mean2: Annotated[Numeric | None, Real("mean of v (0 without it)", "M", **_MEAN)] = None,
    positive: Positive = None,
    real: RealNames = None,
) -> KernelResult:
    """The dual kernel E[f(u) g(v)], (u, v) ~ N((mean1, mean2), [[q11, q12], [q12, q22]]): closed form, series, value.

    f is `function` and g is `with_`, by default f again; the means are zero by default.

    Without variances u and v are standard and the closed form is in rho; with any of q11, q12, q22 it is in these three
    (and q12 = rho sqrt(q11 q22) where rho is given instead of q12). The series is in rho = Corr(u, v) in either case:
    its coefficients are c_k(f(mean1 + sqrt(q11) z)) c_k(g(mean2 + sqrt(q22) z)), orthonormal.
    With a second function or a mean, `covariance` is E[f(u) g(v)] - E f(u) E g(v) where a value is asked for.
    Valid for: functions shown to be in L2; |rho| <= 1 (ends included), variances >= 0 (zero included), |mean| <= 1000.
    Functions, the correlation, variances and means may hold declared symbols: closed form, series and value are then
    exact in these.
    Accuracy: the value is rigorous to `digits` significant digits; where they are not reached its honest error and exit
    status 3. Errors: InputError for |rho| > 1, a triple that is no covariance, rho together with q12.
    Source: K1, H4.

    Example:

    >>> bulkedge.kernel("relu", rho="1/2").closed_form
    rho*asin(rho)/(2*pi) + rho/4 + sqrt(1 - rho**2)/(2*pi)
    """
    asked = read(kernel, locals())
    if asked.symbolic:
        return _with_symbols(asked)
    import sympy as sp

    from bulkedge.theory.kernels.kernel import coefficient, dual, dual_of_correlation, expansion_at_one, scaled, shifted
    from bulkedge.theory.kernels.kernel_value import covariance, series_coefficient, value

    f, other, digits, order, correlation = asked.function, asked.with_, asked.digits, asked.order, asked.rho
    means = {"mean1": asked.mean1, "mean2": asked.mean2}
    first = shifted(f, means["mean1"] or sp.Integer(0))
    second = shifted(f if other is None else other, means["mean2"] or sp.Integer(0))
    given = {"q11": asked.q11, "q12": asked.q12, "q22": asked.q22}
    in_covariances = any(q is not None for q in given.values())
    v1, v2 = (sp.Integer(1) if given[name] is None else given[name] for name in ("q11", "q22"))
    at = _checked(v1, given["q12"], v2, correlation)
    notes: list[str] = []
    reached = True
    found, covaried = None, None
    if at is not None:
        found, reached = _best(lambda: value(first, v1, at, v2, digits, second))
        if not reached:
            notes.append(f"the value did not reach {digits} digits; its error bound is honest")
        if other is not None or any(m is not None for m in means.values()):
            covaried, ok = _best(lambda: covariance(first, v1, at, v2, digits, second, found))
            if not ok:
                reached = False
                notes.append(f"the covariance did not reach {digits} digits; its error bound is honest")
    series, general = [], None
    if v1 == 0 or v2 == 0:
        notes.append("a variance is zero: there is no correlation, hence no series")
    else:
        a, b = scaled(first, sp.sqrt(v1)), scaled(second, sp.sqrt(v2))
        general = coefficient(a, b)
        for k in range(order + 1):
            term, ok = series_coefficient(a, b, k, digits)
            reached = reached and ok
            if not ok:
                notes.append(f"the coefficient of rho^{k} did not reach {digits} digits; its error bound is honest")
            series.append(term)
    closed = (dual if in_covariances else dual_of_correlation)(first, second)
    if closed is None:
        notes.append("no closed form is known")
    elif "Phi2" in str(closed):
        notes.append(_PHI2)
    inputs = {
        "function": f.name,
        **{name: None if q is None else str(q) for name, q in {"rho": correlation, **given}.items()},
        "with": None if other is None else other.name,
        **{name: None if m is None else str(m) for name, m in means.items()},
        "digits": digits,
        "order": order,
    }
    return KernelResult(
        inputs=inputs,
        setting=_setting(in_covariances, other is not None, means),
        source=("K1", "H4"),
        notes=tuple(notes),
        function=f,
        with_=other,
        first=first,
        second=second,
        closed_form=closed,
        general_term=general,
        expansion_at_one=None if in_covariances or closed is None else expansion_at_one(first, 2, second),
        terms=tuple(series),
        enclosed=found,
        covaried=covaried,
        digits=digits,
        reached=reached,
    )


def _with_symbols(asked: Any) -> KernelResult:
    """Closed form, series and value as expressions in the user's symbols."""
    import sympy as sp

    from bulkedge.theory.functions.nonlinearity import product
    from bulkedge.theory.functions.parametric import moved, symbols_of
    from bulkedge.theory.gaussian.gaussian_moments import expectation, moments
    from bulkedge.theory.kernels.kernel import coefficient, dual, dual_of_correlation, expansion_at_one
    from bulkedge.theory.numbers import symbols as letters

    f, other, order = asked.function, asked.with_, asked.order
    zero, one = sp.Integer(0), sp.Integer(1)
    means = {"mean1": asked.mean1, "mean2": asked.mean2}
    first = moved(f, one, means["mean1"] or zero)
    second = first if other is None and asked.mean1 == asked.mean2 else moved(other or f, one, means["mean2"] or zero)
    given = {"q11": asked.q11, "q12": asked.q12, "q22": asked.q22}
    in_covariances = any(q is not None for q in given.values())
    v1, v2 = (one if given[name] is None else given[name] for name in ("q11", "q22"))
    if asked.rho is not None and asked.q12 is not None:
        raise InputError("rho", "it is given together with q12", "give one of them")
    if v1 == 0 or v2 == 0:
        raise InputError("q11" if v1 == 0 else "q22", "a variance is zero", "with symbols, give positive variances")
    covariance = asked.rho * sp.sqrt(v1 * v2) if asked.rho is not None else asked.q12
    notes = [f"holds where {condition}" for condition in asked.conditions]
    if covariance is not None:
        excess = sp.expand(covariance**2 - v1 * v2)
        if excess.is_positive:
            problem = f"q12^2 = {covariance**2} exceeds q11 q22 = {v1 * v2}, so this is no covariance"
            raise InputError("q12", problem, "give |q12| <= sqrt(q11 q22)")
        if excess.is_nonpositive is None:
            notes.append(f"holds where {covariance**2} <= {v1 * v2}")
    closed = dual(first, second)
    shown = None if closed is None else closed if in_covariances else dual_of_correlation(first, second)
    found, covaried = None, None
    if closed is None:
        notes.append("no closed form is known")
    elif covariance is not None:
        at = {letters.q11: v1, letters.q12: covariance, letters.q22: v2}
        found = closed.subs(at, simultaneous=True)
        if not in_covariances and shown is not None:
            found = shown.subs(letters.rho, asked.rho)
    a = first if v1 == 1 else moved(first, sp.sqrt(v1), zero)
    b = a if second is first and v1 == v2 else second if v2 == 1 else moved(second, sp.sqrt(v2), zero)
    if found is not None:
        # at full correlation v = +-u, and the limit's formula divides by sqrt(1 - rho^2)
        aligned = _full_correlation(covariance, v1, v2)
        if aligned:
            other_side = b if aligned > 0 else moved(second, -sp.sqrt(v2), zero)
            found = expectation(product(a, other_side))
        if found is None or found.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise InputError("rho", f"no closed form is known at {covariance}", "give numbers for the symbols")
    if found is not None and (other is not None or any(m is not None for m in means.values())):
        averages = [expectation(a), expectation(b)]
        covaried = None if None in averages else found - sp.Mul(*averages)
    series = []
    for k, (x, y) in enumerate(zip(moments(a, order), moments(b, order), strict=True)):
        if x is None or y is None:
            series.append(sp.Symbol(f"c_{k}", real=True))
            notes.append(f"c_{k}, the coefficient of rho^{k}, has no closed form; with numbers it is enclosed")
        else:
            series.append(sp.factor_terms(sp.expand(x * y) / sp.factorial(k)))
    expressions = [e for e in (asked.rho, *given.values(), *means.values()) if e is not None]
    held = symbols_of(first, second).union(*(e.free_symbols for e in expressions), *(c.free_symbols for c in series))
    at_one = None
    if not in_covariances and shown is not None:
        try:
            at_one = expansion_at_one(first, 2, second)
        except InputError as undecided:
            notes.append(f"no expansion at rho = 1: {undecided.problem}")
    if shown is not None and "Phi2" in str(shown):
        notes.append(_PHI2)
    return KernelResult(
        inputs=asked.inputs,
        setting=_setting(in_covariances, other is not None, means),
        source=("K1", "H4"),
        notes=tuple(notes),
        function=f,
        with_=other,
        first=first,
        second=second,
        closed_form=shown,
        general_term=coefficient(a, b),
        expansion_at_one=at_one,
        terms=(),
        enclosed=None,
        covaried=None,
        digits=asked.digits,
        reached=True,
        letters=tuple(series),
        at=found,
        covaried_at=covaried,
        held=frozenset(held),
        law=tuple((n, e) for n, e in {"rho": asked.rho, **given, **means}.items() if e is not None),
    )


def _full_correlation(covariance: sp.Expr, v1: sp.Expr, v2: sp.Expr) -> int:
    """The sign of the correlation where it is shown to be 1 or -1, else 0."""
    import sympy as sp

    if sp.simplify(covariance**2 - v1 * v2) != 0:
        return 0
    return 1 if sp.simplify(covariance - sp.sqrt(v1 * v2)) == 0 else -1


def _checked(
    v1: sp.Rational, covariance: sp.Rational | None, v2: sp.Rational, correlation: sp.Rational | None
) -> sp.Expr | None:
    """The covariance at which a value is asked for, or None."""
    import sympy as sp

    from bulkedge.theory.kernels.kernel_value import check_covariances

    if correlation is None:
        check_covariances(v1, sp.Integer(0) if covariance is None else covariance, v2)
        return covariance
    if covariance is not None:
        raise InputError("rho", "it is given together with q12", "give one of them")
    return correlation * sp.sqrt(v1 * v2)


def _best(compute: Callable[[], Enclosure]) -> tuple[Enclosure, bool]:
    """The enclosure, and whether its digits were reached."""
    try:
        return compute(), True
    except PrecisionError as error:
        if error.best is None:
            raise
        return error.best, False


def _setting(in_covariances: bool, crossed: bool, means: Mapping[str, sp.Rational | None]) -> str:
    product = "E[f(u) g(v)], f = FUNCTION, g = --with," if crossed else "E[f(u) f(v)],"
    centres = ", ".join(f"E {name} = {means[key] or 0}" for name, key in (("u", "mean1"), ("v", "mean2")))
    centred = all(m is None for m in means.values())
    gaussian = "u and v centred Gaussian" if centred else f"u and v Gaussian, {centres}"
    scales = "Var u = q11, Cov = q12, Var v = q22" if in_covariances else "unit variances, correlation rho"
    return f"kappa = {product} {gaussian}; {scales}"
