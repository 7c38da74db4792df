"""A whole run in one file."""

from __future__ import annotations

import math
import os
import random
from collections import OrderedDict, defaultdict, namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import plugrad as pg
from plugrad_io import CheckpointError, FileFormatError, load_checkpoint, load_safetensors, safetensors, save_checkpoint

if TYPE_CHECKING:
    from pathlib import Path


class Part:
    """Something with a state."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def state_dict(self) -> Any:
        return self.state

    def load_state_dict(self, state: Any) -> None:
        if state == "poison":
            raise ValueError("I do not eat this")
        self.state = state


DATA = {
    "plain": [None, True, False, 0, -(2**70), 1.5, "ünï", b"\x00\xff"],
    "floats": [math.inf, -math.inf, 0.1, -0.0, 5e-324],
    "nested": ({"a": (1, [2, (3,)])}, [], (), {}),
    3: {"keys": {1: "int", (1, "x"): "tuple", None: "none", 1.5: "float"}},
    "dtype": pg.bfloat16,
}


def same(a: Any, b: Any) -> None:
    """Equal values of equal types."""
    assert type(a) is type(b)
    if isinstance(a, pg.Tensor):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tolist() == b.tolist()
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.tolist()) == (b.dtype, b.shape, b.tolist())
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    else:
        assert repr(a) == repr(b)


def test_plain_data_come_back_as_they_were(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", data=DATA)
    same(load_checkpoint(tmp_path / "c")["data"], DATA)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64"])
def test_tensors_and_arrays_come_back_bit_by_bit(dtype: str, tmp_path: Path) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype)
    data = {
        "t": pg.tensor(array), "turned": pg.tensor(array).T, "empty": pg.zeros((0, 3), dtype=dtype),
        "scalar": pg.tensor(array[0, 1]), "array": array[:, ::2], "number": array[2, 3],
    }  # fmt: skip
    save_checkpoint(tmp_path / "c", data=data)
    same(load_checkpoint(tmp_path / "c")["data"], data)


def test_nan_keeps_its_bits(tmp_path: Path) -> None:
    bits = np.array([0x7FC00001, 0xFFC00002, 0x7F800000], dtype=np.uint32)
    save_checkpoint(tmp_path / "c", x=pg.tensor(bits.view(np.float32)), y=float("nan"))
    found = load_checkpoint(tmp_path / "c")
    assert (found["x"].numpy().view(np.uint32) == bits).all()
    assert math.isnan(found["y"])


def test_what_is_one_tensor_is_one_again(tmp_path: Path) -> None:
    x = pg.ones(1000)
    save_checkpoint(tmp_path / "c", data=[x, x, x.detach()])
    assert [t.shape for t in load_safetensors(tmp_path / "c").values()].count((1000,)) == 1
    a, b, c = load_checkpoint(tmp_path / "c")["data"]
    assert a is b is c


def test_parts_get_their_state_and_the_rest_comes_back(tmp_path: Path) -> None:
    g = pg.Generator(5)
    pg.randn((3,), generator=g)
    save_checkpoint(tmp_path / "c", model=Part({"w": pg.ones(2)}), g=g, step=7)
    model, other = Part({}), pg.Generator(0)
    assert load_checkpoint(tmp_path / "c", model=model, g=other) == {"step": 7}
    assert model.state["w"].tolist() == [1.0, 1.0]
    assert other.get_state() == g.get_state()


def test_every_random_state_goes_on(tmp_path: Path) -> None:
    def draws() -> Any:
        return random.random(), random.gauss(0, 1), float(np.random.normal()), pg.randn(()).tolist()

    draws()
    np.random.normal()  # which keeps a second number for later
    random.gauss(0, 1)
    save_checkpoint(tmp_path / "c")
    want = [draws() for _ in range(3)]
    random.seed(0)
    np.random.seed(0)
    pg.manual_seed(0)
    load_checkpoint(tmp_path / "c")
    assert [draws() for _ in range(3)] == want


def test_a_part_that_refuses_leaves_all_as_they_were(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", a=Part("new"), b=Part("poison"))
    a, b, state = Part("old"), Part("old"), pg.get_rng_state()
    with pytest.raises(ValueError, match="I do not eat this") as caught:
        load_checkpoint(tmp_path / "c", a=a, b=b)
    assert "every part is as it was before" in caught.value.__notes__[0]
    assert (a.state, b.state, pg.get_rng_state()) == ("old", "old", state)


def test_parts_that_are_missing_are_named(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", model=Part(1), step=3)
    with pytest.raises(CheckpointError, match="has no schedule; it has model, step"):
        load_checkpoint(tmp_path / "c", model=Part(0), schedule=Part(0))
    with pytest.raises(CheckpointError, match=r"holds the state of model; pass model=\.\.\."):
        load_checkpoint(tmp_path / "c")


def test_a_part_may_have_any_name(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", path="x", parts=2, contents=3)
    assert load_checkpoint(tmp_path / "c") == {"path": "x", "parts": 2, "contents": 3}


def test_whole_numbers_of_any_size(tmp_path: Path) -> None:
    """Python refuses to read more than some thousand digits."""
    numbers = [2**64, 2**4096, -(2**4096), 2**4097 - 1, 2**50_000, -(3**20_000)]
    save_checkpoint(tmp_path / "c", numbers=numbers)
    assert load_checkpoint(tmp_path / "c")["numbers"] == numbers


def test_more_plain_data_than_a_header_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of the format's header is one for names, not for what is kept."""
    rows = list(range(10_000))
    monkeypatch.setattr(safetensors, "LONGEST", 1000)
    save_checkpoint(tmp_path / "c", rows=rows)
    assert load_checkpoint(tmp_path / "c")["rows"] == rows


class Half:
    """It could be saved, and never be loaded."""

    def state_dict(self) -> dict[str, int]:
        return {}


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="model is a Half, which has state_dict but no load_state_dict"):
        save_checkpoint(tmp_path / "c", model=Half())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([np.array([None])], r"data\[0\] is a ndarray of object"),
        ({"a": np.array([1j])}, r"data\['a'\] is a ndarray of complex128"),
        (np.str_("x"), "data is a str_ of <U1"),
        ({1, 2}, "data is a set;"),
        (defaultdict(int), "data is a defaultdict;"),
        (OrderedDict(a=1), "data is a OrderedDict;"),
        (namedtuple("Point", "x")(1), "data is a Point;"),
        ({"a": {frozenset(): 1}}, r"a key of data\['a'\] is a frozenset;"),
        (np.ma.masked_array([1], [0]), "data is a MaskedArray of int64"),
        (1j, "data is a complex;"),
    ],
)
def test_other_kinds_of_data_are_named(data: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=words):
        save_checkpoint(tmp_path / "c", data=data)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_saved_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"model\['groups'\]\[1\]\['f'\] is a function"):
        save_checkpoint(tmp_path / "c", model=Part({"groups": [1, {"f": lambda: None}]}))
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    with pytest.raises(CheckpointError, match="containers within containers"):
        save_checkpoint(tmp_path / "c", deep=deep)
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(tmp_path / "c", step=1)

    def full(*args: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        save_checkpoint(tmp_path / "c", step=2)
    monkeypatch.undo()
    assert load_checkpoint(tmp_path / "c") == {"step": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_other_files_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c"
    save_checkpoint(path, x=pg.arange(40), words={"a": ("text", 1.5)})
    whole = path.read_bytes()
    for n in range(0, len(whole), 71):
        path.write_bytes(whole[:n])
        with pytest.raises(FileFormatError, match="c"):
            load_checkpoint(path)
    for n in range(0, len(whole), 41):
        path.write_bytes(whole[:n] + bytes([whole[n] ^ 4]) + whole[n + 1 :])
        with pytest.raises((FileFormatError, pg.errors.UnsupportedError)):
            load_checkpoint(path)
    from plugrad_io import save_safetensors

    save_safetensors(path, {"x": pg.ones(2)})
    with pytest.raises(FileFormatError, match="not a 'plugrad checkpoint 1'"):
        load_checkpoint(path)
