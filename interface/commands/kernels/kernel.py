"""`bulkedge kernel FUNCTION`: the dual kernel of a function."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import sympy as sp

from bulkedge.derivations.engine.latex import decimal, latex
from bulkedge.results.result import Result, Table
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.functions.parse import integer, number
from bulkedge.theory.gaussian.hermite import MAX_DEGREE, Coefficient, check_degree
from bulkedge.theory.kernels.kernel import coefficient, dual, dual_of_correlation, expansion_at_one, scaled
from bulkedge.theory.kernels.kernel_value import check_covariances, series_coefficient, value
from bulkedge.theory.numbers.enclosure import Enclosure, check_digits
from bulkedge.theory.numbers.errors import InputError, PrecisionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HAS_CURVE = True


@dataclass(frozen=True)
class KernelResult(Result):
    """The dual kernel E[f(u) f(v)].

    `closed_form` and `general_term` are SymPy or None; `series` are the coefficients of rho^k, rho = Corr(u, v);
    `value` is the kernel at the covariances given, or None; `reached` says whether all digits asked for were.
    """

    command: ClassVar[str] = "kernel"
    function: Nonlinearity
    closed_form: sp.Expr | None
    general_term: sp.Expr | None
    expansion_at_one: sp.Expr | None
    series: tuple[Coefficient, ...]
    value: Enclosure | None
    digits: int
    reached: bool

    @property
    def exit_status(self) -> int:
        """3 if a number did not reach the digits asked for, else 0."""
        return 0 if self.reached else 3

    def payload(self) -> dict[str, Any]:
        """`closed_form`, `general_term` (or null), `series`, `value`, `error`; `expansion_at_one` in e = 1 - rho."""
        return {
            "function": str(self.function.expr),
            "closed_form": _text(self.closed_form),
            "general_term": _text(self.general_term),
            "expansion_at_one": _text(self.expansion_at_one),
            "series": [c.fields(self.digits) for c in self.series],
            "value": None if self.value is None else self.value.value_string(self.digits),
            "error": None if self.value is None else self.value.error_string(),
            "exact": None if self.value is None else self.value.exact_string(),
        }

    def tables(self) -> tuple[Table, ...]:
        """The coefficients of the series, then the closed form and the value."""
        rows = tuple(c.row(self.digits) for c in self.series)
        summary = [("closed form", _text(self.closed_form) or "none known")]
        if self.general_term is not None:
            summary.append(("general term", str(self.general_term)))
        if self.expansion_at_one is not None:
            summary.append(("at rho = 1 - e", str(self.expansion_at_one)))
        if self.value is not None:
            summary.append(("value", self.value.value_string(self.digits)))
            summary.append(("error", self.value.error_string()))
        title = f"{self.function.name}: coefficients of rho^k"
        return (Table(("k", "exact", "value", "error"), rows, title), Table(("", ""), tuple(summary)))

    def latex(self) -> str:
        """The closed form where there is one, else the series with its coefficients, then the value with its error."""
        if self.closed_form is not None:
            return rf"\kappa(\rho) = {latex(self.closed_form)}"
        terms = [
            rf"{latex(c.exact) if c.exact is not None else latex(sp.Float(float(c.enclosure), 8))} \rho^{{{c.k}}}"
            for c in self.series
            if c.enclosure.value != 0
        ]
        series = r"\kappa(\rho) = " + (" + ".join(terms) or "0") + r" + \cdots"
        if self.value is None:
            return series
        value, error = decimal(self.value.value_string(self.digits)), decimal(self.value.error_string())
        return rf"{series}, \qquad {self._point()} = {value} \pm {error}"

    def _point(self) -> str:
        """The kernel where the value was asked for."""
        asked = [(name, self.inputs[name]) for name in ("rho", "q11", "q12", "q22") if self.inputs[name] is not None]
        if [name for name, _ in asked] == ["rho"]:
            return rf"\kappa\left({latex(sp.Rational(self.inputs['rho']))}\right)"
        names = {"rho": r"\rho", "q11": "q_{11}", "q12": "q_{12}", "q22": "q_{22}"}
        given = ", ".join(f"{names[name]} = {latex(sp.Rational(text))}" for name, text in asked)
        return rf"\kappa_{{{given}}}"

    def figure(self) -> Figure:
        """The kernel against the correlation."""
        from bulkedge.figures.kernel import kernel_figure

        return kernel_figure((self.function,), *self._scales())

    def _scales(self) -> tuple[float, float]:
        return tuple(float(sp.sqrt(sp.Rational(self.inputs[name] or 1))) for name in ("q11", "q22"))  # type: ignore[return-value]


def _text(expr: sp.Expr | None) -> str | None:
    return None if expr is None else str(expr)


def configure(parser: argparse.ArgumentParser) -> None:
    """The function, where to evaluate, the digits and the length of the series."""
    parser.add_argument("function", metavar="FUNCTION", help="a catalogue name or an expression in z")
    parser.add_argument("--rho", metavar="R", help="a correlation in [-1, 1]")
    parser.add_argument("--q11", metavar="Q", help="variance of u (default 1)")
    parser.add_argument("--q12", metavar="Q", help="covariance of u and v, in the place of --rho")
    parser.add_argument("--q22", metavar="Q", help="variance of v (default 1)")
    parser.add_argument("--digits", default="15", metavar="D", help="significant digits, 1..1000 (default 15)")
    parser.add_argument("--order", default="10", metavar="K", help="the series' coefficients k = 0..K (default 10)")


def kernel(
    function: str | sp.Expr | Nonlinearity,
    rho: str | int | float | sp.Rational | None = None,
    q11: str | int | float | sp.Rational | None = None,
    q12: str | int | float | sp.Rational | None = None,
    q22: str | int | float | sp.Rational | None = None,
    digits: int = 15,
    order: int = 10,
) -> KernelResult:
    """The dual kernel E[f(u) f(v)], (u, v) ~ N(0, [[q11, q12], [q12, q22]]): closed form, series, value.

    Without variances u and v are standard and the closed form is in rho; with any of q11, q12, q22 it is in these three
    (and q12 = rho sqrt(q11 q22) where rho is given instead of q12). The series is in rho = Corr(u, v) in either case:
    its coefficients are c_k(f(sqrt(q11) z)) c_k(f(sqrt(q22) z)), orthonormal, c_k^2 at unit variances.
    Valid for: functions shown to be in L2; |rho| <= 1 (ends included), variances >= 0 (zero included).
    Accuracy: the value is rigorous to `digits` significant digits; where they are not reached its honest error and exit
    status 3. Errors: InputError for |rho| > 1, a triple that is no covariance, rho together with q12.
    Source: K1, H4.

    Example:

    >>> bulkedge.kernel("relu", rho="1/2").closed_form
    rho*asin(rho)/(2*pi) + rho/4 + sqrt(1 - rho**2)/(2*pi)
    """
    f = nonlinearity(function)
    digits, order = check_digits(digits), check_degree(order, "order", MAX_DEGREE)
    given = {name: _number(q, name) for name, q in (("q11", q11), ("q12", q12), ("q22", q22))}
    in_covariances = any(q is not None for q in given.values())
    one = sp.Integer(1)
    v1, v2 = (one if given[name] is None else given[name] for name in ("q11", "q22"))
    covariance = given["q12"]
    correlation = _number(rho, "rho")
    if correlation is not None:
        if covariance is not None:
            raise InputError("rho", "it is given together with q12", "give one of them")
        if abs(correlation) > 1:
            raise InputError("rho", f"{correlation} is not a correlation", "give a number in [-1, 1]")
        covariance = _covariance(correlation, v1, v2)
    elif covariance is not None:
        check_covariances(v1, covariance, v2)
    else:
        check_covariances(v1, sp.Integer(0), v2)
    notes: list[str] = []
    reached = True
    found: Enclosure | None = None
    if covariance is not None:
        try:
            found = value(f, v1, covariance, v2, digits)
        except PrecisionError as error:
            if error.best is None:
                raise
            found, reached = error.best, False
            notes.append(f"the value did not reach {digits} digits; its error bound is honest")
    series, general = [], None
    if v1 == 0 or v2 == 0:
        notes.append("a variance is zero: there is no correlation, hence no series")
    else:
        a, b = (scaled(f, sp.sqrt(v)) for v in (v1, v2))
        general = coefficient(a, b)
        for k in range(order + 1):
            term, ok = series_coefficient(a, b, k, digits)
            reached = reached and ok
            if not ok:
                notes.append(f"the coefficient of rho^{k} did not reach {digits} digits; its error bound is honest")
            series.append(term)
    closed = dual(f) if in_covariances else dual_of_correlation(f)
    if closed is None:
        notes.append("no closed form is known")
    elif "Phi2" in str(closed):
        notes.append("Phi2(h, k, r) = P(X <= h, Y <= k), standard normals of correlation r (by Owen's T)")
    inputs = {
        "function": f.name,
        **{name: None if q is None else str(q) for name, q in {"rho": correlation, **given}.items()},
        "digits": digits,
        "order": order,
    }
    return KernelResult(
        inputs=inputs,
        setting="kappa = E[f(u) f(v)], u and v centred Gaussian; "
        + ("Var u = q11, Cov = q12, Var v = q22" if in_covariances else "unit variances, correlation rho"),
        source=("K1", "H4"),
        notes=tuple(notes),
        function=f,
        closed_form=closed,
        general_term=general,
        expansion_at_one=None if in_covariances or closed is None else expansion_at_one(f, 2),
        series=tuple(series),
        value=found,
        digits=digits,
        reached=reached,
    )


def _covariance(correlation: sp.Rational, v1: sp.Rational, v2: sp.Rational) -> sp.Expr:
    return correlation * sp.sqrt(v1 * v2)


def _number(value: str | int | float | sp.Rational | None, argument: str) -> sp.Rational | None:
    if value is None:
        return None
    return number(value, argument)


def run(arguments: argparse.Namespace) -> KernelResult:
    """Run the command."""
    return kernel(
        arguments.function,
        arguments.rho,
        arguments.q11,
        arguments.q12,
        arguments.q22,
        integer(arguments.digits, "digits"),
        integer(arguments.order, "order"),
    )
