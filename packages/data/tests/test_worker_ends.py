"""Worker processes and their memory: shared, used again, and at an end with the epoch, the iterator, the loader."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data
from plugrad_data import shared

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at what a fork leaves")

HALF = "bfloat16" if find_spec("ml_dtypes") else "float16"


class Rows(data.Dataset):
    """Sample i is a row of a thousand i, and the process that made it."""

    def __init__(self, n: int = 12, wide: int = 4000) -> None:
        self.n, self.wide = n, wide

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> tuple[pg.Tensor, int]:
        return pg.full((self.wide,), float(i)), os.getpid()


def loader(dataset: Any = None, **options: Any) -> data.DataLoader:
    given = {"batch_size": 2, "num_workers": 2, "multiprocessing_context": "fork", **options}
    return data.DataLoader(Rows() if dataset is None else dataset, **given)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """No process, no descriptor, and no name in shared memory."""
    gc.collect()
    named, before = set(os.listdir("/dev/shm")), descriptors()
    yield
    assert not multiprocessing.active_children()
    gc.collect()
    assert descriptors() == before
    assert {n for n in set(os.listdir("/dev/shm")) - named if "plugrad" in n} == set()


def test_with_the_epoch_and_the_iterator() -> None:
    for batches in (loader(), loader(data.TensorDataset(pg.arange(9)))):
        assert len(list(batches)) == len(batches)
        assert not multiprocessing.active_children()
        for _ in batches:
            break
        assert not multiprocessing.active_children()
        running = iter(batches)
        next(running)
        assert len(multiprocessing.active_children()) == 2
        del running
        assert not multiprocessing.active_children()


def test_with_the_loader_when_they_persist() -> None:
    batches = loader(persistent_workers=True)
    first = {int(pid) for _, pids in batches for pid in pids}
    assert {p.pid for p in multiprocessing.active_children()} == first
    for _ in batches:  # what was made ahead is not seen in the next epoch
        break
    rows = [(x[:, 0].tolist(), {int(p) for p in pids}) for x, pids in batches]
    assert [x for x, _ in rows] == [[i, i + 1] for i in range(0, 12, 2)]
    assert set.union(*(pids for _, pids in rows)) == first
    del batches
    gc.collect()
    assert not multiprocessing.active_children()


def test_two_epochs_at_a_time_over_persistent_workers() -> None:
    batches = loader(persistent_workers=True)
    pairs = [(a[:, 0].tolist(), b[:, 0].tolist()) for (a, _), (b, _) in zip(batches, batches, strict=True)]
    assert pairs == [([i, i + 1],) * 2 for i in range(0, 12, 2)]
    assert len(multiprocessing.active_children()) == 2


def test_a_long_sample_is_not_waited_for() -> None:
    class Long(Rows):
        def __getitem__(self, i: int) -> int:
            time.sleep(60 if i else 0)
            return i

    start = time.monotonic()
    next(iter(loader(Long(), batch_size=1)))
    assert time.monotonic() - start < 30


def test_a_copied_loader_has_no_workers() -> None:
    import copy

    batches = loader(persistent_workers=True)
    next(iter(batches))
    assert copy.copy(batches)._pool is None
    assert len(multiprocessing.active_children()) == 2


def test_batches_lie_on_shared_memory_and_keep_their_values() -> None:
    """In turn on the same slots while each is dropped; in memory of their own where a program keeps them all."""
    ends = set()
    for x, _ in loader(Rows(40)):
        ends.add(x.data.ctypes.data)
        assert not x.data.flags.owndata
    assert len(ends) < 12  # of 20 batches
    kept = [x for x, _ in loader(Rows(40))]
    assert [x.tolist() for x in kept] == [[[float(i)] * 4000, [i + 1.0] * 4000] for i in range(0, 40, 2)]
    parts = [x[1, :3] for x, _ in loader(Rows(40))]  # a piece keeps its batch
    assert [x.tolist() for x in parts] == [[i + 1.0] * 3 for i in range(0, 40, 2)]


def test_batches_of_all_sizes_and_kinds() -> None:
    class Sizes(data.Dataset):
        def __len__(self) -> int:
            return 24

        def __getitem__(self, i: int) -> dict[str, Any]:
            n = [0, 3, 40_000, 100, 9_000, 1][i % 6]
            return {
                "f": pg.full((n, 2), 0.5, dtype="float64"), "h": pg.full((n,), 1.5, dtype=HALF),
                "b": pg.ones((n,), dtype="bool"), "0": pg.tensor(float(i), dtype="float16"), "a": np.full(n, i, "u2"),
                "t": "x" * n, "leaf": pg.full((2, n), 2.0).requires_grad_(), "strided": np.full((2, n), i)[:, ::2],
            }  # fmt: skip

    def shown(b: dict[str, Any]) -> Any:
        return {k: v if isinstance(v, str) else (str(v.dtype), v.shape, v.tolist()) for k, v in b.items()}

    options = {"batch_size": None, "collate_fn": dict}
    expected = [shown(b) for b in data.DataLoader(Sizes(), **options)]
    found = []
    for b in loader(Sizes(), **options):
        found.append(shown(b))
        assert b["leaf"].requires_grad and b["leaf"].is_leaf
        b["a"] += 1  # arrays are the program's own
    assert found == expected


def test_memory_that_a_forked_child_sees_is_not_used_again() -> None:
    """The parent drops the batch; the child reads it when all others were made."""
    batches = iter(loader(Rows(40)))
    next(batches)
    x, _ = next(batches)
    told, tell = os.pipe()
    answer, back = os.pipe()
    child = os.fork()
    if not child:
        os.read(told, 1)
        os.write(back, b"y" if set(np.asarray(x.data)[0].tolist()) == {2.0} else b"n")
        os._exit(0)
    del x
    assert sum(1 for _ in batches) == 18
    os.write(tell, b"g")
    assert os.read(answer, 1) == b"y"
    os.waitpid(child, 0)
    for fd in (told, tell, answer, back):
        os.close(fd)


def test_without_a_way_to_hand_over_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "can_share", lambda: False)
    big = Rows(8, 100_000)
    found = [x[:, -1].tolist() for x, _ in loader(big)]
    assert found == [[0, 1], [2, 3], [4, 5], [6, 7]]
    next(iter(loader(big)))  # a worker that is in the middle of a long message


def test_moved_to_a_device() -> None:
    batch = next(iter(loader([{"a": pg.ones((2000,))}], device=pg.device("cpu"))))
    assert batch["a"].device is pg.device("cpu")


def test_an_order_that_holds_with_any_number_of_batches_ahead() -> None:
    assert [x[:, 0].tolist() for x, _ in islice(loader(Rows(30), prefetch_factor=7), 9)] == [
        [i, i + 1] for i in range(0, 18, 2)
    ]
