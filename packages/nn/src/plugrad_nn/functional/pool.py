"""Pooling: windows made one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from .pooling import adaptive_windows, avg_pool, largest, lp_pool, max_pool, max_unpool, mean_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

    from .pooling import Sizes, Targets

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip


def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest of each window        x: (n, c, l) or (c, l)   z: (n, c, p)

    p = ⌊(l + 2 · padding - dilation · (kernel_size - 1) - 1) / stride⌋ + 1

    stride            default: kernel_size
    padding           places before and after that never win, at most half of kernel_size
    ceil_mode         round p up: a last window may hang over, if it starts inside
    return_indices    also where the largest stand, in the flattened last axes: for max_unpool1d
    """
    return max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool1d` with two axes: x: (n, c, h, w)   sizes are one number for all, or one for each"""
    return max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool1d` with three axes: x: (n, c, d, h, w)   sizes are one number for all, or one for each"""
    return max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window        x: (n, c, l) or (c, l)   z: (n, c, p)

    p = ⌊(l + 2 · padding - kernel_size) / stride⌋ + 1

    stride               default: kernel_size
    ceil_mode            round p up: a last window may hang over, if it starts inside
    count_include_pad    zeros of the padding count as entries
    """
    return avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """`avg_pool1d` with two axes: x: (n, c, h, w)   sizes are one number for all, or one for each

    divisor_override    what sums are divided by, instead of the number of entries
    """
    return avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """`avg_pool1d` with three axes: x: (n, c, d, h, w)   sizes are one number for all, or one for each

    divisor_override    what sums are divided by, instead of the number of entries
    """
    return avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_max_pool1d(input: Tensor, output_size: Targets, return_indices: bool = False) -> Any:
    """The largest of each of `output_size` windows, as even as it goes; None: a window for each entry"""
    return largest(1, input, adaptive_windows("adaptive_max_pool1d", 1, input, output_size), return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Targets, return_indices: bool = False) -> Any:
    """The largest of each of `output_size` windows, as even as it goes; None: a window for each entry"""
    return largest(2, input, adaptive_windows("adaptive_max_pool2d", 2, input, output_size), return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Targets, return_indices: bool = False) -> Any:
    """The largest of each of `output_size` windows, as even as it goes; None: a window for each entry"""
    return largest(3, input, adaptive_windows("adaptive_max_pool3d", 3, input, output_size), return_indices)


def adaptive_avg_pool1d(input: Tensor, output_size: Targets) -> Tensor:
    """The mean of each of `output_size` windows, as even as it goes; None: a window for each entry"""
    return mean_of(1, input, ops.AvgPool(adaptive_windows("adaptive_avg_pool1d", 1, input, output_size), False, 0))


def adaptive_avg_pool2d(input: Tensor, output_size: Targets) -> Tensor:
    """The mean of each of `output_size` windows, as even as it goes; None: a window for each entry"""
    return mean_of(2, input, ops.AvgPool(adaptive_windows("adaptive_avg_pool2d", 2, input, output_size), False, 0))


def adaptive_avg_pool3d(input: Tensor, output_size: Targets) -> Tensor:
    """The mean of each of `output_size` windows, as even as it goes; None: a window for each entry"""
    return mean_of(3, input, ops.AvgPool(adaptive_windows("adaptive_avg_pool3d", 3, input, output_size), False, 0))


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window, p = `norm_type`"""
    return lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window, p = `norm_type`"""
    return lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window, p = `norm_type`"""
    return lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The way back from max_pool1d(return_indices=True): zeros, and every entry where it stood

    output_size    which of the sizes that pool to this one; default: the smallest
    """
    return max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """`max_unpool1d` with two axes: x: (n, c, h, w)   sizes are one number for all, or one for each"""
    return max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """`max_unpool1d` with three axes: x: (n, c, d, h, w)   sizes are one number for all, or one for each"""
    return max_unpool(3, input, indices, kernel_size, stride, padding, output_size)
