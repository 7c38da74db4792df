"""What a data set can learn of the worker process that it runs in."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo(NamedTuple):
    """A worker process of a DataLoader.

    id            its number, from 0
    num_workers   how many there are
    seed          seed of the epoch + id
    dataset       its copy of the data set
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_here: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The worker that this code runs in; None in the main process. A stream divides its samples by it."""
    return _here


def settle(info: WorkerInfo) -> None:
    """This process is a worker from now on, or has a new seed."""
    global _here
    _here = info
