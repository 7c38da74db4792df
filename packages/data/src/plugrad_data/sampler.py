"""In which order samples are taken."""

from __future__ import annotations

from bisect import bisect_right
from heapq import nlargest
from itertools import accumulate
from math import inf, log
from typing import TYPE_CHECKING, Any

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Sized

__all__ = [
    "BatchSampler", "DistributedSampler", "LengthGroupedSampler", "RandomSampler", "Sampler", "SequentialSampler",
    "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip


def counts(who: str, what: str, n: Any) -> None:
    """Refuse what is no number of samples."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"{who}: {what} is {n!r}; it counts samples, from 1")


class Sampler:
    """Write `__iter__`, which yields the indices of one epoch, and `__len__` if their number is known."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__}.__iter__(self) is not written")


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class _Shuffled(Sampler):
    """Each epoch has a seed of its own, one draw from the generator: a state is a seed, and an epoch can be repeated.

    seed    of the epoch that runs; None between two
    """

    def __init__(self, generator: pg.Generator | None) -> None:
        self.generator = generator
        self.seed: int | None = None
        self._next: int | None = None  # seed of the epoch to come, where a state was loaded

    def epoch(self) -> pg.Generator:
        """The generator of a new epoch."""
        drawn = self._next if self._next is not None else int(pg.randint(0, 2**62, generator=self.generator))
        self.seed, self._next = drawn, None
        return pg.Generator(drawn)

    def finish(self) -> None:
        """The epoch is over: a state saved now belongs to the next."""
        self.seed = None

    def state_dict(self) -> dict[str, Any]:
        return {"seed": self.seed, "generator": None if self.generator is None else list(self.generator.get_state())}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next epoch is the one that was running; the ones after it come as they would have."""
        self.seed = self._next = state["seed"]
        if self.generator is not None and state["generator"] is not None:
            self.generator.set_state(state["generator"])


class RandomSampler(_Shuffled):
    """A random order, new in each epoch; with `replacement`, `num_samples` independent draws."""

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: pg.Generator | None = None,
    ) -> None:
        super().__init__(generator)
        if num_samples is not None:
            counts("RandomSampler", "num_samples", num_samples)
        self.data_source, self.replacement, self._num_samples = data_source, replacement, num_samples

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        n, k, rng = len(self.data_source), self.num_samples, self.epoch()
        if not n:
            return
        if self.replacement:
            yield from pg.randint(0, n, k, generator=rng).tolist()
            return
        for start in range(0, k, n):  # more samples than there are: order after order
            yield from pg.randperm(n, generator=rng).tolist()[: k - start]


class SubsetRandomSampler(_Shuffled):
    """These indices in a random order, new in each epoch."""

    def __init__(self, indices: Any, generator: pg.Generator | None = None) -> None:
        super().__init__(generator)
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[Any]:
        return (self.indices[i] for i in pg.randperm(len(self.indices), generator=self.epoch()).tolist())


class WeightedRandomSampler(_Shuffled):
    """`num_samples` draws, index i as often as its weight says: with probability wᵢ / Σ w, anew in each epoch.

    replacement    an index may come again; without, each next draw is from what is left (Efraimidis and Spirakis 2006)
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: pg.Generator | None = None,
    ) -> None:
        super().__init__(generator)
        self.weights = [float(w) for w in weights]
        self.num_samples, self.replacement = num_samples, replacement
        there = sum(w > 0 for w in self.weights)
        counts("WeightedRandomSampler", "num_samples", num_samples)
        if not there or not all(0 <= w < inf for w in self.weights):
            raise ValueError("WeightedRandomSampler: weights are finite, none is negative, and one is more than 0")
        if not replacement and num_samples > there:
            raise ValueError(
                f"WeightedRandomSampler: {num_samples} samples without replacement, but {there} have a weight over 0"
            )

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        rng, k = self.epoch(), self.num_samples
        if self.replacement:
            ends = list(accumulate(self.weights))
            draws = (u * ends[-1] for u in pg.rand((k,), dtype="float64", generator=rng).tolist())
            last = max(i for i, w in enumerate(self.weights) if w)  # where u · Σ w rounds up to Σ w
            return iter([min(bisect_right(ends, u), last) for u in draws])
        u = pg.rand((len(self.weights),), dtype="float64", generator=rng).tolist()
        keys = [(log(1 - v) / w, i) for i, (v, w) in enumerate(zip(u, self.weights, strict=True)) if w]
        return iter([i for _, i in nlargest(k, keys)])


class DistributedSampler(Sampler):
    """The share of one of several processes: indices rank, rank + num_replicas, ... of an order all of them agree on.

    shuffle      by `seed` and the epoch (call `set_epoch` at the start of each, or all epochs are alike)
    drop_last    leave out what does not divide evenly; else the first indices come twice, so that shares are equal
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None or not 0 <= rank < num_replicas:
            raise ValueError(
                f"DistributedSampler: process {rank} of {num_replicas}; say how many, and which this is, from 0"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0

    @property
    def num_samples(self) -> int:
        n = len(self.dataset)
        return n // self.num_replicas if self.drop_last else -(-n // self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        n, total = len(self.dataset), self.num_samples * self.num_replicas
        order = pg.randperm(n, generator=pg.Generator(self.seed + self.epoch)).tolist() if self.shuffle else range(n)
        return iter([order[i % n] for i in range(self.rank, total, self.num_replicas)])

    def set_epoch(self, epoch: int) -> None:
        """Which epoch comes next: its order depends on it."""
        self.epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch = state["epoch"]


class LengthGroupedSampler(_Shuffled):
    """A random order in which neighbours are of about one length, so that batches need little padding.

    The order is cut into pieces of `group` batches, each sorted by length, longest first; the piece with the longest
    sample comes first, so that memory runs out at once or not at all.
    """

    def __init__(
        self, lengths: Sequence[int], batch_size: int, group: int = 50, generator: pg.Generator | None = None
    ) -> None:
        super().__init__(generator)
        counts("LengthGroupedSampler", "batch_size", batch_size)
        if group < 1:
            raise ValueError(f"LengthGroupedSampler: group is {group}; it counts batches, from 1")
        self.lengths, self.batch_size, self.group = list(lengths), batch_size, group

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        order = pg.randperm(len(self.lengths), generator=self.epoch()).tolist()
        size = self.batch_size * self.group
        pieces = [sorted(order[i : i + size], key=lambda j: -self.lengths[j]) for i in range(0, len(order), size)]
        first = max(range(len(pieces)), key=lambda p: self.lengths[pieces[p][0]], default=0)
        if len(pieces) > 1 and len(pieces[first]) == size:  # a short piece in front would shift all batches
            pieces.insert(0, pieces.pop(first))
        return (j for piece in pieces for j in piece)


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler; the last may be shorter, or is dropped."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool = False) -> None:
        counts("BatchSampler", "batch_size", batch_size)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        batch: list[Any] = []
        for i in self.sampler:
            batch.append(i)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
