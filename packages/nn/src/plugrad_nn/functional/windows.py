"""Windows along the axes of a tensor: sizes, strides and padding as a user writes them, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.errors import ShapeError
from plugrad.ops.axes import whole

if TYPE_CHECKING:
    from plugrad import Tensor

    Pairs = tuple[tuple[int, int], ...]


def axes_fit(name: str, what: str, x: Tensor, allowed: tuple[int, ...]) -> None:
    """`x` has so many axes."""
    if x.ndim not in allowed:
        raise ShapeError(f"{name}: {what} of shape {x.shape} has {x.ndim} axes; {' or '.join(map(str, allowed))} fit")


def sizes_of(name: str, what: str, value: Any, axes: int, least: int) -> tuple[int, ...]:
    """One number for all axes, or one for each, as a tuple of at least `least`."""
    sizes = tuple([whole(name, what, n) for n in (value if hasattr(value, "__iter__") else (value,))])
    sizes = sizes * axes if len(sizes) == 1 else sizes
    if len(sizes) != axes or min(sizes) < least:
        raise ShapeError(f"{name}: {what} {value} does not fit; pass a number of at least {least}, or {axes} of them")
    return sizes


def padding_of(
    name: str, padding: Any, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> Pairs:
    """(before, after) for each axis, from a number, numbers, "valid" or "same"."""
    if not isinstance(padding, str):
        return tuple([(p, p) for p in sizes_of(name, "padding", padding, len(kernel), 0)])
    if padding not in ("valid", "same"):
        raise ValueError(f"{name}: padding {padding!r} is none of 'valid', 'same', and no number")
    if padding == "same" and set(stride) != {1}:
        raise ValueError(
            f"{name}: padding='same' with stride {stride}: a stride makes the output smaller; pass numbers"
        )
    total = [d * (k - 1) if padding == "same" else 0 for k, d in zip(kernel, dilation, strict=True)]
    return tuple([(t // 2, t - t // 2) for t in total])


def fitted(
    name: str,
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: Pairs,
    dilation: tuple[int, ...],
) -> Pairs:
    """The padding, less what no window reaches at the end."""
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    have = [n + before + after for n, (before, after) in zip(sizes, padding, strict=True)]
    if any(n < r for n, r in zip(have, reach, strict=True)):
        raise ShapeError(
            f"{name}: a kernel of {kernel} with dilation {dilation} reaches over {tuple(reach)} entries, the input of "
            f"{tuple(sizes)} with padding {padding} has {tuple(have)}; pad more, or take a smaller kernel"
        )
    left = [(n - r) % s for n, r, s in zip(have, reach, stride, strict=True)]
    return tuple([(before, after - m) for (before, after), m in zip(padding, left, strict=True)])


def batched(x: Tensor, axes: int) -> Tensor:
    """With an axis for the batch, of one where there is none."""
    return x if x.ndim == axes + 2 else x.expand_dims(0)


def unbatched(x: Tensor, axes: int, z: Tensor) -> Tensor:
    """Without the axis of the batch where `x` has none."""
    return z if x.ndim == axes + 2 else z.squeeze(0)
