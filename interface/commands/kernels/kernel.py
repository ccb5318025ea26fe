"""`bulkedge kernel FUNCTION`: the dual kernel of a function, or of two, with means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Digits, Formula, Function, FunctionOfZ, Numeric, Real, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import Quantities, Row, coefficient_table
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
_MAX_MEAN = 1000  # exponentials cut at a kink cancel over as many orders of magnitude
_LAW = "the law of (u, v), the second function"
_MEAN: dict[str, Any] = {"low": -_MAX_MEAN, "high": _MAX_MEAN, "group": _LAW}


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
                "series": [Row({"k": c.k, "value": Number.of(c, digits=self.digits)}) for c in self.terms],
                "value": self._number(self.enclosed),
                "covariance": None if self.covaried is None else Row({"value": self._number(self.covaried)}),
            }
        )

    def _number(self, found: Enclosure | None) -> Number | None:
        return None if found is None else Number.of(found, digits=self.digits)

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
        if self.value is not None:
            summary += [("value", self.value.decimal()), ("error", self.value.bound())]
        if self.covariance is not None:
            found = self.covariance.value
            summary += [("covariance", found.decimal()), ("its error", found.bound())]
        names = self.first.name if self.first == self.second else f"{self.first.name}, {self.second.name}"
        listed = coefficient_table(self.series, f"{names}: coefficients of rho^k")
        return (listed, Table(("", ""), tuple(summary)))

    def latex(self) -> str:
        """The closed form where there is one, else the series with its coefficients, then the value with its error."""
        from bulkedge.derivations.engine.latex import decimal, latex

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
    rho: Annotated[Numeric | None, Real("the correlation", "R", low=-1, high=1)] = None,
    q11: Annotated[Numeric | None, Real("variance of u (1 without it)", "Q", low=0, group=_LAW)] = None,
    q12: Annotated[Numeric | None, Real("covariance of u and v, in the place of --rho", "Q", group=_LAW)] = None,
    q22: Annotated[Numeric | None, Real("variance of v (1 without it)", "Q", low=0, group=_LAW)] = None,
    digits: Digits = 15,
    order: Annotated[Numeric, Count("the series' coefficients k = 0..K", "K", low=0, high=MAX_DEGREE)] = 10,
    with_: Annotated[
        Function | None, Formula("the function of v (without it the same)", "FUNCTION", group=_LAW)
    ] = None,
    mean1: Annotated[Numeric | None, Real("mean of u (0 without it)", "M", **_MEAN)] = None,
    mean2: Annotated[Numeric | None, Real("mean of v (0 without it)", "M", **_MEAN)] = None,
) -> KernelResult:
    """The dual kernel E[f(u) g(v)], (u, v) ~ N((mean1, mean2), [[q11, q12], [q12, q22]]): closed form, series, value.

    f is `function` and g is `with_`, by default f again; the means are zero by default.

    Without variances u and v are standard and the closed form is in rho; with any of q11, q12, q22 it is in these three
    (and q12 = rho sqrt(q11 q22) where rho is given instead of q12). The series is in rho = Corr(u, v) in either case:
    its coefficients are c_k(f(mean1 + sqrt(q11) z)) c_k(g(mean2 + sqrt(q22) z)), orthonormal.
    With a second function or a mean, `covariance` is E[f(u) g(v)] - E f(u) E g(v) where a value is asked for.
    Valid for: functions shown to be in L2; |rho| <= 1 (ends included), variances >= 0 (zero included), |mean| <= 1000.
    Accuracy: the value is rigorous to `digits` significant digits; where they are not reached its honest error and exit
    status 3. Errors: InputError for |rho| > 1, a triple that is no covariance, rho together with q12.
    Source: K1, H4.

    Example:

    >>> bulkedge.kernel("relu", rho="1/2").closed_form
    rho*asin(rho)/(2*pi) + rho/4 + sqrt(1 - rho**2)/(2*pi)
    """
    asked = read(kernel, locals())
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
        notes.append("Phi2(h, k, r) = P(X <= h, Y <= k), standard normals of correlation r (by Owen's T)")
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
