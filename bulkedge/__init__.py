"""bulkedge: the theory of feature learning in the first gradient steps, derived, evaluated, checked and printed.

One function per command, of the same name and with the same arguments; each returns a frozen result that prints
itself as a table (`print`), LaTeX (`latex()`), JSON (`to_json()`) and, in notebooks, as its formula and numbers.
Names are loaded when first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker sees of `_PUBLIC`; a test compares the two
    from bulkedge.commands.align import align as align
    from bulkedge.commands.check import check as check
    from bulkedge.commands.convert import convert as convert
    from bulkedge.commands.features import features as features
    from bulkedge.commands.figure import figure as figure
    from bulkedge.commands.floor import floor as floor
    from bulkedge.commands.gamma import gamma as gamma
    from bulkedge.commands.hermite import hermite as hermite
    from bulkedge.commands.kernel import kernel as kernel
    from bulkedge.commands.list import list as list
    from bulkedge.commands.mp import mp as mp
    from bulkedge.commands.outliers import outliers as outliers
    from bulkedge.commands.paper import paper as paper
    from bulkedge.commands.report import report as report
    from bulkedge.commands.risk import risk as risk
    from bulkedge.commands.show import show as show
    from bulkedge.commands.spectrum import spectrum as spectrum
    from bulkedge.commands.sphere import sphere as sphere
    from bulkedge.commands.spike import spike as spike
    from bulkedge.commands.version import version as version
    from bulkedge.commands.weights import weights as weights
    from bulkedge.figures import Picture as Picture
    from bulkedge.registry import Statement as Statement
    from derivations.derivation import Derivation as Derivation
    from derivations.derivation import Step as Step
    from numerics.check import Check as Check
    from numerics.check import Control as Control
    from numerics.check import Ladder as Ladder
    from numerics.check import MonteCarlo as MonteCarlo
    from numerics.check import Rate as Rate
    from numerics.check import SecondRoute as SecondRoute
    from numerics.estimate import Estimate as Estimate
    from numerics.kernel_matrix import kernel_gradient as kernel_gradient
    from numerics.kernel_matrix import kernel_matrix as kernel_matrix
    from numerics.marchenko_pastur import MarchenkoPastur as MarchenkoPastur
    from numerics.runner import Runner as Runner
    from numerics.spike import SpikedModel as SpikedModel
    from numerics.spiked_kernel import spiked_kernel_matrix as spiked_kernel_matrix
    from numerics.spiked_spectrum import sector as sector
    from numerics.store import Store as Store
    from numerics.truncated_spectrum import truncated_sector as truncated_sector
    from theory.enclosure import Enclosure as Enclosure
    from theory.errors import ConvergenceError as ConvergenceError
    from theory.errors import InputError as InputError
    from theory.errors import PrecisionError as PrecisionError
    from theory.nonlinearity import Nonlinearity as Nonlinearity
    from theory.nonlinearity import nonlinearity as nonlinearity
    from theory.setting import Growth as Growth
    from theory.setting import Limit as Limit
    from theory.setting import Setting as Setting

__version__ = "0.1.0"

_PUBLIC = {
    # functions of the command line
    "hermite": "bulkedge.commands.hermite",
    "kernel": "bulkedge.commands.kernel",
    "sphere": "bulkedge.commands.sphere",
    "kernel_matrix": "numerics.kernel_matrix",
    "kernel_gradient": "numerics.kernel_matrix",
    "outliers": "bulkedge.commands.outliers",
    "align": "bulkedge.commands.align",
    "mp": "bulkedge.commands.mp",
    "spike": "bulkedge.commands.spike",
    "convert": "bulkedge.commands.convert",
    "risk": "bulkedge.commands.risk",
    "gamma": "bulkedge.commands.gamma",
    "spectrum": "bulkedge.commands.spectrum",
    "features": "bulkedge.commands.features",
    "floor": "bulkedge.commands.floor",
    "weights": "bulkedge.commands.weights",
    "check": "bulkedge.commands.check",
    "list": "bulkedge.commands.list",
    "show": "bulkedge.commands.show",
    "figure": "bulkedge.commands.figure",
    "paper": "bulkedge.commands.paper",
    "report": "bulkedge.commands.report",
    "version": "bulkedge.commands.version",
    # objects
    "spiked_kernel_matrix": "numerics.spiked_kernel",
    "sector": "numerics.spiked_spectrum",
    "truncated_sector": "numerics.truncated_spectrum",
    "Nonlinearity": "theory.nonlinearity",
    "nonlinearity": "theory.nonlinearity",
    "Setting": "theory.setting",
    "Limit": "theory.setting",
    "Growth": "theory.setting",
    "Enclosure": "theory.enclosure",
    "Estimate": "numerics.estimate",
    "MarchenkoPastur": "numerics.marchenko_pastur",
    "SpikedModel": "numerics.spike",
    "InputError": "theory.errors",
    "PrecisionError": "theory.errors",
    "ConvergenceError": "theory.errors",
    "Check": "numerics.check",
    "Control": "numerics.check",
    "MonteCarlo": "numerics.check",
    "Ladder": "numerics.check",
    "Rate": "numerics.check",
    "SecondRoute": "numerics.check",
    "Runner": "numerics.runner",
    "Store": "numerics.store",
    "Statement": "bulkedge.registry",
    "Picture": "bulkedge.figures",
    "Derivation": "derivations.derivation",
    "Step": "derivations.derivation",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'bulkedge' has no attribute {name!r}")


def __dir__() -> Iterable[str]:
    return sorted([*globals(), *_PUBLIC])
