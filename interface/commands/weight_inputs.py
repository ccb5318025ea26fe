"""What `bulkedge weights` is given and writes: arrays, files, and results put away whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bulkedge.theory.functions import parse
from bulkedge.theory.numbers.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bulkedge.numerics.spectra.marchenko_pastur import Floats


def is_path(value: object) -> bool:
    """Whether a value names a file."""
    return isinstance(value, str | os.PathLike)


def as_array(value: Any, argument: str) -> NDArray[np.generic]:
    """An array of NumPy, PyTorch or whatever has __array__ or DLPack, as NumPy's; bfloat16 in single precision.

    Errors: InputError for what is no array of numbers.
    """
    import numpy as np

    from bulkedge.numerics.weights.tensor import widened

    try:
        if hasattr(value, "detach") and hasattr(value, "cpu"):  # a tensor of PyTorch, on any device, in any graph
            value = value.detach().cpu()
            if str(value.dtype) in {"torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"}:
                value = value.float()
            return np.asarray(value.numpy())
        if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        array = np.asarray(value)
    except InputError:
        raise
    except Exception:  # whatever another library raises when it cannot give its numbers
        raise InputError(argument, f"{parse.shorten(value)} is no array", "give an array or a file") from None
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    return widened(array, argument)


def matrix_of(value: Any, array: str | None, argument: str) -> tuple[NDArray[np.generic], tuple[str, ...], str]:
    """The matrix, notes on how it was read, and its name (of the array, or empty)."""
    from bulkedge.numerics.weights.weight_files import find

    if is_path(value):
        tensor = find(value, array, argument)
        matrix, notes = tensor.matrix()
        return matrix, notes, tensor.name
    if array is not None:
        raise InputError("array", "names an array of a file", "leave it out for an array")
    return as_array(value, argument), (), ""


def label(value: Any) -> str:
    """What the inputs of a result say of a matrix: the file's name, or the array's shape."""
    if is_path(value):
        return str(value)
    shape = getattr(value, "shape", None)
    return f"array {' x '.join(map(str, shape))}" if shape is not None else "array"


def check_target(path: str | None, argument: str, suffix: str) -> None:
    """Nothing, if a file of that name can be written; else InputError, before anything is computed."""
    if path is None:
        return
    target = Path(parse.path(path, argument))
    if target.suffix.lower() != suffix:
        raise InputError(argument, f"cannot write to {str(path)!r}", f"end the file name in {suffix}")
    if not target.parent.is_dir():
        raise InputError(argument, f"the folder {str(target.parent)!r} does not exist", "make it first")
    if target.is_dir():
        raise InputError(argument, f"{str(path)!r} is a folder", "name a file in it")


def write(path: str, argument: str, save: Callable[[Any], None]) -> None:
    """Write a file whole or not at all: `save` fills an open file."""
    target = Path(path)
    name = None
    try:
        handle, name = tempfile.mkstemp(suffix=target.suffix, dir=target.parent)
        with os.fdopen(handle, "wb") as opened:
            save(opened)
        os.chmod(name, 0o644)
        os.replace(name, target)
        name = None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(argument, f"{str(path)!r} cannot be written ({reason})", "choose another file") from None
    finally:
        if name is not None and os.path.exists(name):
            os.unlink(name)


def null_spectra(value: Any, argument: str, shape: tuple[int, int]) -> list[Floats]:
    """The squared singular values of a null matrix of the given shape, or of each of several (their first axis)."""
    import numpy as np

    from bulkedge.numerics.spectra.edge import matrix, squared_singular_values
    from bulkedge.numerics.weights.weight_files import find

    given = find(value, None, argument).read() if is_path(value) else as_array(value, argument)
    stack = given if given.ndim == 3 else np.asarray(given)[None]
    if stack.shape[1:] != shape:
        raise InputError(argument, f"has shape {given.shape}", f"give matrices of shape {shape}")
    return [squared_singular_values(matrix(one, argument)) for one in stack]
