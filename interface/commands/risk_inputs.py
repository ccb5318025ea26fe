"""The inputs of `bulkedge risk`: read exactly, checked, and echoed as they were read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp

from bulkedge.commands.risk.caps import MAX_NEURONS, MAX_SOLVED
from bulkedge.theory.functions import parse
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.functions.parse import integer, nonnegative
from bulkedge.theory.numbers.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_POINTS = 100_000
_MAX_MATRIX = 6_000  # neurons of given weights: matrices of that size are inverted


@dataclass(frozen=True)
class Inputs:
    """What the command works with: `exact` are the numbers as they were read, `steps` the step sizes."""

    activation: Nonlinearity
    link: Nonlinearity
    exact: dict[str, sp.Rational]
    steps: tuple[float, ...]
    step_texts: tuple[str, ...]
    echo: dict[str, Any]
    dim: int | None
    neurons: int
    readout: str
    trials: int | None
    seed: int
    weights: NDArray[np.float64] | None
    spikes: int
    target: NDArray[np.float64] | None

    samples = property(lambda self: float(self.exact["samples"]), doc="n/d of the ridge fit.")
    width = property(lambda self: float(self.exact["width"]), doc="N/d.")
    ridge = property(lambda self: float(self.exact["ridge"]), doc="The ridge.")
    batch = property(lambda self: float(self.exact["batch"]), doc="n1/d of the step's batch.")
    noise = property(lambda self: float(self.exact["noise"]), doc="The noise's standard deviation.")
    is_curve = property(lambda self: len(self.steps) > 1, doc="Whether there are several step sizes.")

    @property
    def texts(self) -> dict[str, str]:
        """The simulation's settings as exact text."""
        functions = {"activation": str(self.activation.expr), "link": str(self.link.expr)}
        return functions | {name: str(value) for name, value in self.exact.items()}


def _read_steps(step: Any) -> tuple[sp.Rational, ...]:
    """One step size, or the n equally spaced ones of "a:b:n"; exact.

    Errors: InputError for a negative step, fewer than two points, or a:b:n that is none.
    """
    text = str(step)
    if ":" not in text:
        return (nonnegative(step, "step", sized=True),)
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError("step", f"{text[:40]!r} is not a:b:n", "give start:end:number of points")
    a, b = nonnegative(parts[0], "step", sized=True), nonnegative(parts[1], "step", sized=True)
    count = integer(parts[2], "step", 2, MAX_POINTS)
    return tuple(a + (b - a) * i / (count - 1) for i in range(count))


def check_inputs(read: Any) -> Inputs:
    """What no argument can say alone: which go together, sizes that follow, files that fit; `read` has them all.

    Errors: InputError.
    """
    given = read.from_weights is not None
    for name in ("width", "step"):
        value = getattr(read, name)
        if value is None and not given:
            raise InputError(name, "missing", f"give {name}, or the weights themselves (from_weights)")
        if value is not None and given:
            raise InputError(name, "given together with from_weights", "leave it out: the weights decide")
    exact = {
        "samples": read.samples,
        "ridge": read.ridge,
        "noise": read.noise,
        "width": sp.Integer(1) if given else read.width,
        "batch": read.samples if read.batch is None else read.batch,
    }
    steps = _read_steps(0 if given else read.step)
    neurons = _neurons(read, exact, len(steps))
    weights = None if not given else _weights(read.from_weights)
    target = None if read.target is None else _target(read.target, weights)
    echo = {**read.inputs, **{name: str(value) for name, value in exact.items()}}
    if given:
        echo |= {"width": None, "batch": None, "step": None}
    else:
        echo |= {"step": str(read.step) if ":" in str(read.step) else str(steps[0]), "spikes": None}
    return Inputs(
        activation=read.activation,
        link=read.link,
        exact=exact,
        steps=tuple(float(s) for s in steps),
        step_texts=tuple(str(s) for s in steps),
        echo=echo,
        dim=read.dim,
        neurons=neurons,
        readout=read.readout,
        trials=read.simulate,
        seed=read.seed,
        weights=weights,
        spikes=read.spikes,
        target=target,
    )


def _neurons(read: Any, exact: dict[str, sp.Rational], points: int) -> int:
    """The width of a network of dimension `dim`; 0 without one."""
    d, given = read.dim, read.from_weights is not None
    if d is None and (read.simulate is not None or read.readout != "gaussian"):
        raise InputError("dim", "missing, though simulate or readout is given", "give the dimension d")
    neurons = 0 if d is None else int(exact["width"] * d + sp.Rational(1, 2))  # as Limit.at rounds
    if d is not None and not 1 <= neurons <= MAX_NEURONS:
        raise InputError("width", f"{neurons} neurons at d = {d}", f"give 1..{MAX_NEURONS}")
    if (given or d is not None) and exact["ridge"] == 0:
        raise InputError("ridge", "is 0", "give a ridge above 0 for finite sizes")
    if d is not None and points > MAX_SOLVED:
        raise InputError("step", f"{points} points at a finite dimension", f"give at most {MAX_SOLVED}")
    return neurons


def _weights(path: str) -> NDArray[np.float64]:
    """The given weights, a neuron a row."""
    weights = _load_array(path, "from_weights", 2)
    if len(weights) > _MAX_MATRIX:
        raise InputError("from_weights", f"{len(weights)} neurons", f"give at most {_MAX_MATRIX}, or a sample of them")
    if not weights.any(axis=1).all():
        row = int((~weights.any(axis=1)).argmax())
        raise InputError("from_weights", f"row {row} is all zero: a neuron without weights", "leave it out")
    return weights


def _target(path: str, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The target's direction, which must fit the weights."""
    direction = _load_array(path, "target", 1)
    if weights is None or direction.shape != (weights.shape[1],):
        raise InputError("target", "does not fit the weights", "give one entry for each input of a neuron")
    if not direction.any():
        raise InputError("target", "is zero", "give a direction")
    return direction


def _load_array(path: str, argument: str, dimensions: int) -> NDArray[np.float64]:
    """A real array of an .npy file; never unpickled.

    Errors: InputError for a file that is missing, not an array of that many dimensions, not real, or not finite.
    """
    import numpy as np

    path = parse.path(path, argument)
    if Path(path).suffix != ".npy":
        raise InputError(argument, f"{path!r} is not an .npy file", "save the array with numpy.save")
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InputError(argument, f"{path!r} cannot be read ({error.strerror or error})", "check the path") from None
    except ValueError:
        raise InputError(argument, f"{path!r} is not an array of numbers", "save it with numpy.save") from None
    if array.dtype.kind not in "fiu" or array.ndim != dimensions or 0 in array.shape:
        shape = f"{array.dtype} {array.shape}"
        raise InputError(argument, f"{path!r} holds {shape}", f"give real numbers in {dimensions} dimensions")
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array)):
        raise InputError(argument, f"{path!r} has entries that are not finite", "remove them")
    return np.asarray(array)
