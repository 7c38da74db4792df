"""The DataLoader: batches, and going on in the middle of an epoch."""

from __future__ import annotations

import json
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import pytest

import plugrad as pg
import plugrad_data as data

if TYPE_CHECKING:
    from collections.abc import Iterator


class Numbers(data.Dataset):
    """Counts which samples are asked for."""

    def __init__(self, n: int) -> None:
        self.n, self.asked = n, []

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> int:
        self.asked.append(i)
        return i


class Stream(data.IterableDataset):
    def __iter__(self) -> Iterator[int]:
        return iter(range(7))


def lists(loader: data.DataLoader) -> list[Any]:
    return [b.tolist() for b in loader]


def test_batches_in_order() -> None:
    loader = data.DataLoader(Numbers(5), batch_size=2)
    assert lists(loader) == [[0, 1], [2, 3], [4]]
    assert len(loader) == 3
    short = data.DataLoader(Numbers(5), batch_size=2, drop_last=True)
    assert (lists(short), len(short)) == ([[0, 1], [2, 3]], 2)
    assert lists(data.DataLoader([5, 6])) == [[5], [6]]  # a list is a data set


def test_shuffled_from_a_generator() -> None:
    make = lambda: data.DataLoader(Numbers(20), batch_size=6, shuffle=True, generator=pg.Generator(2))  # noqa: E731
    loader = make()
    epochs = lists(loader), lists(loader)
    assert epochs[0] != epochs[1]
    assert all(sorted(chain(*epoch)) == list(range(20)) for epoch in epochs)
    again = make()
    assert (lists(again), lists(again)) == epochs


def test_own_samplers_and_collate() -> None:
    assert lists(data.DataLoader(Numbers(9), batch_size=2, sampler=[7, 1, 3])) == [[7, 1], [3]]
    assert lists(data.DataLoader(Numbers(9), batch_sampler=[[1], [2, 3]])) == [[1], [2, 3]]
    assert len(data.DataLoader(Numbers(9), batch_sampler=[[1], [2, 3]])) == 2
    assert list(data.DataLoader(Numbers(3), batch_size=2, collate_fn=sum)) == [1, 2]


def test_without_batches() -> None:
    loader = data.DataLoader(Numbers(3), batch_size=None)
    assert (list(loader), len(loader)) == ([0, 1, 2], 3)


def test_streams() -> None:
    loader = data.DataLoader(Stream(), batch_size=3)
    assert lists(loader) == [[0, 1, 2], [3, 4, 5], [6]]
    assert lists(data.DataLoader(Stream(), batch_size=3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert list(data.DataLoader(Stream(), batch_size=None)) == list(range(7))
    with pytest.raises(TypeError, match="stream"):
        len(loader)


def test_gathered_batches_are_those_of_the_samples() -> None:
    pairs = data.TensorDataset(pg.arange(10, dtype="float32").reshape(5, 2), pg.arange(5))
    for source in (pairs, data.Subset(pairs, [4, 2, 0])):
        quick = [[t.tolist() for t in b] for b in data.DataLoader(source, batch_size=2)]
        slow = data.DataLoader(source, batch_size=2, collate_fn=lambda b: data.default_collate(b))
        assert quick == [[t.tolist() for t in b] for b in slow]
        assert all(type(b) is tuple for b in data.DataLoader(source))


def test_many_at_once_where_the_data_set_likes() -> None:
    class Rows(Numbers):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return [100 + i for i in indices]

    assert lists(data.DataLoader(Rows(3), batch_size=2)) == [[100, 101], [102]]


def test_a_device_is_where_batches_go() -> None:
    home = pg.device()
    batch = next(iter(data.DataLoader([{"a": 1, "b": ("s", [2.0])}], device=home)))
    assert batch["a"].device is home
    assert batch["b"][1][0].device is home
    assert batch["b"][0] == ["s"]


@pytest.mark.parametrize("taken", range(8))
def test_going_on_in_the_middle_is_never_having_stopped(taken: int) -> None:
    """Saved after `taken` batches, in the loop or between two epochs; the state survives JSON."""

    def make() -> data.DataLoader:
        return data.DataLoader(Numbers(13), batch_size=4, shuffle=True, generator=pg.Generator(3))

    def stream(loader: data.DataLoader) -> Iterator[list[int]]:
        while True:
            yield from (b.tolist() for b in loader)

    whole = stream(make())
    expected = [next(whole) for _ in range(16)]
    loader = make()
    first = stream(loader)
    assert [next(first) for _ in range(taken)] == expected[:taken]
    state = json.loads(json.dumps(loader.state_dict()))
    fresh = make()
    fresh.load_state_dict(state)
    rest = stream(fresh)
    assert [next(rest) for _ in range(16 - taken)] == expected[taken:]


def test_going_on_between_epochs() -> None:
    def make() -> data.DataLoader:
        return data.DataLoader(Numbers(9), batch_size=4, shuffle=True, generator=pg.Generator(3))

    a, b = make(), make()
    lists(a)
    b.load_state_dict(a.state_dict())
    assert lists(b) == lists(a)


def test_going_on_with_the_default_generator() -> None:
    pg.manual_seed(4)
    a = data.DataLoader(Numbers(9), batch_size=2, shuffle=True)
    batches = iter(a)
    next(batches)
    loader, rng = a.state_dict(), pg.get_rng_state()
    rest, later = [b.tolist() for b in batches], lists(a)
    pg.manual_seed(99)
    b = data.DataLoader(Numbers(9), batch_size=2, shuffle=True)
    b.load_state_dict(loader)
    pg.set_rng_state(rng)
    assert (lists(b), lists(b)) == (rest, later)


def test_going_on_loads_no_sample_twice() -> None:
    saved = data.DataLoader(Numbers(6), batch_size=2)
    next(islice(saved, 1, None))
    source = Numbers(6)
    loader = data.DataLoader(source, batch_size=2)
    loader.load_state_dict(saved.state_dict())
    assert lists(loader) == [[4, 5]]
    assert source.asked == [4, 5]
    assert lists(loader) == [[0, 1], [2, 3], [4, 5]]
    saved = data.DataLoader(Stream(), batch_size=3)
    next(iter(saved))
    stream = data.DataLoader(Stream(), batch_size=3)
    stream.load_state_dict(saved.state_dict())
    assert lists(stream) == [[3, 4, 5], [6]]


def test_a_loaded_state_is_saved_again() -> None:
    """Before the epoch goes on, too; and neither state changes with the other."""
    loader = data.DataLoader(Numbers(9), batch_size=2, shuffle=True, generator=pg.Generator(1))
    next(iter(loader))
    state = loader.state_dict()
    other = data.DataLoader(Numbers(9), batch_size=2, shuffle=True, generator=pg.Generator(1))
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert other.state_dict()["seed"] is not None
    state["batches"] = 3
    assert other.state_dict()["batches"] == 1


def test_epochs_are_counted() -> None:
    loader = data.DataLoader(Numbers(3))
    lists(loader)
    next(iter(loader))  # an epoch that is broken off does not count
    assert loader.epoch == loader.state_dict()["epoch"] == 1
    other = data.DataLoader(Numbers(3))
    other.load_state_dict(loader.state_dict())
    lists(other)
    assert other.epoch == 2


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_workers": -1}, ValueError, "num_workers is -1; it counts processes"),
        ({"num_workers": True}, ValueError, "num_workers is True"),
        ({"num_workers": 1, "prefetch_factor": 0}, ValueError, "prefetch_factor is 0; it counts batches"),
        ({"num_workers": 1, "timeout": -2}, ValueError, "timeout is -2; it counts seconds"),
        ({"timeout": 2}, ValueError, "timeout=2 is for worker processes; pass num_workers=1 or more"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor=2 is for worker processes"),
        ({"persistent_workers": True}, ValueError, "persistent_workers=True is for worker processes"),
        ({"multiprocessing_context": "spawn"}, ValueError, "multiprocessing_context='spawn' is for worker processes"),
        ({"sampler": [0], "shuffle": True}, ValueError, "exclude each other"),
        ({"batch_sampler": [[0]], "batch_size": 2}, ValueError, "batch_sampler excludes"),
        ({"batch_size": None, "drop_last": True}, ValueError, "none to drop"),
        ({"batch_size": 0}, ValueError, "batch_size is 0"),
    ],
)
def test_refusals(options: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        data.DataLoader(Numbers(3), **options)
    if "sampler" in options or "shuffle" in options:
        with pytest.raises(ValueError, match="a stream has its own order"):
            data.DataLoader(Stream(), shuffle=True)
