"""`bulkedge mp`: the Marchenko-Pastur law."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from theory.enclosure import Enclosure
    from theory.parse import Numeric

HAS_CURVE = True


@dataclass(frozen=True)
class MpResult(Result):
    """The law's edges, atom, mean and variance: exact expressions and their enclosures, both by name."""

    command: ClassVar[str] = "mp"
    ratio: sp.Rational
    scale: sp.Rational
    digits: int
    exact: dict[str, sp.Expr]
    enclosed: dict[str, Enclosure]

    def payload(self) -> dict[str, Any]:
        """`edges` [lower, upper], `atom`, `mean`, `variance`; `exact` holds the same as SymPy text; `errors`."""
        from theory.marchenko_pastur import density

        decimal = {name: value.value_string(self.digits) for name, value in self.enclosed.items()}
        exact = {name: str(value) for name, value in self.exact.items()}
        return {
            **_paired(decimal),
            "exact": _paired(exact),
            "errors": dict.fromkeys(_paired(exact), "0"),
            "density": str(density(self.ratio, self.scale)),
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per quantity."""
        rows = tuple(
            (name.replace("_", " "), value.value_string(self.digits), str(self.exact[name]))
            for name, value in self.enclosed.items()
        )
        return (Table(("quantity", "value", "exact"), rows),)

    def latex(self) -> str:
        """The density of the continuous part."""
        from derivations.latex import latex
        from theory.marchenko_pastur import density

        return latex(density(self.ratio, self.scale))

    def figure(self) -> Figure:
        """The histogram of a simulated spectrum with the law over it."""
        from bulkedge.spectra import mp_figure

        return mp_figure(float(self.ratio), float(self.scale))


def _paired(values: dict[str, str]) -> dict[str, Any]:
    rest = {name: value for name, value in values.items() if not name.endswith("_edge")}
    return {"edges": [values["lower_edge"], values["upper_edge"]], **rest}


def configure(parser: argparse.ArgumentParser) -> None:
    """The law's parameters."""
    parser.add_argument("--ratio", required=True, metavar="c", help="p/n: eigenvalues over samples")
    parser.add_argument("--scale", default="1", metavar="s2", help="variance of the entries (default 1)")
    parser.add_argument("--digits", default="15", metavar="D", help="significant digits (default 15)")


def mp(ratio: Numeric, *, scale: Numeric = 1, digits: int = 15) -> MpResult:
    """The Marchenko-Pastur law of (1/n) Z^T Z, Z an n x p matrix of iid entries of variance `scale`.

    edges sigma2 (1 -+ sqrt c)^2, atom max(0, 1 - 1/c) at 0.
    Valid for: ratio c = p/n and scale positive, read exactly. For sampling, quantiles and the Stieltjes transform see
    numerics.marchenko_pastur.MarchenkoPastur.
    Accuracy: exact expressions, printed to `digits` digits.
    Errors: InputError for a ratio or scale that is not a positive finite number.
    Source: R1.
    """
    from theory import marchenko_pastur as law
    from theory.ball import enclose_expr
    from theory.enclosure import check_digits
    from theory.parse import positive

    c, s2 = positive(ratio, "ratio"), positive(scale, "scale")
    digits = check_digits(digits)
    lower, upper = law.edges(c, s2)
    variance = law.moment(2, c, s2) - law.moment(1, c, s2) ** 2
    exact = {
        "lower_edge": lower,
        "upper_edge": upper,
        "atom": law.atom(c),
        "mean": law.moment(1, c, s2),
        "variance": variance,
    }
    enclosed = {name: enclose_expr(value, digits) for name, value in exact.items()}
    setting = "eigenvalues of (1/n) Z^T Z, Z n x p with iid entries of variance scale; ratio = p/n"
    notes = ("proved; limit p, n -> infinity at p/n = ratio", "the density leaves out the atom at 0")
    return MpResult({"ratio": str(c), "scale": str(s2)}, setting, ("R1",), notes, c, s2, digits, exact, enclosed)


def run(arguments: argparse.Namespace) -> MpResult:
    """Run the command."""
    from theory.parse import integer

    return mp(arguments.ratio, scale=arguments.scale, digits=integer(arguments.digits, "digits"))
