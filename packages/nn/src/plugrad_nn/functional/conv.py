"""Convolution and its transpose."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from plugrad.apply import apply, unary
from plugrad.errors import ShapeError
from plugrad.ops.axes import whole

from .. import ops
from ..ops.conv import places_of
from ..ops.conv import sizes_of as outputs_of
from .windows import axes_fit, batched, fitted, padding_of, sizes_of, unbatched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

    Sizes = int | Sequence[int]

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold", "unfold",
]  # fmt: skip


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The sum over every window: z[n, o, p] = Σ x[n, c, p · stride + k · dilation - padding] · w[o, c, k] + b[o]

    x: (n, c, l) or (c, l)   w: (o, c / groups, k)   b: (o,)   z: (n, o, p) or (o, p)
    p = ⌊(l + 2 · padding - dilation · (k - 1) - 1) / stride⌋ + 1

    padding    zeros before and after; "valid": none; "same": p = l, an odd entry goes to the end, stride 1 only
    groups     channels fall into so many groups; outputs of one see only inputs of the same
    """
    op, *xs = _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)
    return unbatched(input, 1, apply(op, *xs))


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """`conv1d` with two axes: x: (n, c, h, w) or (c, h, w)   w: (o, c / groups, kh, kw)

    stride, padding and dilation are one number for both axes, or one for each.
    """
    op, *xs = _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)
    return unbatched(input, 2, apply(op, *xs))


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """`conv1d` with three axes: x: (n, c, d, h, w) or (c, d, h, w)   w: (o, c / groups, kd, kh, kw)

    stride, padding and dilation are one number for all axes, or one for each.
    """
    op, *xs = _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)
    return unbatched(input, 3, apply(op, *xs))


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Every entry spread over a window, the adjoint of `conv1d`: z[n, o, p · stride + k · dilation - padding] is the
    sum of x[n, c, p] · w[c, o, k] over c and the pairs p, k that meet there, + b[o]

    x: (n, c, p) or (c, p)   w: (c, o / groups, k)   b: (o,)   z: (n, o, l) or (o, l)
    l = (p - 1) · stride - 2 · padding + dilation · (k - 1) + output_padding + 1

    output_padding    entries more at the end: strided convolutions of several sizes give the same p
    """
    how = stride, padding, output_padding, dilation, groups
    op, *xs = _transpose("conv_transpose1d", 1, input, weight, bias, *how)
    return unbatched(input, 1, apply(op, *xs))


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """`conv_transpose1d` with two axes: x: (n, c, h, w) or (c, h, w)   w: (c, o / groups, kh, kw)"""
    how = stride, padding, output_padding, dilation, groups
    op, *xs = _transpose("conv_transpose2d", 2, input, weight, bias, *how)
    return unbatched(input, 2, apply(op, *xs))


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """`conv_transpose1d` with three axes: x: (n, c, d, h, w) or (c, d, h, w)   w: (c, o / groups, kd, kh, kw)"""
    how = stride, padding, output_padding, dilation, groups
    op, *xs = _transpose("conv_transpose3d", 3, input, weight, bias, *how)
    return unbatched(input, 3, apply(op, *xs))


def unfold(input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """The windows of an image as columns: (n, c, h, w) becomes (n, c · kh · kw, places); (c, h, w) likewise

    A convolution is w.reshape(o, -1) @ unfold(x, ...), reshaped.
    """
    axes_fit("unfold", "input", input, (3, 4))
    op = _patches("unfold", input.shape[-2:], kernel_size, stride, padding, dilation)
    return unbatched(input, 2, unary(op, batched(input, 2)))


def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """The adjoint of `unfold`: columns (n, c · kh · kw, places) as windows of an image (n, c, h, w), added where they
    overlap; (c · kh · kw, places) likewise        output_size: (h, w)
    """
    axes_fit("fold", "input", input, (2, 3))
    sizes = sizes_of("fold", "output_size", output_size, 2, 0)
    op = ops.AddPatches(*_patches("fold", sizes, kernel_size, stride, padding, dilation).settings)
    rows, places = prod(op.kernel), prod(places_of(op, sizes, op.kernel))
    if input.shape[-2] % rows or input.shape[-1] != places:
        raise ShapeError(
            f"fold: input {input.shape} has {input.shape[-2]} rows and {input.shape[-1]} places; an image of {sizes} "
            f"has windows of {op.kernel} at {places} places, {rows} rows for each channel"
        )
    return unbatched(input, 1, unary(op, batched(input, 1)))


def _conv(
    name: str, axes: int, x: Tensor, w: Tensor, b: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> tuple[Any, ...]:
    """The convolution, and its inputs."""
    groups = _fits(name, axes, x, w, groups, 1)
    steps, gaps = sizes_of(name, "stride", stride, axes, 1), sizes_of(name, "dilation", dilation, axes, 1)
    kernel = w.shape[2:]
    pairs = padding_of(name, padding, kernel, steps, gaps)
    how = steps, fitted(name, x.shape[-axes:], kernel, steps, pairs, gaps), gaps, groups
    if b is None:
        return ops.Conv(*how), batched(x, axes), w
    return ops.BiasedConv(*how), batched(x, axes), w, _bias(name, b, w.shape[0])


def _transpose(
    name: str, axes: int, x: Tensor, w: Tensor, b: Tensor | None, stride: Any, padding: Any, more: Any, dilation: Any,
    groups: int,
) -> tuple[Any, ...]:  # fmt: skip
    """The transposed convolution, and its inputs."""
    groups = _fits(name, axes, x, w, groups, 0)
    steps, gaps = sizes_of(name, "stride", stride, axes, 1), sizes_of(name, "dilation", dilation, axes, 1)
    pads, ends = sizes_of(name, "padding", padding, axes, 0), sizes_of(name, "output_padding", more, axes, 0)
    if any(e >= max(s, d) for e, s, d in zip(ends, steps, gaps, strict=True)):
        raise ShapeError(
            f"{name}: output_padding {ends} must be smaller than the stride {steps} or the dilation {gaps}: "
            "no window ends beyond that"
        )
    how = steps, tuple([(p, p - e) for p, e in zip(pads, ends, strict=True)]), gaps, groups
    _grows(name, ops.ConvTranspose(*how), x, w)
    if b is None:
        return ops.ConvTranspose(*how), batched(x, axes), w
    return ops.BiasedConvTranspose(*how), batched(x, axes), w, _bias(name, b, w.shape[1] * groups)


def _fits(name: str, axes: int, x: Tensor, w: Tensor, groups: int, inputs: int) -> int:
    """`groups`, if it fits the channels; axis `inputs` of the weight is that of the input's channels."""
    axes_fit(name, "input", x, (axes + 1, axes + 2))
    axes_fit(name, "weight", w, (axes + 2,))
    groups, channels = whole(name, "groups", groups), x.shape[-axes - 1]
    if groups < 1 or w.shape[0] % groups or channels % groups:
        raise ShapeError(
            f"{name}: groups={groups} must divide the {channels} channels of input {x.shape} and the {w.shape[0]} "
            f"entries along the first axis of weight {w.shape}"
        )
    takes = w.shape[1] * groups if inputs else w.shape[0]
    if channels != takes:
        raise ShapeError(
            f"{name}: input {x.shape} has {channels} channels, weight {w.shape} takes {takes} (groups={groups})"
        )
    if 0 in w.shape[2:]:
        raise ShapeError(f"{name}: the kernel of weight {w.shape} is empty; each axis needs at least 1")
    return groups


def _bias(name: str, b: Tensor, channels: int) -> Tensor:
    if b.shape != (channels,):
        raise ShapeError(f"{name}: bias has shape {b.shape}; {channels} output channels want ({channels},)")
    return b


def _grows(name: str, op: ops.ConvTranspose, x: Tensor, w: Tensor) -> None:
    """The output of a transposed convolution has a size."""
    places = x.shape[2 - w.ndim :]
    sizes = outputs_of(op, places, w.shape[2:])
    if 0 in places or min(sizes) < 1:
        raise ShapeError(
            f"{name}: input {x.shape} and weight {w.shape} with stride {op.stride} and padding {op.padding} would give "
            f"an output of {sizes}; pad less, or pass a larger input"
        )


def _patches(name: str, size: tuple[int, ...], kernel: Any, stride: Any, padding: Any, dilation: Any) -> ops.Patches:
    window, steps = sizes_of(name, "kernel_size", kernel, 2, 1), sizes_of(name, "stride", stride, 2, 1)
    gaps = sizes_of(name, "dilation", dilation, 2, 1)
    pairs = padding_of(name, sizes_of(name, "padding", padding, 2, 0), window, steps, gaps)
    return ops.Patches(size, window, steps, fitted(name, size, window, steps, pairs, gaps), gaps)
