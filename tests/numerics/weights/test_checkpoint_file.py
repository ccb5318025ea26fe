"""Checkpoints written by the libraries themselves: PyTorch, safetensors, ONNX, HDF5 (each deselected where missing)."""

from __future__ import annotations

import numpy as np
import pytest

from bulkedge.numerics.weights import weight_files as f
from bulkedge.theory.numbers.errors import InputError

MATRIX = np.random.default_rng(0).standard_normal((9, 12)).astype(np.float32)


@pytest.mark.torch
def test_a_state_dict_of_pytorch(tmp_path):
    import torch

    weight = torch.from_numpy(MATRIX.copy())
    state = {"a.weight": weight, "half": weight.half(), "bf": weight.bfloat16(), "inner": {"b": weight[0]}, "epoch": 3}
    for zipped in (True, False):
        torch.save(state, tmp_path / "m.pt", _use_new_zipfile_serialization=zipped)
        read = {t.name: t for t in f.tensors(tmp_path / "m.pt")}
        assert sorted(read) == ["a.weight", "bf", "half", "inner.b"]
        assert np.array_equal(read["a.weight"].read(), MATRIX)
        assert read["half"].read() == pytest.approx(MATRIX, rel=2**-10, abs=1e-4)
        assert read["bf"].read() == pytest.approx(MATRIX, rel=2**-7)
        assert read["inner.b"].shape == (12,)


@pytest.mark.torch
def test_what_is_no_weight_is_not_loaded(tmp_path):
    import torch

    torch.save({"f": print}, tmp_path / "m.pt")
    with pytest.raises(InputError, match=r"holds more than weights|cannot be read"):
        f.tensors(tmp_path / "m.pt")
    (tmp_path / "n.pt").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"cannot be read|more than weights"):
        f.tensors(tmp_path / "n.pt")


@pytest.mark.formats
def test_safetensors_of_its_library(tmp_path):
    from safetensors.numpy import save_file

    arrays = {"w": MATRIX, "h": MATRIX.astype(np.float16), "n": np.arange(12).reshape(3, 4), "scalar": np.float32(2.0)}
    save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, tmp_path / "m.safetensors")
    read = {t.name: t.read() for t in f.tensors(tmp_path / "m.safetensors")}
    for name, array in arrays.items():
        assert np.array_equal(read[name], np.asarray(array).reshape(read[name].shape))


@pytest.mark.formats
def test_initializers_of_onnx(tmp_path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    half = helper.make_tensor("bf", TensorProto.BFLOAT16, MATRIX.shape, MATRIX.ravel().tolist())
    graph = helper.make_graph([], "g", [], [], [numpy_helper.from_array(MATRIX, "w"), half])
    onnx.save(helper.make_model(graph), str(tmp_path / "m.onnx"))
    read = {t.name: t.read() for t in f.tensors(tmp_path / "m.onnx")}
    assert np.array_equal(read["w"], MATRIX)
    assert read["bf"] == pytest.approx(MATRIX, rel=2**-7)
    (tmp_path / "n.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be read"):
        f.tensors(tmp_path / "n.onnx")


@pytest.mark.formats
def test_datasets_of_hdf5(tmp_path):
    import h5py

    kernel = np.arange(3 * 3 * 8 * 10.0).reshape(3, 3, 8, 10)
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["dense/kernel"] = MATRIX
        file["conv/kernel"] = kernel
        file["note"] = "text"
    found = {t.name: t for t in f.matching(tmp_path / "m.h5", "*/kernel")}
    assert np.array_equal(found["dense/kernel"].read(), MATRIX)
    assert found["conv/kernel"].matrix_shape == (72, 10)
    assert np.array_equal(found["conv/kernel"].matrix()[0][:, 4], kernel[..., 4].ravel())
    (tmp_path / "n.h5").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be read"):
        f.tensors(tmp_path / "n.h5")
