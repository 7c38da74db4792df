"""Orders."""

from __future__ import annotations

import pytest

import plugrad as pg
import plugrad_data as data

TEN = range(10)


def test_in_order() -> None:
    sampler = data.SequentialSampler(TEN)
    assert list(sampler) == list(TEN)
    assert len(sampler) == 10


def test_at_random_each_once_and_anew() -> None:
    sampler = data.RandomSampler(TEN, generator=pg.Generator(0))
    a, b = list(sampler), list(sampler)
    assert sorted(a) == sorted(b) == list(TEN)
    assert a != b
    assert a == list(data.RandomSampler(TEN, generator=pg.Generator(0)))
    assert list(data.RandomSampler(range(0))) == []


def test_the_default_generator_decides_where_none_is_given() -> None:
    sampler = data.RandomSampler(TEN)
    pg.manual_seed(1)
    a = list(sampler), list(sampler)
    pg.manual_seed(1)
    assert (list(sampler), list(sampler)) == a


def test_with_replacement_and_more_than_there_are() -> None:
    drawn = list(data.RandomSampler(TEN, replacement=True, num_samples=50, generator=pg.Generator(0)))
    assert len(drawn) == 50
    assert set(drawn) <= set(TEN)
    assert len(set(drawn[:10])) < 10
    more = data.RandomSampler(TEN, num_samples=25, generator=pg.Generator(0))
    order = list(more)
    assert len(more) == len(order) == 25
    assert sorted(order[:10]) == sorted(order[10:20]) == list(TEN)
    with pytest.raises(ValueError, match="num_samples"):
        data.RandomSampler(TEN, num_samples=0)


def test_some_of_them() -> None:
    sampler = data.SubsetRandomSampler([3, 5, 7], generator=pg.Generator(0))
    assert sorted(sampler) == [3, 5, 7]
    assert len(sampler) == 3


def test_batches() -> None:
    assert list(data.BatchSampler(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(data.BatchSampler(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert [len(data.BatchSampler(range(n), 2, drop)) for n in (4, 5) for drop in (False, True)] == [2, 2, 3, 2]
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="batch_size"):
            data.BatchSampler(TEN, bad)


def test_a_state_repeats_the_running_epoch_and_then_goes_on() -> None:
    a = data.RandomSampler(TEN, generator=pg.Generator(0))
    list(a)
    running = iter(a)
    next(running)
    state = a.state_dict()
    rest = list(a), list(a)
    b = data.RandomSampler(TEN, generator=pg.Generator(9))
    b.load_state_dict(state)
    epoch = list(b)
    assert epoch[1:] == list(running)
    assert (list(b), list(b)) == rest
