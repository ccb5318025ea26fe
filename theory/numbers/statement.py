"""Statement: a claim of the theory with a permanent ID; each stands in the module of its formula.

Every module of theory/ that states something exports STATEMENTS, a tuple of Statement.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from bulkedge.theory.numbers.marked import read_marks

# Assumptions that several statements share.
PROPORTIONAL = (
    "`n, d, N ->` infinity in proportion, `x ~ N(0, I_d), W0` with entries `N(0, 1/d)`, fresh samples for the fit"
)
SPIKED_WEIGHTS = (
    "`x ~ N(0, I_d)`; weights `N(0, I/d)` and `a_j` of variance `1/m` before the step",
    "`y = g(w*.x)` + noise, `|w*| = 1`; `n = alpha d` samples, width `m = beta d`",
)
TWO_STEPS = (
    "`W0` is `N x d` with entries `N(0, 1/d)`, readout of variance `1/N, eta_i = N^alpha_i, n, d, N` proportional"
)


@dataclass(frozen=True)
class Erratum:
    """A statement as printed, what the check found, the corrected statement and the check that is the evidence.

    Its sentences mark their mathematics (theory.numbers.marked), as those of a Statement do.
    """

    printed: str
    found: str
    corrected: str
    evidence: tuple[str, ...]

    def __post_init__(self) -> None:
        read_marks(self, "printed", "found", "corrected")


@dataclass(frozen=True)
class Statement:
    """A statement of the theory.

    `id` is permanent. `formula` is the function that states it, in the module where the statement stands, or its name
    ("module:function"); calling it gives a SymPy expression, so what is shown is what is evaluated. `beside` are the
    functions of further formulas that the title promises. `sources` name paper and equation. `status` is "proved",
    "derived" (by us, checked numerically) or "conjectured".
    """

    id: str
    title: str
    formula: Callable[[], sp.Basic] | str
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]
    status: str = "proved"
    figure: str | None = None
    errata: tuple[Erratum, ...] = ()
    beside: tuple[Callable[[], sp.Basic], ...] = ()

    def __post_init__(self) -> None:
        read_marks(self, "title", "assumptions", "sources")

    def expression(self) -> sp.Basic:
        """The formula, as SymPy."""
        if callable(self.formula):
            return self.formula()
        module, name = self.formula.split(":")
        expression: sp.Basic = getattr(importlib.import_module(module), name)()
        return expression

    @property
    def formula_name(self) -> str:
        """Where the formula is: "bulkedge.theory.gaussian.hermite:parseval_statement"."""
        return f"{self.formula.__module__}:{self.formula.__qualname__}" if callable(self.formula) else self.formula
