"""A file read forward and never past its end: what a header claims is not allocated before it is there."""

from __future__ import annotations

import io
import os
import reprlib
import struct
from contextlib import contextmanager
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any, BinaryIO

from .errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Path = str | os.PathLike[str]

ROOM = 2**26  # bytes that any file may take in memory,
TIMES = 64  # and how many times its own size on top; more has to be asked for by `limit`


def allowance(size: int, limit: int | None) -> int:
    """The most bytes that the contents of a file of `size` bytes may take in memory."""
    return ROOM + TIMES * size if limit is None else limit


def short(value: object) -> str:
    """`value` in few words, however much it holds."""
    return reprlib.repr(value)[:80]


class Stream:
    """A file of a known size, and the place in it.

    name    what errors call it
    size    bytes in all
    left    bytes behind the place
    """

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self.file, self.size, self.left, self.name = file, size, size, name

    @property
    def place(self) -> int:
        return self.size - self.left

    def fault(self, what: str) -> FileFormatError:
        """The error to raise."""
        return FileFormatError(f"{self.name}: {what}")

    def go(self, place: int) -> None:
        """Read on at `place`."""
        if not 0 <= place <= self.size:
            raise self.fault(f"cut short: something is said to stand at byte {place}, and it has {self.size}")
        self.file.seek(place)
        self.left = self.size - place

    def take(self, n: int, what: str = "data") -> bytes:
        """The next `n` bytes."""
        if not 0 <= n <= self.left:
            raise self.lacking(n, what)
        data = self.file.read(n)
        if len(data) != n:
            raise self.fault("became shorter while it was read")
        self.left -= n
        return data

    def skip(self, n: int, what: str = "data") -> None:
        """Pass over the next `n` bytes."""
        if not 0 <= n <= self.left:
            raise self.lacking(n, what)
        self.go(self.place + n)

    def lacking(self, n: int, what: str) -> FileFormatError:
        return self.fault(f"cut short: {what} at byte {self.place} takes {n} bytes, and {self.left} are left")

    def number(self, code: str, what: str = "a number") -> Any:
        """The next number, `code` being one of struct's."""
        return struct.unpack(code, self.take(struct.calcsize(code), what))[0]

    def line(self, longest: int, what: str) -> bytes:
        """The bytes up to the next end of line, which goes too."""
        data = self.file.readline(min(longest, self.left) + 1)
        if not data.endswith(b"\n"):
            raise self.fault(f"{what} at byte {self.place} has no end within {longest} bytes")
        self.left -= len(data)
        return data[:-1]


@contextmanager
def opened(path: Path) -> Iterator[Stream]:
    """The file at `path`, for reading."""
    mode = os.stat(path).st_mode
    if not (S_ISREG(mode) or S_ISDIR(mode)):  # opening a pipe would wait for who writes
        raise FileFormatError(f"{os.fsdecode(path)}: not read: a pipe or a device, whose size nobody knows")
    with open(path, "rb") as file:
        yield Stream(file, os.fstat(file.fileno()).st_size, os.fsdecode(path))


def within(data: bytes, name: str) -> Stream:
    """Bytes as a file."""
    return Stream(io.BytesIO(data), len(data), name)
