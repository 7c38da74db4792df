"""A file of tensors as a dict that reads each when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from plugrad import Tensor

from .arrays import result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from .arrays import Where


class Entry(NamedTuple):
    """What a file tells of one tensor: the format's name of its kind, its shape, and its bytes [start, stop)."""

    kind: str
    shape: tuple[int, ...]
    start: int
    stop: int


def apart(entries: Mapping[str, Entry], fault: Any, holes: bool = True) -> None:
    """Refuse tensors that overlap; without `holes`, also bytes between them, counted from 0."""
    end, before = 0, "the beginning"
    for name, entry in sorted(entries.items(), key=lambda item: item[1][2:]):
        if entry.start < end:
            raise fault(f"tensor {name!r} and {before} overlap: it begins at byte {entry.start}, before byte {end}")
        if entry.start > end and not holes:
            raise fault(f"{entry.start - end} bytes between {before} and tensor {name!r} belong to no tensor")
        end, before = entry.stop, f"tensor {name!r}"


class TensorFile(Mapping[str, Tensor]):
    """Tensors by name, each read when it is asked for: `with open_safetensors(path) as f: f["w"]`.

    path        the file
    entries     what it tells of each tensor
    metadata    what else it tells
    """

    def __init__(self, path: str | os.PathLike[str], device: Where = None) -> None:
        self.path = os.fsdecode(path)
        self.device = device
        self.entries: dict[str, Entry] = {}
        self.metadata: dict[str, Any] = {}

    def array(self, name: str) -> Any:
        """An array that may still belong to the file."""
        raise NotImplementedError(f"{type(self).__name__}.array(self, name) is not written")

    def close(self) -> None:
        """Let go of the file; what was read stays."""

    def entry(self, name: str) -> Entry:
        """What the file tells of one tensor, or a KeyError that names the file."""
        try:
            return self.entries[name]
        except KeyError:
            raise KeyError(f"{self.path} has no tensor {name!r}") from None

    def __getitem__(self, name: str) -> Tensor:
        return result(self.array(name), self.device, False)  # type: ignore[no-any-return]

    def numpy(self, name: str) -> Any:
        """One tensor as a NumPy array."""
        return result(self.array(name), None, True)

    def read(self, as_numpy: bool = False) -> dict[str, Any]:
        """All of them."""
        return {name: self.numpy(name) if as_numpy else self[name] for name in self}

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of one tensor; its numbers are not read."""
        return self.entry(name).shape

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, {len(self)} tensors)"
