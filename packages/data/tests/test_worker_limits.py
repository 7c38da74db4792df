"""What a worker cannot send, or cannot do: an error in words, and no worker that dies of it."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

import plugrad as pg
import plugrad_data as data

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="these data sets are not to be imported by a worker"
)


class Stubborn(data.IterableDataset):
    """Its state cannot leave the worker."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(3))

    def state_dict(self) -> Any:
        return {"place": threading.Lock()}

    def load_state_dict(self, state: Any) -> None:
        raise AssertionError(state)


def test_a_state_of_a_stream_that_cannot_be_pickled() -> None:
    with pytest.raises(
        pickle.PicklingError, match=r"batch 0 cannot leave its worker: state\[0\]\['place'\] is of type"
    ):
        list(data.DataLoader(Stubborn(), num_workers=1, multiprocessing_context="fork"))


class Homesick:
    """Comes out of pickle nowhere but where it was made."""

    def __init__(self) -> None:
        self.pid = os.getpid()

    def __setstate__(self, state: Any) -> None:
        if state["pid"] != os.getpid():
            raise LookupError("not at home")


def test_a_batch_that_does_not_come_out_of_pickle() -> None:
    loader = data.DataLoader([1], num_workers=1, multiprocessing_context="fork", collate_fn=lambda _: Homesick())
    with pytest.raises(LookupError, match="not at home") as caught:
        list(loader)
    assert "while batch 0 of DataLoader worker 0" in caught.value.__notes__[0]


def test_memory_that_is_not_to_be_had() -> None:
    """A worker that finds no shared memory says so, and lives on."""

    def short(_: int) -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def pictures(batch: list[int]) -> pg.Tensor:
        return pg.zeros(1 << 20 if batch == [1] else 1 << 10)

    loader = data.DataLoader(
        range(3), num_workers=1, multiprocessing_context="fork", collate_fn=pictures, worker_init_fn=short
    )
    batches = iter(loader)
    assert next(batches).size == 1 << 10
    with pytest.raises(OSError, match="File too large") as caught:
        next(batches)
    assert "raised in DataLoader worker 0" in caught.value.__notes__[-1]


def test_workers_of_a_worker() -> None:
    class Inside(list[int]):
        def __getitem__(self, i: Any) -> Any:
            return sum(x.item() for x in data.DataLoader(range(4), num_workers=n))

    n = 0
    assert next(iter(data.DataLoader(Inside([1]), num_workers=1, multiprocessing_context="fork"))).tolist() == [6]
    n = 1
    with pytest.raises(RuntimeError, match="num_workers=1 inside a process that may have no children"):
        list(data.DataLoader(Inside([1]), num_workers=1, multiprocessing_context="fork"))
