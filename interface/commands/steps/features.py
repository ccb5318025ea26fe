"""`bulkedge features`: the spikes of the feature matrix after a step eta ~ n^a, and what they take off the loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Activation, Link, Numeric, Real, SizedNoise, read
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from bulkedge.numerics.steps.spiked_features import Direction

_DROP: dict[str, Any] = {"group": "drop of the loss", "low": 0, "exclusive": True, "sized": True}
ORDERS = 4  # loss drops that are given


@dataclass(frozen=True)
class FeaturesResult(Result):
    """The number of spikes, their directions in both readings, and the limiting drops of the training loss."""

    command: ClassVar[str] = "features"
    order: int
    boundary: bool
    directions: tuple[Direction, ...]
    norm: float
    variance: float
    drops: tuple[tuple[str, tuple[float, ...]], ...]
    relative_error: float

    @property
    def present(self) -> tuple[int, ...]:
        """The spikes that a non-zero coefficient of the activation keeps, among those listed."""
        return tuple(d.index for d in self.directions if d.present)

    def payload(self) -> dict[str, Any]:
        """`order`, `boundary`, `present`, `removed`, `directions`, `loss_drops` (null if not asked for)."""
        return {
            "order": self.order,
            "boundary": self.boundary,
            "present": [*self.present],
            "removed": [d.index for d in self.directions if not d.present],
            "norm": _text(self.norm),
            "variance": _text(self.variance),
            "directions": [
                {
                    "k": d.index,
                    "exponent": str(d.exponent),
                    "coefficient": _text(d.coefficient),
                    "rank_one": [_text(x) for x in d.rank_one],
                    "full": [_text(x) for x in d.full],
                }
                for d in self.directions
            ],
            "loss_drops": {name: [_text(x) for x in values] for name, values in self.drops} or None,
            "errors": {name: self._error(values) for name, values in self._numbers().items()},
        }

    def _numbers(self) -> dict[str, list[float]]:
        directions = [x for d in self.directions for x in (d.coefficient, *d.rank_one, *d.full)]
        drops = [x for _, values in self.drops for x in values]
        return {"norm": [self.norm], "variance": [self.variance], "directions": directions, "loss_drops": drops}

    def _error(self, values: list[float]) -> str:
        from bulkedge.theory.numbers.enclosure import error_string

        return error_string(Fraction(self.relative_error) * Fraction(max(map(abs, values), default=0.0)))

    def tables(self) -> tuple[Table, ...]:
        """One row per direction, then the drops."""
        rows = tuple(
            (
                str(d.index),
                f"n^({d.exponent})",
                f"{d.coefficient:.6g}",
                _shown(d.rank_one),
                _shown(d.full),
                "yes" if d.present else "no",
            )
            for d in self.directions
        )
        columns = ("k", "norm", "c_k", "direction, rank_one", "direction, full", "present")
        title = f"{self.order} spikes beside F0's own" + (", on a boundary" if self.boundary else "")
        tables = [Table(columns, rows, title)]
        if self.drops:
            count = len(self.drops[0][1])
            tables.append(
                Table(
                    ("spikes", *(name for name, _ in self.drops)),
                    tuple(
                        (str(self.present[: i + 1]), *(f"{values[i]:.8g}" for _, values in self.drops))
                        for i in range(count)
                    ),
                    "limiting drop of the training loss by these spikes",
                )
            )
        return tuple(tables)

    def latex(self) -> str:
        """The directions of the reading full."""
        parts = [rf"p_{{{d.index}}}(t) = {_shown(d.full, latex=True)}" for d in self.directions if d.present]
        return r", \quad ".join(parts) if parts else r"\ell = 0"


def _shown(polynomial: tuple[float, ...], latex: bool = False) -> str:
    from bulkedge.derivations.engine.latex import decimal

    times = " " if latex else "*"
    terms = []
    for power, value in enumerate(polynomial):
        if value:
            variable = ("", "t")[power] if power < 2 else (f"t^{{{power}}}" if latex else f"t^{power}")
            number = decimal(f"{value:.4g}") if latex else f"{value:.4g}"
            terms.append(f"{number}{times if variable else ''}{variable}")
    return " + ".join(reversed(terms)).replace("+ -", "- ") or "0"


def _text(value: float) -> str:
    from bulkedge.theory.numbers.enclosure import decimal_string

    return decimal_string(Fraction(value), 15)


def features(
    activation: Activation,
    link: Link,
    *,
    exponent: Annotated[Numeric, Real("eta ~ n^A, a fraction in [0, 1/2)", "A")],
    batch: Annotated[Numeric, Real("n1/d of the step's batch", "ALPHA", low=0, exclusive=True, sized=True)] = 1,
    noise: SizedNoise = 0,
    samples: Annotated[Numeric | None, Real("n/d of the ridge fit", "PSI1", **_DROP)] = None,
    width: Annotated[Numeric | None, Real("N/d", "PSI2", **_DROP)] = None,
    ridge: Annotated[Numeric | None, Real("ridge", "LAM", **_DROP)] = None,
) -> FeaturesResult:
    """How many spikes sigma(X W1) has for eta ~ n^a, along which polynomials of t = x.u, and the loss they save.

    Formula: theory.steps.spiked_features.left_direction, loss_drop.
    Valid for: smooth activations, (l - 1)/(2 l) < a < l/(2 l + 2); drops for a centred link and unit-norm rows of W0.
    Convention: coefficients of the directions from the constant term up; F un-normalised, c_k `probabilist`.
    Accuracy: `errors` bounds the largest of each list; the count is exact.
    Errors: InputError.
    Source: M1, M2.

    Example:

    >>> bulkedge.features("softplus", "tanh", exponent="3/10").payload()["present"]
    [1, 2]
    """
    given = read(features, locals())
    from bulkedge.numerics.steps.spiked_features import loss_drops, spiked_features
    from bulkedge.theory.numbers.errors import InputError

    f, g, a, alpha, s = given.activation, given.link, given.exponent, given.batch, given.noise
    found = spiked_features(f, g, Fraction(int(a.p), int(a.q)), float(alpha), float(s))
    fit = {"samples": given.samples, "width": given.width, "ridge": given.ridge}
    drops: dict[str, tuple[float, ...]] = {}
    notes = ["reading rank_one is the paper's; full adds what is left of the step at every pre-activation"]
    if any(value is not None for value in fit.values()):
        for name, value in fit.items():
            if value is None:
                raise InputError(name, "missing", "the drop of the loss needs samples, width and ridge")
        numbers = {name: float(value) for name, value in fit.items()}
        if abs(found.mean_shift) > 1e-12:
            notes.append("no drop of the loss is given: the link has a mean")
        elif found.order:
            there = [d.index for d in found.directions if d.present][:ORDERS]
            drops = loss_drops(
                f, g, numbers["samples"], numbers["width"], numbers["ridge"], float(alpha), float(s), there
            )
            notes.append("the drop is a limit: at reachable sizes cross terms between the spikes and F0 dominate it")
    if f.kinks:
        notes.append("the expansion in the step is derived for smooth activations; this one has kinks")
    if found.boundary:
        notes.append("on a boundary: the next spike is of order one and not counted")
    if found.order > len(found.directions):
        notes.append(f"the first {len(found.directions)} of {found.order} directions are listed")
    setting = "F = sigma(X W1), eta ~ n^a in paper O's units, t = x.u, u = X^T y/n1; direction k goes with a_j^k"
    return FeaturesResult(
        given.inputs,
        setting,
        ("M1", "M2"),
        tuple(notes),
        found.order,
        found.boundary,
        found.directions,
        found.norm,
        found.variance,
        tuple(drops.items()),
        found.error,
    )
