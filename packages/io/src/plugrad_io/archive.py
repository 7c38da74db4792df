"""Zip files, checked whole before any member is read: names, sizes, overlaps, and what they would unpack to."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from .errors import FileFormatError
from .stream import allowance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zipfile import ZipInfo

    from .stream import Stream

STORED, DEFLATED = 0, 8
HEADER = 30  # bytes of a member's header, before its name


class Archive:
    """The members of a zip file.

    limit    the most bytes that they may unpack to; None: `stream.allowance`
    """

    def __init__(self, stream: Stream, limit: int | None = None) -> None:
        self.stream = stream
        with self.translated("not a zip file that can be read"):
            from zipfile import ZipFile

            self._file = ZipFile(stream.file)
            self.members = self._checked(self._file.infolist())
        self._apart(self._file.start_dir)
        total, most = sum(m.file_size for m in self.members.values()), allowance(stream.size, limit)
        if total > most:
            raise stream.fault(
                f"its {stream.size} bytes unpack to {total}, at most {most} are allowed; "
                f"if it is to be trusted: load_npz or load_torch with limit={total}"
            )

    @contextmanager
    def translated(self, what: str) -> Iterator[None]:
        """What zipfile raises at a damaged file, as the error that names the file."""
        try:
            yield
        except (FileFormatError, MemoryError):
            raise
        except Exception as error:  # it has ten kinds of them, undocumented
            raise self.stream.fault(f"{what}: {type(error).__name__}: {str(error)[:200]}") from error

    def _checked(self, members: list[ZipInfo]) -> dict[str, ZipInfo]:
        found: dict[str, ZipInfo] = {}
        for member in members:
            name = member.orig_filename
            if name in found:
                raise self.stream.fault(f"member {name!r:.80} is there twice")
            if not plain(name):
                raise self.stream.fault(f"member {name!r:.80} points outside the file")
            if member.flag_bits & 1 or member.compress_type not in (STORED, DEFLATED):
                raise self.stream.fault(f"member {name!r:.80} is encrypted, or packed in a way that is not read")
            if member.compress_type == STORED and member.file_size != member.compress_size:
                raise self.stream.fault(f"member {name!r:.80} is stored as it is, in two different sizes")
            found[name] = member
        return found

    def _apart(self, end: int) -> None:
        """Refuse members that overlap or reach into the directory at the end: how one byte is unpacked many times."""
        for member in sorted(self.members.values(), key=lambda m: m.header_offset, reverse=True):
            if not 0 <= member.header_offset <= end - HEADER - member.compress_size:
                raise self.stream.fault(f"member {member.orig_filename!r:.80} reaches into what follows it")
            end = member.header_offset

    def read(self, name: str) -> bytes:
        """The contents of one member, held against its checksum."""
        member = self.members.get(name)
        if member is None:
            raise self.stream.fault(f"member {name!r:.80} is missing")
        with self.translated(f"member {name!r:.80} is damaged"):
            data = self._file.read(member)
        if len(data) != member.file_size:
            raise self.stream.fault(f"member {name!r:.80} has {len(data)} bytes, {member.file_size} were announced")
        return data


def plain(name: str) -> bool:
    """Whether it names something in the file, and nothing outside it."""
    return not (name.startswith("/") or "\\" in name or "\0" in name or ":" in name[:2] or ".." in name.split("/"))
