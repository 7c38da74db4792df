"""The IDX format of MNIST: two zeros, a type, the number of axes, their sizes (big-endian), then the numbers."""

from __future__ import annotations

import gzip
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plugrad.errors import ShapeError

if TYPE_CHECKING:
    import os

__all__ = ["read_idx"]

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MOST = 2**31  # bytes that are believed to be meant
CHUNK = 2**24  # bytes read at once: no more is taken from memory than the file has


def read_idx(path: str | os.PathLike[str]) -> Any:
    """The NumPy array in an IDX file, plain or gzipped (by its content, not its name), in native byte order.

    Raises ShapeError where the file is not IDX, or is shorter or longer than its header says.
    """
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        try:
            return _read(gzip.GzipFile(fileobj=file) if packed else file, Path(path))
        except (EOFError, gzip.BadGzipFile, OSError) as error:
            raise ShapeError(f"read_idx: {path} is damaged: {error}") from error


def _read(file: Any, path: Path) -> Any:
    import numpy as np

    head = file.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in TYPES:
        raise ShapeError(f"read_idx: {path} starts with {head.hex(' ') or 'nothing'}; that is no IDX file")
    sizes = file.read(4 * head[3])
    shape = tuple([int.from_bytes(sizes[i : i + 4], "big") for i in range(0, len(sizes), 4)])
    dtype = np.dtype(TYPES[head[2]])
    want = prod(shape) * dtype.itemsize
    if len(sizes) < 4 * head[3] or want > MOST:
        raise ShapeError(f"read_idx: {path} tells {head[3]} axes of sizes {shape}; it is damaged")
    body = bytearray()
    while len(body) <= want and (more := file.read(min(want + 1 - len(body), CHUNK))):
        body += more
    if len(body) != want:
        there = "more" if len(body) > want else f"{len(body):,}"
        raise ShapeError(f"read_idx: {path} should hold {shape}, {want:,} bytes, but there are {there}")
    return np.frombuffer(body, dtype).reshape(shape).astype(dtype.newbyteorder("="))
