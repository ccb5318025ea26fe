"""bulkedge: the theory of feature learning in the first gradient steps, derived, evaluated, checked and printed.

One function per command, of the same name and with the same arguments; each returns a frozen result that prints
itself as LaTeX (`_repr_latex_` in notebooks) and JSON (`to_json()`). Names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import Any

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


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
