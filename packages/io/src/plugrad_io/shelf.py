"""The storages of a PyTorch file, and the tensors that look at them: strided, shared, in parts."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from plugrad import DType

from .arrays import decode, sizes, whole
from .known import Kind
from .stream import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from .arrays import Fault


class View(NamedTuple):
    """A tensor: the storage that it looks at, and how."""

    key: str
    dtype: DType
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def last(self) -> int:
        """One behind the last element that it sees."""
        if 0 in self.size:
            return self.offset
        return self.offset + sum([(n - 1) * step for n, step in zip(self.size, self.stride, strict=True)]) + 1

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * prod(self.size)


class Storage:
    """Numbers in the file, and how many tensors have yet to be made of them."""

    def __init__(self, key: str, dtype: DType, numel: int) -> None:
        self.key, self.dtype, self.numel = key, dtype, numel
        self.waiting = 0
        self.data: bytes | None = None

    def __repr__(self) -> str:
        return f"storage {self.key:.20}"

    @property
    def nbytes(self) -> int:
        return self.numel * self.dtype.itemsize


class Part:
    """A part of a storage, as files before 2018 have it."""

    def __init__(self, storage: Storage, offset: int, numel: int) -> None:
        self.storage, self.offset, self.numel = storage, offset, numel

    def __repr__(self) -> str:
        return f"part of {self.storage}"


class Shelf:
    """The storages and tensors of a file. The pickle is read twice: what is there, then, if it fits, with its numbers.

    room    the most bytes that the tensors may take
    read    the bytes of a storage
    make    a view's array → what the caller gets
    big     whether the largest byte of a number comes first
    """

    def __init__(
        self, fault: Fault, room: int, read: Callable[[Storage], bytes], make: Callable[[Any], Any], big: bool
    ) -> None:
        self.fault, self.room, self.read, self.make, self.big = fault, room, read, make, big
        self.storages: dict[str, Storage] = {}
        self.made: dict[View, Any] = {}
        self.ready = False  # to make tensors

    def persist(self, told: Any) -> Storage | Part:
        """The storage that a pickle refers to by ("storage", kind, key, place, number of elements)."""
        if type(told) is not tuple or not told or type(told[0]) is not str:
            raise self.fault(f"the pickle refers to {short(told)}, which is no storage of numbers")
        if told[0] == "module" and len(told) > 1:
            raise self.fault(
                f"it holds a whole model ({short(told[1])}), a program; in PyTorch, save model.state_dict()"
            )
        if len(told) not in (5, 6) or told[0] != "storage" or not isinstance(told[1], Kind):
            raise self.fault(f"the pickle refers to {short(told)}, which is no storage of numbers")
        _, kind, key, _, numel, *part = told
        if type(key) is not str or type(numel) is not int or not 0 <= numel < 2**60:
            raise self.fault(f"the pickle refers to storage {short(key)} of {short(numel)} elements")
        found = self.storages.setdefault(key, Storage(key, kind.dtype, numel))
        if (found.dtype, found.numel) != (kind.dtype, numel):
            raise self.fault(
                f"storage {short(key)} is told in two ways: {found.numel} {found.dtype}, {numel} {kind.dtype}"
            )
        return self.part(found, part[0]) if part and part[0] is not None else found

    def part(self, storage: Storage, told: Any) -> Part:
        _key, offset, numel = told
        if type(offset) is not int or type(numel) is not int or not 0 <= offset <= offset + numel <= storage.numel:
            raise self.fault(f"a part of storage {short(storage.key)}, {short(told)}, is not inside it")
        return Part(storage, offset, numel)

    def rebuild(self, storage: Any, offset: Any, size: Any, stride: Any, dtype: Any) -> Any:
        """A tensor, or before the second reading the promise of one."""
        if isinstance(storage, Part):
            offset, storage = offset + storage.offset, storage.storage
        if not isinstance(storage, Storage) or not (dtype is None or isinstance(dtype, DType)):
            raise self.fault(f"the pickle makes a tensor of {short(storage)} and {short(dtype)}")
        view = self.view(storage, dtype or storage.dtype, offset, size, stride)
        if view not in self.made:
            self.made[view] = view
            storage.waiting += 1
        elif self.ready and isinstance(self.made[view], View):
            self.made[view] = self.look(storage, view)
        return self.made[view]

    def view(self, storage: Storage, dtype: DType, offset: Any, size: Any, stride: Any) -> View:
        """The view, if it stays inside its storage."""
        what = f"a tensor in storage {short(storage.key)}"
        shape, steps = sizes(size, dtype.itemsize, what, self.fault), whole(stride, what, self.fault)
        if len(shape) != len(steps) or type(offset) is not int or offset < 0:
            raise self.fault(f"{what}: offset {short(offset)}, shape {shape}, strides {steps} do not go together")
        view = View(
            storage.key, dtype, offset, shape, tuple([s if n > 1 else 0 for n, s in zip(shape, steps, strict=True)])
        )
        if view.last * dtype.itemsize > storage.nbytes:
            raise self.fault(f"{what} reaches to element {view.last}, behind its {storage.numel} elements")
        return view

    def look(self, storage: Storage, view: View) -> Any:
        """The numbers of a view."""
        from numpy.lib.stride_tricks import as_strided

        if storage.data is None:
            storage.data = self.read(storage)
        start, stop = (n * view.dtype.itemsize for n in (view.offset, view.last))
        flat = decode(memoryview(storage.data)[start:stop], view.dtype, self.fault, self.big)
        storage.waiting -= 1
        if not storage.waiting:
            storage.data = None
        return self.make(as_strided(flat, view.size, [n * flat.itemsize for n in view.stride], writeable=False))

    def unlock(self) -> None:
        """From here on tensors are made; what they take together is known."""
        total = sum([view.nbytes for view in self.made])
        if total > self.room:
            raise self.fault(
                f"its tensors would take {total} bytes, at most {self.room} are allowed; "
                f"if it is to be trusted: load_torch with limit={total}"
            )
        self.ready = True
