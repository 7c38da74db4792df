"""The worker process of a DataLoader: makes the batches that it is asked for until its parent is done, or gone."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import plugrad as pg

from . import info, seeds
from .failure import packed
from .maker import END, Maker
from .shared import Outbox, pickled
from .shipping import culprit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection

    from .shipping import Shipped

__all__ = ["BATCH", "FAILED", "GRACE", "OPEN", "main"]

GRACE = 2.0  # seconds for the sample in hand once the parent is done
WATCH = 1.0  # seconds between two looks at the parent
BEFORE = 2**63  # in place of a batch's number: the random states that `worker_init_fn` runs with
BATCH, FAILED = "batch", "failed"
OPEN: WeakSet[Any] = WeakSet()  # the parent's ends of pipes, which a forked child is to close


class Abandoned(BaseException):
    """Nobody waits for this batch any more."""


class Worker:
    """Worker `id` of `n`, with its end of the pipe."""

    def __init__(self, conn: Connection, shipped: Shipped, id: int, n: int) -> None:
        self.conn, self.shipped, self.id, self.n = conn, shipped, id, n
        self.outbox = Outbox(conn)
        self.tasks: SimpleQueue[Any] = SimpleQueue()
        self.newest = self.epoch = 0  # epochs: the last that was asked for, the one in hand
        self.maker: Maker | None = None
        self.fault: tuple[Any, ...] | None = None  # what went wrong before the first batch

    def listen(self) -> None:
        """In a thread of its own: take tasks, so that the parent never waits, and notice when it is gone."""
        parent = os.getppid()
        try:
            while True:
                if self.conn.poll(WATCH):
                    task = self.conn.recv()
                    self.newest = task[1]
                    self.tasks.put(task)
                elif os.getppid() != parent or not _parent_lives():
                    break
        except (EOFError, OSError):
            pass
        self.newest = -1
        self.tasks.put(None)
        time.sleep(GRACE)
        os._exit(1)

    def run(self) -> None:
        """Answer until there is nobody to answer."""
        Thread(target=self.listen, daemon=True).start()
        for kind, epoch, *task in iter(self.tasks.get, None):
            try:
                self.begin(epoch, *task) if kind == "begin" else self.answer(epoch, *task)
            except Abandoned:
                pass
            except (BrokenPipeError, ConnectionResetError):
                return

    def walk(self, samples: Iterable[Any]) -> Iterator[Any]:
        """`samples`, as long as somebody waits for them."""
        for x in samples:
            if self.newest != self.epoch:
                raise Abandoned
            yield x

    def begin(self, epoch: int, seed: int, skip: int, state: Any) -> None:
        """A new epoch."""
        self.epoch, self.fault = epoch, None
        try:
            if self.maker is None:
                self.maker = self.settled(seed)
            info.settle(info.WorkerInfo(self.id, self.n, seed + self.id, self.maker.dataset))
            self.maker.begin(seed, skip, state)
        except Abandoned:
            raise
        except BaseException as error:
            self.fault = packed(error)

    def settled(self, seed: int) -> Maker:
        """What makes the batches, and `worker_init_fn` called."""
        given = self.shipped.load()
        maker: Maker = given["maker"]
        maker.states, maker.walk, maker.worker, maker.workers = seeds.planted, self.walk, self.id, self.n
        info.settle(info.WorkerInfo(self.id, self.n, seed + self.id, maker.dataset))
        seeds.settle()
        seeds.sow(seed + self.id, BEFORE)
        if given["worker_init_fn"] is not None:
            given["worker_init_fn"](self.id)
        return maker

    def answer(self, epoch: int, free: list[int], retired: list[int], k: int, indices: Any) -> None:
        """Batch k, END, or what went wrong."""
        self.outbox.give_back(free, retired)
        if epoch != self.newest:
            return
        kind, content = self.made(k, indices)
        try:
            self.outbox.send((epoch, kind), content)
        except (BrokenPipeError, ConnectionResetError):
            raise
        except (OSError, MemoryError) as error:  # no room for the batch
            self.outbox.send((epoch, FAILED), pickled(packed(error)))

    def made(self, k: int, indices: Any) -> tuple[str, tuple[bytes, Any]]:
        """What to send: a batch and the state of a stream, END, or what went wrong."""
        if self.fault is not None:
            return FAILED, pickled(self.fault)
        maker: Any = self.maker
        try:
            batch = maker.make(k, indices)
            return (END, pickled(None)) if batch is END else (BATCH, _sendable(batch, maker.state(), k))
        except Abandoned:
            raise
        except BaseException as error:
            return FAILED, pickled(packed(error))


def _sendable(batch: Any, state: Any, k: int) -> tuple[bytes, Any]:
    try:
        return pickled((batch, state))
    except Exception as error:
        place, reason = culprit({"batch": batch, "state": state}, "", error)
        raise pickle.PicklingError(f"DataLoader: batch {k} cannot leave its worker: {place} {reason}") from error


def _parent_lives() -> bool:
    parent = multiprocessing.parent_process()
    return parent is None or parent.is_alive()


def main(conn: Connection, shipped: Shipped, id: int, n: int, device: str) -> None:
    """A worker process, from its start to its end. Ctrl-C is for the parent, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for end in list(OPEN):
        end.close()
    with pg.device(device):
        Worker(conn, shipped, id, n).run()
