"""Where samples come from: anything with a length and an index, or anything to iterate over."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import floor
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import AxisError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from plugrad import Generator, Tensor

__all__ = [
    "ArrayDataset", "ConcatDataset", "Dataset", "IterableDataset", "MapDataset", "Subset", "TensorDataset",
    "random_split",
]  # fmt: skip


class Dataset:
    """Write `__getitem__(i)`, which returns sample i, and `__len__`. `a + b` is one data set after the other."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.__getitem__(self, i) is not written")

    def __iter__(self) -> Iterator[Any]:
        """Every sample, in order."""
        return (self[i] for i in range(len(self)))  # type: ignore[arg-type]

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Write `__iter__`, which yields samples: for streams that have no index."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__}.__iter__(self) is not written")


class TensorDataset(Dataset):
    """Sample i is row i of each tensor: `TensorDataset(x, y)`."""

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors or any(not t.ndim or len(t) != len(tensors[0]) for t in tensors):
            shapes = ", ".join(str(t.shape) for t in tensors)
            raise ShapeError(f"TensorDataset: shapes {shapes} differ in their first axis")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([t[index] for t in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])

    def gather(self, indices: Sequence[int]) -> tuple[Tensor, ...]:
        return tuple([t[pg.tensor(indices, dtype="int64", device=t.device)] for t in self.tensors])


class ArrayDataset(Dataset):
    """Sample i is row i of each array, memory-mapped ones too: `ArrayDataset(x, np.load("y.npy", mmap_mode="r"))`.

    Nothing is copied until a batch is made. Rows of plain numbers come as numbers, others as arrays.
    """

    def __init__(self, *arrays: Any) -> None:
        if not arrays or any(not a.ndim or len(a) != len(arrays[0]) for a in arrays):
            raise ShapeError(
                f"ArrayDataset: shapes {', '.join(str(a.shape) for a in arrays)} differ in their first axis"
            )
        self.arrays = arrays

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([a[index] for a in self.arrays])

    def __len__(self) -> int:
        return len(self.arrays[0])

    def gather(self, indices: Sequence[int]) -> tuple[Tensor, ...]:
        return tuple([pg.tensor(a[list(indices)]) for a in self.arrays])


class ConcatDataset(Dataset):
    """One data set after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets or any(map(is_stream, self.datasets)):
            raise ValueError("ConcatDataset: pass data sets with a length, one or more")
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        i = _checked(index, len(self), "ConcatDataset")
        which = bisect_right(self.cumulative_sizes, i)
        return self.datasets[which][i - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Some samples of a data set, in the order of `indices`."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def gather(self, indices: Sequence[int]) -> Any:
        return gather(self.dataset, [self.indices[i] for i in indices])


class MapDataset(Dataset):
    """f(sample) for each sample of a data set: `MapDataset(points, lambda sample: ...)`."""

    def __init__(self, dataset: Any, f: Callable[[Any], Any]) -> None:
        self.dataset, self.f = dataset, f

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        return self.f(self.dataset[index])


def is_stream(dataset: Any) -> bool:
    """Is it to be iterated over, for want of an index? IterableDataset, other libraries' too, have one that raises."""
    if any(cls.__name__ == "IterableDataset" for cls in type(dataset).__mro__):
        return True
    return hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__")


def gather(dataset: Any, indices: Sequence[int]) -> Any:
    """The batch in one go, as sample by sample would give it; None where the data set has no `gather` for that.

    A class that changes `__getitem__` below the one that wrote `gather` has none: it would give other samples.
    """
    if not isinstance(dataset, Dataset):
        return None
    order = type(dataset).__mro__
    fast, slow = (next((i for i, c in enumerate(order) if name in vars(c)), None) for name in ("gather", "__getitem__"))
    return None if fast is None or (slow is not None and slow < fast) else dataset.gather(indices)  # type: ignore[attr-defined]


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Disjoint subsets in random order, of these lengths, or of these shares when they add up to 1.

    Of shares, what rounding down leaves over goes to the first subsets, one sample each.
    """
    n = len(dataset)
    shares = abs(sum(lengths) - 1) < 1e-9
    sizes = [floor(n * k if shares else k) for k in lengths if k >= 0]
    for i in range(n - sum(sizes) if shares else 0):
        sizes[i % len(sizes)] += 1
    if sum(sizes) != n or len(sizes) != len(lengths):
        raise ValueError(f"random_split: lengths {list(lengths)} add up to {sum(lengths)}; there are {n} samples")
    order = pg.randperm(n, generator=generator).tolist()
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _checked(index: int, n: int, name: str) -> int:
    if not -n <= index < n:
        raise AxisError(f"{name}: sample {index} is out of range for {n} samples")
    return index % n
