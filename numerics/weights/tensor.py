"""A tensor of a file, known by name and shape and read when asked for; how a kernel of more axes becomes a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.theory.numbers.errors import InputError

Read = Callable[[], NDArray[np.generic]]


@dataclass(frozen=True)
class Tensor:
    """One array of a file. `output` is the axis of a convolution kernel's outputs: 0 (PyTorch, ONNX) or -1 (Keras)."""

    name: str
    shape: tuple[int, ...]
    read: Read
    output: int = 0
    notes: tuple[str, ...] = ()

    @property
    def matrix_shape(self) -> tuple[int, int] | None:
        """The shape as a matrix: its own, or the outputs by everything else; None for vectors and empty arrays."""
        if len(self.shape) < 2 or len(self.shape) > 5 or 0 in self.shape:
            return None
        if len(self.shape) == 2:
            return self.shape[0], self.shape[1]
        outputs = self.shape[self.output]
        rest = math.prod(self.shape) // outputs
        return (outputs, rest) if self.output == 0 else (rest, outputs)

    def matrix(self) -> tuple[NDArray[np.generic], tuple[str, ...]]:
        """The tensor as a matrix, with notes on how it became one."""
        array = self.read()
        shape = self.matrix_shape
        if shape is None or len(self.shape) == 2:
            return array, self.notes
        kernel = " x ".join(map(str, self.shape))
        how = "outputs by the rest" if self.output == 0 else "the rest by outputs"
        return array.reshape(shape), (*self.notes, f"a kernel {kernel} as a matrix {shape[0]} x {shape[1]}: {how}")


def widened(array: NDArray[np.generic], argument: str) -> NDArray[np.generic]:
    """Numbers as they are, two bytes of unknown kind as bfloat16 (what NumPy makes of it), in single precision."""
    if array.dtype.kind == "V" and array.dtype.fields is None:
        if array.dtype.itemsize != 2:
            problem = f"holds values of {array.dtype.itemsize} bytes of unknown kind"
            raise InputError(argument, problem, "save them as float32")
        return from_bfloat16(array.view(np.uint16))
    return array


def from_bfloat16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """bfloat16 is the upper half of a single."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def from_float8(bits: NDArray[np.uint8], exponent: int) -> NDArray[np.float32]:
    """float8 of `exponent` bits: e4m3fn (4; no infinity, one nan) and e5m2 (5; as IEEE)."""
    mantissa, bias = 7 - exponent, 2 ** (exponent - 1) - 1
    codes = np.arange(256)
    power, fraction = (codes >> mantissa) & (2**exponent - 1), codes & (2**mantissa - 1)
    normal = np.ldexp(1 + fraction / 2**mantissa, power - bias)
    value = np.where(power > 0, normal, np.ldexp(fraction / 2**mantissa, 1 - bias))
    if exponent == 4:
        value[(codes & 127) == 127] = np.nan
    else:
        value[(power == 31) & (fraction == 0)] = np.inf
        value[(power == 31) & (fraction > 0)] = np.nan
    table = np.where(codes & 128, -value, value).astype(np.float32)
    found: NDArray[np.float32] = table[bits]
    return found
