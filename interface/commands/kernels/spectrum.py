"""`bulkedge spectrum`: the exact spectrum of the kernel whose features have the covariance A I + B w* w*^T."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Formula, Function, Numeric, Real, SizedNoise, read
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import Flat, Multiplicity, Point, Row, Worst, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.numerics.kernels.leading import Leading, Value

HAS_CURVE = True

MAX_DIMENSION = 10**6
MAX_WEIGHTS = 200
MAX_SAMPLES = 10**9
_FIT = "ridge regression with the kernel (together: --link, --samples, --ridge; ReLU, d >= 20)"
_CURVE_ERROR = 1e-6  # relative: the eigenvalues' tolerance and the link's quadrature, with room


@dataclass(frozen=True)
class Regression:
    """Ridge regression with the kernel, or with `width` of its features: the risk and what G10 says beside it."""

    risk: float
    finite_size: float | None
    effective_ridge: float
    degrees: float
    unlearnable: float
    scale: float


@dataclass(frozen=True)
class SpectrumResult(Result):
    """The leading eigenvalues, exact to the errors given, and the top eigenfunction's weights by degree."""

    command: ClassVar[str] = "spectrum"
    dimension: int
    bulk: float
    spike: float
    leading: Leading
    routes: tuple[tuple[str, float, float], ...] = ()
    fit: Regression | None = None

    def quantities(self) -> dict[str, Any]:
        """`top`, `second`, `linear`, `eigenvalues` (with multiplicities), `mixing`, `truncation`.

        `mixing` lists tau = <Psi, Y2>/<Psi, Y0> exactly, in closed form, by series and as printed; the error of each is
        its distance from the exact one. Empty where the top eigenfunction has no such mixing. `regression` (with a
        link): `risk` (noise excluded), its first `finite_size` term, `effective_ridge`, `degrees` df_2, `unlearnable`.
        """
        x = self.leading
        weights = Worst({str(l): Number.of(w, x.weight_error) for l, w in x.weights})
        return {
            "activation": x.activation.name,
            "top": _Top({"eigenvalue": _number(x.top), **_place(x.top), "weights": weights}),
            "second": _number(x.second),
            "linear": Flat({"aligned": _number(x.aligned), "orthogonal": _number(x.orthogonal)}),
            "eigenvalues": [Row({"value": _number(v), **_place(v)}) for v in x.listed],
            "mixing": [Row({"route": r, "value": Number.of(v, e)}) for r, v, e in self.routes],
            "truncation": x.degree,
            "regression": None if self.fit is None else _regression(self.fit),
        }

    def tables(self) -> tuple[Table, ...]:
        """The eigenvalues, then the top eigenfunction's weights."""
        x = self.leading
        listed = [_row("top", x.top), _row("second", x.second)]
        listed += [_row("linear, along w*", x.aligned), _row("linear, orthogonal to w*", x.orthogonal)]
        listed += [_row(f"sector {v.sector}, parity {v.parity}", v) for v in x.listed]
        title = f"{x.activation.name}, d = {self.dimension}, A = {self.bulk:g}, B = {self.spike:g}"
        weights = tuple((l, w.decimal(), w.bound()) for l, w in self.top.weights.items())
        tables: tuple[Table, ...] = (
            Table(("eigenvalue of", "value", "error", "multiplicity"), tuple(listed), title),
            Table(("degree", "weight", "error"), weights, "top eigenfunction"),
        )
        if self.fit is not None:
            found = tuple(
                row(name.replace("_", " "), number)[:3]
                for name, number in self.regression.items()
                if number is not None
            )
            tables = (*tables, Table(("ridge regression", "value", "error"), found, "learning curve (G10)"))
        if not self.routes:
            return tables
        routes = tuple((r.route, r.value.decimal(), r.value.bound()) for r in self.mixing)
        return (
            *tables,
            Table(("tau by", "value", "error"), routes, "mixing of degree 2 into degree 0 at the top (G7)"),
        )

    def latex(self) -> str:
        """The top eigenvalue and its eigenfunction."""
        shown = [(l, w) for l, w in self.leading.weights if abs(w) >= 5e-5]
        terms = " ".join(f"{'-' if w < 0 else '+'} {short(abs(w))} Y_{{{l}}}" for l, w in shown).removeprefix("+ ")
        top = self.top.eigenvalue.rounded_latex(10)
        return rf"\lambda_{{\max}} = {top}, \quad \Psi = \frac{{\|x\|}}{{\sqrt{{d}}}} \left({terms}\right)"

    def figure(self) -> Figure:
        """The leading eigenvalues against the spike, from none to the one given."""
        import numpy as np

        from bulkedge.numerics.kernels.leading import leading
        from bulkedge.results.plotting import PALETTE, new_figure

        figure, axes = new_figure()
        spikes = np.linspace(0.0, self.spike, 25)
        points = [leading(self.dimension, self.bulk, float(B), self.leading.activation, 1e-6) for B in spikes]
        names = ("top", "second", "aligned", "orthogonal")
        labels = ("largest", "second largest", "linear along w*", "linear orthogonal to w*")
        for name, label, colour in zip(names, labels, PALETTE, strict=False):
            axes.plot(spikes, [getattr(p, name).value for p in points], color=colour, label=label)
        axes.set_xlabel("spike B")
        axes.set_ylabel("eigenvalue")
        axes.set_title(f"{self.leading.activation.name}, d = {self.dimension}, A = {self.bulk:g}")
        axes.legend()
        return figure


_SERIES_ORDER = 3


def _routes(d: int, A: Any, B: Any, leading: Leading) -> tuple[tuple[str, float, float], ...]:
    """tau exactly, then what approximates it, each with its distance from the exact value (G7)."""
    from bulkedge.theory.kernels import spiked_expansion
    from bulkedge.theory.numbers import symbols

    if leading.mixing is None:
        return ()
    exact, error = leading.mixing
    found = [("exact spectrum", exact, error)]
    if leading.activation.homogeneity == 1:
        import mpmath
        import sympy as sp

        at = (symbols.A, symbols.B, symbols.d)
        numbers = (float(A), float(B), d)
        routes = [("closed form", spiked_expansion.mixing()), ("printed in paper F", spiked_expansion.paper_tau())]
        if abs(B) <= A * d:  # beyond, its terms grow without a bound
            series = spiked_expansion.tau_series(_SERIES_ORDER, sp.Integer(d))
            routes.insert(1, (f"series to (B/A)^{_SERIES_ORDER}", series))
        for route, expression in routes:
            # In mpmath, whose Gamma functions do not become factorials of d/2; 30 digits cover their cancellation.
            with mpmath.workdps(30):
                value = float(sp.lambdify(at, expression, "mpmath")(*map(mpmath.mpf, numbers)))
            found.append((route, value, abs(value - exact) + error))
    return tuple(found)


class _Top(Row):
    """The largest eigenvalue, its place and its eigenfunction."""

    main: ClassVar[str] = "eigenvalue"


def _number(value: Value) -> Number:
    return Number.of(value.value, value.error)


def _place(value: Value) -> dict[str, Any]:
    return {"multiplicity": Multiplicity(value.multiplicity), "sector": value.sector, "parity": value.parity}


def _row(name: str, value: Value) -> tuple[str, str, str, str]:
    return (*row(name, _number(value))[:3], str(value.multiplicity))


def spectrum(
    dim: Annotated[Numeric, Count("dimension", "d", low=2, high=MAX_DIMENSION)],
    bulk: Annotated[Numeric, Real("variance A in every direction", "A", low=0, exclusive=True, sized=True)],
    spike: Annotated[Numeric, Real("extra variance B > -A along w*", "B", sized=True)],
    degree: Annotated[Numeric, Count("weights listed up to this degree", "L", low=0, high=MAX_WEIGHTS)] = 8,
    activation: Annotated[Function, Formula("the features' activation", "FUNCTION")] = "relu",
    sectors: Annotated[Numeric, Count("list the spectrum of sectors 0..J", "J", low=0, high=20)] = 0,
    link: Annotated[Function | None, Formula("link g of the target y = g(w*.x) + noise", "LINK", group=_FIT)] = None,
    samples: Annotated[Numeric | None, Count("training samples", "n", low=1, high=MAX_SAMPLES, group=_FIT)] = None,
    ridge: Annotated[
        Numeric | None,
        Real("ridge: |y - f|^2 summed + LAM |f|^2", "LAM", low=0, exclusive=True, sized=True, group=_FIT),
    ] = None,
    noise: SizedNoise = 0,
    width: Annotated[
        Numeric | None,
        Count("features drawn from N(0, Gamma/d), for the kernel", "m", low=1, high=MAX_SAMPLES, group=_FIT),
    ] = None,
) -> SpectrumResult:
    """The spectrum of k1(x, x') = E sigma(w.x) sigma(w.x'), w ~ N(0, (A I + B w* w*^T)/d), under x ~ N(0, I_d).

    T phi = E_x'[k1(., x') phi(x')]. Sector j holds the functions that behave as degree-j harmonics under the rotations
    that fix w*. `top` and `second` are the largest eigenvalues of all sectors, counted with their multiplicities (so
    that `second` equals a top that is not simple); `linear` are the eigenvalues of <x, w*> and of <x, v>, v orthogonal
    to w*: (A+B)/(4d) and A/(4d) for ReLU, at every order in B.
    Valid for: positively homogeneous activations exactly (to the truncation error given, at most 1e-10 of the largest
    for B/A <= 1e4); other activations by an operator truncated at a Hermite degree, with its error.
    With a link, samples and a ridge: the test risk of ridge regression with the kernel, or with `width` of its features
    (`regression`), in the limit, and the first finite-size term of the kernel's.
    Errors: InputError for d < 2, A <= 0, B <= -A; of the three options, for one without the others.
    Source: G6 (paper F, Section 5, made exact), G10.

    Example:

    >>> top = bulkedge.spectrum(dim=20, bulk=1, spike=20).top
    >>> f"{top.eigenvalue:.9f}", top.error < 1e-13
    ('0.368023446', True)
    """
    given = read(spectrum, locals())
    from bulkedge.numerics.functions.functions import moderate
    from bulkedge.numerics.kernels.leading import leading
    from bulkedge.theory.functions.parse import number

    d, A, B, f = given.dim, given.bulk, given.spike, given.activation
    number(B, "spike", minimum=-A, exclusive=True)  # a variance along w*, too
    moderate(f, "activation")
    result = leading(d, float(A), float(B), f, degree=given.degree, sectors=given.sectors)
    notes = result.notes
    if result.top.error > 1e-3 * result.top.value:
        notes = (*notes, "the truncation does not resolve this spike: see the error of the top eigenvalue")
    inputs = {**given.inputs, "activation": str(activation if isinstance(activation, str) else f.name)}
    setting = "x ~ N(0, I_d); w ~ N(0, (A I + B w* w*^T)/d); weights on normalised harmonics |x|^p Y_l"
    mixing = _routes(d, A, B, result)
    source: tuple[str, ...] = ("G6", "G7") if mixing else ("G6",)
    fit = _fit(given, f, d, float(A), float(B))
    if fit is not None:
        source = (*source, "G10")
        notes = (*notes, "regression: a limit (conjectured, checked by simulation); add finite_size at few samples")
    return SpectrumResult(inputs, setting, source, notes, d, float(A), float(B), result, mixing, fit)


def _fit(given: Any, f: Any, d: int, A: float, B: float) -> Regression | None:
    """G10 at what was asked for, None where nothing was."""
    from bulkedge.theory.numbers.errors import InputError

    asked = {"link": given.link, "samples": given.samples, "ridge": given.ridge}
    if all(value is None for value in asked.values()):
        for name, plain in (("noise", 0), ("width", None)):
            if getattr(given, name) != plain:
                raise InputError(name, "belongs to ridge regression", "give link, samples and ridge with it")
        return None
    for name, value in asked.items():
        if value is None:
            raise InputError(name, "is missing for ridge regression", "give link, samples and ridge together")
    if f.name != "relu":
        raise InputError("activation", f"{f.name}: the learning curve is known for relu", "take relu, or no link")
    import math

    from bulkedge.numerics.kernels.learning_curve import finite_size, learning_curve, relu_spectrum

    spectrum_, ridge, noise = relu_spectrum(d, A, B, given.link), float(given.ridge), float(given.noise)
    width = math.inf if given.width is None else float(given.width)
    point = learning_curve(spectrum_, given.samples, ridge, noise, width)
    # The noise is independent of the eigenfunctions and adds nothing to the term.
    term = finite_size(d, A, B, given.link, given.samples, ridge) if given.width is None else None
    scale = float(spectrum_.squares.sum()) + spectrum_.unlearnable + noise**2
    return Regression(point.risk, term, point.kappa, point.degrees2, spectrum_.unlearnable, scale)


def _regression(x: Regression) -> Point:
    error = _CURVE_ERROR * x.scale
    return Point(
        {
            "risk": Number.of(x.risk, error + _CURVE_ERROR * x.risk),
            # What is left of it, and of the risk, is of second order: the term's own square over the risk.
            "finite_size": None
            if x.finite_size is None
            else Number.of(x.finite_size, 0.1 * abs(x.finite_size) + x.finite_size**2 / max(x.risk, 1e-300)),
            "effective_ridge": Number.of(x.effective_ridge, _CURVE_ERROR * x.effective_ridge),
            "degrees": Number.of(x.degrees, _CURVE_ERROR * x.degrees),
            "unlearnable": Number.of(x.unlearnable, error),
        }
    )
