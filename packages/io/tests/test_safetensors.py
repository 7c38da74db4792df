"""safetensors: what is written is read, by any reader; what is wrong is refused before it is used."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from make_files import row, safetensors

import plugrad as pg
from plugrad import dtypes
from plugrad.errors import DTypeError
from plugrad_io import FileFormatError, load_safetensors, open_safetensors, safetensors_metadata, save_safetensors

if TYPE_CHECKING:
    from pathlib import Path


def test_every_dtype_comes_back(tmp_path: Path) -> None:
    tensors = {t.name: pg.tensor([[0, 1, 1], [1, 0, 1]], dtype=t) for t in dtypes.ALL}
    save_safetensors(tmp_path / "f", tensors)
    found = load_safetensors(tmp_path / "f")
    assert found.keys() == tensors.keys()
    for name, x in tensors.items():
        assert found[name].dtype is x.dtype
        assert found[name].tolist() == x.tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4)])
def test_every_shape_comes_back(tmp_path: Path, shape: tuple[int, ...]) -> None:
    x = pg.arange(24.0)[: int(np.prod(shape))].reshape(shape)
    save_safetensors(tmp_path / "f", {"x": x, "y": pg.ones(2)})
    found = load_safetensors(tmp_path / "f")["x"]
    assert found.shape == shape
    assert found.tolist() == x.tolist()


def test_strided_and_swapped_arrays_are_written_as_they_read(tmp_path: Path) -> None:
    x = np.arange(24.0, dtype="float32").reshape(4, 6)
    arrays = {"t": x.T, "step": x[::2, ::-3], "big": x.astype(">f4"), "fortran": np.asfortranarray(x), "0d": x[1, 1]}
    save_safetensors(tmp_path / "f", arrays)
    found = load_safetensors(tmp_path / "f", as_numpy=True)
    for name, array in arrays.items():
        assert found[name].dtype == np.float32
        assert np.array_equal(found[name], array), name
    from safetensors.numpy import load_file

    assert all(np.array_equal(load_file(tmp_path / "f")[name], array) for name, array in arrays.items())


def test_tensors_that_are_views_or_need_gradients(tmp_path: Path) -> None:
    x = pg.arange(6.0).reshape(2, 3)
    x.requires_grad = True
    save_safetensors(tmp_path / "f", {"x": x, "t": x.mT, "flip": x.flip(1)})
    found = load_safetensors(tmp_path / "f")
    assert found["t"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert found["flip"].tolist() == [[2, 1, 0], [5, 4, 3]]
    assert not found["x"].requires_grad


def test_metadata(tmp_path: Path) -> None:
    save_safetensors(tmp_path / "f", {"x": pg.ones(2)}, {"format": "pt", "naïve": "ß\n"})
    assert safetensors_metadata(tmp_path / "f") == {"format": "pt", "naïve": "ß\n"}
    save_safetensors(tmp_path / "f", {})
    assert safetensors_metadata(tmp_path / "f") == {}
    assert load_safetensors(tmp_path / "f") == {}
    with pytest.raises(DTypeError, match="metadata are strings, and 'n': 3"):
        save_safetensors(tmp_path / "f", {}, {"n": 3})  # type: ignore[dict-item]


def test_one_at_a_time(tmp_path: Path) -> None:
    save_safetensors(tmp_path / "f", {"a": pg.ones((2, 3)), "b": pg.zeros(4, dtype="int64")}, {"k": "v"})
    with open_safetensors(tmp_path / "f") as file:
        assert list(file) == ["a", "b"] or sorted(file) == ["a", "b"]
        assert file.shape("b") == (4,)
        assert file.metadata == {"k": "v"}
        assert isinstance(file["a"], pg.Tensor)
        assert file.numpy("b").dtype == np.int64
        assert "c" not in file
        with pytest.raises(KeyError, match="has no tensor 'c'"):
            file["c"]
        kept = file["a"]
    assert kept.tolist() == [[1, 1, 1], [1, 1, 1]]
    file.close()
    with pytest.raises(ValueError, match="f is closed"):
        file["a"]


def test_arrays_are_the_callers_own(tmp_path: Path) -> None:
    save_safetensors(tmp_path / "f", {"a": pg.ones(3)})
    found = load_safetensors(tmp_path / "f", as_numpy=True)["a"]
    found += 1
    assert load_safetensors(tmp_path / "f")["a"].tolist() == [1, 1, 1]


def test_tied_tensors(tmp_path: Path) -> None:
    w, other = pg.ones((2, 3)), pg.ones((2, 3))
    tensors = {"embed": w, "head": w, "other": other}
    save_safetensors(tmp_path / "copies", tensors)
    save_safetensors(tmp_path / "once", tensors, {"format": "pt"}, tied=True)
    assert load_safetensors(tmp_path / "copies").keys() == tensors.keys()
    assert load_safetensors(tmp_path / "once").keys() == {"embed", "other"}
    assert safetensors_metadata(tmp_path / "once") == {"format": "pt", "head": "embed"}
    found = load_safetensors(tmp_path / "once", tied=True)
    assert found["head"] is found["embed"]
    assert found["head"] is not found["other"]
    with pytest.raises(DTypeError, match="'head', which is also a tied tensor"):
        save_safetensors(tmp_path / "f", tensors, {"head": "x"}, tied=True)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([1], "list is no dict of tensors"),
        ({3: 1}, "the name 3 is a int"),
        ({"x": [1.0]}, "'x' is a list; tensors and NumPy arrays"),
        ({"x": np.zeros(2, complex)}, "complex128"),
        ({"x": np.array([None])}, "object"),
        ({"x": np.ma.masked_array([1.0])}, "'x' is a MaskedArray"),
        ({"__metadata__": np.zeros(2)}, "__metadata__"),
    ],
)
def test_what_cannot_be_saved(tmp_path: Path, tensors: Any, message: str) -> None:
    with pytest.raises(DTypeError, match=message):
        save_safetensors(tmp_path / "f", tensors)
    assert list(tmp_path.iterdir()) == []


F = row("F32", [2], 0, 8)
WRONG = {
    "empty": (b"", "cut short: the length of the header at byte 0 takes 8 bytes, and 0 are left"),
    "huge header": (struct.pack("<Q", 2**63) + b"{}", "a header of 9223372036854775808 bytes"),
    "header of 2 GB": (struct.pack("<Q", 90_000_000) + b"{}", "cut short: the header at byte 8"),
    "no JSON": (safetensors(b"{nothing}"), "the header is no JSON"),
    "no UTF-8": (safetensors(b'{"\xff": 1}'), "the header is no JSON"),
    "a list": (safetensors([]), "the header is a list"),
    "deep": (safetensors(b'{"a":' * 100_000), "the header is no JSON"),
    "long number": (safetensors(b'{"a": ' + b"9" * 5000 + b"}"), "the header is no JSON"),
    "NaN": (safetensors(b'{"a": NaN}'), "NaN is no number"),
    "twice": (safetensors(b'{"a": {}, "a": {}}'), "'a' stands there more than once"),
    "key twice": (safetensors(b'{"a": {"dtype": "U8", "dtype": "U8"}}'), "'dtype' stands there more than once"),
    "no offsets": (safetensors({"a": {"dtype": "F32", "shape": [2]}}), "is not dtype, shape and data_offsets"),
    "no table": (safetensors({"a": 3}), "is not dtype, shape and data_offsets"),
    "no shape": (safetensors({"a": {**F, "shape": 2}}, bytes(8)), "shape and data_offsets are lists"),
    "negative": (safetensors({"a": {**F, "shape": [-2]}}, bytes(8)), "which are not whole numbers from 0"),
    "fraction": (safetensors({"a": {**F, "shape": [2.0]}}, bytes(8)), "which are not whole numbers from 0"),
    "true": (safetensors({"a": {**F, "shape": [True]}}, bytes(8)), "which are not whole numbers from 0"),
    "too large": (safetensors({"a": row("U8", [2**40, 2**40], 0, 8)}, bytes(8)), "a shape that no memory holds"),
    "empty, large": (safetensors({"a": row("U8", [0, 2**62], 0, 0)}), "a shape that no memory holds"),
    "many axes": (safetensors({"a": row("U8", [1] * 65, 0, 1)}, b"1"), "a shape that no memory holds"),
    "wrong size": (safetensors({"a": row("F32", [3], 0, 8)}, bytes(8)), r"F32 of shape \(3,\) takes 12 bytes, not 8"),
    "backwards": (safetensors({"a": row("F32", [2], 8, 0)}, bytes(8)), "are not a beginning and an end"),
    "before": (safetensors({"a": row("F32", [2], -8, 0)}, bytes(8)), "are not a beginning and an end"),
    "beyond 2^63": (safetensors({"a": row("F32", [2], 2**64, 2**64 + 8)}, bytes(8)), "belong to no tensor"),
    "overlap": (
        safetensors({"a": row("F32", [2], 0, 8), "b": row("F32", [2], 4, 12)}, bytes(12)),
        "tensor 'b' and tensor 'a' overlap",
    ),
    "hole": (
        safetensors({"a": row("F32", [2], 0, 8), "b": row("F32", [1], 12, 16)}, bytes(16)),
        "4 bytes between tensor 'a' and tensor 'b' belong to no tensor",
    ),
    "too short": (safetensors({"a": F}, bytes(7)), "the tensors take 8 bytes, and 7 follow the header"),
    "too long": (safetensors({"a": F}, bytes(9)), "the tensors take 8 bytes, and 9 follow the header"),
    "metadata": (safetensors({"__metadata__": {"a": 1}}), "__metadata__ in the header is not a table of strings"),
    "unknown dtype": (safetensors({"a": row("F99", [2], 0, 8)}, bytes(8)), "not a safetensors file: "),
    "float8": (
        safetensors({"a": row("F8_E4M3", [8], 0, 8)}, bytes(8)),
        "tensor 'a' is F8_E4M3, which plugrad does not",
    ),
    "bool": (safetensors({"a": row("BOOL", [2], 0, 2)}, b"\1\2"), "a bool is 2, where only 0 and 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(tmp_path: Path, name: str) -> None:
    data, message = WRONG[name]
    path = tmp_path / "wrong.safetensors"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=message) as caught:
        load_safetensors(path)
    assert str(caught.value).startswith(str(path))
    assert isinstance(caught.value, ValueError)


def test_without_ml_dtypes_bfloat16_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(safetensors({"a": row("BF16", [2], 0, 4)}, bytes(4)))
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    with pytest.raises(pg.errors.UnsupportedError, match="pip install ml_dtypes"):
        load_safetensors(tmp_path / "f")
