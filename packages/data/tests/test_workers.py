"""Worker processes: the batches of the main process, in the same order, with the same random numbers and state."""

from __future__ import annotations

import functools
import json
import multiprocessing
import random
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data
from plugrad_data import get_worker_info, transforms
from plugrad_data.held import held

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="these data sets are not to be imported by a worker"
)
FORK = {"multiprocessing_context": "fork"}


def workers(n: int, **options: Any) -> dict[str, Any]:
    return {"num_workers": n, **FORK, **options} if n else {}


class Noisy(data.Dataset):
    """Its number, and one from each generator that it could draw from."""

    def __init__(self, n: int) -> None:
        self.n, self.rng = n, np.random.default_rng(3)
        self.inner = {"python": random.Random(4), "both": [pg.Generator(5), pg.Generator(6)]}
        self.crop = transforms.RandomCrop(4, generator=pg.Generator(7))

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> dict[str, Any]:
        drawn = [
            random.random(), np.random.rand(), pg.rand(()).item(), self.rng.random(), self.inner["python"].random(),
            *[pg.rand((), generator=g).item() for g in self.inner["both"]],
        ]  # fmt: skip
        return {"i": i, "drawn": drawn, "crop": self.crop(pg.arange(81).reshape(1, 9, 9))}


def flat(batch: dict[str, Any]) -> list[Any]:
    columns = [t.tolist() for t in batch["drawn"]]
    return [(i, *row) for i, *row in zip(batch["i"].tolist(), *columns, batch["crop"].sum(axis=(1, 2, 3)).tolist())]  # noqa: B905


class Counting(data.IterableDataset):
    """From 0 up to n, divided among the workers; every n-th number is a worker's."""

    def __init__(self, n: int) -> None:
        self.n = n

    def numbers(self) -> range:
        info = get_worker_info()
        return range(info.id, self.n, info.num_workers) if info else range(self.n)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return ((i, random.random()) for i in self.numbers())


class Resumed(Counting):
    """The same, and knows where it is."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.read, self.skipped = 0, 0

    def __iter__(self) -> Iterator[tuple[int, float]]:
        start, self.skipped = self.skipped, 0
        self.read = start
        for i in self.numbers()[start:]:
            self.read += 1
            yield i, random.random()
        self.read = 0

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.skipped = state["read"]


def lists(batches: Any) -> list[Any]:
    return [[t.tolist() for t in batch] for batch in batches]


@pytest.mark.parametrize("options", [workers(1), workers(3, prefetch_factor=1), workers(2, persistent_workers=True)])
def test_the_batches_of_the_main_process(options: dict[str, Any]) -> None:
    """Whatever the number of workers: order, values, random numbers; and the program's own generators stay."""

    def epochs(**options: Any) -> list[Any]:
        pg.manual_seed(8)
        random.seed(8)
        np.random.seed(8)
        loader = data.DataLoader(Noisy(11), 3, shuffle=True, **options)
        seen = [[flat(b) for b in loader] for _ in range(2)]
        return [seen, random.random(), np.random.rand(), pg.rand(()).item()]

    expected, found = epochs(), epochs(**options)
    assert found == expected
    rows = [row for epoch in expected[0] for batch in epoch for row in batch]
    for column in range(1, 8):
        assert len({row[column] for row in rows}) == len(rows)


def test_loading_draws_nothing_from_the_programs_generators() -> None:
    np.random.seed(2)
    expected = np.random.randn(4).tolist()
    np.random.seed(2)
    loader = data.DataLoader(Noisy(4), generator=pg.Generator(1))
    dataset = loader.dataset
    states = pg.get_rng_state(), random.getstate(), dataset.rng.bit_generator.state, dataset.crop.generator.get_state()
    found = [np.random.randn() for _ in loader]  # the second of each pair of normal numbers is one in reserve
    assert found == expected
    assert states == (
        pg.get_rng_state(), random.getstate(), dataset.rng.bit_generator.state, dataset.crop.generator.get_state(),
    )  # fmt: skip


def test_a_repeated_run_and_another() -> None:
    def run(seed: int) -> list[Any]:
        return [flat(b) for b in data.DataLoader(Noisy(6), 2, generator=pg.Generator(seed), **workers(2))]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_what_a_worker_knows_of_itself() -> None:
    class Told(data.Dataset):
        def __len__(self) -> int:
            return 8

        def __getitem__(self, i: int) -> Any:
            info = get_worker_info()
            return None if info is None else (info.id, info.num_workers, info.dataset is self, info.seed, self.called)

    def init(worker: int) -> None:
        get_worker_info().dataset.called = 10 + worker

    loader = data.DataLoader(
        Told(), 2, worker_init_fn=init, collate_fn=list, generator=pg.Generator(1),
        **workers(2, persistent_workers=True),
    )  # fmt: skip
    first, second = list(loader), list(loader)
    for rows in (first, second):
        assert [[r[:3] + r[4:] for r in batch] for batch in rows] == [[(w, 2, True, 10 + w)] * 2 for w in (0, 1, 0, 1)]
        assert rows[0][0][3] == rows[1][0][3] - 1
    assert first[0][0][3] != second[0][0][3]
    assert get_worker_info() is None
    assert list(data.DataLoader(Told(), 8, collate_fn=list)) == [[None] * 8]


@pytest.mark.parametrize(("before", "after"), [(0, 2), (1, 0), (2, 3), (3, 1)])
@pytest.mark.parametrize("taken", [0, 1, 5])
def test_going_on_in_the_middle_with_other_workers(before: int, after: int, taken: int) -> None:
    """Exactly the samples that were not given, in order, augmented as they would have been; twice saved is once."""

    def make(n: int) -> data.DataLoader:
        return data.DataLoader(Noisy(13), 3, shuffle=True, generator=pg.Generator(9), **workers(n))

    def stream(loader: data.DataLoader) -> Iterator[Any]:
        while True:
            yield from map(flat, loader)

    expected = list(islice(stream(make(0)), 11))
    loader = make(before)
    running = stream(loader)
    assert list(islice(running, taken)) == expected[:taken]
    state = json.loads(json.dumps(loader.state_dict()))
    running.close()
    middle, fresh = make(after), make(after)
    middle.load_state_dict(state)
    fresh.load_state_dict(middle.state_dict())
    assert fresh.epoch == loader.epoch
    assert list(islice(stream(fresh), 11 - taken)) == expected[taken:]
    assert fresh.epoch == 2


def test_going_on_with_persistent_workers() -> None:
    loader = data.DataLoader(
        Noisy(9), 2, shuffle=True, generator=pg.Generator(3), **workers(2, persistent_workers=True)
    )
    running = iter(loader)
    next(running), next(running)
    state = loader.state_dict()
    rest = [flat(b) for b in running]
    later = [flat(b) for b in loader]
    loader.load_state_dict(state)
    assert [flat(b) for b in loader] == rest
    assert [flat(b) for b in loader] == later


def test_a_stream_divided_among_workers() -> None:
    """In turns, worker after worker, until each is through."""
    loader = data.DataLoader(Counting(11), 2, **workers(3))
    found = [x for x, _ in lists(loader)]
    assert found == [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8]]
    assert sorted(chain(*found)) == list(range(11))
    assert [x for x, _ in lists(data.DataLoader(Counting(11), 2, drop_last=True, **workers(3)))] == found[:5]
    assert [x for x, _ in data.DataLoader(Counting(5), None, **workers(2))] == [0, 1, 2, 3, 4]
    assert [x for x, _ in lists(data.DataLoader(Counting(1), 2, **workers(3)))] == [[0]]  # two have nothing


@pytest.mark.parametrize("kind", [Counting, Resumed])
@pytest.mark.parametrize(("n", "taken"), [(0, 1), (0, 6), (1, 3), (2, 3), (3, 1), (3, 4), (3, 5)])
def test_going_on_in_a_stream(kind: Any, n: int, taken: int) -> None:
    """Also where some workers are through already (after 4 of 6 batches with three of them)."""

    def make() -> data.DataLoader:
        return data.DataLoader(kind(11), 2, generator=pg.Generator(3), **workers(n))

    whole = make()
    expected, later = lists(whole), lists(whole)
    assert later != expected  # other random numbers
    assert [x for x, _ in later] == [x for x, _ in expected]
    loader = make()
    running = iter(loader)
    assert lists(islice(running, taken)) == expected[:taken]
    state = json.loads(json.dumps(loader.state_dict()))
    fresh = make()
    fresh.load_state_dict(state)
    assert lists(fresh) == expected[taken:]
    assert lists(fresh) == later


def test_a_stream_goes_on_where_it_says() -> None:
    """With a state of its own nothing is read twice."""
    loader = data.DataLoader(Resumed(10), 2)
    next(iter(loader))
    state = loader.state_dict()
    assert state["stream"] == {"taken": [1], "states": [[{"read": 2}, False]], "turn": 0}
    fresh = data.DataLoader(Resumed(10), 2)
    fresh.load_state_dict(state)
    assert next(iter(fresh))[0].tolist() == [2, 3]
    assert fresh.dataset.read == 4


def test_a_stream_divided_otherwise_is_refused() -> None:
    loader = data.DataLoader(Counting(9), 2, **workers(2))
    running = iter(loader)
    next(running)
    state = loader.state_dict()
    with pytest.raises(ValueError, match="divided among 2 workers, this loader has 3"):
        data.DataLoader(Counting(9), 2, **workers(3)).load_state_dict(state)
    assert len(lists(running)) == 4
    data.DataLoader(Counting(9), 2, **workers(3)).load_state_dict(loader.state_dict())  # between two epochs


def test_where_generators_are_found() -> None:
    g = [pg.Generator(i) for i in range(6)]

    class Holder:
        def __init__(self, g: pg.Generator) -> None:
            self.rng, self.again, self.me = g, g, self

        def method(self) -> None: ...

    def closed(x: Any = None) -> Any:
        return g[0], unset

    if g is None:
        unset = 0
    roots = [Holder(g[1]), {"a": (g[2],)}, functools.partial(print, g[3], end=Holder(g[4]).method), g[1]]
    assert [h.generator for h in held(*roots)] == g[1:5]
    assert [h.generator for h in held(closed)] == g
    assert held([g[0]] * 1000, pg.default_generator, int, Holder) == []  # data, the global one, a class
