"""NumPy's .npz: a zip file of .npy files, read without NumPy's reader, which trusts what they announce."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any

from plugrad import dtypes
from plugrad.errors import DTypeError

from .archive import Archive, plain
from .arrays import decode, host, named, result, sizes
from .atomic import replacing
from .stream import opened, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plugrad import DType, Tensor

    from .arrays import Where
    from .stream import Path, Stream

__all__ = ["load_npz", "save_npz"]

MAGIC = b"\x93NUMPY"
LONGEST = 10_000  # bytes of the header of an array, as in NumPy
CODES = {
    "b1": dtypes.bool_, "u1": dtypes.uint8, "u2": dtypes.uint16, "u4": dtypes.uint32, "u8": dtypes.uint64,
    "i1": dtypes.int8, "i2": dtypes.int16, "i4": dtypes.int32, "i8": dtypes.int64, "f2": dtypes.float16,
    "f4": dtypes.float32, "f8": dtypes.float64,
}  # fmt: skip

#: 'descr': '<f4' | 'fortran_order': False | 'shape': (2, 3)
ITEM = re.compile(
    r"""\s*(['"])(?P<key>\w+)\1\s*:\s*
    (?:(['"])(?P<descr>[^'"]*)\3|(?P<fortran_order>True|False)|\((?P<shape>(?:\d{1,20}L?(?:,\s*\d{1,20}L?)*,?)?)\s*\))\s*(?:,|$)""",
    re.VERBOSE,
)


def load_npz(
    path: Path, *, device: Where = None, as_numpy: bool = False, limit: int | None = None
) -> dict[str, Tensor]:
    """All arrays of a file. Arrays of Python objects are refused: they are pickles.

    as_numpy    arrays instead of tensors
    limit       the most bytes that it may unpack to; None: 64 MiB and 64 times the size of the file
    """
    with opened(path) as stream:
        return arrays(Archive(stream, limit), device, as_numpy)


def arrays(archive: Archive, device: Where, as_numpy: bool) -> dict[str, Any]:
    wrong = [name for name in archive.members if not name.endswith(".npy")]
    if wrong:
        raise archive.stream.fault(f"not an .npz file: member {wrong[0]!r:.80} is no .npy")
    return {
        name.removesuffix(".npy"): result(array(archive.read(name), f"{archive.stream.name}/{name}"), device, as_numpy)
        for name in archive.members
    }


def array(data: bytes, name: str) -> Any:
    """The array in an .npy file."""
    stream = within(data, name)
    t, big, fortran, shape = header(stream)
    if stream.left != prod(shape) * t.itemsize:
        raise stream.fault(f"{t} of shape {shape} takes {prod(shape) * t.itemsize} bytes, and {stream.left} are there")
    return decode(stream.take(stream.left), t, stream.fault, big).reshape(shape, order="F" if fortran else "C")


def header(stream: Stream) -> tuple[DType, bool, bool, tuple[int, ...]]:
    """(dtype, largest byte first?, first axis runs fastest?, shape)"""
    if stream.take(len(MAGIC), "the magic word") != MAGIC:
        raise stream.fault("not an .npy array")
    version = tuple(stream.take(2, "the version"))
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise stream.fault(f"version {version} of .npy is not known; 1.0, 2.0 and 3.0 are")
    length = stream.number("<H" if version == (1, 0) else "<I", "the length of the header")
    if length > LONGEST:
        raise stream.fault(f"a header of {length} bytes, at most {LONGEST} are allowed")
    told = items(stream.take(length, "the header").decode("latin-1"), stream)
    shape = sizes(map(int, re.findall(r"\d+", told["shape"])), 8, "the array", stream.fault)
    return *kind(told["descr"], stream), told["fortran_order"] == "True", shape


def items(text: str, stream: Stream) -> dict[str, str]:
    """{"descr": ..., "fortran_order": ..., "shape": ...} as written."""
    text = text.strip()
    inner, place = text[1:-1].rstrip(), 0
    told: dict[str, Any] = {}
    while place < len(inner) and (item := ITEM.match(inner, place)):
        told[item["key"]] = item[item["key"]] if item["key"] in ITEM.groupindex else None
        place = item.end()
    if text[:1] + text[-1:] != "{}" or place < len(inner) or told.keys() != set(ITEM.groupindex) - {"key"}:
        raise stream.fault(f"its header is not that of an array of plain numbers: {text[:120]}")
    if None in told.values():
        raise stream.fault(f"its header mixes up words and values: {text[:120]}")
    return told


def kind(descr: str, stream: Stream) -> tuple[DType, bool]:
    """(dtype, largest byte first?) of a word like '<f4'."""
    if descr.endswith("O"):
        raise stream.fault("an array of Python objects is a pickle, which may do anything; it is not read")
    if descr[:1] not in ("<", ">", "|", "=") or descr[1:] not in CODES:
        raise stream.fault(f"dtype {descr!r} is none of plugrad's ({', '.join(CODES)})")
    return CODES[descr[1:]], descr[0] == ">"


def save_npz(path: Path, tensors: Mapping[str, Any], *, compressed: bool = False) -> None:
    """Write tensors (or arrays) to `path`, atomically; `np.load` reads it."""
    for name in named(tensors):
        if not plain(name):
            raise DTypeError(f"save: the name {name!r} would point outside the file; rename it")
    from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

    packed = ZIP_DEFLATED if compressed else ZIP_STORED
    with replacing(path) as fresh, ZipFile(fresh, "w", packed, allowZip64=True) as file:
        for name, value in tensors.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                write(member, name, host(name, value))


def write(member: Any, name: str, array: Any) -> None:
    from numpy.lib.format import write_array

    if array.dtype.name == "bfloat16":
        raise DTypeError(f"save: {name!r} is bfloat16, which .npz does not know; cast it, or write .safetensors")
    write_array(member, array, allow_pickle=False)
