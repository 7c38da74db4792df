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


def test_weights_decide_how_often() -> None:
    sampler = data.WeightedRandomSampler([0.0, 1.0, 3.0, 0.0], 4000, generator=pg.Generator(0))
    drawn = list(sampler)
    assert len(drawn) == len(sampler) == 4000
    assert set(drawn) == {1, 2}
    assert drawn.count(2) == pytest.approx(3000, abs=120)
    assert list(sampler) != drawn


def test_weighted_draws_without_replacement() -> None:
    g = pg.Generator(1)
    first = [next(iter(data.WeightedRandomSampler([1.0, 2.0, 0.0, 5.0], 2, False, g))) for _ in range(2000)]
    assert [first.count(i) / 2000 for i in range(4)] == pytest.approx([1 / 8, 2 / 8, 0, 5 / 8], abs=0.04)
    assert sorted(data.WeightedRandomSampler([1.0, 2.0, 0.0, 5.0], 3, False)) == [0, 1, 3]
    with pytest.raises(ValueError, match="4 samples without replacement, but 3 have a weight over 0"):
        data.WeightedRandomSampler([1.0, 2.0, 0.0, 5.0], 4, False)
    for weights in ([], [0.0], [-1.0, 2.0], [float("nan")], [float("inf")]):
        with pytest.raises(ValueError, match="weights are finite"):
            data.WeightedRandomSampler(weights, 1)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_shares_of_several_processes(shuffle: bool, drop: bool) -> None:
    shares = [data.DistributedSampler(TEN, 3, rank, shuffle, seed=5, drop_last=drop) for rank in range(3)]
    for epoch in (0, 1):
        for s in shares:
            s.set_epoch(epoch)
        found = [list(s) for s in shares]
        assert {len(f) for f in found} == {len(shares[0])} == {3 if drop else 4}
        everything = [i for f in found for i in f]
        assert set(everything) <= set(TEN)
        assert len(set(everything)) == (9 if drop else 10)
    assert shuffle == (found[0] != [0, 3, 6, 9][: len(found[0])])
    with pytest.raises(ValueError, match="process 3 of 3"):
        data.DistributedSampler(TEN, 3, 3)
    with pytest.raises(ValueError, match="say how many"):
        data.DistributedSampler(TEN)


def test_neighbours_of_about_one_length() -> None:
    lengths = [(37 * i) % 101 for i in range(101)]
    sampler = data.LengthGroupedSampler(lengths, 5, group=10, generator=pg.Generator(0))
    order = list(sampler)
    assert sorted(order) == list(range(101))
    batches = [order[i : i + 5] for i in range(0, 101, 5)]
    waste = sum(max(lengths[i] for i in b) * len(b) - sum(lengths[i] for i in b) for b in batches)
    plain = [list(range(101))[i : i + 5] for i in range(0, 101, 5)]
    assert waste < 0.2 * sum(max(lengths[i] for i in b) * len(b) - sum(lengths[i] for i in b) for b in plain)
    assert lengths[order[0]] == 100
    assert list(sampler) != order
    assert list(data.LengthGroupedSampler([], 2)) == []


def test_the_states_of_random_orders_repeat_an_epoch() -> None:
    for make in (
        lambda g: data.WeightedRandomSampler([1.0, 2.0, 3.0], 9, generator=g),
        lambda g: data.LengthGroupedSampler(range(50), 3, generator=g),
    ):
        a = make(pg.Generator(3))
        order = iter(a)
        first = next(order)
        b = make(pg.Generator(99))
        b.load_state_dict(a.state_dict())
        again = list(b)
        assert again == [first, *order]
        assert list(a) == list(b)
