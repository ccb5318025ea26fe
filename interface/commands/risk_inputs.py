"""The inputs of `bulkedge risk`: read exactly, checked, and echoed as they were read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp

from bulkedge.theory.functions import parse
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.functions.parse import integer, nonnegative, positive
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import READOUTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_POINTS = 100_000
MAX_NEURONS = 100_000
MAX_SOLVED = 2_000  # points that need a fixed point of their own
MAX_MATRIX = 6_000  # neurons of given weights: matrices of that size are inverted


@dataclass(frozen=True)
class Inputs:
    """What the command works with; `texts` are the simulation's settings as exact text."""

    activation: Nonlinearity
    link: Nonlinearity
    samples: float
    width: float
    ridge: float
    batch: float
    noise: float
    steps: tuple[float, ...]
    step_texts: tuple[str, ...]
    is_curve: bool
    dim: int | None
    neurons: int
    readout: str
    trials: int | None
    seed: int
    weights: NDArray[np.float64] | None
    spikes: int
    target: NDArray[np.float64] | None
    texts: dict[str, str]
    echo: dict[str, Any]


def read_steps(step: Any) -> tuple[sp.Rational, ...]:
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


def read_inputs(
    activation: Any,
    link: Any,
    samples: Any,
    ridge: Any,
    width: Any,
    step: Any,
    batch: Any,
    noise: Any,
    dim: Any,
    readout: str,
    simulate: Any,
    seed: Any,
    from_weights: str | None,
    spikes: Any,
    target: str | None,
) -> Inputs:
    """Read and check everything; each error names its option.

    Errors: InputError.
    """
    readout = parse.choice(readout, "readout", READOUTS)
    numbers = {"samples": positive(samples, "samples", sized=True), "ridge": nonnegative(ridge, "ridge", sized=True)}
    numbers["noise"] = nonnegative(noise, "noise", sized=True)
    given = from_weights is not None
    for name, value in (("width", width), ("step", step)):
        if value is None and not given:
            raise InputError(name, "missing", f"give {name}, or the weights themselves (from_weights)")
        if value is not None and given:
            raise InputError(name, "given together with from_weights", "leave it out: the weights decide")
    numbers["width"] = positive(1 if given else width, "width", sized=True)
    numbers["batch"] = numbers["samples"] if batch is None else positive(batch, "batch", sized=True)
    steps = read_steps(0 if given else step)
    if dim is None and (simulate is not None or readout != "gaussian"):
        raise InputError("dim", "missing, though simulate or readout is given", "give the dimension d")
    d = None if dim is None else integer(dim, "dim", 2, MAX_NEURONS)
    neurons = 0 if d is None else int(numbers["width"] * d + sp.Rational(1, 2))  # as Limit.at rounds
    if d is not None and not 1 <= neurons <= MAX_NEURONS:
        raise InputError("width", f"{neurons} neurons at d = {d}", f"give 1..{MAX_NEURONS}")
    if (given or d is not None) and numbers["ridge"] == 0:
        raise InputError("ridge", "is 0", "give a ridge above 0 for finite sizes")
    if d is not None and len(steps) > MAX_SOLVED:
        raise InputError("step", f"{len(steps)} points at a finite dimension", f"give at most {MAX_SOLVED}")
    f, g = nonlinearity(activation, "ACTIVATION"), nonlinearity(link, "LINK")
    weights = None if from_weights is None else load_array(from_weights, "from_weights", 2)
    if weights is not None and len(weights) > MAX_MATRIX:
        raise InputError("from_weights", f"{len(weights)} neurons", f"give at most {MAX_MATRIX}, or a sample of them")
    if weights is not None and not weights.any(axis=1).all():
        row = int((~weights.any(axis=1)).argmax())
        raise InputError("from_weights", f"row {row} is all zero: a neuron without weights", "leave it out")
    direction = None if target is None else load_array(target, "target", 1)
    if direction is not None and (weights is None or direction.shape != (weights.shape[1],)):
        raise InputError("target", "does not fit the weights", "give one entry for each input of a neuron")
    if direction is not None and not direction.any():
        raise InputError("target", "is zero", "give a direction")
    trials = None if simulate is None else integer(simulate, "simulate", 2, 10_000)
    start, count = integer(seed, "seed", 0), integer(spikes, "spikes", 0, 3)
    echo: dict[str, Any] = {
        "activation": f.name,
        "link": g.name,
        **{name: None if given and name in ("width", "batch") else str(value) for name, value in numbers.items()},
        "step": None if given else str(step) if ":" in str(step) else str(steps[0]),
        "dim": d,
        "readout": readout,
        "simulate": trials,
        "seed": start,
        "from_weights": from_weights,
        "spikes": count if given else None,
        "target": target,
    }
    texts = {
        "activation": str(f.expr),
        "link": str(g.expr),
        "samples": str(numbers["samples"]),
        "width": str(numbers["width"]),
        "ridge": str(numbers["ridge"]),
        "batch": str(numbers["batch"]),
        "noise": str(numbers["noise"]),
    }
    return Inputs(
        f,
        g,
        float(numbers["samples"]),
        float(numbers["width"]),
        float(numbers["ridge"]),
        float(numbers["batch"]),
        float(numbers["noise"]),
        tuple(float(s) for s in steps),
        tuple(str(s) for s in steps),
        len(steps) > 1,
        d,
        neurons,
        readout,
        trials,
        start,
        weights,
        count,
        direction,
        texts,
        echo,
    )


def load_array(path: str, argument: str, dimensions: int) -> NDArray[np.float64]:
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
