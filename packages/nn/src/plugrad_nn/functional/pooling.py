"""Pooling over any number of axes: what the functions for one, two and three axes share."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from plugrad.apply import unary
from plugrad.errors import ShapeError

from .. import ops
from ..ops.pool import Windows
from .windows import axes_fit, batched, sizes_of, unbatched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Op, Tensor

    Sizes = int | Sequence[int]
    Targets = int | Sequence[int | None] | None


def max_pool(
    axes: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    """The largest of each window, over the last `axes` axes; see `max_pool1d`."""
    windows = _windows(f"max_pool{axes}d", axes, input, kernel_size, stride, padding, dilation, ceil_mode)
    return largest(axes, input, windows, return_indices)


def largest(axes: int, input: Tensor, windows: Windows, return_indices: bool) -> Any:
    x = batched(input, axes)
    if not return_indices:
        return unbatched(input, axes, unary(ops.MaxPool(windows), x))
    i = unary(ops.MaxPoolIndices(windows), x)
    flat = (*x.shape[:2], prod(windows.size)), (*x.shape[:2], prod(windows.places))
    z = x.reshape(flat[0]).gather(2, i.reshape(flat[1])).reshape(i.shape)
    return unbatched(input, axes, z), unbatched(input, axes, i)


def avg_pool(
    axes: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The mean of each window, over the last `axes` axes; see `avg_pool1d`."""
    name = f"avg_pool{axes}d"
    windows = _windows(name, axes, input, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None and divisor_override == 0:
        raise ValueError(f"{name}: divisor_override is 0; leave it out to divide by the number of entries")
    return mean_of(axes, input, ops.AvgPool(windows, bool(count_include_pad), int(divisor_override or 0)))


def mean_of(axes: int, input: Tensor, op: Op) -> Tensor:
    z: Tensor = unbatched(input, axes, unary(op, batched(input, axes)))
    return z


def adaptive_windows(name: str, axes: int, input: Tensor, output_size: Targets) -> Windows:
    """As many windows as are asked for along each axis (None: as many as there are entries), as even as it goes."""
    axes_fit(name, "input", input, (axes + 1, axes + 2))
    size = input.shape[-axes:]
    told: Any = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * axes
    if len(told) != axes:
        raise ShapeError(f"{name}: output_size {output_size} does not fit; pass a number, or {axes} of them")
    places = sizes_of(name, "output_size", [n if p is None else p for p, n in zip(told, size, strict=True)], axes, 1)
    if not all(size):
        raise ShapeError(f"{name}: input of shape {input.shape} has nothing to pool")
    if any(n % p for n, p in zip(size, places, strict=True)):
        return Windows(size, places)
    kernel = tuple([n // p for n, p in zip(size, places, strict=True)])
    return Windows(size, places, kernel, kernel, (0,) * axes, (1,) * axes)


def _windows(
    name: str,
    axes: int,
    input: Tensor,
    kernel: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil: bool,
) -> Windows:
    """Checked settings, and how many windows they make: the last one starts before the padding behind."""
    axes_fit(name, "input", input, (axes + 1, axes + 2))
    k, p = sizes_of(name, "kernel_size", kernel, axes, 1), sizes_of(name, "padding", padding, axes, 0)
    empty = stride is None or stride == () or stride == []
    s = k if empty else sizes_of(name, "stride", stride, axes, 1)
    d = sizes_of(name, "dilation", dilation, axes, 1)
    if any(2 * b > n for b, n in zip(p, k, strict=True)):
        raise ShapeError(
            f"{name}: padding {padding} is more than half of kernel_size {kernel}: a window would be empty"
        )
    size = tuple(input.shape[-axes:])
    places = tuple([_places(*axis, ceil) for axis in zip(size, k, s, p, d, strict=True)])
    if any(m < 1 for m in places):
        raise ShapeError(f"{name}: windows of {k} with padding {p} and dilation {d} do not fit an input of {size}")
    windows = Windows(size, places, k, s, p, d)
    if max(d) > 1 and not all(span for a in range(axes) for span in windows.spans(a)):
        raise ShapeError(
            f"{name}: with kernel_size {kernel}, padding {padding} and dilation {dilation} some window reads nothing "
            f"of an input of {size}; dilate less, or leave ceil_mode out"
        )
    return windows


def _places(n: int, k: int, s: int, p: int, d: int, ceil: bool) -> int:
    over = n + 2 * p - d * (k - 1) - 1
    m = (-(-over // s) if ceil else over // s) + 1
    return m - 1 if ceil and (m - 1) * s >= n + p else m  # a window that would start behind the input


def lp_pool(
    axes: int, input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None, ceil_mode: bool
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window, p = `norm_type`."""
    k = sizes_of(f"lp_pool{axes}d", "kernel_size", kernel_size, axes, 1)
    mean = avg_pool(axes, input**norm_type, k, stride, 0, ceil_mode, True, None)
    found: Tensor = (mean.relu() * prod(k)) ** (1 / norm_type)
    return found


def max_unpool(
    axes: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    output_size: Sequence[int] | None,
) -> Tensor:
    """Zeros, and every entry where `indices`, from max_pool(return_indices=True), says."""
    name = f"max_unpool{axes}d"
    axes_fit(name, "input", input, (axes + 1, axes + 2))
    k, p = sizes_of(name, "kernel_size", kernel_size, axes, 1), sizes_of(name, "padding", padding, axes, 0)
    s = k if stride is None else sizes_of(name, "stride", stride, axes, 1)
    if indices.shape != input.shape:
        raise ShapeError(f"{name}: input has shape {input.shape}, indices {indices.shape}; they must be equal")
    size = tuple([(m - 1) * b + a - 2 * c for m, a, b, c in zip(input.shape[-axes:], k, s, p, strict=True)])
    if output_size is not None:
        told = tuple(output_size)[-axes:]
        if len(told) != axes or any(abs(t - n) >= b for t, n, b in zip(told, size, s, strict=True)):
            raise ShapeError(f"{name}: output_size {tuple(output_size)} is not within a stride {s} of {size}")
        size = told
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < prod(size):
        raise ShapeError(
            f"{name}: indices reach to {int(indices.max())}, the output of {size} has {prod(size)} entries"
        )
    x, i = batched(input, axes), batched(indices, axes)
    z = x.new_zeros((*x.shape[:2], prod(size)))  # windows may share their largest entry: it is put there, not added
    flat = (*x.shape[:2], prod(x.shape[2:]))
    z = z.scatter(2, i.reshape(flat), x.reshape(flat))
    return unbatched(input, axes, z.reshape(*x.shape[:2], *size))
