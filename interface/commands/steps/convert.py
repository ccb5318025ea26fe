"""`bulkedge convert`: step sizes, ridges and ratios of one paper in the units of another."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.results.number import Number
from bulkedge.results.quantities import COLUMNS, Flat, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.theory.functions.parse import Numeric
    from bulkedge.theory.numbers.enclosure import Enclosure


@dataclass(frozen=True)
class ConvertResult(Result):
    """The converted quantities by name (step, exponent, ridge, and the target's ratios), exact and as decimals."""

    command: ClassVar[str] = "convert"
    exact: Mapping[str, sp.Expr]
    values: Mapping[str, Enclosure]
    ratios: tuple[str, ...]
    formulas: Mapping[str, sp.Basic]
    digits: int

    def _number(self, name: str) -> Number | None:
        if name not in self.values:
            return None
        return Number.of(self.values[name], exact=self.exact[name], digits=self.digits)

    def quantities(self) -> dict[str, Any]:
        """`step`, `exponent`, `ridge`, `ratios` (None: not asked for, or its sizes not given), `formulas`."""
        return {
            **{name: self._number(name) for name in ("step", "exponent", "ridge")},
            "ratios": Flat({name: self._number(name) for name in self.ratios}),
            "formulas": {name: f"{f.lhs} = {f.rhs}" for name, f in self.formulas.items()},
        }

    def payload(self) -> dict[str, Any]:
        """`step`, `exponent`, `ridge`, `ratios` (null: not asked for, or its sizes not given), `exact`, `formulas`."""
        return {"exact": {}, "errors": {}, **super().payload()}

    def tables(self) -> tuple[Table, ...]:
        """One row per quantity: its value and the formula."""
        known = [*self.formulas, *(name for name in self.values if name not in self.formulas)]
        formulas = {name: f"{f.lhs} = {f.rhs}" for name, f in self.formulas.items()}
        shown = ((name, self._number(name), formulas.get(name, "")) for name in known)
        listed = tuple(
            (*(row(name, x) if x is not None else (name, "", "", "")), formula) for name, x, formula in shown
        )
        title = f"paper {self.inputs['from']} -> paper {self.inputs['to']}"
        return (Table((*COLUMNS, "formula"), listed, title),)

    def latex(self) -> str:
        """The formulas, and the values where they are known."""
        from bulkedge.derivations.engine.latex import latex

        parts = []
        for name, formula in self.formulas.items():
            value = f" = {latex(self.exact[name])}" if name in self.exact else ""
            parts.append(latex(formula) + value)
        return r",\quad ".join(parts)


def configure(parser: argparse.ArgumentParser) -> None:
    """The two papers, what to convert, and the sizes the conversion needs."""
    papers = "O 2205.01445, F 2605.17718, T 2605.17767, M 2310.07891, P5 2402.04980, P7 2305.18270, P9 1908.05355"
    parser.add_argument("--from", dest="from_", required=True, metavar="PAPER", help=f"one of {papers}")
    parser.add_argument("--to", required=True, metavar="PAPER", help="the paper whose units are asked for")
    parser.add_argument("--step", help="a step size in the first paper's units")
    parser.add_argument("--exponent", help="its growth exponent in the first paper's units (paper F's zeta)")
    parser.add_argument("--ridge", help="a ridge in the first paper's units")
    parser.add_argument("--d", help="input dimension")
    parser.add_argument("--width", "--m", "--p", dest="width", help="width (N; paper F's m; paper P5's p)")
    parser.add_argument("--n", help="samples of the step and of the ridge fit, if they are equal")
    parser.add_argument("--batch", help="samples of the step")
    parser.add_argument("--train", help="samples of the ridge fit")
    parser.add_argument(
        "--ratio", action="append", default=[], metavar="NAME=VALUE", help="a ratio by the first paper's name; repeat"
    )
    parser.add_argument("--digits", default="15", help="significant digits (default 15)")


def _sizes(source: str, given: Mapping[str, Numeric | None], ratio: Mapping[str, Numeric]) -> dict[sp.Symbol, sp.Expr]:
    """The known sizes; those that come from ratios are multiples of d.

    Errors: InputError for a size given twice with different values.
    """
    import sympy as sp

    from bulkedge.theory.functions.parse import constant, integer
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps.scaling import SIZE_NAMES, evaluate, paper, sizes_of

    sizes: dict[sp.Symbol, sp.Expr] = {}
    n = given["n"]
    for symbol, name in SIZE_NAMES.items():
        value = given[name]
        if value is not None:
            sizes[symbol] = sp.Integer(integer(value, name, minimum=1))
        if n is not None and name in {"batch", "train"}:
            both = sp.Integer(integer(n, "n", minimum=1))
            if sizes.setdefault(symbol, both) != both:
                raise InputError("n", f"{both} contradicts {name} = {sizes[symbol]}", f"leave n or {name} out")
    exact = {name: constant(value, "ratio", exclusive=True) for name, value in ratio.items()}
    for symbol, size in sizes_of(exact, source).items():
        sizes.setdefault(symbol, size)
    for name, value in exact.items():
        found, _ = evaluate(paper(source).ratios[name], sizes)
        if found is not None and sp.simplify(found - value) != 0:
            raise InputError("ratio", f"{name} = {value} contradicts the sizes, which give {found}", "leave one out")
    return sizes


def convert(
    from_: str,
    to: str,
    *,
    step: Numeric | None = None,
    exponent: Numeric | None = None,
    ridge: Numeric | None = None,
    d: Numeric | None = None,
    width: Numeric | None = None,
    n: Numeric | None = None,
    batch: Numeric | None = None,
    train: Numeric | None = None,
    ratio: Mapping[str, Numeric] | None = None,
    digits: int = 15,
) -> ConvertResult:
    """Convert a step size, its growth exponent, a ridge and the ratios from one paper's units to another's.

    eta_O = eta_F/sqrt(N) = eta_T = eta_M = eta_P5 sqrt(N) = eta_P7/sqrt(N);
    lambda_O = lambda_F N/n = lambda_P5 N/n = lambda_M = lambda_P9 N/d.
    Valid for: the same network and the same data; the notes say where a paper's loss or output differs.
    Shapes/units: `d`, `width`, `batch` (of the step), `train` (of the ridge fit), `n` (both); `ratio` maps the first
    paper's names of its ratios to values. Sizes are needed only where the formula has them.
    Step, ridge and ratios may be exact expressions (3*sqrt(2)/2), as this command prints them.
    Accuracy: exact; decimals to `digits` significant digits.
    Errors: InputError for unknown papers, missing sizes (named) and contradictory ones.
    Source: the papers' definitions; theory.steps.scaling.

    Example:

    >>> bulkedge.convert("F", "O", step=3, width=100).step.exact
    3/10
    """
    import sympy as sp

    from bulkedge.theory.functions.parse import constant, number, shorten
    from bulkedge.theory.numbers.ball import enclose_expr
    from bulkedge.theory.numbers.digits import check_digits
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps.scaling import PAPERS, convert_ridge, convert_step, evaluate, exponent_shift, paper

    digits = check_digits(digits)
    if ratio is not None and not (isinstance(ratio, Mapping) and all(isinstance(name, str) for name in ratio)):
        raise InputError("ratio", f"{shorten(ratio)} is no mapping", 'give names and values, {"psi1": 2}')
    source, target = paper(from_, "from"), paper(to, "to")
    given = {"d": d, "width": width, "batch": batch, "train": train, "n": n}
    sizes = _sizes(from_, given, ratio or {})
    exact: dict[str, sp.Expr] = {}
    formulas: dict[str, sp.Basic] = {}
    if step is not None or exponent is not None or (source.rate is not None and target.rate is not None):
        size = None if step is None else constant(step, "step")
        converted = convert_step(from_, to, size, sizes)
        formulas["step"] = converted.formula
        if converted.value is not None:
            exact["step"] = converted.value
        shift = exponent_shift(from_, to)
        formulas["exponent"] = sp.Eq(sp.Symbol(f"a_{to}"), sp.Symbol(f"a_{from_}") + shift, evaluate=False)
        if exponent is not None:
            exact["exponent"] = number(exponent, "exponent") + shift
    if ridge is not None or (source.ridge is not None and target.ridge is not None):
        value = None if ridge is None else constant(ridge, "ridge")
        converted = convert_ridge(from_, to, value, sizes)
        formulas["ridge"] = converted.formula
        if converted.value is not None:
            exact["ridge"] = converted.value
    for name, expression in target.ratios.items():
        formulas[name] = sp.Eq(sp.Symbol(name), expression, evaluate=False)
        known, _ = evaluate(expression, sizes)
        if known is not None:
            exact[name] = known
    inputs = {"from": from_, "to": to, "step": step, "exponent": exponent, "ridge": ridge, **given}
    inputs = {k: v if v is None else str(v) for k, v in inputs.items()}
    inputs["ratio"] = {k: str(v) for k, v in (ratio or {}).items()}
    letters = "letters are paper O's: d dimension, N width, n1 samples of the step, n samples of the ridge fit"
    notes = tuple(f"paper {key}: {PAPERS[key].remark}" for key in dict.fromkeys((from_, to)) if PAPERS[key].remark)
    return ConvertResult(
        {**inputs, "digits": digits},
        letters,
        (),
        notes,
        exact,
        {name: enclose_expr(value, digits) for name, value in exact.items()},
        tuple(target.ratios),
        formulas,
        digits,
    )


def _ratios(items: list[str]) -> dict[str, str]:
    """`NAME=VALUE` items as a mapping."""
    from bulkedge.theory.numbers.errors import InputError

    ratios: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name or name in ratios:
            raise InputError("ratio", f"{item[:40]!r} is not a new NAME=VALUE", "write, for example, --ratio psi1=2")
        ratios[name] = value
    return ratios


def run(arguments: argparse.Namespace) -> ConvertResult:
    """Run the command."""
    from bulkedge.theory.functions.parse import integer

    return convert(
        arguments.from_,
        arguments.to,
        step=arguments.step,
        exponent=arguments.exponent,
        ridge=arguments.ridge,
        d=arguments.d,
        width=arguments.width,
        n=arguments.n,
        batch=arguments.batch,
        train=arguments.train,
        ratio=_ratios(arguments.ratio),
        digits=integer(arguments.digits, "digits"),
    )
