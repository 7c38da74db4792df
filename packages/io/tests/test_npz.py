"""npz: NumPy reads what is written, and what NumPy writes is read; pickles, bombs and lies are not."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from make_files import npy, zipped

import plugrad as pg
from plugrad import dtypes
from plugrad.errors import DTypeError
from plugrad_io import FileFormatError, load_npz, save_npz

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = [t for t in dtypes.ALL if t is not dtypes.bfloat16]


@pytest.mark.parametrize("compressed", [False, True])
def test_every_dtype_comes_back_and_numpy_reads_it(tmp_path: Path, compressed: bool) -> None:
    tensors = {f"layer.{t}/w": pg.tensor([[0, 1, 1], [1, 0, 1]], dtype=t) for t in PLAIN}
    save_npz(tmp_path / "f.npz", tensors, compressed=compressed)
    found = load_npz(tmp_path / "f.npz")
    with np.load(tmp_path / "f.npz") as theirs:
        assert set(theirs.files) == tensors.keys() == found.keys()
        for name, x in tensors.items():
            assert found[name].dtype is x.dtype
            assert found[name].tolist() == theirs[name].tolist() == x.tolist()


def test_what_numpy_writes_is_read(tmp_path: Path) -> None:
    x = np.arange(24.0).reshape(4, 6)
    arrays = {"c": x, "f": np.asfortranarray(x), "t": x[::2, ::-3], "big": x.astype(">i4"), "0d": np.float32(2.5),
              "none": np.zeros((3, 0, 2), bool), "one": np.arange(3, dtype=np.uint8)}  # fmt: skip
    for writer in (np.savez, np.savez_compressed):
        writer(tmp_path / "f.npz", **arrays)
        found = load_npz(tmp_path / "f.npz", as_numpy=True)
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype.newbyteorder("=")
            assert found[name].shape == np.shape(array)
            assert np.array_equal(found[name], array)
            found[name][...] = 0  # is the caller's own


def test_names_that_numpy_itself_cannot_write(tmp_path: Path) -> None:
    save_npz(tmp_path / "f.npz", {"file": pg.ones(1), "allow_pickle": pg.zeros(1)})
    assert load_npz(tmp_path / "f.npz").keys() == {"file", "allow_pickle"}


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"x": pg.ones(2, dtype="bfloat16")}, "'x' is bfloat16, which .npz does not know"),
        ({"../x": pg.ones(2)}, "'../x' would point outside the file"),
        ({"/x": pg.ones(2)}, "'/x' would point outside the file"),
        ({"a": pg.ones(2), "x": "text"}, "'x' is a str"),
    ],
)
def test_what_cannot_be_saved_leaves_nothing(tmp_path: Path, tensors: Any, message: str) -> None:
    (tmp_path / "f.npz").write_bytes(b"before")
    with pytest.raises(DTypeError, match=message):
        save_npz(tmp_path / "f.npz", tensors)
    assert [p.name for p in tmp_path.iterdir()] == ["f.npz"]
    assert (tmp_path / "f.npz").read_bytes() == b"before"


ONE = npy("'<f4'", "(2,)", bytes(8))


def renamed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Both places that tell a member's name."""
    assert data.count(old) == 2
    return data.replace(old, new)


def forged(member: int, place: int, value: bytes) -> bytes:
    """Two arrays in a zip file; a field of a directory entry overwritten."""
    data = bytearray(zipped({"a.npy": ONE, "b.npy": ONE}))
    at = [i for i in range(len(data)) if data[i : i + 4] == b"PK\x01\x02"][member] + place
    data[at : at + len(value)] = value
    return bytes(data)


def object_array() -> bytes:
    out = io.BytesIO()
    np.savez(out, x=np.array([{"a": 1}], dtype=object))
    return out.getvalue()


def one(header: str, data: bytes = b"") -> bytes:
    return zipped({"x.npy": npy("", "", data, header=header)})


HEAD = "{'descr': '<f4', 'fortran_order': False, 'shape': %s}"
WRONG = {
    "no zip": (b"PK\3\4 and nothing more", "not a zip file that can be read"),
    "cut": (zipped({"a.npy": ONE})[:-30], "not a zip file that can be read"),
    "no array": (zipped({"a.txt": b"hello"}), "not an .npz file: member 'a.txt' is no .npy"),
    "twice": (renamed(zipped({"a.npy": ONE, "b.npy": ONE}), b"b.npy", b"a.npy"), "member 'a.npy' is there twice"),
    "absolute": (zipped({"/etc/x.npy": ONE}), "member '/etc/x.npy' points outside"),
    "parent": (zipped({"../x.npy": ONE}), "member '../x.npy' points outside"),
    "drive": (zipped({"c:x.npy": ONE}), "member 'c:x.npy' points outside"),
    "backslash": (renamed(zipped({"a?x.npy": ONE}), b"a?x", b"a\\x"), "points outside"),
    "null": (renamed(zipped({"a?x.npy": ONE}), b"a?x", b"a\0x"), "points outside"),
    "encrypted": (forged(0, 8, b"\x01"), "is encrypted, or packed in a way that is not read"),
    "bzip2": (zipped({"a.npy": ONE}, zipfile.ZIP_BZIP2), "is encrypted, or packed in a way that is not read"),
    "two sizes": (forged(0, 24, struct.pack("<I", 7)), "is stored as it is, in two different sizes"),
    "huge": (forged(0, 20, struct.pack("<II", 2**32 - 2, 2**32 - 2)), "reaches into what follows"),
    "overlap": (forged(1, 42, struct.pack("<I", 10)), "reaches into what follows"),
    "offset": (forged(1, 42, struct.pack("<I", 2**31)), "reaches into what follows"),
    "checksum": (
        zipped({"a.npy": ONE}).replace(ONE, ONE[:-1] + b"1"),
        "member 'a.npy' is damaged: BadZipFile: Bad CRC",
    ),
    "bomb": (
        zipped({"a.npy": bytes(10**8)}, zipfile.ZIP_DEFLATED),
        r"unpack to 100000000, at most \d+ .* limit=100000000",
    ),
    "pickle": (object_array(), "an array of Python objects is a pickle"),
    "no magic": (zipped({"x.npy": b"hello world"}), "x.npy: |/x: not an .npy array"),
    "short": (zipped({"x.npy": b"\x93NUM"}), "cut short: the magic word"),
    "version": (zipped({"x.npy": npy("'<f4'", "(2,)", bytes(8), version=9)}), r"version \(9, 0\) of .npy"),
    "long header": (one(" " * 20_000), "a header of 20001 bytes, at most 10000"),
    "header beyond": (zipped({"x.npy": b"\x93NUMPY\1\0\xff\x20{}"}), "cut short: the header"),
    "2 GB": (one(HEAD % "(536870912,)"), r"float32 of shape \(536870912,\) takes 2147483648 bytes, and 0 are there"),
    "beyond 2^63": (one(HEAD % "(9223372036854775807, 9)"), "a shape that no memory holds"),
    "long number": (one(HEAD % f"({'9' * 5000},)"), "its header is not that of an array of plain numbers"),
    "negative": (one(HEAD % "(-2,)"), "its header is not that of an array of plain numbers"),
    "code": (one(HEAD % "__import__('os').system('true')"), "its header is not that of an array of plain numbers"),
    "structured": (one("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"), "not that of an array"),
    "missing": (one("{'descr': '<f4', 'shape': (2,)}"), "not that of an array of plain numbers"),
    "mixed up": (one("{'descr': True, 'fortran_order': '<f4', 'shape': (2,)}"), "mixes up words and values"),
    "complex": (one(HEAD.replace("<f4", "<c8") % "(1,)", bytes(8)), "dtype '<c8' is none of plugrad's"),
    "text": (one(HEAD.replace("<f4", "<U2") % "(1,)", bytes(8)), "dtype '<U2' is none of plugrad's"),
    "too few": (zipped({"x.npy": npy("'<f4'", "(3,)", bytes(8))}), r"float32 of shape \(3,\) takes 12 bytes, and 8"),
    "too many": (zipped({"x.npy": npy("'<f4'", "(1,)", bytes(8))}), r"float32 of shape \(1,\) takes 4 bytes, and 8"),
    "bool": (zipped({"x.npy": npy("'|b1'", "(2,)", b"\1\3")}), "a bool is 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(tmp_path: Path, name: str) -> None:
    data, message = WRONG[name]
    path = tmp_path / "wrong.npz"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=message) as caught:
        load_npz(path)
    assert str(caught.value).startswith(str(path))


def test_what_is_large_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "f.npz"
    np.savez_compressed(path, x=np.zeros(10**8, np.uint8))
    with pytest.raises(FileFormatError, match="limit="):
        load_npz(path)
    assert load_npz(path, as_numpy=True, limit=2 * 10**8)["x"].shape == (10**8,)
    small = tmp_path / "small.npz"
    np.savez(small, x=np.zeros(1000))
    with pytest.raises(FileFormatError, match="at most 1000 are allowed"):
        load_npz(small, limit=1000)


def test_headers_of_other_writers(tmp_path: Path) -> None:
    headers = [
        '{"shape": (2L, 1L), "descr": "<f4", "fortran_order": False}',
        "{'fortran_order': False,'descr': '<f4','shape': (2, 1,), }   ",
    ]
    for version in (1, 2, 3):
        members = {
            f"{i}.npy": npy("", "", struct.pack("<2f", 1, 2), version=version, header=h) for i, h in enumerate(headers)
        }
        (tmp_path / "f.npz").write_bytes(zipped(members))
        assert [x.tolist() for x in load_npz(tmp_path / "f.npz").values()] == [[[1], [2]], [[1], [2]]]
