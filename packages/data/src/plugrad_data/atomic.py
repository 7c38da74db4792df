"""A file is whole, or not there."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file beside `path`, which takes its name when all is written and on the disk; else it is removed."""
    target = Path(os.path.realpath(path))  # a link stays a link
    part = target.with_name(f"{target.name}.{token_hex(8)}.part")
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
