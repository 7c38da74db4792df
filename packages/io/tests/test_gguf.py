"""GGUF: typed metadata, plain tensors and blocks; formulas written out number by number."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from make_files import entry, gguf, kind_of, word

import plugrad as pg
from plugrad_io import FileFormatError, gguf_metadata, load_gguf, open_gguf

if TYPE_CHECKING:
    from pathlib import Path

METADATA = {
    "general.architecture": "llama", "general.name": "naïve ☂", "none": "", "u8": ("u8", 255), "i8": ("i8", -128),
    "u16": ("u16", 65535), "i16": ("i16", -2), "u32": ("u32", 2**32 - 1), "i32": ("i32", -3), "f32": ("f32", 0.5),
    "u64": ("u64", 2**64 - 1), "i64": ("i64", -(2**63)), "f64": ("f64", 0.1), "yes": True, "no": False,
    "tokenizer.ggml.tokens": ["<s>", "Ġthe", "☂", ""], "tokenizer.ggml.scores": [("f32", 0.25), ("f32", -1.0)],
    "flags": [True, False, True], "empty": [], "nested": [[("u8", 1), ("u8", 2)], [("u8", 3)]],
    "words": [["a", "b"], ["c"]],
}  # fmt: skip


def plain(value: Any) -> Any:
    """As Python has it: without the names of number kinds."""
    return [plain(v) for v in value] if isinstance(value, list) else value[1] if isinstance(value, tuple) else value


def half(x: float) -> bytes:
    return struct.pack("<e", x)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


@pytest.mark.parametrize("version", [2, 3])
def test_metadata(path: Path, version: int) -> None:
    path.write_bytes(gguf(METADATA, [], version=version))
    found = gguf_metadata(path)
    assert found == {k: plain(v) for k, v in METADATA.items()}
    assert found["yes"] is True
    assert type(found["flags"][0]) is bool
    assert type(found["u8"]) is int
    assert load_gguf(path) == {}


PLAIN = {0: "float32", 1: "float16", 24: "int8", 25: "int16", 26: "int32", 27: "int64", 28: "float64", 30: "bfloat16"}


@pytest.mark.parametrize("alignment", [1, 8, 32, 256])
def test_plain_tensors(path: Path, alignment: int) -> None:
    arrays = {f"blk.{k}": pg.tensor([[0, 1, 2], [3, 4, 5]], dtype=t) for k, t in PLAIN.items()}
    tensors = [(f"blk.{k}", (2, 3), k, arrays[f"blk.{k}"].numpy().tobytes()) for k in PLAIN]
    more = [("0d", (), 0, struct.pack("<f", 7)), ("none", (3, 0), 0, b"")]
    path.write_bytes(gguf({"general.alignment": ("u32", alignment)}, tensors + more, alignment=alignment))
    found = load_gguf(path)
    assert list(found) == [*arrays, "0d", "none"]
    for name, x in arrays.items():
        assert found[name].dtype is x.dtype
        assert found[name].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["0d"].item() == 7
    assert found["none"].shape == (3, 0)


def q4_0() -> tuple[bytes, list[float]]:
    """d = 0.5; the low halves of the bytes count 0 to 15, the high ones are all 3"""
    return half(0.5) + bytes([i | 3 << 4 for i in range(16)]), [0.5 * (i - 8) for i in range(16)] + [0.5 * (3 - 8)] * 16


def q4_1() -> tuple[bytes, list[float]]:
    """d = -2, m = 0.25"""
    low, high = [-2.0 * i + 0.25 for i in range(16)], [-2.0 * (15 - i) + 0.25 for i in range(16)]
    return half(-2) + half(0.25) + bytes([i | (15 - i) << 4 for i in range(16)]), low + high


def q8_0() -> tuple[bytes, list[float]]:
    """d = 1/4; -128, -120, ..."""
    q = [8 * i - 128 for i in range(32)]
    return half(0.25) + struct.pack("32b", *q), [n / 4 for n in q]


@pytest.mark.parametrize(("kind", "made"), [(2, q4_0), (3, q4_1), (8, q8_0)])
def test_blocks(path: Path, kind: int, made: Any) -> None:
    block, values = made()
    zero = bytes(len(block))
    path.write_bytes(gguf({}, [("w", (2, 64), kind, block + zero + zero + block), ("norm", (1,), 0, bytes(4))]))
    found = load_gguf(path)["w"]
    assert found.dtype is pg.float32
    rest = [0.0] * 32
    assert found.tolist() == [values + rest, rest + values]
    with open_gguf(path) as file:
        blocks = file.blocks("w")
        assert blocks.shape == (2, 2, len(block))
        assert blocks[0, 0].tobytes() == blocks[1, 1].tobytes() == block
        assert file.kinds == {"w": made.__name__.upper(), "norm": "F32"}
        with pytest.raises(ValueError, match="'norm' is plain F32, not in blocks"):
            file.blocks("norm")
    raw = load_gguf(path, dequantize=False)
    assert raw["w"].dtype is pg.uint8
    assert raw["w"].shape == (2, 2, len(block))
    assert raw["norm"].dtype is pg.float32


def test_many_blocks(path: Path) -> None:
    """More than are turned into floats at once."""
    rng = np.random.default_rng(0)
    n = 2500
    d, q = rng.standard_normal((n, 1)).astype("<f2"), rng.integers(-128, 128, (n, 32)).astype(np.int8)
    data = np.concatenate([d.view(np.uint8), q.view(np.uint8)], axis=1).tobytes()
    path.write_bytes(gguf({}, [("w", (n * 32,), 8, data)]))
    assert np.array_equal(load_gguf(path, as_numpy=True)["w"], (d.astype("f4") * q).reshape(-1))


def test_an_infinite_scale_is_a_number_like_any_other(path: Path) -> None:
    path.write_bytes(gguf({}, [("w", (32,), 8, half(float("inf")) + bytes([1] + [0] * 31))]))
    found = load_gguf(path, as_numpy=True)["w"]
    assert found[0] == np.inf
    assert np.isnan(found[1:]).all()


def test_lazily(path: Path) -> None:
    path.write_bytes(gguf({"k": 5}, [("a", (2, 3), 0, bytes(24)), ("b", (4,), 26, bytes(16))]))
    with open_gguf(path) as file:
        assert (list(file), file.metadata, file.shape("a")) == (["a", "b"], {"k": 5}, (2, 3))
        assert file["b"].dtype is pg.int32
        path.write_bytes(path.read_bytes()[:-8])
        with pytest.raises(FileFormatError, match="tensor 'b' is no longer there"):
            file["b"]


A = ("a", (2,), 0, bytes(8))
LONG = struct.pack("<Q", 2**62)
WRONG = {
    "empty": (b"", "cut short: the magic word"),
    "no GGUF": (b"GGUX" + bytes(20), "not a GGUF file"),
    "version 1": (gguf({}, [], version=1), "GGUF version 1 is not read"),
    "version 4": (gguf({}, [], version=4), "GGUF version 4 is not read"),
    "swapped": (gguf({}, [], version=0x03000000), "GGUF with the largest byte first is not read"),
    "many entries": (gguf({}, [], counts=(0, 2**63)), "cut short: a kind"),
    "many tensors": (gguf({}, [], counts=(2**63, 0)), "cut short: the number of axes"),
    "key twice": (gguf([entry("k", 1), entry("k", 2)], []), "metadata 'k' is there twice"),
    "long key": (gguf([LONG], []), "cut short: a string at byte 32 takes 4611686018427387904 bytes"),
    "long string": (gguf([word("k") + struct.pack("<I", 8) + LONG], []), "cut short: a string"),
    "no UTF-8": (gguf([entry("k", b"\xff")], []), "is no UTF-8"),
    "kind": (gguf([word("k") + struct.pack("<I", 13)], []), "metadata of kind 13, which is not known"),
    "kind of array": (gguf([word("k") + struct.pack("<IIQ", 9, 99, 1)], []), "metadata of kind 99"),
    "long array": (gguf([word("k") + struct.pack("<II", 9, 4) + LONG], []), "cut short: 4611686018427387904 numbers"),
    "long words": (gguf([word("k") + struct.pack("<II", 9, 8) + LONG], []), "cut short: an array of 46116860184273"),
    "no bool": (gguf([word("k") + struct.pack("<IB", 7, 2)], []), "a bool is 2"),
    "deep": (gguf([word("k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 5000], []), "more than 8 deep"),
    "alignment": (gguf({"general.alignment": ("u32", 24)}, []), "general.alignment is 24, not a power of two"),
    "alignment 0": (gguf({"general.alignment": ("u32", 0)}, []), "general.alignment is 0, not a power of two"),
    "alignment text": (gguf({"general.alignment": "32"}, []), "general.alignment is '32', not a power of two"),
    "tensor twice": (gguf({}, [A, A]), "tensor 'a' is there twice"),
    "axes": (gguf({}, [("a", (1, 1, 1, 1, 1), 0, bytes(4))]), "tensor 'a' has 5 axes"),
    "sizes": (gguf({}, [("a", (2**40, 2**40), 0, bytes(8))]), "a shape that no memory holds"),
    "2 GB": (gguf({}, [("a", (2**29,), 0, bytes(8))]), "tensor 'a' ends at byte 2147483712, the file at 72"),
    "Q5_K": (gguf({}, [("a", (256,), 13, bytes(200))]), "tensor 'a' is Q5_K, which is not read; F32, F16, Q4_0"),
    "unknown": (gguf({}, [("a", (256,), 77, bytes(200))]), "tensor 'a' is of the unknown kind 77"),
    "rows": (gguf({}, [("a", (3, 16), 8, bytes(64))]), "32 do not divide its rows"),
    "offset": (gguf({}, [A], offsets=[4]), "tensor 'a' has offset 4, no multiple of 32"),
    "offset beyond": (gguf({}, [A], offsets=[2**63]), "cut short: tensor 'a' ends at byte"),
    "overlap": (gguf({}, [A, ("b", (2,), 0, bytes(8))], offsets=[0, 0]), "tensor 'b' and tensor 'a' overlap"),
    "cut": (gguf({}, [A])[:-1], "cut short: tensor 'a' ends at byte"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(path: Path, name: str) -> None:
    data, message = WRONG[name]
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=message) as caught:
        load_gguf(path)
    assert str(caught.value).startswith(str(path))


def test_the_maker_of_these_files_is_right() -> None:
    assert kind_of([("u8", 1)]) == (9, b"\0\0\0\0\1\0\0\0\0\0\0\0\1")
