"""Layers that give images another size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = [
    "ChannelShuffle", "PixelShuffle", "PixelUnshuffle", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
]  # fmt: skip


class Upsample(Module):
    """x of another size, or `scale_factor` times as large; see `F.interpolate`"""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, x: Tensor) -> Tensor:
        how = (self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)
        return F.interpolate(x, *how)

    def extra_repr(self) -> str:
        to = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{to}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """x of another size, each entry that of the nearest"""

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """x of another size, linear between entries, corners upon corners"""

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


class PixelShuffle(Module):
    """Channels laid out as pixels: (..., c · r², h, w) → (..., c, h · r, w · r)        Shi et al. 2016"""

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = upscale_factor

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_shuffle(x, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Pixels laid out as channels: (..., c, h · r, w · r) → (..., c · r², h, w)"""

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = downscale_factor

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_unshuffle(x, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels of `groups` groups dealt out in turn        Zhang et al. 2018"""

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def forward(self, x: Tensor) -> Tensor:
        return F.channel_shuffle(x, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
