"""The tensors of checkpoints: .safetensors (and the index of its shards), .pt/.pth, .onnx, .h5, .mat; one at a time.

Nothing of a file is run: PyTorch loads weights only. What a format needs beyond NumPy and SciPy is an extra, and its
absence one clear line.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.weights.tensor import Tensor, from_bfloat16, from_float8
from bulkedge.theory.numbers.errors import InputError

_PLAIN = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1", "BOOL": "|b1",
}  # fmt: skip
_WIDENED = {"BF16": "<u2", "F8_E4M3": "|u1", "F8_E5M2": "|u1"}
_LARGEST_HEADER = 10**8  # the format's own limit


def safetensors_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """A header of JSON (name, dtype, shape, place), then the bytes: mapped, so that a tensor is read by itself."""
    size = file.stat().st_size
    broken = InputError(argument, f"{file.name!r} cannot be read as .safetensors", "save it again")
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if not 2 <= length <= min(size - 8, _LARGEST_HEADER):
            raise broken
        try:
            header = json.loads(opened.read(length))
            header.pop("__metadata__", None)
            found: list[Tensor] = []
            for name, entry in header.items():
                begin, end = (int(place) for place in entry["data_offsets"])
                kind, shape = str(entry["dtype"]), tuple(int(side) for side in entry["shape"])
                # Offsets are a stranger's numbers: they must stay inside the file before anything is mapped.
                if not 0 <= begin <= end <= size - 8 - length or min(shape, default=0) < 0:
                    raise broken
                found.append(_mapped(file, name, kind, shape, 8 + length + begin, end - begin, argument))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise (error if isinstance(error, InputError) else broken) from None
    return tuple(found)


def _mapped(file: Path, name: str, kind: str, shape: tuple[int, ...], begin: int, length: int, argument: str) -> Tensor:
    stored = _PLAIN.get(kind) or _WIDENED.get(kind)
    if stored is not None and math.prod(shape) * np.dtype(stored).itemsize != length:
        raise InputError(argument, f"{file.name!r}: {name[:40]!r} has {length} bytes for {shape}", "save it again")

    def read() -> NDArray[np.generic]:
        if stored is None:
            raise InputError(
                argument, f"{name[:40]!r} holds {kind[:20]} values", "save it in a type of 16 bits or more"
            )
        if not length:
            return np.empty(shape, stored)
        # Mapped, so that one tensor of a large file is read and the rest is not.
        raw = np.memmap(file, np.dtype(stored), "r", begin, shape)
        if kind == "BF16":
            return from_bfloat16(raw)
        return from_float8(raw, 4 if kind == "F8_E4M3" else 5) if kind.startswith("F8") else np.asarray(raw)

    return Tensor(name, shape, read)


def index_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """The shards named by a model.safetensors.index.json, in the index's order; beside it only."""
    try:
        places = json.loads(file.read_text(encoding="utf-8"))["weight_map"]
        shards = list(dict.fromkeys(str(shard) for shard in places.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            argument, f"{file.name!r} is no index of shards", "give model.safetensors.index.json"
        ) from None
    found: list[Tensor] = []
    for shard in shards:
        # An index names files; it must not reach outside its own folder.
        if os.path.basename(shard) != shard or not shard.endswith(".safetensors"):
            raise InputError(argument, f"{file.name!r} names {shard[:40]!r}", "shards lie beside their index")
        if not (file.parent / shard).is_file():
            raise InputError(argument, f"the shard {shard!r} is missing", "download it beside the index")
        found += safetensors_tensors(file.parent / shard, argument)
    return tuple(found)


def torch_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """The tensors of a state dict (nested ones by dotted names); no other object is loaded (weights_only)."""
    torch = _extra("torch", "torch", file, argument)
    try:
        # Mapped, so that a tensor is read when it is used; files of the old kind cannot be.
        loaded = torch.load(file, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(file))
    except Exception as error:  # every unpickling, zip or version error of another library
        text = " ".join(str(error).split())
        what = "holds more than weights" if "weights_only" in text.lower() else "cannot be read"
        raise InputError(argument, f"{file.name!r} {what}", "save model.state_dict()") from None
    return tuple(
        Tensor(name, tuple(int(side) for side in value.shape), partial(_from_torch, torch, value, argument))
        for name, value in _flattened(torch, loaded, "")
    )


def _flattened(torch: Any, value: Any, name: str) -> list[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        return [(name, value)]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    return [found for key, inner in pairs for found in _flattened(torch, inner, f"{name}.{key}" if name else str(key))]


def _from_torch(torch: Any, value: Any, argument: str) -> NDArray[np.generic]:
    if value.is_complex():
        raise InputError(argument, "holds complex numbers", "give an array of real numbers")
    if getattr(value, "is_quantized", False):
        value = value.dequantize()
    value = value.detach().to("cpu").to_dense() if value.layout != torch.strided else value.detach().cpu()
    kinds = {torch.float64, torch.float32, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}
    found: NDArray[np.generic] = (value if value.dtype in kinds else value.to(torch.float32)).numpy()
    return found


def onnx_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """The initializers of an ONNX graph."""
    onnx = _extra("onnx", "onnx", file, argument)
    helper = importlib.import_module("onnx.numpy_helper")
    try:
        graph = onnx.load(str(file), load_external_data=False).graph
    except Exception:
        raise InputError(argument, f"{file.name!r} cannot be read as .onnx", "save it again") from None

    def reader(initializer: Any) -> NDArray[np.generic]:
        try:
            array = np.asarray(helper.to_array(initializer, str(file.parent)))
        except Exception:
            raise InputError(argument, f"{initializer.name[:40]!r} cannot be read", "keep its data beside it") from None
        return array if array.dtype.kind in "fiub" and array.dtype.isbuiltin == 1 else array.astype(np.float32)

    return tuple(
        Tensor(item.name, tuple(int(side) for side in item.dims), partial(reader, item)) for item in graph.initializer
    )


def h5_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """The datasets of an HDF5 file (Keras: kernels have their outputs last)."""
    h5py = _extra("h5py", "h5", file, argument)
    found: list[Tensor] = []

    def reader(name: str) -> NDArray[np.generic]:
        with h5py.File(file, "r") as opened:
            return np.asarray(opened[name][()])

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            found.append(Tensor(name, tuple(int(side) for side in item.shape), partial(reader, name), -1))

    try:
        with h5py.File(file, "r") as opened:
            opened.visititems(visit)
    except OSError:
        raise InputError(argument, f"{file.name!r} cannot be read as .h5", "save it again") from None
    return tuple(found)


def mat_tensors(file: Path, argument: str) -> tuple[Tensor, ...]:
    """The variables of a MATLAB file (up to version 7.2; 7.3 is HDF5)."""
    from scipy.io import loadmat, whosmat

    try:
        listed = whosmat(str(file))
    except NotImplementedError:
        raise InputError(argument, f"{file.name!r} is of MATLAB's version 7.3, which is HDF5", "name it .h5") from None
    except Exception:
        raise InputError(argument, f"{file.name!r} cannot be read as .mat", "save it again") from None

    def reader(name: str) -> NDArray[np.generic]:
        value = loadmat(str(file), variable_names=[name])[name]
        return np.asarray(value.toarray() if hasattr(value, "toarray") else value)

    return tuple(Tensor(name, tuple(int(side) for side in shape), partial(reader, name)) for name, shape, _ in listed)


def _extra(module: str, extra: str, file: Path, argument: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        remedy = f"pip install 'bulkedge[{extra}]'"
        raise InputError(argument, f"reading {file.suffix.lower()} needs {module}", remedy) from None
