"""The DataLoader: samples in an order, in batches, and a state that goes on in the middle of an epoch."""

from __future__ import annotations

from copy import deepcopy
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import Tensor

from .collate import converted, default_collate, default_convert
from .dataset import IterableDataset, is_stream
from .info import WorkerInfo, get_worker_info
from .maker import END, Maker
from .place import Place
from .sampler import BatchSampler, RandomSampler, SequentialSampler, counts
from .seeds import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from plugrad import Device, Generator

__all__ = ["DataLoader", "WorkerInfo", "get_worker_info"]

STATE = ("epoch", "batches", "seed", "order", "generator", "sampler", "stream")


class DataLoader:
    """Batches of a data set: `for x, y in DataLoader(dataset, batch_size=64, shuffle=True): ...`

    dataset         anything with `__len__` and `__getitem__` (and, if it likes, `__getitems__(indices)`), or a stream:
                    an IterableDataset, or what can be iterated over again and again and has no index
    batch_size      samples in a batch; None: no batches, one sample after another
    shuffle         a new random order in each epoch, from `generator` (default: plugrad's)
    sampler         yields indices, instead of `shuffle`; batch_sampler yields lists of indices, instead of all these
    num_workers     processes that make the batches, which come in the same order; 0: this process makes them
    collate_fn      makes a batch of a list of samples; see `default_collate`
    pin_memory      as PyTorch has it, and without effect: the host side of a copy to a device is the backend's matter
    drop_last       leave out a last batch that is shorter
    timeout         seconds that a batch of a worker may take; 0: any time
    worker_init_fn  called in each worker with its number, when it starts
    multiprocessing_context  "fork", "spawn", "forkserver", or a context; default: Python's
    generator       where the seed of each epoch comes from, for orders and for the random states below
    prefetch_factor     batches that a worker makes ahead (default 2)
    persistent_workers  keep the workers for the next epoch
    device          where the tensors of a batch are moved to; workers make them on the CPU then

    Random numbers. Before a batch is made, Python's `random`, NumPy's global generator, plugrad's default generator and
    the generators in the attributes of the data set are started from (seed of the epoch, number of the batch); without
    workers, all are put back afterwards. So augmentation is the same with any number of workers, differs between
    batches and epochs, and a state that is loaded repeats it.

    Workers. Arrays come through shared memory that the tensors of a batch then own. An error in a worker is raised here
    with its type, its message and its traceback, after the batches before it; a worker that is killed, or hangs beyond
    `timeout`, is a RuntimeError. Workers end with the epoch, with the iterator, and with this process, however that
    ends. A stream is read by every worker: divide it with `get_worker_info()`. With "fork", native code that has run
    threads in this process may not work in a worker; "spawn" starts afresh, and needs a data set that can be pickled.
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
        self.dataset, self.batch_size, self.drop_last, self.device = dataset, batch_size, drop_last, device
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, worker_init_fn
        self.multiprocessing_context, self.generator = multiprocessing_context, generator
        self.prefetch_factor, self.persistent_workers, self.pin_memory = prefetch_factor, persistent_workers, pin_memory
        self.stream = is_stream(dataset)
        _check_source(dataset, self.stream)
        _check(self.stream, batch_size, shuffle, sampler, batch_sampler, drop_last)
        _check_workers(num_workers, prefetch_factor, timeout, persistent_workers, multiprocessing_context)
        self.collate_fn = collate_fn or (
            default_convert if batch_size is None and batch_sampler is None else default_collate
        )
        if sampler is None and not self.stream:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and sampler is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.epoch = 0  # epochs that were given to the end
        self._seed: int | None = None  # of the epoch that runs; None between two
        self._place = Place(num_workers)  # in it
        self._loaded: dict[str, Any] | None = None  # the state that the next epoch goes on from
        self._maker: Maker | None = None  # of a stream that is read in this process
        self._pool: Any = None  # workers that persist

    def __len__(self) -> int:
        """Batches in an epoch; of a stream that has a length, as if one worker read it."""
        if self.stream:
            return self._stream_len()
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)  # type: ignore[arg-type]

    def _stream_len(self) -> int:
        if not hasattr(self.dataset, "__len__"):
            raise TypeError(f"len() of a DataLoader over {type(self.dataset).__name__}, a stream without a length")
        n, size = len(self.dataset), self.batch_size or 1
        return n // size if self.drop_last else -(-n // size)

    def __iter__(self) -> Iterator[Any]:
        seed, place = self._begin()
        for batch in self._with_workers(seed, place) if self.num_workers else self._here(seed, place):
            place.batches += 1
            yield batch if self.device is None else converted(batch, self._moved)
        self.epoch += 1
        self._seed, self._place, self._maker = None, Place(self.num_workers), None
        finish = self._stateful("finish")
        if finish is not None:
            finish()

    def _begin(self) -> tuple[int, Place]:
        """The seed of a new epoch, and where it starts."""
        state, self._loaded = self._loaded or {"seed": None, "batches": 0, "stream": None}, None
        self._seed = draw(self.generator) if state["seed"] is None else state["seed"]
        self._place, self._maker = Place(self.num_workers, state["batches"], state["stream"]), None
        return self._seed, self._place

    def _tasks(self, skip: int) -> Iterator[tuple[int, Any]]:
        """The number of each batch and its indices, but for the first `skip`, which are not loaded."""
        if self.stream:
            return ((k, None) for k in count(skip))
        lists: Any = self.batch_sampler if self.batch_sampler is not None else self.sampler
        return islice(enumerate(lists), skip, None)

    def _making(self) -> Maker:
        single = self.batch_size is None and self.batch_sampler is None
        return Maker(self.dataset, self.collate_fn, self.batch_size, self.drop_last, single)

    def _here(self, seed: int, place: Place) -> Iterator[Any]:
        """The batches of an epoch, made in this process."""
        maker = self._maker = self._making()
        home = pg.device()  # entered for each batch, so that no sample looks for it
        with home:
            maker.begin(seed, place.taken[0], place.states[0])
        for k, indices in self._tasks(place.batches):
            with home:
                batch = maker.make(k, indices)
            if batch is END:
                return
            place.took(0, None)
            yield batch

    def _with_workers(self, seed: int, place: Place) -> Iterator[Any]:
        """The batches of an epoch, made by workers: those that persist, unless another epoch has them just now."""
        from .pool import Pool

        pool = self._pool
        if pool is None or pool.busy or not pool.children:
            home = str(pg.device() if self.device is None else pg.device("cpu"))
            pool = Pool(
                self._making(), self.num_workers, self.multiprocessing_context, self.worker_init_fn, self.timeout,
                2 if self.prefetch_factor is None else self.prefetch_factor, home,
            )  # fmt: skip
            if self.persistent_workers and (self._pool is None or not self._pool.busy):
                self._pool = pool
        return pool.run(self._tasks(place.batches), seed, place, keep=pool is self._pool)  # type: ignore[no-any-return]

    def _moved(self, x: Any) -> Any:
        return x.to(device=self.device) if isinstance(x, Tensor) else x

    def __getstate__(self) -> dict[str, Any]:
        """A copy has no workers."""
        return {**vars(self), "_pool": None}

    # -- going on in the middle of an epoch ---------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Where the running epoch stands: of several at a time, the one that began last.

        Saved in the loop, it counts the batch that the loop has in hand; batches that workers made ahead do not count.
        Plain numbers and strings, but for what a sampler or a stream of your own puts in.
        """
        if self._loaded is not None:
            return deepcopy(self._loaded)
        save = self._stateful("state_dict")
        if self._maker is not None:
            self._place.states[0] = self._maker.state()
        return {
            "epoch": self.epoch,
            "batches": self._place.batches,
            "seed": self._seed,
            "order": self._order(),
            "generator": None if self.generator is None else list(self.generator.get_state()),
            "sampler": None if save is None else save(),
            "stream": deepcopy(self._place.stream()) if self.stream and self._seed is not None else None,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The next epoch goes on behind the batches that were given; those after it are as they would have been.

        Exact with the orders of this package, and with any number of workers. A sampler of your own is asked for the
        same order again, unless it has `state_dict` and `load_state_dict` itself. A stream is read again up to where it
        stood, unless it has these two (asked when the last sample of a batch was read); the number of workers is that
        of the saved state until the epoch is over. Draws from the default generator go on with `pg.set_rng_state`.
        """
        lacking = [part for part in STATE if part not in state_dict]
        if lacking:
            raise ValueError(f"DataLoader: this is no state of a loader; it lacks {', '.join(lacking)}")
        Place(self.num_workers, state_dict["batches"], state_dict["stream"])  # refuses one that was divided otherwise
        if state_dict["seed"] is not None:
            _check_order(state_dict["order"], self._order())
        load = self._stateful("load_state_dict")
        if load is not None and state_dict["sampler"] is not None:
            load(state_dict["sampler"])
        if self.generator is not None and state_dict["generator"] is not None:
            self.generator.set_state(state_dict["generator"])
        self._loaded = deepcopy(state_dict)
        self.epoch = state_dict["epoch"]

    def _order(self) -> dict[str, Any]:
        """What decides which samples batch k has."""
        sampler = self.sampler if self.sampler is not None else self.batch_sampler
        return {
            "samples": len(self.dataset) if not self.stream and hasattr(self.dataset, "__len__") else None,
            "batch_size": self.batch_size, "sampler": None if sampler is None else type(sampler).__name__,
        }  # fmt: skip

    def _stateful(self, method: str) -> Any:
        for source in (self.sampler, self.batch_sampler):
            if hasattr(source, method):
                return getattr(source, method)
        return None


def _check_source(dataset: Any, stream: bool) -> None:
    """Refuse what is no data set, or one for a single epoch."""
    name = type(dataset).__name__
    if stream and not isinstance(dataset, IterableDataset) and hasattr(dataset, "__next__"):
        raise ValueError(
            f"DataLoader: a {name} is used up after one epoch; write an IterableDataset that makes it anew"
        )
    if not stream and not hasattr(dataset, "__getitem__"):
        raise TypeError(f"DataLoader: a {name} has neither __getitem__ nor __iter__, so it is no data set")


def _check_order(saved: dict[str, Any], mine: dict[str, Any]) -> None:
    """Refuse to go on in the middle of an epoch that was ordered otherwise."""
    for what, value in mine.items():
        if saved[what] != value:
            raise ValueError(
                f"DataLoader: the state stands in the middle of an epoch: of it, {what} {saved[what]}, of this loader "
                f"{value}. Its samples would be others; load it into a loader like the one that saved it"
            )


def _check(stream: bool, batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    """Refuse arguments that exclude each other."""
    if stream and (shuffle or sampler is not None or batch_sampler is not None):
        raise ValueError("DataLoader: a stream has its own order; leave out shuffle, sampler and batch_sampler")
    if sampler is not None and shuffle:
        raise ValueError("DataLoader: sampler and shuffle exclude each other")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
    if batch_size is not None:
        counts("DataLoader", "batch_size", batch_size)
    elif drop_last:
        raise ValueError("DataLoader: batch_size=None makes no batches, so there is none to drop")


def _check_workers(num_workers: int, prefetch: int | None, timeout: float, persistent: bool, context: Any) -> None:
    """Refuse what makes no sense with this number of workers."""
    if isinstance(num_workers, bool) or not isinstance(num_workers, int) or num_workers < 0:
        raise ValueError(f"DataLoader: num_workers is {num_workers!r}; it counts processes, from 0")
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout is {timeout}; it counts seconds, and 0 waits for any time")
    if prefetch is not None and (isinstance(prefetch, bool) or not isinstance(prefetch, int) or prefetch < 1):
        raise ValueError(f"DataLoader: prefetch_factor is {prefetch!r}; it counts batches, from 1")
    given = {
        "prefetch_factor": prefetch, "timeout": timeout or None, "persistent_workers": persistent or None,
        "multiprocessing_context": context,
    }  # fmt: skip
    for name, value in given.items():
        if not num_workers and value is not None:
            raise ValueError(f"DataLoader: {name}={value!r} is for worker processes; pass num_workers=1 or more")
