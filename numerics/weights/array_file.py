"""NumPy's own files (.npy, .npz): arrays with their shapes, read one at a time; never a pickle, never a bomb.

An archive may hold members that are no arrays: they are passed over. bfloat16, which NumPy writes as two bytes of
unknown kind, is read as what it is.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.weights.tensor import Tensor, widened
from bulkedge.theory.numbers.errors import InputError

_BOMB_SIZE, _BOMB_RATIO = 2**26, 100  # an array that unpacks to more than 64 MB from less than a hundredth is refused
_FAILURES = (ValueError, EOFError, OSError, zipfile.BadZipFile, KeyError, MemoryError, SyntaxError, NotImplementedError)


def npy_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """The one array of a .npy file, mapped: its size is checked against the header before anything is allocated."""
    with file.open("rb") as opened:
        if opened.read(6) != b"\x93NUMPY":  # NumPy would take it for a pickle
            raise InputError(argument, f"{file.name!r} is no .npy file", "save it with NumPy")

    def read() -> NDArray[np.generic]:
        try:
            return widened(np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)), argument)
        except _FAILURES as error:
            raise _unreadable(file, error, argument) from None

    try:
        with file.open("rb") as opened:
            shape = _header(opened)
    except _FAILURES as error:
        raise _unreadable(file, error, argument) from None
    return (Tensor("", shape, read),)


def npz_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """The arrays of a .npz archive, by their names; what is no array is passed over."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            found = []
            for member in members:
                if not member.filename.endswith(".npy") or member.flag_bits & 1:
                    continue
                try:
                    with archive.open(member) as opened:
                        shape = _header(opened)
                except _FAILURES:  # an object array, or no array behind the name: known when it is asked for
                    shape = ()
                found.append(Tensor(member.filename.removesuffix(".npy"), shape, _reader(file, member, argument)))
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        raise InputError(argument, f"{file.name!r} is no .npz file", "save it with NumPy") from None
    if not found and any(member.filename.endswith("data.pkl") for member in members):
        raise InputError(argument, f"{file.name!r} is a file of PyTorch", "name it .pt")
    return tuple(found)


def _reader(file: Path, member: zipfile.ZipInfo, argument: str):  # type: ignore[no-untyped-def]
    def read() -> NDArray[np.generic]:
        if member.file_size > _BOMB_SIZE and member.file_size > _BOMB_RATIO * max(member.compress_size, 1):
            problem = f"{member.filename[:40]!r} unpacks to {member.file_size / 1e9:.2g} GB from a hundredth of it"
            raise InputError(argument, problem, "save it uncompressed (numpy.savez) if it is meant")
        try:
            with zipfile.ZipFile(file) as archive, archive.open(member) as opened:
                return widened(np.lib.format.read_array(opened, allow_pickle=False), argument)
        except _FAILURES as error:
            raise _unreadable(file, error, argument) from None

    return read


def _header(opened: IO[bytes]) -> tuple[int, ...]:
    """The shape that a .npy header states; ValueError for a header that is none, or for Python objects."""
    version = np.lib.format.read_magic(opened)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(opened)
    if dtype.hasobject:
        raise ValueError("object arrays are pickled")
    if math.prod(shape) * dtype.itemsize > 2**48:
        raise ValueError("the header states a size beyond any memory")
    return tuple(int(side) for side in shape)


def _unreadable(file: Path, error: Exception, argument: str) -> InputError:
    if isinstance(error, InputError):
        return error
    if "pickle" in str(error).lower() or "object" in str(error).lower():
        problem = f"{file.name!r} is no plain array (pickled Python objects are not loaded)"
        return InputError(argument, problem, "save plain numbers")
    return InputError(argument, f"{file.name!r} cannot be read as {file.suffix.lower()}", "save it again")
