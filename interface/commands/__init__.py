"""The commands' index, the one list of them; `bulkedge.cli` imports only the module of the command that is called.

A new command is its module and two lines here: the row below, and an import for type checkers.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker sees of bulkedge's functions; a test compares them with the index
    from bulkedge.commands.equivalents.equivalent import equivalent as equivalent
    from bulkedge.commands.gaussian.hermite import hermite as hermite
    from bulkedge.commands.kernels.kernel import kernel as kernel
    from bulkedge.commands.kernels.spectrum import spectrum as spectrum
    from bulkedge.commands.kernels.sphere import sphere as sphere
    from bulkedge.commands.ledger.check import check as check
    from bulkedge.commands.ledger.conventions import conventions as conventions
    from bulkedge.commands.ledger.figure import figure as figure
    from bulkedge.commands.ledger.functions import functions as functions
    from bulkedge.commands.ledger.list import list as list
    from bulkedge.commands.ledger.paper import paper as paper
    from bulkedge.commands.ledger.report import report as report
    from bulkedge.commands.ledger.show import show as show
    from bulkedge.commands.ledger.version import version as version
    from bulkedge.commands.risk.floor import floor as floor
    from bulkedge.commands.risk.risk import risk as risk
    from bulkedge.commands.spectra.mp import mp as mp
    from bulkedge.commands.spectra.spike import spike as spike
    from bulkedge.commands.spectra.weights import weights as weights
    from bulkedge.commands.steps.align import align as align
    from bulkedge.commands.steps.convert import convert as convert
    from bulkedge.commands.steps.features import features as features
    from bulkedge.commands.steps.gamma import gamma as gamma
    from bulkedge.commands.steps.outliers import outliers as outliers

# name -> (wing, one line of help, example). The module bulkedge.commands.<wing>.<name> holds the public function of the
# same name, whose annotations declare its arguments (bulkedge.arguments), and its frozen Result.
INDEX = {
    "hermite": (
        "gaussian",
        "Hermite coefficients of a function, exact or with a rigorous error bound",
        "relu --degree 8",
    ),
    "kernel": ("kernels", "the dual kernel of a function: closed form, series, certified value", "relu --rho 1/2"),
    "sphere": ("kernels", "eigenvalues of a function's kernel on the sphere", "relu --dim 10 --degree 6"),
    "outliers": ("steps", "number of outliers after two gradient steps, in exact arithmetic", "0.35 0.2 --degree 5"),
    "align": (
        "steps",
        "how much of the target the second step's directions have seen",
        '"He(2, z)" --power 2 --alpha 2 --batch reused',
    ),
    "mp": ("spectra", "the Marchenko-Pastur law: edges, atom, mean, variance", "--ratio 1/2"),
    "spike": (
        "spectra",
        "the outlier and overlaps of a rank-one spike, and the strength behind an outlier",
        "--ratio 2 --strength 3/2",
    ),
    "equivalent": (
        "equivalents",
        "the large-size limit of an expression in random matrices: equations, value, simulation",
        '"tr(inv(X.T*X + lam))" --gaussian "X: n x d, 1/n" --size n=2,d=1 --positive lam --set lam=3/10',
    ),
    "convert": (
        "steps",
        "step sizes, ridges and ratios of one paper in the units of another",
        "--from F --to O --step 3 --width 100",
    ),
    "risk": (
        "risk",
        "test and training risk after one gradient step, at one step size or along a curve",
        "relu tanh --samples 3 --width 2 --ridge 0.1 --step 1",
    ),
    "gamma": (
        "steps",
        "covariance of the features after one gradient step: printed, rank-one and full",
        "relu tanh --n 800 --m 400 --d 400 --step 89",
    ),
    "spectrum": (
        "kernels",
        "exact spectrum of the kernel with spiked features, at any dimension and spike",
        "--dim 100 --bulk 1.2 --spike 5",
    ),
    "features": (
        "steps",
        "spikes of the feature matrix after a step of size n^a, and the loss they save",
        "softplus tanh --exponent 3/10",
    ),
    "floor": ("risk", "what kernels leave of a link, and whether one large step can do better", "relu tanh"),
    "weights": (
        "spectra",
        "weights of a network (a matrix or a checkpoint): bulk, outliers, strengths, fit, denoised",
        "FILE",
    ),
    "check": ("ledger", "run the ledger of checks, each with its negative control", ""),
    "functions": ("ledger", "list the named functions with their formulas and parameters", ""),
    "conventions": ("ledger", "print the conventions, names and limits", ""),
    "list": ("ledger", "list the statements", ""),
    "show": ("ledger", "show one statement: formula, assumptions, sources, checks", "H1"),
    "figure": ("ledger", "list the figures, or draw them with their data to a folder", "--out DIR"),
    "paper": (
        "ledger",
        "write verified derivations as LaTeX, and a book of statements, derivations and checks",
        "--out DIR",
    ),
    "report": ("ledger", "write a self-contained web page with the state of every statement", "DIR"),
    "version": ("ledger", "print the version", ""),
}
_WINGS = {name: wing for name, (wing, _, _) in INDEX.items()}
COMMANDS = {name: text for name, (_, text, _) in INDEX.items()}
EXAMPLES = {name: f"bulkedge {name} {example}".strip() for name, (_, _, example) in INDEX.items()}


def path(name: str) -> str:
    """The dotted name of a command's module."""
    return f"bulkedge.commands.{_WINGS[name]}.{name}"


def module(name: str) -> ModuleType:
    """The module of a command."""
    return importlib.import_module(path(name))


def function(name: str) -> Any:
    """The public function of a command."""
    return getattr(module(name), name)


def table() -> str:
    """The README's table."""
    rows = "\n".join(f"| {text} | `{EXAMPLES[name]}` |" for name, text in COMMANDS.items())
    return f"| what can be asked | command |\n|---|---|\n{rows}\n"
