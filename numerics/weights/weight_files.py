"""The matrices of a file: by name, by pattern, or the only one there is. Pickled objects are never loaded.

.npy, .npz, .csv, .safetensors (also an index of shards, *.index.json) and .mat are read as they are; .pt and .pth need
PyTorch, .onnx onnx, .h5 (.hdf5, .keras weights) h5py.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.spectra.edge import SMALLEST
from bulkedge.numerics.weights.array_file import npy_tensors, npz_tensors
from bulkedge.numerics.weights.checkpoint_file import (
    h5_tensors,
    index_tensors,
    mat_tensors,
    onnx_tensors,
    safetensors_tensors,
    torch_tensors,
)
from bulkedge.numerics.weights.csv_matrix import read_csv
from bulkedge.numerics.weights.tensor import Tensor
from bulkedge.theory.functions import parse
from bulkedge.theory.numbers.errors import InputError


def _csv_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    array, notes = read_csv(file, argument)
    return (Tensor("", array.shape, lambda: array, 0, notes),)


_READERS: dict[str, Callable[[Path, str], tuple[Tensor, ...]]] = {
    ".npy": npy_tensors,
    ".npz": npz_tensors,
    ".csv": _csv_tensors,
    ".safetensors": safetensors_tensors,
    ".json": index_tensors,
    ".pt": torch_tensors,
    ".pth": torch_tensors,
    ".bin": torch_tensors,
    ".onnx": onnx_tensors,
    ".h5": h5_tensors,
    ".hdf5": h5_tensors,
    ".mat": mat_tensors,
}
_SUFFIXES = tuple(_READERS)
_SINGLE = (".npy", ".csv")


def tensors(path: str | Path, argument: str = "FILE") -> tuple[Tensor, ...]:
    """The arrays of a file, by name and shape; none is read yet (a .csv is).

    Errors: InputError for a missing, empty or unreadable file, another suffix, a format whose library is missing.
    """
    file = Path(parse.path(path, argument))
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            argument, f"{str(file)!r} has no suffix that is read", f"give a file in {', '.join(_SUFFIXES)}"
        )
    if not file.is_file():
        raise InputError(argument, f"there is no file {str(file)!r}", "check the path")
    try:
        if file.stat().st_size == 0:
            raise InputError(argument, f"{file.name!r} is empty", "give a file that holds a matrix")
        return _READERS[suffix](file, argument)
    except OSError as error:
        problem = f"{file.name!r} cannot be read ({error.strerror or type(error).__name__})"
        raise InputError(argument, problem, "check the file") from None


def find(path: str | Path, array: str | None = None, argument: str = "FILE") -> Tensor:
    """The array named `array` (an exact name), or the only matrix of the file, or its only array.

    Errors: as `tensors`; a name that is not there; several matrices and no name.
    """
    _check_name(array)
    found = tensors(path, argument)
    if array is not None:
        _check_several(path, argument)
        return _named(found, array)
    if len(found) == 1:
        return found[0]
    matrices = [t for t in found if t.matrix_shape is not None]
    if len(matrices) == 1:
        return matrices[0]
    if not matrices:
        held = ", ".join(t.name for t in found[:20]) or "nothing"
        raise InputError(argument, f"the file holds no matrix, but {held}", "save an array of two dimensions")
    choice = ", ".join(t.name for t in matrices[:20])
    raise InputError(argument, f"the file holds {len(matrices)} matrices", f"name one with --array ({choice}), or '*'")


def matching(path: str | Path, pattern: str, argument: str = "FILE") -> tuple[Tensor, ...]:
    """The matrices whose names match a pattern (* ? [..]), both sides at least 8, in the file's order."""
    _check_name(pattern)
    if Path(path).suffix.lower() in _SINGLE:
        return tensors(path, argument)
    found = tensors(path, argument)
    named = [t for t in found if fnmatch.fnmatchcase(t.name, pattern)]
    chosen = [t for t in named if t.matrix_shape is not None and min(t.matrix_shape) >= SMALLEST]
    if not chosen:
        what = f"{len(named)} arrays, no matrix of both sides at least {SMALLEST}" if named else "no array"
        held = ", ".join(t.name for t in found[:20]) or "none"
        raise InputError("array", f"{pattern[:40]!r} matches {what}", f"the file holds {held}")
    return tuple(chosen)


def is_pattern(array: str | None) -> bool:
    """Whether a name stands for several."""
    return isinstance(array, str) and any(mark in array for mark in "*?[")


def read_matrix(path: str | Path, array: str | None = None, argument: str = "FILE") -> NDArray[np.generic]:
    """The array that `find` finds, as it is stored (bfloat16 and float8 in single precision)."""
    return find(path, array, argument).read()


def _check_name(array: object) -> None:
    if array is not None and not isinstance(array, str):
        raise InputError("array", f"{parse.shorten(array)} is no name", "give the name of an array of the file")


def _check_several(path: str | Path, argument: str) -> None:
    file = Path(parse.path(path, argument))
    if file.suffix.lower() in _SINGLE:
        raise InputError("array", f"{file.name!r} holds a single array", "leave --array out")


def _named(found: tuple[Tensor, ...], array: str) -> Tensor:
    for tensor in found:
        if tensor.name == array:
            return tensor
    names = ", ".join(t.name for t in found[:20]) or "none"
    raise InputError("array", f"there is no array {array[:40]!r}", f"the file holds {names}")
