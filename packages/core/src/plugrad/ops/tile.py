"""Copies of a tensor, side by side; rolled round; padded."""

from __future__ import annotations

from ..apply import apply, unary
from ..dtypes import with_scalar
from ..errors import DTypeError, ShapeError
from ..op import Op
from .axes import one_axis, sizes_of
from .creation import tensor
from .index import Take
from .numbers import as_int
from .shape import reshape
from .slices import Place, Slice, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..tensor import Tensor

__all__ = ["pad", "repeat", "repeat_interleave", "roll", "tile"]


class Tile(Op):
    """z = along axis k: each number of x each[k] times, and the whole of that rows[k] times

    ∂L/∂x = g, summed over the copies
    """

    rows: tuple[int, ...]
    each: tuple[int, ...]
    source: tuple[int, ...]
    storage = True

    def forward(self, xp, x):
        spread = xp.reshape(x, tuple([k for n in self.source for k in (1, n, 1)]))
        z = xp.broadcast_to(spread, self.copies())
        return xp.reshape(z, tuple([r * n * e for r, n, e in zip(self.rows, self.source, self.each, strict=True)]))

    def dx(self, g):
        return reshape(g, self.copies()).sum(axis=tuple([k for k in range(3 * g.ndim) if k % 3 != 1]))

    def copies(self):
        """Three axes for each of x: the copies of the whole, x's own, the copies of each number."""
        return tuple([k for c in zip(self.rows, self.source, self.each, strict=True) for k in c])


class Roll(Op):
    """z[..., (i + shift) mod n, ...] = x[..., i, ...] along these axes; without axes: on x flattened

    ∂L/∂x = g, rolled back
    """

    shift: tuple[int, ...]
    axis: tuple[int, ...] | None
    storage = True

    def forward(self, xp, x):
        z = xp.reshape(x, (-1,)) if self.axis is None else x
        for s, axis in zip(self.shift, self.axis or (0,), strict=True):
            z = _turned(xp, z, s, axis)
        return xp.reshape(z, x.shape)

    def dx(self, g):
        return unary(Roll(tuple(-s for s in self.shift), self.axis), g)


def _turned(xp, z, shift, axis):
    """The last `shift` entries along an axis first."""
    n, key = z.shape[axis], [(0, m, 1) for m in z.shape]
    k = -shift % n if n else 0
    head, tail = [*key[:axis], (0, k, 1), *key[axis + 1 :]], [*key[:axis], (k, n, 1), *key[axis + 1 :]]
    return xp.concat([z[native(tuple(tail))], z[native(tuple(head))]], axis=axis)


def tile(x: Tensor, *repetitions: int | Sequence[int]) -> Tensor:
    """Copies of the whole of `x` side by side along each axis: what PyTorch's `x.repeat(2, 3)` does is `x.tile(2, 3)`.

    Missing repetitions count as 1, for the leading axes; more of them than axes give new leading axes.
    """
    rows = sizes_of("tile", repetitions)
    if min(rows, default=0) < 0:
        raise ShapeError(f"tile: repetitions {rows} are negative; 0 gives an empty tensor")
    rows = (1,) * (x.ndim - len(rows)) + rows
    y = reshape(x, (1,) * (len(rows) - x.ndim) + x.shape) if len(rows) > x.ndim else x
    return unary(Tile(rows, (1,) * len(rows), y.shape), y)  # type: ignore[no-any-return]


def repeat(x: Tensor, repeats: Any, *more: Any, axis: int | None = None) -> Tensor:
    """Each number of `x` so many times, one after the other, along an axis; None: of `x` flattened.

    `repeats` is a number, or one number for each position along the axis. For copies of the whole see `tile`.
    """
    if more:
        every = ", ".join(map(str, (repeats, *more)))
        raise DTypeError(
            f"repeat: ({every}) reads as copies of the whole: x.tile({every}); an axis is given by name: axis=0"
        )
    y, op, *index = _repeated("repeat", x, repeats, axis)
    return apply(op, y, *index)  # type: ignore[no-any-return]


def repeat_interleave(x: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """`repeat`, by PyTorch's name."""
    y, op, *index = _repeated("repeat_interleave", x, repeats, axis)
    return apply(op, y, *index)  # type: ignore[no-any-return]


def _repeated(name: str, x: Tensor, repeats: Any, axis: int | None) -> tuple[Any, ...]:
    """What to repeat, the op that does, and the positions it takes where the counts differ."""
    y = reshape(x, -1) if axis is None else x
    i = one_axis(name, axis or 0, y.ndim)
    n = y.shape[i]
    counts = repeats.tolist() if hasattr(repeats, "tolist") else repeats
    counts = list(counts) if hasattr(counts, "__iter__") else [as_int(counts)]
    if len(counts) not in (1, n) or min(counts, default=0) < 0:
        raise ShapeError(
            f"{name}: repeats {counts} do not fit axis {i} of shape {y.shape}; give one number of 0 or more, or {n}"
        )
    if len(counts) == 1:
        return y, Tile((1,) * y.ndim, tuple(counts[0] if k == i else 1 for k in range(y.ndim)), y.shape)
    places = [k for k, count in enumerate(counts) for _ in range(count)]
    return y, Take(i, n, i), tensor(places, dtype="int64", device=x.device)


def roll(x: Tensor, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
    """`x` moved along these axes, what leaves at one end coming in at the other; None: on `x` flattened."""
    shifts = _numbers(shift)
    axes = None if axis is None else tuple(one_axis("roll", k, x.ndim) for k in _numbers(axis))
    count = 1 if axes is None else len(axes)
    shifts = shifts * count if len(shifts) == 1 else shifts
    if len(shifts) != count:
        raise ShapeError(f"roll: {len(shifts)} shifts for {count} axes; give one for each axis")
    return unary(Roll(shifts, axes), x)  # type: ignore[no-any-return]


def _numbers(n: Any) -> tuple[int, ...]:
    return tuple(map(as_int, n)) if hasattr(n, "__iter__") else (as_int(n),)


def _mirrored(i: int, n: int) -> int:
    k = i % (2 * n - 2) if n > 1 else 0
    return min(k, 2 * n - 2 - k)


MODES: dict[str, Callable[[int, int], int]] = {  # where place i of the padded axis comes from, in an axis of size n
    "reflect": _mirrored,
    "replicate": lambda i, n: min(max(i, 0), n - 1),
    "circular": lambda i, n: i % n,
}


def pad(x: Tensor, widths: Any, mode: str = "constant", value: bool | int | float = 0) -> Tensor:
    """`x` with more numbers before and after along each axis; negative widths take numbers away.

    widths    ((before, after), ...) for each axis; one pair, or one number, for all
    mode      "constant": `value`; "reflect": mirrored at the first and last number, which are not repeated;
              "replicate": the first and last number; "circular": from the other end
    """
    pairs = _pairs(x, widths)
    if mode == "constant":
        y, place = _constant(x, pairs, value)
        return unary(place, y)  # type: ignore[no-any-return]
    if mode not in MODES:
        raise ShapeError(f"pad: mode {mode!r} is none of 'constant', {', '.join(map(repr, MODES))}")
    z = x.clone()
    for i, (before, after) in enumerate(pairs):
        n = x.shape[i]
        first, last = (max(-before, 0), n + min(after, 0)) if mode == "circular" else (0, n)  # of what is left
        if first == last and (before > 0 or after > 0):
            raise ShapeError(
                f"pad: axis {i} of shape {x.shape} is empty: there is nothing to {mode}; use mode='constant'"
            )
        if before or after:
            places = [first + MODES[mode](k - first, last - first) for k in range(-before, n + after)]
            z = apply(Take(i, n, i), z, tensor(places, dtype="int64", device=x.device))
    return z


def _pairs(x: Tensor, widths: Any) -> list[tuple[int, int]]:
    """A pair for each axis; what is left is never negative."""
    if hasattr(widths, "__index__"):
        widths = (widths, widths)
    rows = list(widths)
    if len(rows) == 2 and not any(hasattr(w, "__iter__") for w in rows):
        rows = [rows] * x.ndim
    if len(rows) != x.ndim or not all(hasattr(w, "__iter__") and len(tuple(w)) == 2 for w in rows):
        raise ShapeError(
            f"pad: widths {widths} do not fit shape {x.shape}; give ((before, after), ...), {x.ndim} pairs"
        )
    pairs = [(as_int(before), as_int(after)) for before, after in rows]
    for i, (n, (before, after)) in enumerate(zip(x.shape, pairs, strict=True)):
        if n + min(before, 0) + min(after, 0) < 0:
            raise ShapeError(
                f"pad: widths {(before, after)} take more than the {n} numbers of axis {i} of shape {x.shape}"
            )
    return pairs


def _constant(x: Tensor, pairs: list[tuple[int, int]], value: bool | int | float) -> tuple[Tensor, Op]:
    """What is left of `x` where widths are negative, and the op that puts it in its place."""
    if x.dtype.kind == "bool":
        value = bool(value)
    y = x.astype(with_scalar(x.dtype, value))
    if any(w < 0 for pair in pairs for w in pair):
        ends = zip(pairs, x.shape, strict=True)
        key = tuple((max(-before, 0), n - max(-after, 0), 1) for (before, after), n in ends)
        y = unary(Slice(key, x.shape), y)
    grown = [(max(before, 0), n, max(after, 0)) for (before, after), n in zip(pairs, y.shape, strict=True)]
    key = tuple((before, before + n, 1) for before, n, _ in grown)
    return y, Place(key, tuple(sum(g) for g in grown), value)
