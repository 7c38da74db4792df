"""Writing that leaves the old file or the new one, whole, whenever it is interrupted."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from errno import ENOENT
from secrets import token_hex
from stat import S_IMODE
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of an empty file beside `path`, which takes its place when the block ends well; else it is gone."""
    target = os.path.realpath(os.fsdecode(path))  # a link stays a link
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(ENOENT, "there is no folder to write into", folder)
    fresh = os.path.join(folder, f".plugrad-{token_hex(8)}.tmp")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield fresh
        with suppress(FileNotFoundError):
            os.chmod(fresh, S_IMODE(os.stat(target).st_mode))
        settle(fresh, os.O_RDWR)
        os.replace(fresh, target)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(fresh)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = target  # what a full disk does not say
        raise
    if os.name == "posix":  # elsewhere folders cannot be opened
        settle(folder, os.O_RDONLY)


def settle(path: str, how: int) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, how)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
