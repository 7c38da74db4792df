"""Data sets."""

from __future__ import annotations

import sys

import pytest

import plugrad as pg
import plugrad_data as data
from plugrad.errors import AxisError, ShapeError
from plugrad_data.dataset import gather


class Numbers(data.Dataset):
    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> int:
        return 10 * i


def test_tensors_row_by_row() -> None:
    pairs = data.TensorDataset(pg.tensor([[1.0], [2.0]]), pg.tensor([3, 4]))
    assert len(pairs) == 2
    assert [t.tolist() for t in pairs[1]] == [[2.0], 4]
    assert [[t.tolist() for t in row] for row in (pairs[i] for i in range(2))] == [[[1.0], 3], [[2.0], 4]]
    with pytest.raises(ShapeError, match=r"\(2,\), \(3,\)"):
        data.TensorDataset(pg.ones(2), pg.ones(3))
    with pytest.raises(ShapeError):
        data.TensorDataset(pg.tensor(1.0))


def test_one_after_the_other() -> None:
    both = Numbers(2) + Numbers(3)
    assert [both[i] for i in range(len(both))] == list(both) == [0, 10, 0, 10, 20]
    assert both[-1] == 20
    assert both[-5] == 0
    for i in (5, -6):
        with pytest.raises(AxisError, match="out of range for 5 samples"):
            both[i]
    with pytest.raises(ValueError, match="one or more"):
        data.ConcatDataset([])


def test_subsets_and_splits() -> None:
    assert [data.Subset(Numbers(9), [8, 1])[i] for i in (0, 1, -1)] == [80, 10, 10]
    parts = data.random_split(Numbers(10), [0.55, 0.45], generator=pg.Generator(1))
    assert [len(p) for p in parts] == [6, 4]
    assert sorted(part[i] for part in parts for i in range(len(part))) == [10 * i for i in range(10)]
    again = data.random_split(Numbers(10), [6, 4], generator=pg.Generator(1))
    assert [p.indices for p in parts] == [p.indices for p in again]
    assert parts[0].indices != sorted(parts[0].indices)
    assert [len(p) for p in data.random_split(Numbers(1), [1])] == [1]
    for lengths in ([3, 4], [0.5, 0.4], [11, -1]):
        with pytest.raises(ValueError, match="10 samples"):
            data.random_split(Numbers(10), lengths)


def test_gathering_is_only_for_tensors() -> None:
    pairs = data.TensorDataset(pg.arange(6).reshape(3, 2), pg.tensor([3, 4, 5]))
    subset = data.Subset(pairs, [2, 0])
    assert [t.tolist() for t in gather(subset, [1, 0])] == [[[0, 1], [4, 5]], [3, 5]]
    assert gather(Numbers(3), [0]) is None

    class Twice(data.TensorDataset):
        def __getitem__(self, i: int) -> tuple:
            return tuple(2 * t for t in super().__getitem__(i))

    assert gather(data.Subset(Twice(pg.ones(2)), [0]), [0]) is None


def test_what_is_not_written_says_so() -> None:
    with pytest.raises(NotImplementedError, match="__getitem__"):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(data.IterableDataset())
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(data.Sampler())


def test_sets_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    for make in (data.digits, data.iris):
        with pytest.raises(ImportError, match="pip install scikit-learn"):
            make()
