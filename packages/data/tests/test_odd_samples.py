"""Samples, data sets and streams that are a little off: taken, or refused in words."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data
from plugrad.errors import DTypeError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_words_of_numpy() -> None:
    labels = np.array(["a", "bc", "d"])
    assert data.default_collate(list(labels)) == ["a", "bc", "d"]
    assert [b for _, b in data.DataLoader(list(zip(range(3), labels, strict=True)), 2)] == [["a", "bc"], ["d"]]
    kept = next(iter(data.DataLoader([{"s": np.array("x"), "o": np.array([None]), "n": np.array([1])}], None)))
    assert (kept["s"], kept["o"].tolist(), kept["n"].tolist()) == (np.array("x"), [None], [1])
    assert isinstance(kept["n"], pg.Tensor)


@pytest.mark.parametrize(
    "batch", [[np.float32(1), 2.5], [2.5, np.float32(1)], [np.int64(1), 2.5], [1, np.float64(2.5)]]
)
def test_numbers_of_python_and_of_numpy(batch: list[Any]) -> None:
    found = data.default_collate(batch)
    assert (found.dtype, found.tolist()) == (pg.float32, [float(x) for x in batch])


def test_a_batch_of_nothing() -> None:
    for collate in (data.default_collate, data.PadCollate()):
        with pytest.raises(ShapeError, match="a batch without samples"):
            collate([])
    with pytest.raises(ShapeError, match="a batch without samples") as caught:
        list(data.DataLoader([1, 2], batch_sampler=[[0], [], [1]]))
    assert "for batch 1" in caught.value.__notes__[0]


def test_keys_that_only_look_alike() -> None:
    with pytest.raises(ShapeError, match=r"keys \[1\] of sample 0, \['1'\] of sample 1"):
        data.default_collate([{1: 2}, {"1": 2}])


def test_containers_keep_their_type_on_the_way_to_a_device() -> None:
    point = collections.namedtuple("point", "x y")

    class Mine(collections.UserDict[str, Any]):
        pass

    samples = [{"o": collections.OrderedDict(a=1), "m": Mine(a=1), "p": point(1, 2), "l": [1]}] * 2
    batch = next(iter(data.DataLoader(samples, 2, device="numpy")))
    assert [type(v) for v in batch.values()] == [collections.OrderedDict, Mine, point, list]


class Foreign:
    """A tensor of some other library."""

    def __init__(self, values: list[float]) -> None:
        self.inner = np.array(values, "float32")

    def __dlpack__(self, **options: Any) -> Any:
        return self.inner.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.inner.__dlpack_device__()


def test_tensors_of_other_libraries() -> None:
    batch = data.default_collate([{"x": Foreign([1, 2])}, {"x": Foreign([3, 4])}])["x"]
    assert (batch.dtype, batch.tolist()) == (pg.float32, [[1, 2], [3, 4]])
    assert data.default_convert((Foreign([1]),))[0].tolist() == [1]
    assert data.PadCollate()([Foreign([1]), Foreign([3, 4])]).tolist() == [[1, 0], [3, 4]]
    with pytest.raises(ShapeError, match=r"sample differs: shape \(1,\) of sample 0, \(2,\) of sample 1"):
        data.default_collate([Foreign([1]), Foreign([3, 4])])
    with pytest.raises(DTypeError, match="of sample 0 it is a Foreign, of sample 1 a str"):
        data.default_collate([Foreign([1]), "a"])


def test_splits_of_hardly_anything() -> None:
    def sizes(n: int, lengths: list[float]) -> list[int]:
        return [len(part) for part in data.random_split(range(n), lengths)]

    assert [sizes(1, x) for x in ([0.5, 0.5], [1], [1, 0], [0, 1])] == [[1, 0], [1], [1, 0], [0, 1]]
    assert sizes(0, [0.5, 0.5]) == [0, 0]
    with pytest.raises(ValueError, match="random_split"):
        data.random_split([1], [float("nan")])


def test_what_has_a_length_and_an_index_is_a_data_set() -> None:
    """A tensor too, whatever other methods it has."""
    rows = pg.arange(6).reshape(3, 2)
    assert [b.tolist() for b in data.DataLoader(rows, 2)] == [[[0, 1], [2, 3]], [[4, 5]]]
    assert data.DataLoader(data.Subset(rows, [2, 0]), 2).__iter__().__next__().tolist() == [[4, 5], [0, 1]]


class Lossy(list[int]):
    def __getitems__(self, indices: list[int]) -> list[int]:
        return indices[:1]


def test_a_data_set_that_gives_fewer_samples_than_it_was_asked_for() -> None:
    with pytest.raises(ShapeError, match="1 samples for 2 indices"):
        list(data.DataLoader(Lossy(range(4)), 2))


class Stream(data.IterableDataset):
    def __iter__(self) -> Iterator[int]:
        return iter(range(5))


class Long(Stream):
    def __len__(self) -> int:
        return 5


@pytest.mark.parametrize("size", [0, -1, "3", True, 2.0])
def test_sizes_of_batches(size: Any) -> None:
    for dataset in (Stream(), [1, 2]):
        with pytest.raises(ValueError, match="batch_size is"):
            data.DataLoader(dataset, size)


def test_the_length_of_a_stream() -> None:
    with pytest.raises(TypeError, match="Stream, a stream without a length"):
        len(data.DataLoader(Stream(), 2))
    loaders = [data.DataLoader(Long(), 2), data.DataLoader(Long(), 2, drop_last=True), data.DataLoader(Long(), None)]
    assert [len(loader) for loader in loaders] == [len(list(loader)) for loader in loaders] == [3, 2, 5]


def test_anything_to_iterate_over() -> None:
    class Plain:
        def __iter__(self) -> Iterator[int]:
            return iter(range(3))

    class IterableDataset(data.Dataset):  # as other libraries call theirs
        def __iter__(self) -> Iterator[int]:
            return iter(range(3))

    for stream in (Plain(), IterableDataset()):
        loader = data.DataLoader(stream, 2)
        assert [[b.tolist() for b in loader] for _ in range(2)] == [[[0, 1], [2]]] * 2
        with pytest.raises(ValueError, match="a stream has its own order"):
            data.DataLoader(stream, shuffle=True)
        with pytest.raises(ValueError, match="pass data sets with a length"):
            data.ConcatDataset([[1], stream])
    with pytest.raises(ValueError, match="a generator is used up after one epoch"):
        data.DataLoader(i for i in range(3))
    with pytest.raises(TypeError, match="NoneType has neither"):
        data.DataLoader(None)
