"""Other sizes: interpolation and pixel shuffling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.apply import unary
from plugrad.errors import ShapeError
from plugrad.ops.axes import whole

from .. import ops
from ..ops.resize import Grid
from . import pool
from .windows import sizes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = ["channel_shuffle", "interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample"]

#: mode → (what it is along one axis, axes that it takes)
MODES = {
    "nearest": ("nearest", (1, 2, 3)), "nearest-exact": ("nearest-exact", (1, 2, 3)), "area": ("area", (1, 2, 3)),
    "linear": ("linear", (1,)), "bilinear": ("linear", (2,)), "trilinear": ("linear", (3,)), "bicubic": ("cubic", (2,)),
}  # fmt: skip


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """`input` of another size, or `scale_factor` times as large        x: (n, c, ...), one to three further axes

    mode                    "nearest", "nearest-exact", "linear" (one axis), "bilinear" and "bicubic" (two), "trilinear"
                            (three), "area" (the mean of what falls into a new entry)
    align_corners           the middles of the outermost entries stay where they are, not their edges; not for "nearest"
                            and "area"
    recompute_scale_factor  go by the ratio of the sizes, not by `scale_factor`
    antialias               when it gets smaller, all that falls into an entry counts; for "bilinear" and "bicubic"
    """
    axes, kind = _mode(input, mode, align_corners, antialias)
    old = input.shape[2:]
    new, scales = _sizes(old, size, scale_factor, recompute_scale_factor)
    if kind == "area":
        return (pool.adaptive_avg_pool1d, pool.adaptive_avg_pool2d, pool.adaptive_avg_pool3d)[axes - 1](input, new)
    x = input if kind.startswith("nearest") or input.dtype.is_floating_point else input.astype("float32")
    for axis, (n, m, scale) in enumerate(zip(old, new, scales, strict=True), 2):
        ratio = _ratio(n, m, scale, bool(align_corners))
        kept = ratio == 1 or antialias or kind == "linear"  # PyTorch: these leave an axis whose size stays
        if n != m or not kept:
            x = unary(ops.Resample(axis, Grid(n, m, kind, ratio, bool(align_corners), bool(antialias))), x)
    return x


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate` under its old name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def _mode(x: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> tuple[int, str]:
    """(further axes, what the mode is along one of them), if all goes together."""
    axes = x.ndim - 2
    if mode not in MODES:
        raise ValueError(f"interpolate: mode {mode!r} is none of {', '.join(map(repr, MODES))}")
    kind, takes = MODES[mode]
    if axes not in takes or not all(x.shape[1:]):
        fit = " or ".join(str(a + 2) for a in takes)
        raise ShapeError(f"interpolate: mode {mode!r} takes inputs of {fit} axes, none of them empty, not {x.shape}")
    if align_corners is not None and kind not in ("linear", "cubic"):
        raise ValueError(f"interpolate: align_corners means nothing to mode {mode!r}; leave it out")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f"interpolate: antialias is for modes 'bilinear' and 'bicubic', not {mode!r}")
    if antialias and align_corners:
        raise ValueError("interpolate: antialias goes by the edges of entries; leave align_corners out")
    return axes, kind


def _sizes(old: tuple[int, ...], size: Any, factor: Any, again: bool | None) -> tuple[tuple[int, ...], list[Any]]:
    """(new sizes, the scale that was told for each axis; None: the ratio of the sizes)."""
    axes = len(old)
    if (size is None) == (factor is None):
        raise ValueError("interpolate: say either size or scale_factor")
    if size is not None:
        if again:
            raise ValueError("interpolate: recompute_scale_factor goes with scale_factor, not with size")
        return sizes_of("interpolate", "size", size, axes, 1), [None] * axes
    factors = [float(f) for f in (factor if hasattr(factor, "__iter__") else (factor,) * axes)]
    new = tuple([int(n * f) for n, f in zip(old, factors, strict=False)])
    if len(factors) != axes or min(new) < 1:
        raise ShapeError(f"interpolate: scale_factor {factor} makes sizes {new} of {old}; each is at least 1")
    return new, [None if again else f for f in factors]


def _ratio(n: int, m: int, factor: float | None, aligned: bool) -> float:
    """Old entries for a new one."""
    if aligned:
        return (n - 1) / (m - 1) if m > 1 else 0.0
    return n / m if factor is None else 1 / factor


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels laid out as pixels: (..., c · r², h, w) → (..., c, h · r, w · r)        Shi et al. 2016"""
    r = whole("pixel_shuffle", "upscale_factor", upscale_factor)
    if input.ndim < 3 or r < 1 or input.shape[-3] % (r * r):
        raise ShapeError(f"pixel_shuffle: shape {input.shape} has not a multiple of {r}² channels, on axis -3")
    *rest, c, h, w = input.shape
    z = input.reshape(-1, c // (r * r), r, r, h, w).permute_dims((0, 1, 4, 2, 5, 3))
    return z.reshape(*rest, c // (r * r), h * r, w * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The way back from `pixel_shuffle`: (..., c, h · r, w · r) → (..., c · r², h, w)"""
    r = whole("pixel_unshuffle", "downscale_factor", downscale_factor)
    if input.ndim < 3 or r < 1 or input.shape[-1] % r or input.shape[-2] % r:
        raise ShapeError(f"pixel_unshuffle: shape {input.shape} has not multiples of {r} on its last two axes")
    *rest, c, h, w = input.shape
    z = input.reshape(-1, c, h // r, r, w // r, r).permute_dims((0, 1, 3, 5, 2, 4))
    return z.reshape(*rest, c * r * r, h // r, w // r)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels of `groups` groups dealt out in turn: one of each, then the next        Zhang et al. 2018"""
    g = whole("channel_shuffle", "groups", groups)
    if input.ndim < 3 or g < 1 or input.shape[1] % g:
        raise ShapeError(f"channel_shuffle: shape {input.shape} has not a multiple of {g} channels, on axis 1")
    n, c, *rest = input.shape
    z = input.reshape(n, g, c // g, *rest).permute_dims((0, 2, 1, *range(3, len(rest) + 3)))
    return z.reshape(input.shape)
