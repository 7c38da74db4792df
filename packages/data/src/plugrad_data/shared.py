"""Batches from a worker to the main process: arrays through shared memory, which tensors then own, the rest by pickle.

A worker writes the arrays of a batch into a slot: memory without a name, so that nothing is left behind however the
processes end. The main process puts arrays on the slot without a copy. Once the last of them is gone, the slot goes
back to its worker. A program that keeps its batches gets copies, and slots stay few.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import socket
import tempfile
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

__all__ = ["Inbox", "Outbox", "pickled"]

SMALL = 4096  # bytes that go through the pipe
ALIGN = 64  # between arrays of a slot
LEAST = 1 << 16  # bytes of a slot
LENT = 2  # slots of a worker that batches in the program's hands may keep
_forks = 0  # of this process: a child sees the slots that were lent when it was forked, so they are not used again


def _forked() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_forked)


def can_share() -> bool:
    """Memory is handed over as a file descriptor, where the system has that; elsewhere arrays go through the pipe."""
    return hasattr(socket, "send_fds")


def line(conn: Connection) -> socket.socket:
    """The socket of a pipe, to hand over memory."""
    sock = socket.socket(fileno=os.dup(conn.fileno()))
    sock.setblocking(True)  # whatever socket.setdefaulttimeout says
    return sock


def _memory(size: int) -> int:
    """A file descriptor of new memory that has no name."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("plugrad-data")
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, size)
    return fd


class _Pickler(pickle.Pickler):
    """Pickles the arrays of tensors as buffers."""

    def reducer_override(self, x: Any) -> Any:
        if type(x) is not pg.Tensor or not x.is_leaf or not x.size or not isinstance(x.data, (np.ndarray, np.generic)):
            return NotImplemented
        raw: Any = np.ascontiguousarray(x.data).reshape(-1).view(np.uint8)
        return _tensor, (pickle.PickleBuffer(raw), x.shape, str(x.dtype), str(x.device), x.requires_grad)


def _tensor(buffer: Any, shape: Any, dtype: str, device: str, requires_grad: bool) -> pg.Tensor:
    home = pg.device(device)
    array = np.frombuffer(buffer, np.uint8).view(home.backend.dtypes[dtype]).reshape(shape)
    made = pg.asarray(array, device=home, copy=False)
    return made.requires_grad_() if requires_grad else made


def pickled(x: Any) -> tuple[bytes, list[memoryview]]:
    """`x` as bytes, and the memory of its arrays."""
    file, buffers = io.BytesIO(), list[pickle.PickleBuffer]()
    _Pickler(file, 5, True, buffers.append).dump(x)
    return file.getvalue(), [b.raw() for b in buffers]


class Outbox:
    """A worker's side."""

    def __init__(self, conn: Connection) -> None:
        self.conn, self.line = conn, line(conn) if can_share() else None
        self.slots: dict[int, mmap.mmap] = {}
        self.free: list[int] = []
        self.made = 0

    def give_back(self, free: Sequence[int], retired: Sequence[int]) -> None:
        """The main process needs these slots no more; those of `retired` a forked child may still read."""
        self.free += free
        for slot in retired:
            del self.slots[slot]

    def send(self, head: Any, content: tuple[bytes, list[memoryview]]) -> None:
        """`head`, and what `pickled` made of the rest: through a slot where that is large."""
        data, buffers = content
        parts = [*buffers, memoryview(data)]
        if self.line is None or sum(p.nbytes for p in parts) <= SMALL:
            self.conn.send_bytes(pickle.dumps((head, data, [bytearray(p) for p in buffers])))
            return
        ends, size = [], 0
        for p in parts:
            ends.append((size, size + p.nbytes))
            size += -(-p.nbytes // ALIGN) * ALIGN
        slot, dropped, fd = self._slot(size)
        target = memoryview(self.slots[slot])
        for (start, end), p in zip(ends, parts, strict=True):
            target[start:end] = p
        new = 0 if fd is None else len(target)
        self.conn.send_bytes(pickle.dumps((head, slot, new, dropped, ends)))
        if fd is not None:
            socket.send_fds(self.line, [b"s"], [fd])
            os.close(fd)

    def _slot(self, size: int) -> tuple[int, int | None, int | None]:
        """A free slot of this size: its number, one that was given up for it, and the descriptor if it is new."""
        for i, slot in enumerate(self.free):
            if len(self.slots[slot]) >= size:
                del self.free[i]
                return slot, None, None
        dropped = self.free.pop() if self.free else None
        if dropped is not None:
            del self.slots[dropped]
        slot, self.made = self.made, self.made + 1
        full = -(-max(size * 5 // 4, LEAST) // mmap.PAGESIZE) * mmap.PAGESIZE
        fd = _memory(full)
        self.slots[slot] = mmap.mmap(fd, full)
        return slot, dropped, fd


class Inbox:
    """The main process's side of one worker."""

    def __init__(self, conn: Connection) -> None:
        self.conn, self.line = conn, line(conn) if can_share() else None
        self.slots: dict[int, mmap.mmap] = {}
        self.lent: dict[int, Any] = {}
        self.free: list[int] = []
        self.retired: list[int] = []

    def returned(self) -> tuple[list[int], list[int]]:
        """The slots to `give_back`."""
        told = self.free, self.retired
        self.free, self.retired = [], []
        return told

    def receive(self) -> tuple[Any, Any]:
        """The head of the next message, and what to call for the rest, or to leave: the slot is free then."""
        head, *rest = pickle.loads(self.conn.recv_bytes())
        if len(rest) == 2:
            data, buffers = rest
            return head, lambda wanted: pickle.loads(data, buffers=buffers) if wanted else None
        slot, new, dropped, ends = rest
        self.slots.pop(dropped, None)
        if new:
            self.slots[slot] = self._received(new)
        return head, lambda wanted: self._opened(slot, ends) if wanted else self.free.append(slot)

    def _received(self, size: int) -> mmap.mmap:
        fds = socket.recv_fds(self.line, 1, 1)[1]  # type: ignore[arg-type]
        if not fds:
            raise EOFError
        try:
            return mmap.mmap(fds[0], size)
        finally:
            os.close(fds[0])

    def _opened(self, slot: int, ends: list[tuple[int, int]]) -> Any:
        lease: Any = np.frombuffer(self.slots[slot], np.uint8, ends[-1][1])
        if len(self.lent) >= LENT:
            lease = lease.copy()
            self.free.append(slot)
        else:
            self._lend(slot, lease)
        *buffers, data = [lease[start:end] for start, end in ends]
        return pickle.loads(data, buffers=buffers)

    def _lend(self, slot: int, lease: Any) -> None:
        """Until the last array on `lease` is gone."""
        forks = _forks

        def back(_: Any) -> None:
            del self.lent[slot]
            if forks == _forks:
                self.free.append(slot)
            else:
                self.slots.pop(slot, None)
                self.retired.append(slot)

        self.lent[slot] = weakref.ref(lease, back)

    def close(self) -> None:
        """End the connection, for the worker too, whoever else holds copies of its descriptors."""
        if self.line is not None:
            with suppress(OSError):  # it is gone already
                self.line.shutdown(socket.SHUT_RDWR)
            self.line.close()
        self.conn.close()
        self.lent.clear()  # its callbacks know this object
        self.slots.clear()
