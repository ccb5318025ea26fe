"""The papers' scalings: step sizes, ridges and ratios of one paper in the units of another.

Each paper is a record of its own definitions (prefactor of the output, learning rate, loss, ridge objective, names of
the ratios); every conversion factor is computed from these records, never typed in. The letters are paper O's: N
width (paper F's m, P5's and P7's p), d dimension, n1 samples of the step, n samples of the ridge fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.marked import read_marks
from bulkedge.theory.numbers.symbols import N, d, n, n1


@dataclass(frozen=True)
class Ridge:
    """A ridge objective: data * sum_i (y_i - f(x_i))^2 + penalty * lambda |a|^2."""

    data: sp.Expr
    penalty: sp.Expr


@dataclass(frozen=True)
class Paper:
    """A paper's definitions.

    Shapes/units: the output is `output` * sum_j a_j sigma(w_j.x); the step is W - eta * `rate` * (gradient in W of the
    mean loss over n1 samples), where the loss is (1/2)(y - f)^2 or, if `loss` is "correlation", -y f; `ratios` maps
    the paper's own names to sizes; `readout` and `weights` are its laws of a and W. None: the paper has no such thing.
    """

    key: str
    reference: str
    output: sp.Expr
    rate: sp.Expr | None
    loss: str
    ridge: Ridge | None
    ratios: Mapping[str, sp.Expr]
    readout: str = "gaussian"
    weights: str = "gaussian"
    remark: str = ""

    def __post_init__(self) -> None:
        read_marks(self, "remark")

    @property
    def step_unit(self) -> sp.Expr:
        """eta_O / eta of this paper: both steps then move W by the same (eta_O/n1) X^T [(r a^T) o sigma'(X W)].

        In the paper's units that move is eta * rate * output; in paper O's it is eta_O.
        Errors: InputError if the paper takes no gradient step.
        """
        if self.rate is None:
            raise InputError("step", f"paper {self.key} takes no gradient step", "leave --step and --exponent out")
        return sp.powsimp(self.rate * self.output)

    @property
    def ridge_unit(self) -> sp.Expr:
        """lambda_O / lambda of this paper, both objectives having the same minimising function.

        Readouts giving the same function obey a_O = sqrt(N) output a; paper O minimises (1/n) sum + (lambda_O/N)|a|^2.
        Errors: InputError if the paper's ridge objective is not known.
        """
        if self.ridge is None:
            raise InputError("ridge", f"the ridge objective of paper {self.key} is not known", "leave --ridge out")
        return sp.powsimp(self.ridge.penalty / (self.ridge.data * n * self.output**2))

    @property
    def exponent_shift(self) -> sp.Expr:
        """Exponent of eta in the size minus paper O's: all sizes grow in proportion."""
        t = sp.Symbol("t", positive=True)
        grown = self.step_unit.subs({s: t * s for s in (N, d, n, n1)}, simultaneous=True)
        return -sp.simplify(t * sp.diff(sp.log(grown), t))


_ROOT = 1 / sp.sqrt(N)
_SUM = Ridge(sp.Integer(1), sp.Integer(1))
_ONE = sp.Integer(1)

PAPERS: Mapping[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "O",
            "arXiv:2205.01445",
            _ROOT,
            sp.sqrt(N),
            "square",
            Ridge(1 / n, 1 / N),
            {"psi1": n / d, "psi2": N / d, "alpha": n1 / d},
        ),
        Paper("F", "arXiv:2605.17718", _ROOT, _ONE, "square", _SUM, {"alpha": n1 / d, "beta": N / d}),
        Paper(
            "T",
            "arXiv:2605.17767",
            _ONE,
            _ONE,
            "correlation",
            None,
            {"n/d": n1 / d, "N/d": N / d},
            remark="correlation loss: the step leaves the network's own output out (loss='correlation')",
        ),
        Paper(
            "M",
            "arXiv:2310.07891",
            _ONE,
            _ONE,
            "square",
            Ridge(1 / n, _ONE),
            {"phi": d / n, "psi": d / N},
            weights="sphere",
            remark=(
                "no `1/sqrt(N)` before the output: the own output in the residual is `sqrt(N)` times paper O's, so "
                "the steps agree only where it is left out or zero at initialisation"
            ),
        ),
        Paper(
            "P5",
            "arXiv:2402.04980",
            _ROOT,
            N,
            "square",
            _SUM,
            {"alpha": n / d, "alpha0": n1 / d, "beta": N / d},
            readout="constant",
            weights="sphere",
            remark="the step is its `eta`-tilde: each neuron moves by `(eta/n1) X^T` [`(y - f) o sigma'`(`X w_j`)]",
        ),
        Paper("P7", "arXiv:2305.18270", _ROOT, _ONE, "square", None, {"n/d": n1 / d, "p/d": N / d}),
        Paper(
            "P9",
            "arXiv:1908.05355",
            _ONE,
            None,
            "square",
            Ridge(1 / n, N / d),
            {"psi1": N / d, "psi2": n / d},
            weights="sphere",
            remark="`psi1` and `psi2` are exchanged with respect to paper O",
        ),
    )
}


def paper(key: str, argument: str = "paper") -> Paper:
    """A paper of the dictionary by its key.

    Errors: InputError for an unknown key.
    """
    if not isinstance(key, str) or key not in PAPERS:
        raise InputError(argument, f"unknown paper {str(key)[:40]!r}", f"choose one of {', '.join(PAPERS)}")
    return PAPERS[key]


def step_factor(source: str, target: str) -> sp.Expr:
    """eta of `target` / eta of `source`; eta_O = eta_F/sqrt(N) = eta_T = eta_M = eta_P5 sqrt(N) = eta_P7/sqrt(N).

    Valid for: the update of W, the same readout; see the papers' remarks on the loss.
    Errors: InputError if a paper takes no step.
    Source: the papers' definitions, by way of the records.
    """
    return sp.powsimp(paper(source).step_unit / paper(target).step_unit)


def ridge_factor(source: str, target: str) -> sp.Expr:
    """lambda of `target` / lambda of `source`; lambda_O = lambda_F N/n = lambda_P5 N/n = lambda_M = lambda_P9 N/d.

    Valid for: the same fitted function (the readouts differ by the outputs' prefactors).
    Errors: InputError if a paper's ridge objective is not known.
    Source: the papers' definitions, by way of the records.
    """
    return sp.powsimp(paper(source).ridge_unit / paper(target).ridge_unit)


def exponent_shift(source: str, target: str) -> sp.Expr:
    """Growth exponent of eta in `target` minus that in `source`, as powers of a size (F's zeta = O's alpha + 1/2)."""
    return paper(target).exponent_shift - paper(source).exponent_shift


def sizes_of(ratios: Mapping[str, sp.Expr], source: str) -> dict[sp.Symbol, sp.Expr]:
    """The sizes N, n, n1 in units of d from ratios under the source paper's names.

    Errors: InputError for a ratio the paper does not name.
    """
    known = paper(source).ratios
    sizes: dict[sp.Symbol, sp.Expr] = {}
    for name, value in ratios.items():
        if name not in known:
            names = ", ".join(known)
            raise InputError("ratio", f"paper {source} has no ratio {name[:40]!r}", f"its ratios are {names}")
        (symbol,) = known[name].free_symbols - {d}
        sizes[symbol] = sp.solve(known[name] - value, symbol)[0]
    return sizes


def dictionary() -> sp.Basic:
    """The dictionary in one line: paper O's step and ridge through every other paper's."""
    etas = [sp.Symbol(f"eta_{key}") * p.step_unit for key, p in PAPERS.items() if p.rate is not None]
    ridges = [sp.Symbol(f"lambda_{key}") * p.ridge_unit for key, p in PAPERS.items() if p.ridge is not None]
    chain = [sp.Eq(a, b, evaluate=False) for group in (etas, ridges) for a, b in itertools.pairwise(group)]
    return sp.And(*chain, evaluate=False)


# What the user calls each size.
SIZE_NAMES = {N: "width", d: "d", n: "train", n1: "batch"}


@dataclass(frozen=True)
class Conversion:
    """A quantity in the target paper's units: its value, None where a size it needs is not known, and its formula."""

    value: sp.Expr | None
    formula: sp.Basic
    missing: tuple[str, ...] = ()


def evaluate(factor: sp.Expr, sizes: Mapping[sp.Symbol, sp.Expr]) -> tuple[sp.Expr | None, tuple[str, ...]]:
    """A factor at the known sizes (which may be multiples of d), or None and the names of the sizes it still needs."""
    value = sp.sympify(factor, strict=True).subs(sizes, simultaneous=True)
    value = sp.simplify(value.subs({d: sizes[d]})) if d in sizes else sp.simplify(value)
    missing = tuple(sorted(SIZE_NAMES[symbol] for symbol in value.free_symbols & set(SIZE_NAMES)))
    return (None if missing else value), missing


def convert_step(source: str, target: str, step: sp.Expr | None, sizes: Mapping[sp.Symbol, sp.Expr]) -> Conversion:
    """A step size in the target paper's units.

    Errors: InputError if a paper takes no step, or a size that the conversion needs is missing.
    """
    return _convert("eta", "step", step_factor(source, target), source, target, step, sizes)


def convert_ridge(source: str, target: str, ridge: sp.Expr | None, sizes: Mapping[sp.Symbol, sp.Expr]) -> Conversion:
    """A ridge in the target paper's units.

    Errors: InputError if a paper's objective is not known, or a size that the conversion needs is missing.
    """
    return _convert("lambda", "ridge", ridge_factor(source, target), source, target, ridge, sizes)


def _convert(
    letter: str,
    argument: str,
    factor: sp.Expr,
    source: str,
    target: str,
    value: sp.Expr | None,
    sizes: Mapping[sp.Symbol, sp.Expr],
) -> Conversion:
    left, right = (sp.Symbol(f"{letter}_{key}") for key in (target, source))
    formula = sp.Eq(left, factor * right, evaluate=False)
    if value is None:
        return Conversion(None, formula)
    number, missing = evaluate(factor, sizes)
    if number is None:
        names = ", ".join(missing)
        raise InputError(argument, f"its conversion from {source} to {target} needs {names}", f"give {names}")
    return Conversion(value * number, formula)
