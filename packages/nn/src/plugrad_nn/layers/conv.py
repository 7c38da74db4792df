"""Convolution layers."""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError
from plugrad.ops.axes import whole

from .. import functional as F
from .. import init
from ..functional.windows import padding_of, sizes_of
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

    Sizes = int | Sequence[int]

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "Fold", "Unfold",
]  # fmt: skip

MODES = ("zeros", "reflect", "replicate", "circular")


class Windowed(Module):
    """What convolutions and their transposes share: settings, weight, bias, starting values."""

    axes: int
    transposed = False
    padding: Any
    bias: Parameter | None

    def _set(
        self, channels: tuple[int, int], kernel_size: Sizes, stride: Sizes, dilation: Sizes, groups: int, mode: str
    ) -> None:
        name, axes = type(self).__name__, self.axes
        self.in_channels, self.out_channels = (whole(name, "the number of channels", n) for n in channels)
        self.kernel_size = sizes_of(name, "kernel_size", kernel_size, axes, 1)
        self.stride = sizes_of(name, "stride", stride, axes, 1)
        self.dilation = sizes_of(name, "dilation", dilation, axes, 1)
        self.output_padding: tuple[int, ...] = (0,) * axes
        self.groups, self.padding_mode = whole(name, "groups", groups), mode
        self._check(name)

    def _check(self, name: str) -> None:
        channels, groups = (self.in_channels, self.out_channels), self.groups
        if groups < 1 or min(channels) < 1 or any(n % groups for n in channels):
            raise ShapeError(
                f"{name}: {channels[0]} in_channels and {channels[1]} out_channels do not fall into groups={groups}; "
                "both must be positive and divisible by it"
            )
        modes = MODES[:1] if self.transposed else MODES
        if self.padding_mode not in modes:
            raise ValueError(f"{name}: padding_mode {self.padding_mode!r} is none of {', '.join(map(repr, modes))}")

    def _learn(self, bias: bool, device: Any, dtype: Any) -> None:
        first, last = (self.in_channels, self.out_channels)[:: 1 if self.transposed else -1]
        shape = first, last // self.groups, *self.kernel_size
        self.weight = Parameter(pg.zeros(shape, device=device, dtype=dtype))
        self.bias = Parameter(pg.zeros(self.out_channels, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        bound = 1 / sqrt(prod(self.weight.shape[1:]))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        axes = self.axes
        shown = [
            (True, f"{self.in_channels}, {self.out_channels}"),
            (True, f"kernel_size={self.kernel_size}, stride={self.stride}"),
            (self.padding != (0,) * axes, f"padding={self.padding}"),
            (self.dilation != (1,) * axes, f"dilation={self.dilation}"),
            (self.output_padding != (0,) * axes, f"output_padding={self.output_padding}"),
            (self.groups != 1, f"groups={self.groups}"),
            (self.bias is None, "bias=False"),
            (self.padding_mode != "zeros", f"padding_mode={self.padding_mode}"),
        ]
        return ", ".join([text for there, text in shown if there])


class Conv(Windowed):
    """A convolution over `axes` axes."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._set((in_channels, out_channels), kernel_size, stride, dilation, groups, padding_mode)
        pairs = padding_of(type(self).__name__, padding, self.kernel_size, self.stride, self.dilation)
        self.padding = padding if isinstance(padding, str) else tuple([before for before, _ in pairs])
        self._around = [n for pair in reversed(pairs) for n in pair]
        self._learn(bias, device, dtype)

    def _input(self, x: Tensor) -> tuple[Tensor, Any]:
        """The input as it is padded here, and the padding that is left to do."""
        if self.padding_mode == "zeros" or not any(self._around):
            return x, self.padding
        return F.pad(x, self._around, mode=self.padding_mode), 0


class Conv1d(Conv):
    """z[n, o, p] = Σ x[n, c, p · stride + k · dilation - padding] · W[o, c, k] + b[o]

    x: (n, in, l) or (in, l)   W: (out, in / groups, k)   b: (out,)   z: (n, out, p) or (out, p)

    W and b start uniform in ±1/√(in / groups · k). `padding` may be "same" or "valid"; what is padded are zeros, or by
    `padding_mode` the mirror image ("reflect"), the outermost entries ("replicate") or the other end ("circular").
    """

    axes = 1

    def forward(self, x: Tensor) -> Tensor:
        x, padding = self._input(x)
        return F.conv1d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv2d(Conv):
    """`Conv1d` with two axes: x: (n, in, h, w) or (in, h, w)   W: (out, in / groups, kh, kw)"""

    axes = 2

    def forward(self, x: Tensor) -> Tensor:
        x, padding = self._input(x)
        return F.conv2d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv3d(Conv):
    """`Conv1d` with three axes: x: (n, in, d, h, w) or (in, d, h, w)   W: (out, in / groups, kd, kh, kw)"""

    axes = 3

    def forward(self, x: Tensor) -> Tensor:
        x, padding = self._input(x)
        return F.conv3d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class ConvTranspose(Windowed):
    """The adjoint of a convolution over `axes` axes."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._set((in_channels, out_channels), kernel_size, stride, dilation, groups, padding_mode)
        name = type(self).__name__
        self.padding = sizes_of(name, "padding", padding, self.axes, 0)
        self.output_padding = sizes_of(name, "output_padding", output_padding, self.axes, 0)
        self._learn(bias, device, dtype)

    def _longer(self, x: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """The output padding: as set, or what makes an output of this size."""
        if output_size is None:
            return self.output_padding
        want, axes = tuple(output_size), self.axes
        want = want[-axes:] if len(want) == x.ndim else want
        how = zip(x.shape[-axes:], self.kernel_size, self.stride, self.padding, self.dilation, strict=True)
        least = tuple([(p - 1) * s + (k - 1) * d + 1 - 2 * pad for p, k, s, pad, d in how])
        most = tuple([n + max(s, d) - 1 for n, s, d in zip(least, self.stride, self.dilation, strict=True)])
        if len(want) != axes or any(not a <= n <= b for a, n, b in zip(least, want, most, strict=True)):
            raise ShapeError(
                f"{type(self).__name__}: output_size {tuple(output_size)} does not fit input {x.shape}; "
                f"its last axes give sizes from {least} to {most}"
            )
        return tuple([n - a for n, a in zip(want, least, strict=True)])


class ConvTranspose1d(ConvTranspose):
    """z[n, o, p · stride + k · dilation - padding] += x[n, c, p] · W[c, o, k], from b[o]

    x: (n, in, p) or (in, p)   W: (in, out / groups, k)   b: (out,)   z: (n, out, l) or (out, l)

    W and b start uniform in ±1/√(out / groups · k). The size of the output is not settled by that of the input where
    the stride is above 1: `output_padding` makes it larger, or `output_size` in the call says it.
    """

    axes = 1

    def forward(self, x: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        how = self.stride, self.padding, self._longer(x, output_size), self.groups, self.dilation
        return F.conv_transpose1d(x, self.weight, self.bias, *how)


class ConvTranspose2d(ConvTranspose):
    """`ConvTranspose1d` with two axes: x: (n, in, h, w) or (in, h, w)   W: (in, out / groups, kh, kw)"""

    axes = 2

    def forward(self, x: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        how = self.stride, self.padding, self._longer(x, output_size), self.groups, self.dilation
        return F.conv_transpose2d(x, self.weight, self.bias, *how)


class ConvTranspose3d(ConvTranspose):
    """`ConvTranspose1d` with three axes: x: (n, in, d, h, w) or (in, d, h, w)   W: (in, out / groups, kd, kh, kw)"""

    axes = 3

    def forward(self, x: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        how = self.stride, self.padding, self._longer(x, output_size), self.groups, self.dilation
        return F.conv_transpose3d(x, self.weight, self.bias, *how)


class Unfold(Module):
    """The windows of an image as columns: (n, c, h, w) becomes (n, c · kh · kw, places)"""

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, x: Tensor) -> Tensor:
        return F.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        names = ("kernel_size", "dilation", "padding", "stride")
        return ", ".join([f"{name}={getattr(self, name)}" for name in names])


class Fold(Unfold):
    """The adjoint of `Unfold`: (n, c · kh · kw, places) becomes (n, c, h, w), windows added where they overlap"""

    def __init__(
        self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        return F.fold(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"
