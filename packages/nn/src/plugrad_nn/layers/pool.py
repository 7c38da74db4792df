"""Pooling layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..functional import pool as F
from ..functional.pooling import avg_pool, max_pool, max_unpool
from ..module import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plugrad import Tensor

    Sizes = int | Sequence[int]

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


class _Pool(Module):
    """Shows its settings."""

    axes: ClassVar[int]
    shown: ClassVar[tuple[str, ...]]

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.shown)


class MaxPool1d(_Pool):
    """The largest of each window; see `F.max_pool1d`"""

    axes = 1
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, x: Tensor) -> Any:
        how = (self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)
        return max_pool(self.axes, x, *how)


class MaxPool2d(MaxPool1d):
    """The largest of each window; see `F.max_pool2d`"""

    axes = 2


class MaxPool3d(MaxPool1d):
    """The largest of each window; see `F.max_pool3d`"""

    axes = 3


class MaxUnpool1d(_Pool):
    """The way back from max pooling with indices; see `F.max_unpool1d`"""

    axes = 1
    shown = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return max_unpool(self.axes, x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(MaxUnpool1d):
    """The way back from max pooling with indices; see `F.max_unpool2d`"""

    axes = 2


class MaxUnpool3d(MaxUnpool1d):
    """The way back from max pooling with indices; see `F.max_unpool3d`"""

    axes = 3


class AvgPool1d(_Pool):
    """The mean of each window; see `F.avg_pool1d`"""

    axes = 1
    shown = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
    divisor_override: int | None = None

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad

    def forward(self, x: Tensor) -> Tensor:
        how = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return avg_pool(self.axes, x, *how, self.divisor_override)


class AvgPool2d(AvgPool1d):
    """The mean of each window; see `F.avg_pool2d`"""

    axes = 2

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override


class AvgPool3d(AvgPool2d):
    """The mean of each window; see `F.avg_pool3d`"""

    axes = 3


class LPPool1d(_Pool):
    """(Σ xᵖ)^(1/p) of each window; see `F.lp_pool1d`"""

    pool: ClassVar[Callable[..., Tensor]] = staticmethod(F.lp_pool1d)
    shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPool1d):
    """(Σ xᵖ)^(1/p) of each window; see `F.lp_pool2d`"""

    pool = staticmethod(F.lp_pool2d)


class LPPool3d(LPPool1d):
    """(Σ xᵖ)^(1/p) of each window; see `F.lp_pool3d`"""

    pool = staticmethod(F.lp_pool3d)


class AdaptiveMaxPool1d(_Pool):
    """The largest of each of `output_size` windows; see `F.adaptive_max_pool1d`"""

    pool: ClassVar[Callable[..., Any]] = staticmethod(F.adaptive_max_pool1d)
    shown = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, x: Tensor) -> Any:
        return self.pool(x, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(AdaptiveMaxPool1d):
    """The largest of each of `output_size` windows; see `F.adaptive_max_pool2d`"""

    pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(AdaptiveMaxPool1d):
    """The largest of each of `output_size` windows; see `F.adaptive_max_pool3d`"""

    pool = staticmethod(F.adaptive_max_pool3d)


class AdaptiveAvgPool1d(_Pool):
    """The mean of each of `output_size` windows; see `F.adaptive_avg_pool1d`"""

    pool: ClassVar[Callable[..., Tensor]] = staticmethod(F.adaptive_avg_pool1d)
    shown = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(x, self.output_size)


class AdaptiveAvgPool2d(AdaptiveAvgPool1d):
    """The mean of each of `output_size` windows; see `F.adaptive_avg_pool2d`"""

    pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(AdaptiveAvgPool1d):
    """The mean of each of `output_size` windows; see `F.adaptive_avg_pool3d`"""

    pool = staticmethod(F.adaptive_avg_pool3d)
