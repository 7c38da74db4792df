"""The safetensors format: a header in JSON, then numbers. Its library reads and writes; the header is checked first.

u64 length of the header | {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...} | the numbers
"""

from __future__ import annotations

import json
import os
from math import prod
from typing import TYPE_CHECKING, Any

from plugrad import dtypes
from plugrad.errors import DTypeError

from .arrays import bfloat16, host, named, sizes, truths
from .arrays import tied as groups_of
from .atomic import replacing
from .lazy import Entry, TensorFile, apart
from .stream import Stream, opened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plugrad import Tensor

    from .arrays import Fault, Where
    from .stream import Path

__all__ = ["load_safetensors", "open_safetensors", "safetensors_metadata", "save_safetensors"]

LONGEST = 100_000_000  # bytes of a header, as in the library
DTYPES = {
    "BOOL": dtypes.bool_, "U8": dtypes.uint8, "U16": dtypes.uint16, "U32": dtypes.uint32, "U64": dtypes.uint64,
    "I8": dtypes.int8, "I16": dtypes.int16, "I32": dtypes.int32, "I64": dtypes.int64, "F16": dtypes.float16,
    "BF16": dtypes.bfloat16, "F32": dtypes.float32, "F64": dtypes.float64,
}  # fmt: skip


def save_safetensors(
    path: Path, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None, *, tied: bool = False
) -> None:
    """Write tensors (or arrays) and strings to `path`, atomically.

    tied    True: what several names share is written once, and the metadata tell the other names ({other: kept}), as
            `save_model` of the format's library does it. False: once for each name, for any reader.
    """
    told = dict(metadata or {})
    wrong = [(k, v) for k, v in told.items() if not (isinstance(k, str) and isinstance(v, str))]
    if wrong:
        raise DTypeError(f"save: metadata are strings, and {wrong[0][0]!r}: {wrong[0][1]!r:.80} is not; use json.dumps")
    arrays = {name: host(name, value) for name, value in named(tensors).items()}
    if tied:
        arrays, told = once(tensors, arrays, told)
    if "__metadata__" in arrays:
        raise DTypeError("save: a tensor cannot be called '__metadata__': the format keeps its own strings there")
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    with replacing(path) as fresh:
        try:
            save_file(arrays, fresh, told or None)
        except SafetensorError as error:  # a full disk, too many names
            raise OSError(f"{os.fsdecode(path)} was not written: {error}") from error


def once(
    tensors: Mapping[str, Any], arrays: dict[str, Any], told: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """(arrays without the further names of tied ones, metadata that tell these names)."""
    others = {other: kept for kept, *names in groups_of(tensors) for other in names}
    clash = others.keys() & told.keys()
    if clash:
        raise DTypeError(f"save: metadata has {min(clash)!r}, which is also a tied tensor; use tied=False")
    return {name: array for name, array in arrays.items() if name not in others}, told | others


def load_safetensors(
    path: Path, *, device: Where = None, as_numpy: bool = False, tied: bool = False
) -> dict[str, Tensor]:
    """All tensors of a file.

    as_numpy    arrays instead of tensors
    tied        also the names that the metadata tell for tensors written once, as one object
    """
    with open_safetensors(path, device=device) as file:
        found = file.read(as_numpy)
        again = {k: v for k, v in file.metadata.items() if tied and v in found and k not in found}
    return found | {other: found[kept] for other, kept in again.items()}


def safetensors_metadata(path: Path) -> dict[str, str]:
    """The strings of a file; no tensor is read."""
    with opened(path) as stream:
        return header(stream)[1]


def open_safetensors(path: Path, *, device: Where = None) -> TensorFile:
    """A file as a dict that reads each tensor when it is asked for, through a memory map."""
    return SafeTensorsFile(path, device)


class SafeTensorsFile(TensorFile):
    """Tensors of a safetensors file, read one by one; `metadata` are its strings."""

    def __init__(self, path: Path, device: Where = None) -> None:
        super().__init__(path, device)
        with opened(path) as stream:
            self.fault = stream.fault
            self.entries, self.metadata = header(stream)
        from safetensors import SafetensorError, safe_open

        try:
            self._file: Any = safe_open(self.path, framework="np")
        except SafetensorError as error:
            raise self.fault(f"not a safetensors file: {error}") from error

    def array(self, name: str) -> Any:
        kind, shape = self.entry(name)[:2]
        if kind not in DTYPES:
            raise self.fault(f"tensor {name!r} is {kind}, which plugrad does not have ({', '.join(DTYPES)})")
        if kind == "BF16":
            bfloat16()  # which the library needs, too
        if self._file is None:
            raise ValueError(f"{self.path} is closed")
        found = self._file.get_tensor(name).reshape(shape)
        return truths(found.view("uint8"), self.fault) if kind == "BOOL" else found

    def close(self) -> None:
        if self._file is not None:
            self._file.__exit__(None, None, None)
        self._file = None


def header(stream: Stream) -> tuple[dict[str, Entry], dict[str, str]]:
    """({name: entry}, metadata), checked: every tensor has its bytes for itself, and every byte its tensor."""
    length = stream.number("<Q", "the length of the header")
    if length > LONGEST:
        raise stream.fault(f"not a safetensors file: a header of {length} bytes, at most {LONGEST} are allowed")
    told = parsed(stream.take(length, "the header"), stream.fault)
    metadata = told.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise stream.fault("__metadata__ in the header is not a table of strings")
    entries = {name: entry_of(name, row, stream.fault) for name, row in told.items()}
    apart(entries, stream.fault, holes=False)
    end = max([e.stop for e in entries.values()], default=0)
    if end != stream.left:
        raise stream.fault(f"the tensors take {end} bytes, and {stream.left} follow the header")
    return entries, metadata


def parsed(text: bytes, fault: Fault) -> dict[str, Any]:
    """The header, a table without repeated names."""
    try:
        told = json.loads(text.decode(), object_pairs_hook=table, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise fault(f"the header is no JSON of this format: {error}") from error
    if not isinstance(told, dict):
        raise fault(f"the header is a {type(told).__name__}, not a table of tensors")
    return told


def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r:.80} stands there more than once")
        found[name] = value
    return found


def no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def entry_of(name: str, row: Any, fault: Fault) -> Entry:
    """One line of the header, checked against itself."""
    if not isinstance(row, dict) or row.keys() != {"dtype", "shape", "data_offsets"}:
        raise fault(f"tensor {name!r:.80}: {str(row)[:80]} is not dtype, shape and data_offsets")
    kind, shape, offsets = row["dtype"], row["shape"], row["data_offsets"]
    if not isinstance(kind, str) or not isinstance(shape, list) or not isinstance(offsets, list):
        raise fault(f"tensor {name!r:.80}: {str(row)[:80]}: a dtype is a word, shape and data_offsets are lists")
    start, stop = whole(name, offsets, fault)
    found = sizes(shape, 8, f"tensor {name!r:.80}", fault)
    takes = prod(found) * DTYPES[kind].itemsize if kind in DTYPES else stop - start
    if stop - start != takes:
        raise fault(f"tensor {name!r:.80}: {kind} of shape {found} takes {takes} bytes, not {stop - start}")
    return Entry(kind, found, start, stop)


def whole(name: str, offsets: list[Any], fault: Fault) -> tuple[int, int]:
    """Where a tensor begins and ends."""
    if len(offsets) != 2 or any(type(n) is not int for n in offsets) or not 0 <= offsets[0] <= offsets[1]:
        raise fault(f"tensor {name!r:.80}: data_offsets {str(offsets)[:80]} are not a beginning and an end")
    return offsets[0], offsets[1]
