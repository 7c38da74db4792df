"""Makes batches of a data set: the same ones in the main process and in any worker."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from plugrad.errors import ShapeError

from .collate import default_collate
from .dataset import ArrayDataset, Subset, TensorDataset, gather, is_stream
from .held import held
from .seeds import sown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .held import Held

__all__ = ["END", "Maker"]

END = "end"  # of a stream
WIDE = 80  # characters of indices in a note


class Maker:
    """Batch k of an epoch: of samples by index, or of the next ones of a stream.

    single   no batches: one sample after another
    worker   number of this worker, of `workers`; its batches of a stream are k = worker, worker + workers, ...
    states   context with the random states of (seed, k)
    walk     what samples are iterated with
    """

    def __init__(
        self, dataset: Any, collate_fn: Callable[[Any], Any], batch_size: int | None, drop_last: bool, single: bool
    ) -> None:
        self.dataset, self.collate_fn, self.batch_size, self.drop_last = dataset, collate_fn, batch_size, drop_last
        self.single, self.stream = single, is_stream(dataset)
        self.states: Callable[..., Any] = sown
        self.walk: Callable[[Iterable[Any]], Iterator[Any]] = iter
        self.worker, self.workers = 0, 1
        self.held: list[Held] | None = None  # generators in the data set
        self.still = _still(dataset) and collate_fn is default_collate and not single

    def begin(self, seed: int, skip: int = 0, state: Any = None) -> None:
        """A new epoch. A stream goes on from its own `state`, or else behind its first `skip` batches."""
        self.seed, self.drawn, self.taken, self.over = seed, 0, 0, False
        if self.held is None:
            self.held = held(self.dataset, self.collate_fn)
        if not self.stream:
            return
        with self.at(self.worker):
            if state is not None:
                self.dataset.load_state_dict(state[0])
                self.taken, self.over = skip, state[1]
            self.samples = self.walk(iter(self.dataset))
        while self.taken < skip and not self.over:
            with self.at(self.next_k()):
                self.draw()

    def next_k(self) -> int:
        """The number of the next batch of this stream."""
        return self.taken * self.workers + self.worker

    def state(self) -> Any:
        """Where the stream stands and whether that is its end, when it can say so."""
        able = self.stream and hasattr(self.dataset, "state_dict") and hasattr(self.dataset, "load_state_dict")
        return [self.dataset.state_dict(), self.over] if able else None

    def at(self, k: int) -> Any:
        """A context with the random states of batch k."""
        return self.states(self.seed, k, self.held)

    def make(self, k: int, indices: Any = None) -> Any:
        """Batch k, or END."""
        if self.stream:
            return self.streamed()
        if self.still:
            return self.whole(k, indices)
        with self.at(k):
            whole = self.whole(k, indices) if self.collate_fn is default_collate and not self.single else None
            return self.collated(self.fetch(k, indices), k, indices) if whole is None else whole

    def whole(self, k: int, indices: Any) -> Any:
        """The batch in one go, or None."""
        try:
            return gather(self.dataset, indices)
        except Exception as error:
            error.add_note(f"while loading {_named(indices)} for batch {k}")
            raise

    def fetch(self, k: int, indices: Any) -> Any:
        """The samples."""
        if self.single:
            return self.one(k, indices)
        if hasattr(self.dataset, "__getitems__"):
            return self.many(k, indices)
        return self.each(k, indices)

    def many(self, k: int, indices: Any) -> Any:
        try:
            samples = list(self.dataset.__getitems__(indices))
            if len(samples) != len(indices):
                raise ShapeError(f"__getitems__ gave {len(samples)} samples for {len(indices)} indices")
            return samples
        except Exception as error:
            error.add_note(f"while loading {_named(indices)} for batch {k}")
            raise

    def one(self, k: int, i: Any) -> Any:
        return self.each(k, [i])[0]

    def each(self, k: int, indices: Any) -> list[Any]:
        samples, i = [], None
        try:
            for i in self.walk(indices):
                samples.append(self.dataset[i])
        except Exception as error:
            error.add_note(f"while loading sample {i} for batch {k}")
            raise
        return samples

    def collated(self, samples: Any, k: int, indices: Any) -> Any:
        try:
            return self.collate_fn(samples)
        except Exception as error:
            what = "the next samples of the stream" if self.stream else _named([indices] if self.single else indices)
            error.add_note(f"while collating {what} for batch {k}")
            raise

    def streamed(self) -> Any:
        """The next batch of the stream."""
        k = self.next_k()
        with self.at(k):
            samples = self.draw()
            return END if samples is None else self.collated(samples[0] if self.single else samples, k, None)

    def draw(self) -> list[Any] | None:
        """The samples of the next batch of the stream; None at its end."""
        size, samples = 1 if self.single else self.batch_size, []
        try:
            for sample in () if self.over else islice(self.samples, size):
                samples.append(sample)
        except Exception as error:
            error.add_note(f"while loading sample {self.drawn + len(samples)} of the stream")
            raise
        self.drawn += len(samples)
        self.taken += 1
        self.over = self.over or len(samples) != size
        return samples if len(samples) == size or (samples and not self.drop_last) else None


def _still(dataset: Any) -> bool:
    """Does `gather` run code of this package alone, so that there is no random state to set?"""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return type(dataset) in (TensorDataset, ArrayDataset)


def _named(indices: Any) -> str:
    """The indices of a batch, in words."""
    text = str(indices)
    return f"samples {text if len(text) <= WIDE else text[:WIDE] + '...'}"
