"""`bulkedge convert`: step sizes, ridges and ratios of one paper in the units of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Argument, Constant, Count, Digits, Exact, Numeric, Pairs, Positive, Real, RealNames, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import COLUMNS, Flat, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp


HAS_PROGRAM = True


@dataclass(frozen=True)
class ConvertResult(Result):
    """The converted quantities by name (step, exponent, ridge, and the target's ratios), exact and as decimals."""

    command: ClassVar[str] = "convert"
    exact: Mapping[str, sp.Expr]
    ratios: tuple[str, ...]
    formulas: Mapping[str, sp.Basic]
    digits: int

    def _number(self, name: str) -> Number | None:
        return Number.of(self.exact[name], digits=self.digits) if name in self.exact else None

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
        known = [*self.formulas, *(name for name in self.exact if name not in self.formulas)]
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


def _size(value: Any, name: str) -> sp.Expr:
    import sympy as sp

    from bulkedge.theory.functions.parse import integer

    return value if getattr(value, "free_symbols", None) else sp.Integer(integer(value, name, minimum=1))


def _sizes(source: str, given: Mapping[str, Numeric | None], ratio: Mapping[str, Numeric]) -> dict[sp.Symbol, sp.Expr]:
    """The known sizes; those that come from ratios are multiples of d.

    Errors: InputError for a size given twice with different values.
    """
    import sympy as sp

    from bulkedge.theory.functions.parse import constant
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps.scaling import SIZE_NAMES, evaluate, paper, sizes_of

    sizes: dict[sp.Symbol, sp.Expr] = {}
    n = given["n"]
    for symbol, name in SIZE_NAMES.items():
        value = given[name]
        if value is not None:
            sizes[symbol] = _size(value, name)
        if n is not None and name in {"batch", "train"}:
            both = _size(n, "n")
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


_PAPERS = "O 2205.01445, F 2605.17718, T 2605.17767, M 2310.07891, P5 2402.04980, P7 2305.18270, P9 1908.05355"
_SIZES = "sizes, where the formula has them"


def convert(
    from_: Annotated[str, Argument(f"one of {_PAPERS}", "PAPER")],
    to: Annotated[str, Argument("the paper whose units are asked for", "PAPER")],
    *,
    step: Annotated[Constant | None, Exact("a step size in the first paper's units", "STEP", letters=True)] = None,
    exponent: Annotated[
        Numeric | None,
        Real("its growth exponent in the first paper's units (paper F's zeta)", "EXPONENT", letters=True),
    ] = None,
    ridge: Annotated[Constant | None, Exact("a ridge in the first paper's units", "RIDGE", letters=True)] = None,
    d: Annotated[Numeric | None, Count("input dimension", "D", low=1, group=_SIZES, letters=True)] = None,
    width: Annotated[
        Numeric | None,
        Count("width (N; paper F's m; paper P5's p)", "WIDTH", low=1, group=_SIZES, names=("--m", "--p"), letters=True),
    ] = None,
    n: Annotated[
        Numeric | None,
        Count("samples of the step and of the ridge fit, if they are equal", "N", low=1, group=_SIZES, letters=True),
    ] = None,
    batch: Annotated[Numeric | None, Count("samples of the step", "BATCH", low=1, group=_SIZES, letters=True)] = None,
    train: Annotated[
        Numeric | None, Count("samples of the ridge fit", "TRAIN", low=1, group=_SIZES, letters=True)
    ] = None,
    ratio: Annotated[
        Mapping[str, Numeric] | None,
        Pairs("a ratio by the first paper's name; repeat", "NAME=VALUE", many=True, group=_SIZES),
    ] = None,
    digits: Digits = 15,
    positive: Positive = None,
    real: RealNames = None,
) -> ConvertResult:
    """Convert a step size, its growth exponent, a ridge and the ratios from one paper's units to another's.

    eta_O = eta_F/sqrt(N) = eta_T = eta_M = eta_P5 sqrt(N) = eta_P7/sqrt(N);
    lambda_O = lambda_F N/n = lambda_P5 N/n = lambda_M = lambda_P9 N/d.
    Valid for: the same network and the same data; the notes say where a paper's loss or output differs.
    Shapes/units: `d`, `width`, `batch` (of the step), `train` (of the ridge fit), `n` (both); `ratio` maps the first
    paper's names of its ratios to values. Sizes are needed only where the formula has them.
    All numbers but the ratios may be expressions over declared symbols; step, ridge and ratios may be exact expressions
    (3*sqrt(2)/2), as this command prints them.
    Accuracy: exact; decimals to `digits` significant digits.
    Errors: InputError for unknown papers, missing sizes (named) and contradictory ones.
    Source: the papers' definitions; theory.steps.scaling.

    Example:

    >>> bulkedge.convert("F", "O", step=3, width=100).step.exact
    3/10
    """
    asked = read(convert, locals())
    import sympy as sp

    from bulkedge.theory.steps.scaling import PAPERS, convert_ridge, convert_step, evaluate, exponent_shift, paper

    digits, ratio = asked.digits, asked.ratio
    source, target = paper(from_, "from"), paper(to, "to")
    given = {"d": d, "width": width, "batch": batch, "train": train, "n": n}
    # The reader's letters are not the formulas': a width called d is no dimension.
    held = {name: getattr(asked, name) for name in (*given, "step", "exponent", "ridge")}
    used = set().union(*(x.free_symbols for x in held.values() if hasattr(x, "free_symbols")))
    own = {s: sp.Dummy(s.name, **s.assumptions0) for s in used}
    held = {name: x.xreplace(own) if hasattr(x, "xreplace") else x for name, x in held.items()}
    sizes = _sizes(from_, {name: held[name] for name in given}, ratio or {})
    exact: dict[str, sp.Expr] = {}
    formulas: dict[str, sp.Basic] = {}
    if step is not None or exponent is not None or (source.rate is not None and target.rate is not None):
        converted = convert_step(from_, to, held["step"], sizes)
        formulas["step"] = converted.formula
        if converted.value is not None:
            exact["step"] = converted.value
        shift = exponent_shift(from_, to)
        formulas["exponent"] = sp.Eq(sp.Symbol(f"a_{to}"), sp.Symbol(f"a_{from_}") + shift, evaluate=False)
        if exponent is not None:
            exact["exponent"] = held["exponent"] + shift
    if ridge is not None or (source.ridge is not None and target.ridge is not None):
        converted = convert_ridge(from_, to, held["ridge"], sizes)
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
    inputs |= {name: asked.inputs[name] for name in ("positive", "real") if name in asked.inputs}
    exact = {name: value.xreplace({dummy: s for s, dummy in own.items()}) for name, value in exact.items()}
    letters = "letters are paper O's: d dimension, N width, n1 samples of the step, n samples of the ridge fit"
    notes = tuple(f"paper {key}: {PAPERS[key].remark}" for key in dict.fromkeys((from_, to)) if PAPERS[key].remark)
    return ConvertResult(
        {**inputs, "digits": digits},
        letters,
        (),
        notes,
        exact,
        tuple(target.ratios),
        formulas,
        digits,
    )
