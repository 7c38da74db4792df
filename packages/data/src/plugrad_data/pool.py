"""The worker processes of a DataLoader, from outside: start, ask in turn, take in order, notice an end, stop."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
import weakref
from collections import deque
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from . import seeds, worker
from .failure import unpacked
from .maker import END
from .shared import Inbox
from .shipping import Shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .place import Place

__all__ = ["Pool"]

LOOK = 2.0  # seconds between two looks at a process that is silent
HURRY = 0.2  # seconds for workers that hang, or after Ctrl-C
HINTS = {
    "SIGKILL": "; if the system did that, memory was short: fewer workers, or a smaller prefetch_factor",
    "SIGSEGV": "; native code crashed: run with num_workers=0 and python -X faulthandler to see where",
    "SIGBUS": "; the system is out of shared memory: fewer workers, or a smaller prefetch_factor",
}
UNBORN = (
    "; it did not come to load the data set: a program whose workers are not forked has its main part under "
    "if __name__ == '__main__':"
)


class Child:
    """One worker: its process, its pipe, and the numbers of the batches that it was asked for."""

    def __init__(self, context: Any, shipped: Shipped, id: int, n: int, device: str) -> None:
        self.id, self.epoch, self.forked = id, 0, context.get_start_method() == "fork"
        self.asked: deque[int] = deque()
        self.heard = False
        here, there = context.Pipe()
        self.inbox = Inbox(here)
        worker.OPEN.update(end for end in (here, self.inbox.line) if end is not None)
        self.process = context.Process(
            target=worker.main, args=(there, shipped, id, n, device), name=f"plugrad-data-{id}", daemon=True
        )
        try:
            with _undisturbed():
                self.process.start()
        except BaseException:
            self.inbox.close()
            raise
        finally:
            there.close()
        self.pid = self.process.pid

    def __str__(self) -> str:
        return f"DataLoader worker {self.id} (pid {self.pid})"

    def tell(self, task: tuple[Any, ...]) -> None:
        """Send a task. A worker that is gone is found when its answer is taken."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.inbox.conn.send(task)

    def begin(self, epoch: int, seed: int, skip: int, state: Any) -> None:
        self.epoch = epoch
        self.asked.clear()
        self.tell(("begin", epoch, seed, skip, state))

    def ask(self, k: int, indices: Any) -> None:
        """Ask for batch k."""
        self.asked.append(k)
        self.tell(("batch", self.epoch, *self.inbox.returned(), k, indices))

    def take(self, timeout: float) -> tuple[str, Any]:
        """The next answer of this epoch: its kind, and (batch, state of a stream) or what went wrong."""
        while True:
            self.wait(timeout)
            try:
                (epoch, kind), content = self.inbox.receive()
            except (EOFError, ConnectionResetError):
                raise self.ended() from None
            self.heard = True
            if epoch == self.epoch:
                return kind, self.opened(content)
            content(False)

    def opened(self, content: Any) -> Any:
        """What a message holds, which is the answer to what was asked first."""
        k = self.asked.popleft()
        try:
            return content(True)
        except Exception as error:
            error.add_note(f"while batch {k} of {self} was unpickled")
            raise

    def wait(self, timeout: float) -> None:
        """Until there is an answer; RuntimeError if there will be none."""
        conn, end = self.inbox.conn, time.monotonic() + (timeout or float("inf"))
        while conn not in wait([conn, self.process.sentinel], min(LOOK, max(0.0, end - time.monotonic()))):
            if self.process.exitcode is not None and not conn.poll():
                raise self.ended()
            if time.monotonic() >= end:
                raise RuntimeError(
                    f"{self} has not sent batch {self.asked[0]} within {timeout} s, the timeout of this loader: "
                    "it hangs, or needs longer"
                )

    def ended(self) -> RuntimeError:
        """The error that says how the process came to its end."""
        self.process.join(worker.GRACE)
        code = self.process.exitcode
        if code is None:
            return RuntimeError(f"{self} closed its pipe, and goes on")
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
            return RuntimeError(f"{self} was killed by signal {-code} ({name}){HINTS.get(name, '')}")
        hint = "" if self.heard or self.forked else UNBORN
        return RuntimeError(f"{self} ended with exit code {code} before its work was done{hint}")


class Pool:
    """Worker processes that make batches, until `stop` or until nobody holds this object."""

    def __init__(self, maker: Any, n: int, context: Any, init: Any, timeout: float, prefetch: int, device: str) -> None:
        if multiprocessing.current_process().daemon:
            raise RuntimeError(
                f"DataLoader: num_workers={n} inside a process that may have no children, such as a worker of another "
                "loader; pass num_workers=0 there"
            )
        self.timeout, self.prefetch = timeout, prefetch
        self.busy = False
        self.sound = True  # nothing is half sent, half read, or hanging
        self.epoch = 0
        self.children: list[Child] = []
        self.finalizer = weakref.finalize(self, _stop, os.getpid(), self.children, worker.GRACE)
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        _prepare(context.get_start_method())
        with seeds.sown(0, 0):  # a thread may hold a lock of `import` at the fork: workers find all imported
            pass
        shipped = Shipped(maker=maker, worker_init_fn=init)
        try:
            for i in range(n):
                self.children.append(Child(context, shipped, i, n, device))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the processes."""
        if self.finalizer.detach():
            _stop(os.getpid(), self.children, worker.GRACE if self.sound else HURRY)

    def run(self, tasks: Iterator[tuple[int, Any]], seed: int, place: Place, keep: bool) -> Iterator[Any]:
        """The batches of one epoch, in order; then, and when nobody takes any more, stop unless `keep`."""
        self.busy, self.sound = True, False
        try:
            yield from self.batches(tasks, seed, place)
        finally:
            self.busy = False
            if not keep or not self.sound:
                self.stop()

    def batches(self, tasks: Iterator[tuple[int, Any]], seed: int, place: Place) -> Iterator[Any]:
        self.epoch += 1
        for child in self.children:
            child.begin(self.epoch, seed, place.taken[child.id], place.states[child.id])
        n, feed = len(self.children), Feed(tasks)
        turns = deque(self.children[(place.turn + i) % n] for i in range(n))
        for _ in range(self.prefetch):
            for child in turns:
                feed.give(child)
        while turns:
            child = turns.popleft()
            if not child.asked:
                continue
            kind, content = child.take(self.timeout)
            self.sound = True
            if kind == worker.FAILED:
                raise unpacked(content, str(child))
            if kind == END:
                continue
            self.sound = False
            feed.give(child)
            turns.append(child)
            batch, state = content
            place.took(child.id, state)
            self.sound = True
            yield batch
            self.sound = False
        self.sound = True
        if feed.error is not None:
            try:
                raise feed.error
            finally:
                del feed  # which would know the exception, which knows this frame


class Feed:
    """Gives workers their tasks; an error of the sampler is kept until the batches before it were taken."""

    def __init__(self, tasks: Iterator[tuple[int, Any]]) -> None:
        self.tasks = tasks
        self.error: Exception | None = None

    def give(self, child: Child) -> None:
        try:
            task = next(self.tasks, None)
        except Exception as error:
            self.error = error
            return
        if task is not None:
            child.ask(*task)


def _stop(owner: int, children: list[Child], grace: float) -> None:
    """Close the pipes, which tells the workers; who is not gone after `grace` seconds is ended."""
    if os.getpid() != owner:  # a forked child holds a copy of the pool, not its processes
        return
    for child in children:
        child.inbox.close()
    end = time.monotonic() + grace + HURRY
    for how in (None, "terminate", "kill"):
        for child in children:
            if how is not None and child.process.is_alive():
                getattr(child.process, how)()
        for child in children:
            child.process.join(max(0.0, end - time.monotonic()))
        end = time.monotonic() + worker.GRACE
    for child in children:
        if child.process.exitcode is not None:
            child.process.close()
    children.clear()


def _prepare(method: str) -> None:
    """Start what a method starts on the way, which is not to inherit that Ctrl-C is held back."""
    if method == "spawn" and os.name == "posix":
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()
    elif method == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Start a process with Ctrl-C held back: the child sees none before it can ignore it, this process sees it after.

    Python warns of a fork while other threads run. A worker uses none of their locks, so that nothing is said where
    these are threads of native libraries alone (NumPy's prepare for a fork).
    """
    with warnings.catch_warnings():
        if threading.active_count() == 1:
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
