"""Files of weights: every format gives the arrays that were written, foreign members and odd headers do not disturb."""

from __future__ import annotations

import io
import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.weights import weight_files as f
from bulkedge.numerics.weights.csv_matrix import read_csv
from bulkedge.numerics.weights.tensor import Tensor, from_bfloat16, from_float8
from bulkedge.theory.numbers.errors import InputError

MATRIX = np.random.default_rng(0).standard_normal((9, 12))


def write_safetensors(path: Path, arrays: dict[str, tuple[str, tuple[int, ...], bytes]]) -> None:
    """The format by its description: eight bytes of length, JSON, data."""
    header, data = {}, b""
    for name, (kind, shape, raw) in arrays.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def half(array: np.ndarray) -> bytes:
    """bfloat16 by truncation of singles."""
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()


class TestTables:
    @pytest.mark.parametrize(
        ("text", "expected", "note"),
        [
            (",0,1\n0,1.5,2.5\n1,3.5,4.5\n", [[1.5, 2.5], [3.5, 4.5]], "row names"),  # DataFrame.to_csv()
            (",a,b\nx,1.5,2.5\ny,3.5,4.5\n", [[1.5, 2.5], [3.5, 4.5]], "row names"),
            ("Unnamed: 0,a\n7,1.5\n9,2.5\n", [[1.5], [2.5]], "row names"),
            (",a\n0,1\n1,2\n2,3\n", [[1], [2], [3]], "row names"),
            ("0,1,2\n1.5,2.5,3.5\n", [[1.5, 2.5, 3.5]], "column names"),  # to_csv(index=False)
            ("0,1,2\n5,2,3\n6,7,8\n", [[5, 2, 3], [6, 7, 8]], "column names"),
            ("1999,2000\n1.5,2.5\n", [[1.5, 2.5]], "column names"),
            ("0\n1.5\n2.5\n", [[1.5], [2.5]], "column names"),
            ("0,1.5\n1,2.5\n2,0.5\n", [[1.5], [2.5], [0.5]], "row numbers"),  # to_csv(header=False)
            ("4,7\n1,2\n", [[4, 7], [1, 2]], None),
            ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], "names"),
            ("0.5,1.5\n2.5,3.5\n", [[0.5, 1.5], [2.5, 3.5]], None),
        ],
    )
    def test_headers_and_indices(self, tmp_path, text, expected, note):
        (tmp_path / "t.csv").write_text(text)
        found, notes = read_csv(tmp_path / "t.csv", "FILE")
        assert found.tolist() == expected
        assert (notes == ()) if note is None else (note in "; ".join(notes))

    def test_row_names_without_a_header_cell_are_said(self, tmp_path):
        (tmp_path / "t.csv").write_text("a,b,c\nx,1,2\n")
        with pytest.raises(InputError, match=r"row's name.*index=False"):
            f.read_matrix(tmp_path / "t.csv")

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.booleans(), st.booleans())
    def test_what_is_written_with_names_is_read_without(self, tmp_path_factory, seed, rows, columns, index, header):
        values = np.random.default_rng(seed).standard_normal((rows, columns))
        lines = [",".join(([str(n)] if index else []) + [repr(float(x)) for x in row]) for n, row in enumerate(values)]
        if header:
            lines.insert(0, ",".join(([""] if index else []) + [str(n) for n in range(columns)]))
        file = tmp_path_factory.mktemp("t") / "t.csv"
        file.write_text("\n".join(lines))
        if index and not header and rows < 3:
            return  # two numbers are no sequence
        assert np.array_equal(f.read_matrix(file), values)


class TestArchives:
    def test_foreign_members_are_passed_over(self, tmp_path):
        np.savez(tmp_path / "a.npz", W=MATRIX, b=np.ones(3))
        with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
            archive.writestr("README.txt", "hello")
            archive.writestr("meta.json", "{}")
            archive.writestr("broken.npy", b"no array")
        assert np.array_equal(f.read_matrix(tmp_path / "a.npz"), MATRIX)
        with pytest.raises(InputError, match="cannot be read"):
            f.read_matrix(tmp_path / "a.npz", "broken")

    def test_a_renamed_file_of_pytorch_is_said(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.writestr("archive/data.pkl", b"x")
            archive.writestr("archive/data/0", b"x")
        with pytest.raises(InputError, match=r"file of PyTorch; name it \.pt"):
            f.read_matrix(tmp_path / "a.npz")

    def test_a_bomb_is_refused_before_it_is_unpacked(self, tmp_path):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (150, 10**6)})
        with (
            zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open("W.npy", "w") as to,
        ):
            to.write(header.getvalue())
            for _ in range(80):
                to.write(bytes(10**6))
        with pytest.raises(InputError, match="unpacks to"):
            f.read_matrix(tmp_path / "a.npz")
        # Zeros that unpack to little are only compressed well.
        np.savez_compressed(tmp_path / "b.npz", W=np.zeros((1000, 1000)))
        assert f.read_matrix(tmp_path / "b.npz").shape == (1000, 1000)

    def test_bfloat16_of_numpy(self, tmp_path):
        raw = np.frombuffer(half(MATRIX), "|V2").reshape(MATRIX.shape)
        np.save(tmp_path / "a.npy", raw)
        np.savez(tmp_path / "a.npz", W=raw)
        for name in ("a.npy", "a.npz"):
            found = f.read_matrix(tmp_path / name)
            assert found.dtype == np.float32
            assert found == pytest.approx(MATRIX, rel=2**-7)
        np.save(tmp_path / "b.npy", np.zeros((9, 9), "|V3"))
        with pytest.raises(InputError, match="3 bytes of unknown kind"):
            f.read_matrix(tmp_path / "b.npy")


class TestSafetensors:
    def test_types_by_the_description(self, tmp_path):
        small = np.array([[0, 1, -2], [0.5, 448, -0.015625]])
        write_safetensors(
            tmp_path / "a.safetensors",
            {
                "f64": ("F64", MATRIX.shape, MATRIX.astype("<f8").tobytes()),
                "f32": ("F32", MATRIX.shape, MATRIX.astype("<f4").tobytes()),
                "f16": ("F16", MATRIX.shape, MATRIX.astype("<f2").tobytes()),
                "bf16": ("BF16", MATRIX.shape, half(MATRIX)),
                "i8": ("I8", (2, 3), np.arange(6, dtype="i1").tobytes()),
                "f8": ("F8_E4M3", small.shape, bytes([0, 0x38, 0xC0, 0x30, 0x7E, 0x88])),
                "odd": ("F4", (2, 2), b"ab"),
                "empty": ("F32", (0, 4), b""),
            },
        )
        read = {t.name: t for t in f.tensors(tmp_path / "a.safetensors")}
        assert np.array_equal(read["f64"].read(), MATRIX)
        assert np.array_equal(read["f32"].read(), MATRIX.astype("f4"))
        assert read["f16"].read() == pytest.approx(MATRIX, rel=2**-10, abs=1e-4)
        assert read["bf16"].read() == pytest.approx(MATRIX, rel=2**-7)
        assert read["i8"].read().tolist() == [[0, 1, 2], [3, 4, 5]]
        assert read["f8"].read().tolist() == small.tolist()
        assert read["empty"].read().shape == (0, 4)
        with pytest.raises(InputError, match="holds F4 values"):
            read["odd"].read()
        with pytest.raises(InputError, match=r"matrices.*'\*'"):
            f.find(tmp_path / "a.safetensors")

    @pytest.mark.parametrize(
        "content",
        [
            b"\x00" * 8,
            struct.pack("<Q", 2**40) + b"{}",
            struct.pack("<Q", 2) + b"[]",
            struct.pack("<Q", 8) + b'{"a": 1}',
            struct.pack("<Q", 60) + b'{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,999999]}}',
            b"short",
        ],
    )
    def test_broken_ones(self, tmp_path, content):
        (tmp_path / "a.safetensors").write_bytes(content)
        with pytest.raises(InputError):
            f.tensors(tmp_path / "a.safetensors")

    def test_a_wrong_length_is_said(self, tmp_path):
        write_safetensors(tmp_path / "a.safetensors", {"w": ("F32", (4, 4), b"\0" * 60)})
        with pytest.raises(InputError, match="60 bytes"):
            f.tensors(tmp_path / "a.safetensors")

    def test_shards_by_their_index(self, tmp_path):
        for k in (1, 2):
            raw = (k * MATRIX).astype("<f4").tobytes()
            write_safetensors(tmp_path / f"m-{k}.safetensors", {f"layer.{k}.weight": ("F32", MATRIX.shape, raw)})
        index = tmp_path / "model.safetensors.index.json"
        places = {f"layer.{k}.weight": f"m-{k}.safetensors" for k in (1, 2)}
        index.write_text(json.dumps({"weight_map": places}))
        found = f.matching(index, "layer.*")
        assert [t.name for t in found] == ["layer.1.weight", "layer.2.weight"]
        assert np.array_equal(found[1].read(), (2 * MATRIX).astype("f4"))
        for bad in ("../m-1.safetensors", "m-3.safetensors"):
            index.write_text(json.dumps({"weight_map": {"a": bad}}))
            with pytest.raises(InputError, match="shard"):
                f.tensors(index)
        index.write_text("{}")
        with pytest.raises(InputError, match="no index"):
            f.tensors(index)


def test_patterns_and_kernels(tmp_path):
    kernel = np.arange(16 * 3 * 3 * 3.0).reshape(16, 3, 3, 3)
    np.savez(tmp_path / "a.npz", **{"conv.weight": kernel, "fc.weight": MATRIX, "fc.bias": np.ones(9), "s": np.eye(3)})
    found = f.matching(tmp_path / "a.npz", "*.weight")
    assert [t.matrix_shape for t in found] == [(16, 27), (9, 12)]
    matrix, (note,) = found[0].matrix()
    assert np.array_equal(matrix[2], kernel[2].ravel())
    assert "16 x 3 x 3 x 3 as a matrix 16 x 27: outputs by the rest" in note
    last = Tensor("k", (3, 3, 8, 10), lambda: np.zeros((3, 3, 8, 10)), -1)
    assert last.matrix()[0].shape == last.matrix_shape == (72, 10)
    for pattern, problem in (("s", "no matrix of both sides"), ("x.*", "matches no array"), ("*bias", "no matrix")):
        with pytest.raises(InputError, match=problem):
            f.matching(tmp_path / "a.npz", pattern)
    assert [f.is_pattern(name) for name in ("a*", "a.b", None)] == [True, False, False]


def test_matlab(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "a.mat", {"W": MATRIX, "name": "x"})
    assert np.array_equal(f.read_matrix(tmp_path / "a.mat", "W"), MATRIX)
    (tmp_path / "b.mat").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be read"):
        f.tensors(tmp_path / "b.mat")


@pytest.mark.parametrize(
    ("name", "module", "extra"), [("a.pt", "torch", "torch"), ("a.onnx", "onnx", "onnx"), ("a.h5", "h5py", "h5")]
)
def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch, name, module, extra):
    (tmp_path / name).write_bytes(b"content")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"needs {module}; pip install 'bulkedge\[{extra}\]'"):
        f.read_matrix(tmp_path / name)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 65535), st.integers(0, 255))
def test_narrow_floats_by_their_definition(bits, byte):
    """bfloat16 is the upper half of a single; float8 by sign, exponent and fraction."""
    (wide,) = from_bfloat16(np.array([bits], np.uint16))
    assert struct.pack("<f", wide)[2:] == struct.pack("<H", bits) or np.isnan(wide)
    sign = -1 if byte & 128 else 1
    power, fraction = (byte >> 3) & 15, byte & 7
    e4 = float(from_float8(np.array([byte], np.uint8), 4)[0])
    if byte & 127 == 127:
        assert np.isnan(e4)
    else:
        assert e4 == sign * ((1 + fraction / 8) * 2.0 ** (power - 7) if power else fraction / 8 * 2.0**-6)
    power, fraction = (byte >> 2) & 31, byte & 3
    e5 = float(from_float8(np.array([byte], np.uint8), 5)[0])
    if power == 31:
        assert np.isinf(e5) if fraction == 0 else np.isnan(e5)
    else:
        assert e5 == sign * ((1 + fraction / 4) * 2.0 ** (power - 15) if power else fraction / 4 * 2.0**-14)
