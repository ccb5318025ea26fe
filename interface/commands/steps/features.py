"""`bulkedge features`: the spikes of the feature matrix after a step eta ~ n^a, and what they take off the loss."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Activation, Link, Numeric, Real, SizedNoise, read
from bulkedge.results.number import Number, magnitude, short
from bulkedge.results.quantities import Worst
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.numerics.steps.spiked_features import FiniteSize, SpikedFeatures
    from bulkedge.theory.steps.spiked_features import Exact

_DROP: dict[str, Any] = {"group": "drop of the loss", "low": 0, "exclusive": True, "sized": True}
_SHORT = 40  # characters of an exact coefficient that a table or a formula takes
_ORDERS = 4  # loss drops that are given
_FAR = 0.05  # relative distance of a drop from its limit that is worth a warning


@dataclass(frozen=True)
class FeaturesResult(Result):
    """The number of spikes, their directions in both readings, and the limiting drops of the training loss."""

    command: ClassVar[str] = "features"
    found: SpikedFeatures
    exact: Exact
    drops: tuple[tuple[str, tuple[float, ...]], ...]
    near: FiniteSize

    @property
    def present(self) -> tuple[int, ...]:
        """The spikes that a non-zero coefficient of the activation keeps, among those listed."""
        return tuple(d.index for d in self.found.directions if d.present)

    def _number(self, value: float, exact: sp.Expr | None = None) -> Number:
        """The exact number where it is known, else the float with its bound."""
        if exact is not None:
            return Number.of(exact)
        return Number.of(value, Fraction(self.found.error) * abs(Fraction(value)))

    def _numbers(self, values: tuple[float, ...], exact: tuple[sp.Expr, ...] | None = None) -> tuple[Number, ...]:
        return tuple(map(self._number, values, exact or (None,) * len(values)))

    def quantities(self) -> dict[str, Any]:
        """`order`, `boundary`, `present`, `removed`, `directions`, `loss_drops` (None if not asked), `finite_size`."""
        import sympy as sp

        x = self.exact
        return {
            "order": self.found.order,
            "boundary": self.found.boundary,
            "present": [*self.present],
            "removed": [d.index for d in self.found.directions if not d.present],
            "norm": self._number(self.found.norm, None if x.norm2 is None else sp.sqrt(x.norm2)),
            "variance": self._number(self.found.variance, x.variance),
            "directions": [
                {
                    "k": d.index,
                    "exponent": str(d.exponent),
                    "coefficient": self._number(d.coefficient, x.coefficients[d.index]),
                    "rank_one": self._numbers(d.rank_one, x.direction(d.index, "rank_one")),
                    "full": self._numbers(d.full, x.direction(d.index, "full")),
                }
                for d in self.found.directions
            ],
            "loss_drops": Worst({name: self._numbers(values) for name, values in self.drops}) if self.drops else None,
            "finite_size": {
                "dim": self.near.dim,
                "step": short(self.near.step, 3),
                "beyond": [{"k": k, "dim": _dim(log10)} for k, log10 in self.near.beyond],
                "loss_drops": {name: [short(x, 3) for x in values] for name, values in self.near.drops.items()} or None,
            },
        }

    def payload(self) -> dict[str, Any]:
        """The quantities; a list that is empty has the error 0."""
        found = super().payload()
        return found | {"errors": {"directions": "0", "loss_drops": "0", **found["errors"]}}

    def tables(self) -> tuple[Table, ...]:
        """One row per direction, then the drops."""
        rows = tuple(
            (
                str(d.index),
                f"n^({d.exponent})",
                _coefficient(stated["coefficient"]),
                _shown(stated["rank_one"]),
                _shown(stated["full"]),
                "yes" if d.present else "no",
            )
            for d, stated in zip(self.found.directions, self._stated["directions"], strict=True)
        )
        columns = ("k", "norm", "c_k", "direction, rank_one", "direction, full", "present")
        title = f"{self.found.order} spikes beside F0's own" + (", on a boundary" if self.found.boundary else "")
        tables = [Table(columns, rows, title)]
        if self.drops:
            count = len(self.drops[0][1])
            tables.append(
                Table(
                    ("spikes", *(name for name, _ in self.drops)),
                    tuple(
                        (str(self.present[: i + 1]), *(short(values[i], 8) for _, values in self.drops))
                        for i in range(count)
                    ),
                    "limiting drop of the training loss by these spikes",
                )
            )
            near = self.near.drops
            tables.append(
                Table(
                    ("spikes", *near),
                    tuple(
                        (str(self.present[: i + 1]), *(short(values[i], 3) for values in near.values()))
                        for i in range(count)
                    ),
                    f"the same with their strength at d = {self.near.dim}, eta = {short(self.near.step, 3)}",
                )
            )
        return tuple(tables)

    def latex(self) -> str:
        """The directions of the reading full."""
        there = [x for x in self._stated["directions"] if x["k"] in self.present]
        parts = [rf"p_{{{x['k']}}}(t) = {_shown(x['full'], latex=True)}" for x in there]
        return r", \quad ".join(parts) if parts else r"\ell = 0"


def _dim(log10: float) -> str:
    """A dimension, at least two."""
    return magnitude(max(log10, math.log10(2)))


def _far(found: SpikedFeatures, drops: dict[str, tuple[float, ...]], near: FiniteSize) -> tuple[bool, str]:
    """Whether a network of dimension TYPICAL is far from the limit, and how far in words, computed."""
    parts = [f"spike {k} exceeds the bulk's edge from d of about {_dim(log10)} on" for k, log10 in near.beyond]
    far = any(log10 > math.log10(near.dim) for _, log10 in near.beyond)
    if drops.get("full"):
        limit, there = drops["full"][-1], near.drops["full"][-1]
        if limit > 0:
            gap = abs(there - limit) / limit
            far = far or gap > _FAR
            parts.append(
                f"at d = {near.dim} (eta = {short(near.step, 3)}) the spikes' finite strength leaves a drop of "
                f"{short(there, 3)}, {short(100 * gap, 2)} per cent from the limit"
            )
    text = "; ".join(parts)
    return far, (f"WARNING, a limit far from usual sizes: {text}" if far else text)


def _coefficient(x: Number) -> str:
    """Exact where that is short, else six digits."""
    exact = x.expression()
    return exact if exact is not None and len(exact) <= _SHORT else x.decimal(6)


def _shown(polynomial: tuple[Number, ...], latex: bool = False) -> str:
    """A polynomial in t: exact where every coefficient is, and all of them are short, else in decimals."""
    import sympy as sp

    from bulkedge.derivations.engine.latex import decimal
    from bulkedge.derivations.engine.latex import latex as printed
    from bulkedge.theory.steps.spiked_features import t

    if all(x.expr is not None and len(str(x.expr)) <= _SHORT for x in polynomial):
        whole = sp.Add(*(x.expr * t**k for k, x in enumerate(polynomial)))
        return printed(whole) if latex else str(whole).replace("**", "^")
    times = " " if latex else "*"
    terms = []
    for power, value in enumerate(map(float, polynomial)):
        if value:
            variable = ("", "t")[power] if power < 2 else (f"t^{{{power}}}" if latex else f"t^{power}")
            number = decimal(short(value)) if latex else short(value)
            terms.append(f"{number}{times if variable else ''}{variable}")
    return " + ".join(reversed(terms)).replace("+ -", "- ") or "0"


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
    Accuracy: `errors` bounds the largest of each list; the count is exact. `finite_size`: the dimension from which each
    spike exceeds the bulk's edge (ratios that are not given taken as 1), and the drops at d = 1000 and eta = n^a.
    Errors: InputError.
    Source: M1, M2.

    Example:

    >>> bulkedge.features("softplus", "tanh", exponent="3/10").present
    (1, 2)
    """
    given = read(features, locals())
    from bulkedge.numerics.steps.spiked_features import finite_size, loss_drops, spiked_features
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps.spiked_features import exact

    f, g, a, alpha, s = given.activation, given.link, given.exponent, given.batch, given.noise
    found = spiked_features(f, g, Fraction(int(a.p), int(a.q)), float(alpha), float(s))
    fit = {"samples": given.samples, "width": given.width, "ridge": given.ridge}
    drops: dict[str, tuple[float, ...]] = {}
    at: Callable[[tuple[float, float]], dict[str, tuple[float, ...]]] | None = None
    notes = ["reading rank_one is the paper's; full adds what is left of the step at every pre-activation"]
    if any(value is not None for value in fit.values()):
        for name, value in fit.items():
            if value is None:
                raise InputError(name, "missing", "the drop of the loss needs samples, width and ridge")
        numbers = {name: float(value) for name, value in fit.items()}
        if abs(found.mean_shift) > 1e-12:
            notes.append("no drop of the loss is given: the link has a mean")
        elif found.order:
            there = [d.index for d in found.directions if d.present][:_ORDERS]
            fitted = numbers["samples"], numbers["width"], numbers["ridge"]
            drops = loss_drops(f, g, *fitted, float(alpha), float(s), there)
            at = functools.partial(loss_drops, f, g, *fitted, float(alpha), float(s), there)
            notes.append(
                "the drop is a limit, of infinitely strong spikes; beside their strength it leaves out the squares of "
                "the step's rest, of relative order eta^2/N"
            )
    if f.kinks:
        notes.append("the expansion in the step is derived for smooth activations; this one has kinks")
    if found.boundary:
        notes.append("on a boundary: the next spike is of order one and not counted")
    if found.order > len(found.directions):
        notes.append(f"the first {len(found.directions)} of {found.order} directions are listed")
    psi1, psi2 = (1.0 if value is None else float(value) for value in (given.samples, given.width))
    near = finite_size(found, f, Fraction(int(a.p), int(a.q)), psi1, psi2, at if drops else None)
    far, text = _far(found, drops, near)
    if text:
        notes.insert(0 if far else len(notes), text)
    setting = "F = sigma(X W1), eta ~ n^a in paper O's units, t = x.u, u = X^T y/n1; direction k goes with a_j^k"
    return FeaturesResult(
        given.inputs,
        setting,
        ("M1", "M2"),
        tuple(notes),
        found,
        exact(f, g, alpha, s, len(found.directions)),
        tuple(drops.items()),
        near,
    )
