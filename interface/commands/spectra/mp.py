"""`bulkedge mp`: the Marchenko-Pastur law, and the law of a general population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Argument, Digits, Numeric, Positive, Real, RealNames, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import COLUMNS, Shared, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.theory.numbers.enclosure import Enclosure
    from bulkedge.theory.spectra.silverstein import Population

HAS_CURVE = True
HAS_PROGRAM = True


@dataclass(frozen=True)
class MpResult(Result):
    """The law's edges, atom, mean and variance, by name."""

    command: ClassVar[str] = "mp"
    ratio: sp.Rational
    scale: sp.Rational
    digits: int
    known: dict[str, Number]

    @property
    def exact(self) -> dict[str, sp.Expr | None]:
        """The expressions of the numbers, by name."""
        return {name: x.expr for name, x in self.known.items()}

    def quantities(self) -> dict[str, Any]:
        """`edges` [lower, upper], `atom`, `mean`, `variance`, `density` in x, `stieltjes` in w."""
        from bulkedge.theory.spectra.marchenko_pastur import density, stieltjes

        rest = dict(self.known)
        return {
            "edges": [rest.pop("lower_edge"), rest.pop("upper_edge")],
            **rest,
            "density": str(density(self.ratio, self.scale)),
            "stieltjes": str(stieltjes(self.ratio, self.scale)),
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per quantity."""
        return (Table(COLUMNS, tuple(row(name.replace("_", " "), x) for name, x in self.known.items())),)

    def latex(self) -> str:
        """The density of the continuous part."""
        from bulkedge.derivations.engine.latex import latex
        from bulkedge.theory.spectra.marchenko_pastur import density

        return rf"f(x) = {latex(density(self.ratio, self.scale))}"

    def figure(self) -> Figure:
        """The histogram of a simulated spectrum with the law over it."""
        from bulkedge.results.spectra import mp_figure

        self.check_numbers("plot")
        return mp_figure(float(self.ratio), float(self.scale))


@dataclass(frozen=True)
class PopulationResult(Result):
    """The law of a discrete population: edges and mass of every component, atom, mean and variance."""

    command: ClassVar[str] = "mp"
    ratio: sp.Rational
    population: Population
    digits: int
    ends: tuple[tuple[Enclosure, Enclosure], ...]
    exact: dict[str, sp.Rational]
    masses: tuple[sp.Rational, ...]

    def quantities(self) -> dict[str, Any]:
        """`edges` [lowest, highest], `components` (lower, upper, mass), `atom`, `mean`, `variance`."""
        ends = [Number.of(end, digits=self.digits) for pair in self.ends for end in pair]
        masses = [Number.of(mass, digits=self.digits) for mass in self.masses]
        return {
            "edges": [ends[0], ends[-1]],
            "components": [
                Shared({"lower": lower, "upper": upper, "mass": mass})
                for lower, upper, mass in zip(ends[::2], ends[1::2], masses, strict=True)
            ],
            **{name: Number.of(value, digits=self.digits) for name, value in self.exact.items()},
        }

    def tables(self) -> tuple[Table, ...]:
        """The components, then atom, mean and variance."""
        listed = tuple(
            (x["lower"].decimal(), x["upper"].decimal(), x.largest.bound(), x["mass"].expression())
            for x in self._stated["components"]
        )
        rest = tuple(row(name, self._stated[name]) for name in self.exact)
        return (Table(("lower edge", "upper edge", "error", "mass"), listed), Table(COLUMNS, rest))

    def latex(self) -> str:
        """psi, whose critical values are the edges."""
        from bulkedge.derivations.engine.latex import latex
        from bulkedge.theory.spectra.silverstein import psi

        return rf"\psi(\alpha) = {latex(psi(self.population, self.ratio))}"

    def figure(self) -> Figure:
        """The histogram of a simulated spectrum with the law over it."""
        from bulkedge.results.spectra import population_figure

        values, weights = ([float(v) for v in side] for side in (self.population.values, self.population.weights))
        return population_figure(float(self.ratio), values, weights)


def mp(
    ratio: Annotated[Numeric, Real("p/n: eigenvalues over samples", "c", low=0, exclusive=True, letters=True)],
    *,
    scale: Annotated[Numeric, Real("variance of the entries", "s2", low=0, exclusive=True, letters=True)] = 1,
    population: Annotated[str | None, Argument("population eigenvalues and weights, 1:1/2,10:1/2", "t:w,...")] = None,
    digits: Digits = 15,
    positive: Positive = None,
    real: RealNames = None,
) -> MpResult | PopulationResult:
    """The Marchenko-Pastur law of (1/n) Z^T Z, Z an n x p matrix of iid entries of variance `scale`.

    edges sigma2 (1 -+ sqrt c)^2, atom max(0, 1 - 1/c) at 0.
    Valid for: ratio c = p/n and scale positive, read exactly, or expressions over declared symbols. With a `population`
    ("t:w,t:w", eigenvalues of the covariance and their weights) the edges and masses of every component of its bulk
    (R2). For sampling, quantiles and the transform as a function see
    numerics.spectra.marchenko_pastur.MarchenkoPastur and
    numerics.spectra.silverstein.GeneralLaw. Accuracy: exact expressions, printed to `digits` digits; edges of a
    population by exact root isolation, with errors. Errors: InputError for a ratio or scale that is not a positive
    finite number, or an unusable population. Source: R1, R2.

    Example:

    >>> bulkedge.mp("1/2").edges[1].exact
    (sqrt(2)/2 + 1)**2
    """
    given = read(mp, locals())
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.spectra import marchenko_pastur as law

    c, s2, digits = given.ratio, given.scale, given.digits
    if population is not None:
        if given.symbolic:
            raise InputError("population", "its edges are numbers", "give the ratio and the scale as numbers")
        return _population(c, s2, population, digits)
    lower, upper = law.edges(c, s2)
    exact = {
        "lower_edge": lower,
        "upper_edge": upper,
        "atom": law.atom(c),
        "mean": law.moment(1, c, s2),
        "variance": law.moment(2, c, s2) - law.moment(1, c, s2) ** 2,
    }
    if given.symbolic:
        import sympy as sp

        exact["variance"] = sp.factor(exact["variance"])
    known = {name: Number.of(value, digits=digits) for name, value in exact.items()}
    setting = "eigenvalues of (1/n) Z^T Z, Z n x p with iid entries of variance scale; ratio = p/n"
    notes = ("proved; limit p, n -> infinity at p/n = ratio", "the density leaves out the atom at 0")
    return MpResult(given.inputs | {"digits": digits}, setting, ("R1",), notes, c, s2, digits, known)


_LEVELS = 12  # distinct eigenvalues: the edges are roots of a polynomial of twice that degree


def _population(c: sp.Rational, s2: sp.Rational, text: str, digits: int) -> PopulationResult:
    from bulkedge.theory.functions.parse import nonnegative, positive, shorten
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.spectra import silverstein

    if not isinstance(text, str):
        raise InputError("population", f"{shorten(text)} is no text", 'give up to 12 pairs, "1:1/2,10:1/2"')
    pairs = [item.split(":") for item in text.split(",")]
    if not all(len(pair) == 2 for pair in pairs) or len(pairs) > _LEVELS:
        raise InputError(
            "population", f"{text[:40]!r} is not understood", f'give up to {_LEVELS} pairs, "1:1/2,10:1/2"'
        )
    values = tuple(s2 * nonnegative(t, "population") for t, _ in pairs)
    weights = tuple(positive(share, "population") for _, share in pairs)
    found = silverstein.Population(values, weights)
    mean = found.mean(found.values)
    exact = {
        "atom": silverstein.atom(found, c),
        "mean": mean,
        "variance": found.mean([t**2 for t in found.values]) - mean**2 + c * mean**2,
    }
    setting = "eigenvalues of (1/n) S^(1/2) Z^T Z S^(1/2), Z n x p with iid entries of variance scale; ratio = p/n"
    notes = ("proved; limit p, n -> infinity at p/n = ratio", "edges: critical values, isolated exactly")
    inputs = {"ratio": str(c), "scale": str(s2), "population": text}
    components = silverstein.enclose_edges(found, c, digits)
    return PopulationResult(
        inputs, setting, ("R2",), notes, c, found, digits, components, exact, silverstein.masses(found, c)
    )
