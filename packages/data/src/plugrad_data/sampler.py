"""In which order samples are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sized

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler"]


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
        self._next = state["seed"]
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
        if num_samples is not None and num_samples < 1:
            raise ValueError(f"RandomSampler: num_samples is {num_samples}; it counts samples, from 1")
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


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler; the last may be shorter, or is dropped."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool = False) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"BatchSampler: batch_size is {batch_size!r}; it counts samples, from 1")
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
