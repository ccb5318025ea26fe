"""The commands, one module each, named after the command; `bulkedge.cli` imports only the one that is called."""

from __future__ import annotations

import importlib
from types import ModuleType

# name -> one line of help. The module bulkedge.commands.<wing>.<name> holds `configure(parser)`, the public function of
# the same name (listed in interface/__init__.py) and `run(arguments)`.
COMMANDS = {
    "hermite": "Hermite coefficients of a function, exact or with a rigorous error bound",
    "kernel": "the dual kernel of a function: closed form, series, certified value",
    "sphere": "eigenvalues of a function's kernel on the sphere",
    "outliers": "number of outliers after two gradient steps, in exact arithmetic",
    "align": "how much of the target the second step's directions have seen",
    "mp": "the Marchenko-Pastur law: edges, atom, mean, variance",
    "spike": "the outlier and overlaps of a rank-one spike, and the strength behind an outlier",
    "equivalent": "the large-size limit of an expression in random matrices: equations, value, simulation",
    "convert": "step sizes, ridges and ratios of one paper in the units of another",
    "risk": "test and training risk after one gradient step, at one step size or along a curve",
    "gamma": "covariance of the features after one gradient step: printed, rank-one and full",
    "spectrum": "exact spectrum of the kernel with spiked features, at any dimension and spike",
    "features": "spikes of the feature matrix after a step of size n^a, and the loss they save",
    "floor": "what kernels leave of a link, and whether one large step can do better",
    "weights": "weights of a network (a matrix or a checkpoint): bulk, outliers, strengths, fit, denoised",
    "check": "run the ledger of checks, each with its negative control",
    "functions": "list the named functions with their formulas and parameters",
    "conventions": "print the conventions, names and limits",
    "list": "list the statements",
    "show": "show one statement: formula, assumptions, sources, checks",
    "figure": "list the figures, or draw them with their data to a folder",
    "paper": "write verified derivations as LaTeX, and a book of statements, derivations and checks",
    "report": "write a self-contained web page with the state of every statement",
    "version": "print the version",
}

# name -> the folder of its module
WINGS = {
    "hermite": "gaussian",
    "kernel": "kernels",
    "sphere": "kernels",
    "outliers": "steps",
    "align": "steps",
    "mp": "spectra",
    "spike": "spectra",
    "equivalent": "equivalents",
    "convert": "steps",
    "risk": "risk",
    "gamma": "steps",
    "spectrum": "kernels",
    "features": "steps",
    "floor": "risk",
    "weights": "spectra",
    "check": "ledger",
    "functions": "ledger",
    "conventions": "ledger",
    "list": "ledger",
    "show": "ledger",
    "figure": "ledger",
    "paper": "ledger",
    "report": "ledger",
    "version": "ledger",
}


def module(name: str) -> ModuleType:
    """The module of a command."""
    return importlib.import_module(f"bulkedge.commands.{WINGS[name]}.{name}")
