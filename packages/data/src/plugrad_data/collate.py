"""From samples to a batch: what stacks is stacked, containers keep their type, the rest is refused with its place."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import Tensor
from plugrad.errors import DTypeError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PadCollate", "default_collate", "default_convert"]

NUMBERS = "biuf"  # kinds of NumPy's dtypes that tensors can have


def _numpy() -> Any:
    """NumPy, when a batch is first made: an extension's import stays light."""
    import numpy

    return numpy


def _is_array(x: Any) -> bool:
    np = _numpy()
    return isinstance(x, (np.ndarray, np.generic))


def _is_foreign(x: Any) -> bool:
    """A tensor of another library, which hands it over by DLPack."""
    return hasattr(x, "__dlpack__") and not isinstance(x, Tensor) and not _is_array(x)


def default_collate(batch: list[Any]) -> Any:
    """A batch of samples that are alike.

    Tensors and arrays, NumPy's and those of other libraries (by DLPack), are stacked along a new first axis; numbers
    become a tensor (int64, float32, bool); strings stay a list; mappings, named tuples, tuples and lists are collated
    entry by entry, and keep their type. Samples that differ in shape, length, keys or kind are refused, and the error
    says where.
    """
    return _collate(list(batch), "", _stack)


class PadCollate:
    """As `default_collate`, but tensors and arrays of unequal sizes are filled up: `PadCollate(value=0)`.

    value          what is filled in
    side           where: "right" (behind) or "left", along every axis whose sizes differ
    multiple_of    sizes that differ are rounded up to a multiple of this

    Let samples hold their length as a number too; it becomes a tensor beside the padded one.
    """

    def __init__(self, value: float = 0, side: str = "right", multiple_of: int = 1) -> None:
        if side not in ("right", "left") or multiple_of < 1:
            raise ValueError(f"PadCollate: side {side!r} is 'right' or 'left', multiple_of {multiple_of} counts from 1")
        self.value, self.side, self.multiple_of = value, side, multiple_of

    def __call__(self, batch: list[Any]) -> Any:
        return _collate(list(batch), "", self._stack)

    def _stack(self, batch: list[Any], where: str) -> Tensor:
        _same(batch, where, "number of axes", lambda sample: len(sample.shape), object, "pass collate_fn")
        sizes = [self._size({t.shape[a] for t in batch}) for a in range(len(batch[0].shape))]
        return _stack([self._padded(t, sizes) for t in batch], where)

    def _size(self, sizes: set[int]) -> int:
        return max(sizes) if len(sizes) == 1 else -(-max(sizes) // self.multiple_of) * self.multiple_of

    def _padded(self, t: Any, sizes: list[int]) -> Any:
        gaps = [to - n for n, to in zip(t.shape, sizes, strict=True)]
        widths = [(0, gap) if self.side == "right" else (gap, 0) for gap in gaps]
        if not any(gaps):
            return t
        if isinstance(t, Tensor):
            return pg.pad(t, tuple(widths), value=self.value)
        return _numpy().pad(t, widths, constant_values=self.value)


def default_convert(sample: Any) -> Any:
    """One sample with its arrays of numbers as tensors: what a DataLoader gives without batching."""
    return converted(sample, _tensor)


def converted(x: Any, leaf: Callable[[Any], Any]) -> Any:
    """leaf(x) for everything in containers, which keep their type."""
    if isinstance(x, Mapping):
        return _mapping(x, {key: converted(v, leaf) for key, v in x.items()})
    if isinstance(x, (tuple, list)):
        return _sequence(x, [converted(v, leaf) for v in x])
    return leaf(x)


def _tensor(x: Any) -> Any:
    if _is_foreign(x):
        return pg.from_dlpack(x)
    return pg.tensor(x) if _is_array(x) and _is_numeric(x.dtype) else x


def _is_numeric(dtype: Any) -> bool:
    return dtype.kind in NUMBERS or dtype.name == "bfloat16"


def _collate(batch: list[Any], where: str, stack: Callable[[list[Any], str], Any]) -> Any:
    if not batch:
        raise ShapeError("collate: a batch without samples; what batch_sampler yields is a list of indices, not empty")
    first = batch[0]
    if isinstance(first, (str, bytes)):
        return _alike(batch, (str, bytes), where)
    if isinstance(first, Tensor) or _is_array(first):
        mixed = isinstance(first, _numpy().generic) and any(type(x) in (bool, int, float) for x in batch)
        return _numbers(batch, where) if mixed else stack(batch, where)
    if isinstance(first, (bool, int, float)):
        return _numbers(batch, where)
    if isinstance(first, Mapping):
        _same(batch, where, "keys", lambda sample: sorted(sample, key=repr), Mapping)
        return _mapping(first, {key: _collate([s[key] for s in batch], f"{where}[{key!r}]", stack) for key in first})
    if isinstance(first, (tuple, list)):
        _same(batch, where, "length", len, (tuple, list))
        names = getattr(first, "_fields", None)
        parts = [f".{names[i]}" if names else f"[{i}]" for i in range(len(first))]
        return _sequence(first, [_collate([s[i] for s in batch], where + part, stack) for i, part in enumerate(parts)])
    if _is_foreign(first):
        return stack([_tensor(x) for x in _alike(batch, type(first), where)], where)
    raise DTypeError(
        f"collate: sample{where} is a {type(first).__name__}; tensors, arrays, numbers, strings, mappings, tuples and "
        "lists make batches. Convert it in the data set, or pass collate_fn"
    )


def _stack(batch: list[Any], where: str) -> Tensor:
    np = _numpy()
    kinds = (Tensor, np.ndarray, np.generic)
    _same(batch, where, "shape", attrgetter("shape"), kinds, "pad them: collate_fn=PadCollate()")
    if all(isinstance(sample, Tensor) for sample in batch):
        return _stacked(batch)
    if not any(isinstance(sample, Tensor) for sample in batch) and _is_numeric(batch[0].dtype):
        return pg.asarray(_joined(batch), copy=False)  # nobody else holds that array
    found = ", ".join(sorted({f"{type(sample).__name__} of {sample.dtype}" for sample in batch}))
    raise DTypeError(f"collate: sample{where} cannot be stacked: {found}; make tensors of them in the data set")


def _stacked(batch: list[Tensor]) -> Tensor:
    """`pg.stack`; of plain values in NumPy arrays at once, without a step for each of them."""
    np = _numpy()
    first = batch[0]
    if all(type(t.data) is np.ndarray and t.dtype is first.dtype and not t.requires_grad for t in batch):
        return pg.asarray(_joined([t.data for t in batch]), copy=False, device=first.device)
    return pg.stack(batch)


def _joined(arrays: list[Any]) -> Any:
    """`np.stack` of arrays of one shape; of plain ones without a view of each."""
    np, first = _numpy(), arrays[0]
    if type(first) is np.ndarray and first.ndim:
        return np.concatenate(arrays).reshape(len(arrays), *first.shape)
    return np.stack(arrays)


def _numbers(batch: list[Any], where: str) -> Tensor:
    plain = [v.item() if isinstance(v, _numpy().generic) else v for v in batch]
    return pg.tensor(_alike(plain, (bool, int, float), where))


def _alike(batch: list[Any], kinds: Any, where: str) -> list[Any]:
    for i, sample in enumerate(batch):
        if not isinstance(sample, kinds):
            names = f"{type(batch[0]).__name__}, of sample {i} a {type(sample).__name__}"
            raise DTypeError(f"collate: sample{where} differs: of sample 0 it is a {names}")
    return batch


def _same(batch: list[Any], where: str, what: str, of: Any, kinds: Any, hint: str = "pass collate_fn") -> None:
    _alike(batch, kinds, where)
    for i, sample in enumerate(batch):
        if of(sample) != of(batch[0]):
            told = f"{what} {of(batch[0])} of sample 0, {of(sample)} of sample {i}"
            raise ShapeError(f"collate: sample{where} differs: {told}; {hint}")


def _mapping(like: Mapping[Any, Any], entries: dict[Any, Any]) -> Any:
    """`entries` in the type of `like`, where that can be made from a dict."""
    if type(like) is dict:
        return entries
    try:
        return type(like)(entries)  # type: ignore[call-arg]
    except TypeError:  # as for defaultdict: the first argument is another one
        return entries


def _sequence(like: Any, entries: list[Any]) -> Any:
    if hasattr(like, "_fields"):
        return type(like)(*entries)
    return entries if isinstance(like, list) else tuple(entries)
