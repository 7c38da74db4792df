"""Pictures, (..., height, width), cut, padded and resampled: arrays and tensors alike."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import plugrad as pg
from plugrad import Tensor

WIDE = ("float64", "int32", "uint32", "int64", "uint64")  # dtypes for which float32 is not enough
MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}  # Pillow's word → plugrad's


def pair(who: str, size: Any) -> tuple[int, int]:
    """(height, width)"""
    found = (size, size) if isinstance(size, int) else tuple(size) if isinstance(size, (tuple, list)) else ()
    if len(found) != 2 or any(not isinstance(n, int) or n < 1 for n in found):
        raise ValueError(f"{who}: size {size!r} is a number of pixels from 1, or two: height and width")
    return found[0], found[1]


def crop(x: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of a picture."""
    return x[..., top : top + height, left : left + width]


def padded(x: Any, rows: tuple[int, int], columns: tuple[int, int], mode: str = "constant", fill: float = 0) -> Any:
    """More rows and columns around a picture, (before, after) each."""
    widths = ((0, 0),) * (x.ndim - 2) + (rows, columns)
    if isinstance(x, Tensor):
        return pg.pad(x, widths, mode=MODES[mode], value=fill)
    import numpy as np

    how = {"constant_values": fill} if mode == "constant" else {}
    return np.pad(x, widths, mode=mode, **how)  # type: ignore[call-overload]


def resized(x: Any, height: int, width: int, antialias: bool = True) -> Any:
    """A picture of another height and width, bilinear; whole numbers are rounded."""
    t = "float64" if x.dtype.name in WIDE else "float32"
    down, across = (weights(n, to, antialias, t) for n, to in zip(x.shape[-2:], (height, width), strict=True))
    if isinstance(x, Tensor):
        down, across = (pg.tensor(w, device=x.device) for w in (down, across))
    return _like(x, down @ x.astype(t) @ across.mT)


def _like(x: Any, z: Any) -> Any:
    """z in the dtype of x."""
    import numpy as np

    name = x.dtype.name
    if "float" in name:
        return z.astype(x.dtype)
    low, high = (0, 1) if name == "bool" else (np.iinfo(name).min, np.iinfo(name).max)
    return z.round().clip(low, high).astype(x.dtype)


def grown(x: Any, size: tuple[int, int], fill: float, mode: str = "constant") -> Any:
    """A picture that is not smaller than `size`."""
    gaps = [max(want - n, 0) for want, n in zip(size, x.shape[-2:], strict=True)]
    rows, columns = ((gap // 2, gap - gap // 2) for gap in gaps)
    return padded(x, rows, columns, mode, fill) if any(gaps) else x


@lru_cache(maxsize=64)
def weights(n: int, to: int, antialias: bool, dtype: str) -> Any:
    """The (to, n) matrix of bilinear resampling, rows adding up to 1.

    Pixel i lies at i + ½. Old pixels count by a triangle around the new one, of half width 1 pixel: an old pixel, or,
    with `antialias`, a new one where that is larger.
    """
    import numpy as np

    scale = n / to
    wide = max(scale, 1.0) if antialias else 1.0
    middle = (np.arange(to) + 0.5) * scale
    places = np.arange(n) + 0.5
    if not antialias:  # beyond the ends the last pixel goes on
        middle = middle.clip(0.5, n - 0.5)
    table = np.maximum(1 - abs(places - middle[:, None]) / wide, 0)
    return (table / table.sum(1, keepdims=True)).astype(dtype)
