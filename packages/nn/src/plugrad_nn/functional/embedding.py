"""Rows of a table, chosen by integers: one by one, or in bags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.apply import apply
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad.ops import one_hot as _one_hot

from .. import ops

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["embedding", "embedding_bag", "one_hot"]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of the weight: w[i] for each integer i of the input; i: (...)   w: (rows, dim)

    padding_idx           this row receives no gradient
    max_norm              rows that are used and longer than this are first cut down to it, in the weight itself
    norm_type             p of that length ‖w‖ₚ
    scale_grad_by_freq    divide the gradient of a row by how often it is used here
    """
    op = ops.Embedding(*table("embedding", input, weight, padding_idx), bool(scale_grad_by_freq))
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return apply(op, weight, input)  # type: ignore[no-any-return]


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or largest (`mode`) of the rows of each bag, (bags, dim); 0 for an empty one

    input                  integers: (bags, n), or all bags one after the other, (K,)
    offsets                where in the latter each bag begins, rising from 0; with `include_last_offset` also where the
                           last one ends
    per_sample_weights     a factor for each entry of the input, with mode "sum"
    padding_idx            entries that do not count, also not in a mean; the rest is as in `embedding`
    """
    name = "embedding_bag"
    rows, padding = table(name, input, weight, padding_idx)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"{name}: mode {mode!r} is none of 'sum', 'mean', 'max'")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError(f"{name}: scale_grad_by_freq goes with mode 'sum' or 'mean'; in 'max' one entry is taken")
    if per_sample_weights is not None and (mode != "sum" or per_sample_weights.shape != input.shape):
        raise ShapeError(
            f"{name}: per_sample_weights of shape {per_sample_weights.shape} go with mode 'sum' and an input of that "
            f"shape; got mode {mode!r} and {input.shape}"
        )
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    i, bag, bags = _bags(input, offsets, include_last_offset)
    s = None if per_sample_weights is None else per_sample_weights.reshape(-1)[: i.size]
    if padding is not None:
        keep = i != padding
        i, bag, s = i[keep], bag[keep], None if s is None else s[keep]
    if mode == "max" and i.size:
        return _largest(ops.Embedding(rows, None, False), weight, i, _count(bag, bags))
    if s is None:
        s = weight.new_ones(i.shape) if mode != "mean" else 1 / _count(bag, bags)[bag].astype(weight.dtype)
    return apply(ops.EmbeddingBag(rows, bags, bool(scale_grad_by_freq)), weight, i, bag, s)  # type: ignore[no-any-return]


def table(name: str, input: Tensor, weight: Tensor, padding_idx: int | None) -> tuple[int, int | None]:
    """(rows of the weight, `padding_idx` counted from the front); what does not fit raises."""
    if input.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: input is {input.dtype}; rows are chosen by integers: input.astype('int64')")
    if weight.ndim != 2:
        raise ShapeError(f"{name}: weight has shape {weight.shape}; a table is (rows, dim)")
    rows = weight.shape[0]
    return rows, None if padding_idx is None else row_of(name, padding_idx, rows)


def row_of(name: str, padding_idx: int, rows: int) -> int:
    """`padding_idx` counted from the front."""
    if not -rows <= padding_idx < rows:
        raise AxisError(f"{name}: padding_idx {padding_idx} is out of range for {rows} rows")
    return padding_idx % rows


def _shorten(weight: Tensor, i: Tensor, most: float, p: float) -> None:
    """Give the rows `i` of the weight that are longer than `most` that length."""
    with pg.no_grad():
        used = pg.unique_values(i)
        rows: Tensor = apply(ops.Embedding(weight.shape[0], None, False), weight.detach(), used)
        length = rows.norm(p, axis=1, keepdims=True)
        if bool((length > most).any()):
            weight[used] = pg.where(length > most, rows * (most / (length + 1e-7)), rows)


def _bags(input: Tensor, offsets: Tensor | None, closed: bool) -> tuple[Tensor, Tensor, int]:
    """(the integers in a row, the bag that each lies in, how many bags there are)."""
    if input.ndim == 2 and offsets is None:
        bag = pg.arange(input.shape[0], dtype="int64", device=input.device).expand_dims(1)
        return input.reshape(-1), pg.broadcast_to(bag, input.shape).reshape(-1), input.shape[0]
    if input.ndim != 1 or offsets is None or offsets.ndim != 1:
        have = None if offsets is None else offsets.shape
        raise ShapeError(
            f"embedding_bag: input has shape {input.shape}, offsets {have}; pass (bags, n) without offsets, or (K,) "
            "with the beginning of each bag"
        )
    starts = _rising(offsets, input.size, closed)
    i = input[: starts[-1]] if closed else input
    begin = pg.tensor(starts[: len(starts) - closed], dtype="int64", device=input.device)
    place = pg.arange(i.size, dtype="int64", device=input.device)
    return i, pg.searchsorted(begin, place, side="right") - 1, begin.size


def _rising(offsets: Tensor, size: int, closed: bool) -> list[int]:
    """The offsets, if bags can begin there."""
    starts: list[Any] = offsets.tolist()
    if offsets.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"embedding_bag: offsets are {offsets.dtype}; they are whole numbers: offsets.astype('int64')")
    if (size or closed) and starts[:1] != [0]:
        raise AxisError(f"embedding_bag: the first bag begins at 0, not at {starts[0] if starts else 'no offset'}")
    if starts != sorted(starts) or (starts and starts[-1] > size):
        raise AxisError(f"embedding_bag: offsets {starts} do not rise from 0 to at most {size}, the size of the input")
    return starts


def _count(bag: Tensor, bags: int) -> Tensor:
    """How many entries each bag has."""
    return pg.zeros(bags, dtype="int64", device=bag.device).index_add(0, bag, pg.ones_like(bag))


def _largest(op: Any, weight: Tensor, i: Tensor, count: Tensor) -> Tensor:
    """The largest of each bag, the first of equal ones, by way of a grid (bags, most in a bag, dim)."""
    place = pg.arange(int(count.max()), dtype="int64", device=i.device)
    inside = place < count.expand_dims(1)
    at = (count.cumsum(0) - count).expand_dims(1) + place
    rows = apply(op, weight, i[pg.where(inside, at, 0)])
    best = pg.where(inside.expand_dims(2), rows.detach(), -pg.inf).argmax(axis=1, keepdims=True)
    largest = pg.take_along_axis(rows, best, axis=1).squeeze(1)
    return pg.where(count.expand_dims(1) > 0, largest, 0.0)  # type: ignore[no-any-return]


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the class, 0 elsewhere, on a new last axis; as many classes as the largest needs, unless told."""
    return _one_hot(input, int(input.max()) + 1 if num_classes < 0 else num_classes)
