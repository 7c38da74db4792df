"""Sequences of unequal length in one tensor: padded, or packed step by step without padding."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Self

    from plugrad import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Sequences without padding: the first steps of all of them, the longest first, then the second steps, and so on.

    data                (steps of all sequences together, ...)
    batch_sizes         how many sequences have a first step, a second, ...
    sorted_indices      which sequence of the batch comes first, second, ...; None: they came the longest first
    unsorted_indices    the way back from that order
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        back = invert_permutation(sorted_indices) if unsorted_indices is None else unsorted_indices
        return super().__new__(cls, data, batch_sizes, sorted_indices, back)

    def to(self, device: Any = None, dtype: Any = None) -> PackedSequence:
        """On another device, the data in another dtype."""
        data = self.data.to(device, dtype=dtype)
        order, back = (t if t is None else t.to(device=data.device) for t in self[2:])
        return PackedSequence(data, self.batch_sizes.to(device=data.device), order, back)

    def cpu(self) -> PackedSequence:
        """On the best CPU backend that is installed."""
        return self.to("cpu")

    def float(self) -> PackedSequence:
        """The data as float32."""
        return self.to(dtype="float32")

    def double(self) -> PackedSequence:
        """The data as float64."""
        return self.to(dtype="float64")

    def half(self) -> PackedSequence:
        """The data as float16."""
        return self.to(dtype="float16")


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The order that undoes an order."""
    return None if permutation is None else pg.argsort(permutation)


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Leave out the padding.

    input             (steps, batch, ...), or (batch, steps, ...) if `batch_first`
    lengths           of each sequence, at least 1
    enforce_sorted    the longest must come first; if False they are sorted here, and `sorted_indices` says how
    """
    x = _steps_first("pack_padded_sequence", input, batch_first)
    sizes = whole_lengths("pack_padded_sequence", lengths, x.shape[0], x.shape[1])
    if not sizes:
        raise ShapeError(f"pack_padded_sequence: shape {input.shape} has no sequences; there must be at least one")
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    if enforce_sorted and any(a < b for a, b in pairwise(sizes)):
        raise ShapeError(
            f"pack_padded_sequence: lengths {sizes} are not sorted, the longest first; enforce_sorted=False sorts them"
        )
    at = None if enforce_sorted else pg.tensor(order, device=x.device)
    live = steps_of([sizes[i] for i in order], max(sizes), x.device)
    rows = x if at is None else pg.take(x, at, axis=1)
    return PackedSequence(rows[: max(sizes)][live], live.sum(axis=1), at)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """(padded, lengths), in the order in which the sequences once came: what `pack_padded_sequence` took.

    padding_value    what stands where a sequence is over
    total_length     how many steps the padded tensor has; as many as the longest sequence, if None
    """
    padded, live = unrolled(sequence, padding_value)
    steps = padded.shape[0]
    if total_length is not None:
        if total_length < steps:
            raise ShapeError(f"pad_packed_sequence: total_length {total_length} is less than the longest, {steps}")
        padded = _longer(padded, 0, total_length - steps, padding_value)
    lengths = live.sum(axis=0)
    if sequence.unsorted_indices is not None:
        padded = pg.take(padded, sequence.unsorted_indices, axis=1)
        lengths = pg.take(lengths, sequence.unsorted_indices, axis=0)
    return padded.swapaxes(0, 1) if batch_first else padded, lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (steps, ...) in one tensor (steps, batch, ...), or (batch, steps, ...), as long as the longest.

    padding_side    "right": padding comes after a sequence; "left": before it
    """
    if padding_side not in ("left", "right"):
        raise ValueError(f"pad_sequence: padding_side {padding_side!r} is none of 'left', 'right'")
    xs = list(sequences)
    if not xs:
        raise ShapeError("pad_sequence: no sequences; give at least one")
    if any(not x.ndim or x.shape[1:] != xs[0].shape[1:] for x in xs):
        raise ShapeError(f"pad_sequence: shapes {[x.shape for x in xs]}; they may differ in the first axis alone")
    longest = max(x.shape[0] for x in xs)
    before = padding_side == "left"
    return pg.stack([_longer(x, before, longest - x.shape[0], padding_value) for x in xs], 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each as long as it is: what `pad_sequence` took."""
    x = _steps_first("unpad_sequence", padded_sequences, batch_first)
    sizes = whole_lengths("unpad_sequence", lengths, x.shape[0], x.shape[1], 0)
    return [row[:n] for row, n in zip(x.swapaxes(0, 1).unstack(), sizes, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (steps, ...); the longest must come first, unless `enforce_sorted` is False."""
    return pack_padded_sequence(pad_sequence(sequences), [x.shape[0] for x in sequences], False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences, each as long as it is, in the order in which they once came."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))


def unrolled(packed: PackedSequence, value: float = 0.0) -> tuple[Tensor, Tensor]:
    """(steps, batch, ...), the longest first, `value` where a sequence is over; and which steps there are."""
    live = pg.arange(int(packed.batch_sizes[0]), device=packed.data.device) < packed.batch_sizes.expand_dims(-1)
    at = live.astype("int64").flatten().cumsum(0).reshape(live.shape) - 1
    rows = pg.take(packed.data, at.flatten(), axis=0).reshape(*live.shape, *packed.data.shape[1:])
    return pg.masked_fill(rows, _spread(~live, rows), _number(rows, value)), live


def steps_of(lengths: list[int], steps: int, device: Any) -> Tensor:
    """(steps, batch): True where a sequence is not over."""
    return pg.arange(steps, device=device).expand_dims(-1) < pg.tensor(lengths, device=device)


def silenced(x: Tensor, live: Tensor) -> Tensor:
    """`x`, but 0 where there is no step."""
    return pg.masked_fill(x, _spread(~live, x), 0.0)


def whole_lengths(name: str, lengths: Any, steps: int, batch: int, least: int = 1) -> list[int]:
    """`lengths` as plain numbers, one for each of the batch."""
    sizes = lengths.tolist() if isinstance(lengths, pg.Tensor) else list(lengths)
    if not isinstance(sizes, list) or any(isinstance(n, bool) or not hasattr(n, "__index__") for n in sizes):
        raise DTypeError(f"{name}: lengths {sizes} are not a list of whole numbers")
    if len(sizes) != batch:
        raise ShapeError(f"{name}: {len(sizes)} lengths for a batch of {batch}")
    wrong = [n for n in sizes if not least <= n <= steps]
    if wrong:
        raise ShapeError(f"{name}: a sequence of length {wrong[0]}; the padded ones have {steps}, the least is {least}")
    return [int(n) for n in sizes]


def _spread(live: Tensor, x: Tensor) -> Tensor:
    """`live` with as many axes as `x`."""
    return live.reshape(*live.shape, *[1] * (x.ndim - live.ndim))


def _steps_first(name: str, x: Tensor, batch_first: bool) -> Tensor:
    if x.ndim < 2:
        raise ShapeError(f"{name}: shape {x.shape}; it takes (steps, batch, ...), or the other way round")
    return x.swapaxes(0, 1) if batch_first else x


def _longer(x: Tensor, before: int, n: int, value: float) -> Tensor:
    """`x` with `n` more steps of `value`, after it or before it."""
    return pg.pad(x, [(n, 0) if before else (0, n), *[(0, 0)] * (x.ndim - 1)], value=_number(x, value))


def _number(x: Tensor, value: float) -> float:
    """`value` as a number of the kind of `x`, where it is one."""
    kind = {"float": float, "bool": bool}.get(x.dtype.kind, int)
    return kind(value) if kind(value) == value else value
