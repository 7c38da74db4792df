"""The DataLoader: samples in an order, in batches, and a state that goes on in the middle of an epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad import Tensor
from plugrad.errors import UnsupportedError

from .collate import default_collate, default_convert
from .dataset import IterableDataset, gather
from .sampler import BatchSampler, RandomSampler, SequentialSampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from plugrad import Device, Generator

__all__ = ["DataLoader"]

#: What PyTorch's loader does with worker processes; this release loads in the main process and refuses the rest.
WORKERS = {
    "num_workers": 0, "pin_memory": False, "timeout": 0, "worker_init_fn": None, "multiprocessing_context": None,
    "prefetch_factor": None, "persistent_workers": False,
}  # fmt: skip


class DataLoader:
    """Batches of a data set: `for x, y in DataLoader(dataset, batch_size=64, shuffle=True): ...`

    dataset         anything with `__len__` and `__getitem__` (and, if it likes, `__getitems__(indices)`), or an
                    IterableDataset
    batch_size      samples in a batch; None: no batches, one sample after another
    shuffle         a new random order in each epoch, from `generator` (default: plugrad's)
    sampler         yields indices, instead of `shuffle`; batch_sampler yields lists of indices, instead of all these
    collate_fn      makes a batch of a list of samples; see `default_collate`
    drop_last       leave out a last batch that is shorter
    device          where the tensors of a batch are moved to
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        device: str | Device | None = None,
    ) -> None:
        given = locals()
        for name, default in WORKERS.items():
            if given[name] != default:
                raise UnsupportedError(
                    f"DataLoader: {name}={given[name]!r}, but this release loads in the main process; "
                    f"leave it at {name}={default!r}"
                )
        self.dataset, self.batch_size, self.drop_last, self.device = dataset, batch_size, drop_last, device
        self.stream = isinstance(dataset, IterableDataset)
        _check(self.stream, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.collate_fn = collate_fn or (
            default_convert if batch_size is None and batch_sampler is None else default_collate
        )
        if sampler is None and not self.stream:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and sampler is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self._done = 0  # batches that this epoch has given
        self._skip = 0  # batches that the next epoch has given already, where a state was loaded

    def __len__(self) -> int:
        """Batches in an epoch."""
        if self.stream:
            raise TypeError(f"len() of a DataLoader over {type(self.dataset).__name__}, a stream")
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        self._done, self._skip = self._skip, 0
        for batch in self._batches(self._done):
            self._done += 1
            yield batch if self.device is None else _moved(batch, self.device)
        self._done = 0
        finish = self._stateful("finish")
        if finish is not None:
            finish()

    def _batch(self, indices: list[Any]) -> Any:
        """One batch: gathered at once where that is the same, else sample by sample."""
        whole = gather(self.dataset, indices) if self.collate_fn is default_collate else None
        return self.collate_fn(self._fetch(indices)) if whole is None else whole

    def _batches(self, skip: int) -> Iterator[Any]:
        """The batches of an epoch but the first `skip`, whose samples are not loaded."""
        if self.stream:
            yield from self._streamed(skip)
            return
        lists: Any = self.batch_sampler if self.batch_sampler is not None else self.sampler
        single = self.batch_sampler is None
        for i, indices in enumerate(lists):
            if i >= skip:
                yield self.collate_fn(self.dataset[indices]) if single else self._batch(indices)

    def _fetch(self, indices: list[Any]) -> list[Any]:
        if hasattr(self.dataset, "__getitems__"):
            return self.dataset.__getitems__(indices)  # type: ignore[no-any-return]
        return [self.dataset[i] for i in indices]

    def _streamed(self, skip: int) -> Iterator[Any]:
        if self.batch_size is None:
            samples: Iterable[Any] = self.dataset
        else:
            samples = BatchSampler(self.dataset, self.batch_size, self.drop_last)
        for i, sample in enumerate(samples):
            if i >= skip:
                yield self.collate_fn(sample)

    # -- going on in the middle of an epoch ---------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Where the running epoch stands. Saved in the loop, it counts the batch that the loop has in hand."""
        save = self._stateful("state_dict")
        return {"batches": self._done, "sampler": None if save is None else save()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The next epoch goes on behind the batches that were given; those after it are as they would have been.

        Exact with the orders of this package; a sampler of your own is asked for the same order again, unless it has
        `state_dict` and `load_state_dict` itself. Draws from the default generator go on with `pg.set_rng_state`.
        """
        self._skip = int(state_dict["batches"])
        load = self._stateful("load_state_dict")
        if load is not None:
            load(state_dict["sampler"])

    def _stateful(self, method: str) -> Any:
        for source in (self.sampler, self.batch_sampler):
            if hasattr(source, method):
                return getattr(source, method)
        return None


def _check(stream: bool, batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    """Refuse arguments that exclude each other."""
    if stream and (shuffle or sampler is not None or batch_sampler is not None):
        raise ValueError("DataLoader: a stream has its own order; leave out shuffle, sampler and batch_sampler")
    if sampler is not None and shuffle:
        raise ValueError("DataLoader: sampler and shuffle exclude each other")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
    if batch_size is None and drop_last:
        raise ValueError("DataLoader: batch_size=None makes no batches, so there is none to drop")


def _moved(batch: Any, device: Any) -> Any:
    if isinstance(batch, Tensor):
        return batch.to(device=device)
    if isinstance(batch, dict):
        return {key: _moved(v, device) for key, v in batch.items()}
    if isinstance(batch, (tuple, list)):
        moved = [_moved(v, device) for v in batch]
        return type(batch)(*moved) if hasattr(batch, "_fields") else type(batch)(moved)
    return batch
