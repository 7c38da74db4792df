"""PyTorch's files (torch.save: zip, and what it wrote before version 1.6), read without executing anything in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad import DType, Tensor

from .archive import Archive
from .arrays import result
from .known import Globals
from .pickled import Machine, checked
from .shelf import Shelf
from .stream import allowance, opened, within
from .torch_writer import save_torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .arrays import Where
    from .shelf import Storage
    from .stream import Path, Stream

__all__ = ["load_torch", "save_torch"]

MAGIC = 0x1950A86A20F9469CFC6C  # how the older format begins
VERSION = 1001


def load_torch(path: Path, *, device: Where = None, as_numpy: bool = False, limit: int | None = None) -> Any:
    """What `torch.save` wrote: a dict of tensors, or lists and dicts with tensors, numbers and strings in them.

    Tensors that see the same memory in the same way are one object. Tensors require no gradients; an OrderedDict is a
    dict, a parameter a tensor, a NumPy number a plain one, a torch.device a string.

    as_numpy    arrays instead of tensors
    limit       the most bytes that the tensors may take; None: 64 MiB and 64 times the size of the file
    """
    with opened(path) as stream:
        zipped = stream.take(min(2, stream.size)) == b"PK"
        stream.go(0)
        reader = Zipped(stream, limit) if zipped else Legacy(stream, limit)
        return reader.load(lambda array: result(array, device, as_numpy))


class Zipped:
    """A zip file: the value as a pickle, each storage a member."""

    def __init__(self, stream: Stream, limit: int | None) -> None:
        self.stream, self.room = stream, allowance(stream.size, limit)
        self.archive = Archive(stream, limit)
        self.root = root_of(self.archive)

    def load(self, make: Callable[[Any], Any]) -> Any:
        shelf = Shelf(self.stream.fault, self.room, self.read, make, self.big())
        text, name = self.archive.read(f"{self.root}data.pkl"), f"{self.stream.name}/{self.root}data.pkl"
        machine(within(text, name), shelf).load()
        shelf.unlock()
        return settled(machine(within(text, name), shelf).load(), self.stream)

    def read(self, storage: Storage) -> bytes:
        name = f"{self.root}data/{storage.key}"
        member = self.archive.members.get(name)
        if member is not None and member.file_size != storage.nbytes:
            raise self.stream.fault(f"{name} has {member.file_size} bytes, and the pickle tells of {storage.nbytes}")
        return self.archive.read(name)

    def big(self) -> bool:
        """Whether the largest byte of a number comes first."""
        name = f"{self.root}byteorder"
        found = self.archive.read(name) if name in self.archive.members else b"little"
        if found not in (b"little", b"big"):
            raise self.stream.fault(f"byte order {found[:20]!r} is neither little nor big")
        return found == b"big"


def root_of(archive: Archive) -> str:
    """The folder that everything is in, with its slash."""
    last = [name.rpartition("/")[2] for name in archive.members]
    if "constants.pkl" in last:
        raise archive.stream.fault(
            "a program of torch.jit.save; in PyTorch: torch.save(torch.jit.load(path).state_dict(), other)"
        )
    if last.count("data.pkl") != 1:
        raise archive.stream.fault(
            f"no file of torch.save: {last.count('data.pkl')} members are called data.pkl, not 1"
        )
    return next(name for name in archive.members if f"/{name}".endswith("/data.pkl")).removesuffix("data.pkl")


class Legacy:
    """The older format: five pickles (magic, version, system, value, keys of storages), then the storages."""

    def __init__(self, stream: Stream, limit: int | None) -> None:
        self.stream, self.room = stream, allowance(stream.size, limit)
        self.places: dict[str, int] = {}

    def load(self, make: Callable[[Any], Any]) -> Any:
        shelf = Shelf(self.stream.fault, self.room, self.read, make, self.big())
        start = self.stream.place
        machine(self.stream, shelf).load()
        self.find(shelf)
        shelf.unlock()
        self.stream.go(start)
        return settled(machine(self.stream, shelf).load(), self.stream)

    def plain(self) -> Any:
        """The next pickle, which has no tensors in it."""
        return machine(self.stream, Shelf(self.stream.fault, 0, self.read, id, False)).load()

    def big(self) -> bool:
        """Read what comes before the value: is the largest byte of a number first?"""
        for right in (MAGIC, VERSION):
            found = self.plain()
            if type(found) is int and found == right:
                continue
            raise self.stream.fault("a pickle that torch.save has not written; only files of torch.save are read")
        told = self.plain()
        return type(told) is dict and told.get("little_endian") is False

    def find(self, shelf: Shelf) -> None:
        """Where each storage is: behind the number of its elements."""
        keys = self.plain()
        if type(keys) is not list or any(type(k) is not str or k not in shelf.storages for k in keys):
            raise self.stream.fault("the list of storages does not fit the value")
        for key in keys:
            storage, numel = shelf.storages[key], self.stream.number("<q", f"the size of storage {key!r:.80}")
            if numel != storage.numel or key in self.places:
                raise self.stream.fault(
                    f"storage {key!r:.80} has {numel} elements, or is told twice; {storage.numel} fit"
                )
            self.places[key] = self.stream.place
            self.stream.skip(storage.nbytes, f"storage {key!r:.80}")

    def read(self, storage: Storage) -> bytes:
        if storage.key not in self.places:
            raise self.stream.fault(f"storage {storage.key!r:.80} is missing")
        back = self.stream.place
        self.stream.go(self.places[storage.key])
        data = self.stream.take(storage.nbytes)
        self.stream.go(back)
        return data


def machine(stream: Stream, shelf: Shelf) -> Machine:
    return Machine(stream, Globals(stream.fault, shelf.rebuild), shelf.persist, shelf.room)


def settled(value: Any, stream: Stream) -> Any:
    """The value, if nothing but plain data is in it."""
    import numpy as np

    return checked(value, (Tensor, np.ndarray, DType), stream)
