"""bulkedge: the theory of feature learning in the first gradient steps, derived, evaluated, checked and printed.

One function per command, of the same name and with the same arguments; each returns a frozen result that prints
itself as a table (`print`), LaTeX (`latex()`), JSON (`to_json()`) and, in notebooks, as its formula and numbers.
Names are loaded when first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bulkedge.commands import COMMANDS as _COMMANDS
from bulkedge.commands import path as _path
from bulkedge.release import __version__ as __version__

if TYPE_CHECKING:  # what a type checker sees of `_PUBLIC`; a test compares the two
    from bulkedge.commands import *  # noqa: F403
    from bulkedge.derivations.engine.derivation import Derivation as Derivation
    from bulkedge.derivations.engine.derivation import Step as Step
    from bulkedge.figures import Picture as Picture
    from bulkedge.numerics.kernels.kernel_matrix import kernel_gradient as kernel_gradient
    from bulkedge.numerics.kernels.kernel_matrix import kernel_matrix as kernel_matrix
    from bulkedge.numerics.kernels.spiked_kernel import spiked_kernel_matrix as spiked_kernel_matrix
    from bulkedge.numerics.kernels.spiked_spectrum import sector as sector
    from bulkedge.numerics.kernels.truncated_spectrum import truncated_sector as truncated_sector
    from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur as MarchenkoPastur
    from bulkedge.numerics.spectra.spike import SpikedModel as SpikedModel
    from bulkedge.numerics.trials.check import Check as Check
    from bulkedge.numerics.trials.check import Control as Control
    from bulkedge.numerics.trials.check import Ladder as Ladder
    from bulkedge.numerics.trials.check import MonteCarlo as MonteCarlo
    from bulkedge.numerics.trials.check import Rate as Rate
    from bulkedge.numerics.trials.check import SecondRoute as SecondRoute
    from bulkedge.numerics.trials.estimate import Estimate as Estimate
    from bulkedge.numerics.trials.runner import Runner as Runner
    from bulkedge.numerics.trials.store import Store as Store
    from bulkedge.theory.functions.nonlinearity import Nonlinearity as Nonlinearity
    from bulkedge.theory.functions.nonlinearity import nonlinearity as nonlinearity
    from bulkedge.theory.numbers.enclosure import Enclosure as Enclosure
    from bulkedge.theory.numbers.errors import ConvergenceError as ConvergenceError
    from bulkedge.theory.numbers.errors import InputError as InputError
    from bulkedge.theory.numbers.errors import PrecisionError as PrecisionError
    from bulkedge.theory.numbers.statement import Statement as Statement
    from bulkedge.theory.steps.setting import Growth as Growth
    from bulkedge.theory.steps.setting import Limit as Limit
    from bulkedge.theory.steps.setting import Setting as Setting

_PUBLIC = {
    # functions of the command line
    **{name: _path(name) for name in _COMMANDS},
    # objects
    "kernel_matrix": "bulkedge.numerics.kernels.kernel_matrix",
    "kernel_gradient": "bulkedge.numerics.kernels.kernel_matrix",
    "spiked_kernel_matrix": "bulkedge.numerics.kernels.spiked_kernel",
    "sector": "bulkedge.numerics.kernels.spiked_spectrum",
    "truncated_sector": "bulkedge.numerics.kernels.truncated_spectrum",
    "Nonlinearity": "bulkedge.theory.functions.nonlinearity",
    "nonlinearity": "bulkedge.theory.functions.nonlinearity",
    "Setting": "bulkedge.theory.steps.setting",
    "Limit": "bulkedge.theory.steps.setting",
    "Growth": "bulkedge.theory.steps.setting",
    "Enclosure": "bulkedge.theory.numbers.enclosure",
    "Estimate": "bulkedge.numerics.trials.estimate",
    "MarchenkoPastur": "bulkedge.numerics.spectra.marchenko_pastur",
    "SpikedModel": "bulkedge.numerics.spectra.spike",
    "InputError": "bulkedge.theory.numbers.errors",
    "PrecisionError": "bulkedge.theory.numbers.errors",
    "ConvergenceError": "bulkedge.theory.numbers.errors",
    "Check": "bulkedge.numerics.trials.check",
    "Control": "bulkedge.numerics.trials.check",
    "MonteCarlo": "bulkedge.numerics.trials.check",
    "Ladder": "bulkedge.numerics.trials.check",
    "Rate": "bulkedge.numerics.trials.check",
    "SecondRoute": "bulkedge.numerics.trials.check",
    "Runner": "bulkedge.numerics.trials.runner",
    "Store": "bulkedge.numerics.trials.store",
    "Statement": "bulkedge.theory.numbers.statement",
    "Picture": "bulkedge.figures",
    "Derivation": "bulkedge.derivations.engine.derivation",
    "Step": "bulkedge.derivations.engine.derivation",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'bulkedge' has no attribute {name!r}")


def __dir__() -> Iterable[str]:
    return sorted([*globals(), *_PUBLIC])
