"""PyTorch's files without PyTorch: zip and older ones are read, nothing in them is executed, and files are written.

Files that PyTorch itself writes and reads are in the repository's tests/parity/test_io.py.
"""

from __future__ import annotations

import pickle
import struct
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from make_files import (
    call,
    number,
    storage,
    table,
    tensor,
    text,
    torch_legacy,
    torch_zip,
    tuple_of,
    zipped,
)

import plugrad as pg
from plugrad import dtypes
from plugrad.errors import DTypeError
from plugrad_io import load_torch, save_torch

if TYPE_CHECKING:
    from pathlib import Path

SIX = struct.pack("<6f", *range(6))
W = tensor(storage("0", 6), (2, 3), (3, 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pth"


def read(path: Path, body: bytes, numel: int = 6, data: bytes = SIX, **more: bytes) -> Any:
    path.write_bytes(torch_zip(body, {"0": data}, **more))
    return load_torch(path)


# -- reading ----------------------------------------------------------------------------------------------------------


def test_both_formats(path: Path) -> None:
    body = table({"w": W, "b": tensor(storage("1", 2, "torch LongStorage"), (2,), (1,))})
    long = struct.pack("<2q", -1, 7)
    for data in (
        torch_zip(body, {"0": SIX, "1": long}),
        torch_zip(body, {"0": SIX, "1": long}, root="any/where/"),
        torch_zip(body, {"0": SIX, "1": long}, root=""),
        torch_legacy(body, [("1", 2, long), ("0", 6, SIX)]),
    ):
        path.write_bytes(data)
        found = load_torch(path)
        assert list(found) == ["w", "b"]
        assert found["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert (found["b"].dtype, found["b"].tolist()) == (pg.int64, [-1, 7])
        assert isinstance(load_torch(path, as_numpy=True)["w"], np.ndarray)


@pytest.mark.parametrize(
    ("shape", "stride", "offset", "right"),
    [
        ((3, 2), (1, 3), 0, [[0, 3], [1, 4], [2, 5]]),
        ((2,), (3,), 2, [2, 5]),
        ((), (), 5, 5),
        ((0, 3), (3, 1), 6, []),
        ((2, 2), (0, 1), 1, [[1, 2], [1, 2]]),
        ((1, 2), (2**62, 1), 4, [[4, 5]]),
    ],
)
def test_strided_tensors(path: Path, shape: tuple[int, ...], stride: tuple[int, ...], offset: int, right: Any) -> None:
    found = read(path, tensor(storage("0", 6), shape, stride, offset))
    assert found.shape == shape
    assert found.tolist() == right
    path.write_bytes(torch_legacy(tensor(storage("0", 6), shape, stride, offset), [("0", 6, SIX)]))
    assert load_torch(path).tolist() == right


def test_views_of_one_storage(path: Path) -> None:
    same, shifted = tensor(storage("0", 6), (3,), (1,)), tensor(storage("0", 6), (3,), (1,), 3)
    found = read(path, table({"embed": same, "head": same, "other": shifted}))
    assert found["embed"] is found["head"]
    assert found["other"].tolist() == [3, 4, 5]
    path.write_bytes(torch_legacy(table({"embed": same, "head": same, "other": shifted}), [("0", 6, SIX)]))
    found = load_torch(path)
    assert found["embed"] is found["head"]
    assert found["embed"].tolist() == [0, 1, 2]


def test_parts_of_storages(path: Path) -> None:
    """Files before 2018 name a part of a storage."""
    part = storage("0", 6, part=tuple_of(text("9"), number(2), number(4)))
    path.write_bytes(torch_legacy(tensor(part, (3,), (1,), 1), [("0", 6, SIX)]))
    assert load_torch(path).tolist() == [3, 4, 5]
    none = storage("0", 6, part=b"N")
    path.write_bytes(torch_legacy(tensor(none, (3,), (1,), 1), [("0", 6, SIX)]))
    assert load_torch(path).tolist() == [1, 2, 3]


def test_largest_byte_first(path: Path) -> None:
    big = struct.pack(">6f", *range(6))
    assert read(path, W, data=big, byteorder=b"big").tolist() == [[0, 1, 2], [3, 4, 5]]
    path.write_bytes(torch_legacy(W, [("0", 6, big)], little=False))
    assert load_torch(path).tolist() == [[0, 1, 2], [3, 4, 5]]
    bf = tensor(storage("0", 2, "torch BFloat16Storage"), (2,), (1,))
    assert read(path, bf, data=b"\x3f\x80\xc0\x40", byteorder=b"big").tolist() == [1, -3]


@pytest.mark.parametrize("t", dtypes.ALL, ids=str)
def test_every_dtype(path: Path, t: Any) -> None:
    x = pg.tensor([[0, 1, 1], [1, 0, 1]], dtype=t)
    save_torch(path, {"x": x})
    found = load_torch(path)["x"]
    assert found.dtype is t
    assert found.tolist() == x.tolist()


def test_plain_data(path: Path) -> None:
    """What optimizers, schedules and training scripts put beside tensors, as protocols 2 to 5 write it."""
    data = {
        "state": {0: {"step": 3, "lr": 1e-3}, 1: {}},
        "groups": [{"betas": (0.9, 0.999), "params": [0, 1], "none": None}],
        "big": 2**100,
        "negative": -(2**40),
        "yes": True,
        "no": False,
        "bytes": b"\x00\xff",
        "text": "naïve ☂",
        "set": {1, 2},
        "frozen": frozenset("a"),
        "buffer": bytearray(b"xy"),
        ("a", 1): "tuple",
        0.5: "float",
        "long": "x" * 300,
        "bytes300": b"y" * 300,
    }
    for protocol in (2, 3, 4, 5):
        path.write_bytes(zipped({"a/data.pkl": pickle.dumps(data, protocol)}))
        assert load_torch(path) == data


def test_containers_of_the_standard_library(path: Path) -> None:
    from collections import Counter, OrderedDict, defaultdict

    ordered = OrderedDict(a=1, b=2)
    ordered._metadata = OrderedDict(version=1)  # type: ignore[attr-defined]
    data = {"o": ordered, "c": Counter("aab"), "d": defaultdict(list, {"x": [1]})}
    for protocol in (2, 5):
        path.write_bytes(zipped({"a/data.pkl": pickle.dumps(data, protocol)}))
        found = load_torch(path)
        assert found == {"o": {"a": 1, "b": 2}, "c": {"a": 2, "b": 1}, "d": {"x": [1]}}
        assert type(found["o"]) is dict


def test_numpy_data(path: Path) -> None:
    x = np.arange(6.0).reshape(2, 3)
    numbers = {"f": np.float64(0.1), "i": np.int32(-3), "b": np.bool_(True), "half": np.float16(0.5)}
    arrays = {"t": np.asfortranarray(x), "s": x[::2], "big": x.astype(">i2"), "none": np.zeros((0, 2))}
    data = {"x": x, **numbers, **arrays, "again": x}
    pickles = [pickle.dumps(data, protocol) for protocol in (2, 4, 5)]
    for written in (*pickles, pickles[0].replace(b"cnumpy._core", b"cnumpy.core")):  # as NumPy 1 wrote it
        path.write_bytes(zipped({"a/data.pkl": written}))
        found = load_torch(path)
        assert (found["f"], found["i"], found["b"], found["half"]) == (0.1, -3, True, 0.5)
        assert (type(found["f"]), type(found["i"]), type(found["b"])) == (float, int, bool)
        for name in ("x", "t", "s", "big", "none"):
            assert np.array_equal(found[name], data[name])
        assert found["again"] is found["x"]


def test_other_words_of_pytorch(path: Path) -> None:
    size = call("torch Size", tuple_of(number(2), number(3)))
    body = table(
        {
            "size": size,
            "device": call("torch device", text("cuda"), number(1)),
            "cpu": call("torch device", text("cpu")),
            "dtype": b"ctorch\nbfloat16\n",
            "bool": b"ctorch\nbool\n",
        }
    )
    found = read(path, body)
    assert found == {"size": (2, 3), "device": "cuda:1", "cpu": "cpu", "dtype": pg.bfloat16, "bool": dtypes.bool_}
    parameter = call("torch._utils _rebuild_parameter", W, b"\x88", b"N")
    state = call("torch._utils _rebuild_parameter_with_state", W, b"\x88", b"N", table({"tag": number(1)}))
    rebuild = b"ctorch._utils\n_rebuild_tensor_v2\n"
    parts = tuple_of(storage("0", 6), number(0), tuple_of(number(6)), tuple_of(number(1)), b"\x89", b"N")
    derived = call("torch._tensor _rebuild_from_type_v2", rebuild, b"ctorch.nn.parameter\nParameter\n", parts, b"}")
    old = tensor(storage("0", 6, "torch.cuda FloatStorage"), (6,), (1,), version="")
    for body, shape in ((parameter, (2, 3)), (state, (2, 3)), (derived, (6,)), (old, (6,))):
        found = read(path, body)
        assert isinstance(found, pg.Tensor)
        assert found.shape == shape
        assert not found.requires_grad


# -- writing ----------------------------------------------------------------------------------------------------------


def test_what_is_written_is_read(path: Path) -> None:
    w = pg.arange(6.0).reshape(2, 3)
    data = {
        "w": w,
        "tied": w,
        "t": w.mT,
        "0d": pg.tensor(2.5),
        "none": pg.zeros((0, 3)),
        "step": 3,
        "lr": 0.1,
        "big": 2**80,
        "list": [pg.ones(2), None, (True, False)],
        "bytes": b"\0\xff",
        "dtype": pg.float16,
        5: "five",
        "scalar": np.float32(0.5),
    }
    save_torch(path, data)
    found = load_torch(path)
    assert found["w"] is found["tied"]
    assert found["t"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert (found["0d"].item(), found["none"].shape) == (2.5, (0, 3))
    assert found["list"][0].tolist() == [1, 1]
    assert found["list"][1:] == [None, (True, False)]
    plain = ("step", "lr", "big", "bytes", "dtype", 5, "scalar")
    assert [found[k] for k in plain] == [3, 0.1, 2**80, b"\0\xff", pg.float16, "five", 0.5]


def test_the_layout_of_the_file(path: Path) -> None:
    """Storages once each, aligned to 64 bytes; the byte order and a version beside them."""
    w = np.arange(6, dtype=np.float32)
    save_torch(path, {"a": w, "b": w, "c": np.ones(100)})
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        names = ["data.pkl", "byteorder", "data/0", "data/1", "version"]
        assert [i.filename for i in file.infolist()] == [f"archive/{n}" for n in names]
        assert file.read("archive/byteorder").decode() == sys.byteorder
        assert file.read("archive/data/0") == w.tobytes()
        for info in file.infolist():
            start = info.header_offset + 30 + len(info.filename) + len(info.extra)
            assert start % 64 == 0
            assert path.read_bytes()[start : start + info.file_size] == file.read(info)


def circle() -> list[Any]:
    x: list[Any] = []
    x.append(x)
    return x


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": {1, 2}}, r"data\['x'\] is a set"),
        ({"x": [1, object()]}, r"data\['x'\]\[1\] is a object"),
        ({"x": np.zeros(2, complex)}, r"complex128"),
        ({"x": circle()}, "containers within containers, 101 deep"),
        ({"x": 2**3000}, "a whole number of 376 bytes"),
    ],
)
def test_what_cannot_be_written(path: Path, data: Any, message: str) -> None:
    with pytest.raises(DTypeError, match=message):
        save_torch(path, data)
    assert not path.exists()
