"""What is done to a picture before it is learned from. Pictures are (channels, height, width), arrays or tensors.

Those that draw take a generator of their own; without one they draw from plugrad's default generator, which a worker
process of a DataLoader finds seeded for itself.
"""

from __future__ import annotations

from math import exp, log, sqrt
from numbers import Real
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import Tensor
from plugrad.errors import DTypeError, ShapeError

from .pictures import MODES, crop, grown, padded, pair, resized

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plugrad import Generator

__all__ = [
    "CenterCrop", "Compose", "Normalize", "Pad", "RandomCrop", "RandomErasing", "RandomHorizontalFlip",
    "RandomResizedCrop", "RandomVerticalFlip", "Resize", "ToTensor",
]  # fmt: skip


class Compose:
    """fₙ(... f₂(f₁(x)))"""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)

    def __call__(self, x: Any) -> Any:
        for f in self.transforms:
            x = f(x)
        return x

    def __repr__(self) -> str:
        return f"Compose([{', '.join(map(repr, self.transforms))}])"


class _Transform:
    """Shows its settings; keeps what it draws from. Subclasses write `of`."""

    generator: Generator | None = None

    def __repr__(self) -> str:
        told = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if k != "generator" and not k.startswith("_"))
        return f"{type(self).__name__}({told})"

    def __call__(self, x: Any) -> Any:
        if len(getattr(x, "shape", ())) < 2:
            raise DTypeError(
                f"{type(self).__name__}: a picture is an array or a tensor (channels, height, width), not "
                f"{type(x).__name__}; put ToTensor() in front"
            )
        return self.of(x)

    def of(self, x: Any) -> Any:
        """What becomes of a picture."""
        raise NotImplementedError(f"{type(self).__name__}.of(self, x) is not written")

    def _draw(self, low: float = 0.0, high: float = 1.0) -> float:
        """A number from low to high."""
        return low + (high - low) * float(pg.rand((), dtype="float64", generator=self.generator))

    def _below(self, n: int) -> int:
        """An integer from 0 to n - 1."""
        return int(pg.randint(0, n, (), generator=self.generator))


class ToTensor(_Transform):
    """A picture as a float32 tensor (channels, height, width): bytes from 0 to 1, floats as they are.

    Takes Pillow's pictures and arrays of (height, width) or (height, width, channels).
    """

    def __call__(self, picture: Any) -> Tensor:
        import numpy as np

        if getattr(picture, "mode", "")[:1] == "P":
            raise DTypeError("ToTensor: a picture of numbers in a palette; pass picture.convert('RGB')")
        x = np.asarray(picture)
        if x.ndim not in (2, 3):
            raise ShapeError(f"ToTensor: a picture is (height, width) or (height, width, channels), not {x.shape}")
        x = x[None] if x.ndim == 2 else x.transpose(2, 0, 1)
        if x.dtype.kind not in "fb" and x.dtype != np.uint8:
            raise DTypeError(f"ToTensor: a picture of {x.dtype}; bytes or floats are wanted, from 0 to 1")
        return pg.tensor(
            np.multiply(x, np.float32(1 / 255), dtype=np.float32) if x.dtype == np.uint8 else x, dtype="float32"
        )


class Normalize(_Transform):
    """(x - mean) / std, with one mean and one std for each channel"""

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean, self.std = tuple(map(float, mean)), tuple(map(float, std))
        if len(self.mean) != len(self.std) or not all(s > 0 for s in self.std):
            raise ValueError(
                f"Normalize: mean {self.mean} and std {self.std} have one entry a channel, std more than 0"
            )

    def of(self, x: Any) -> Any:
        if x.ndim < 3 or x.shape[-3] != len(self.mean):
            raise ShapeError(f"Normalize: {len(self.mean)} channels are told, the picture has shape {tuple(x.shape)}")
        if not isinstance(x, Tensor):
            x = pg.tensor(x)
        if x.dtype.kind != "float":
            raise DTypeError(f"Normalize: a picture of {x.dtype}; make floats of it first: ToTensor()")
        mean, std = (pg.tensor(v, dtype=x.dtype, device=x.device).reshape(-1, 1, 1) for v in (self.mean, self.std))
        return (x - mean) / std


class RandomHorizontalFlip(_Transform):
    """Left and right exchanged, with probability p"""

    axis = -1

    def __init__(self, p: float = 0.5, *, generator: Generator | None = None) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: p is a probability, from 0 to 1, not {p}")
        self.p, self.generator = p, generator

    def of(self, x: Any) -> Any:
        if self._draw() >= self.p:
            return x
        return x[..., ::-1] if self.axis == -1 else x[..., ::-1, :]


class RandomVerticalFlip(RandomHorizontalFlip):
    """Top and bottom exchanged, with probability p"""

    axis = -2


class Pad(_Transform):
    """More rows and columns around: one number, (left and right, top and bottom), or (left, top, right, bottom)

    padding_mode    "constant" (of `fill`), "edge", "reflect"
    """

    def __init__(self, padding: int | Sequence[int], fill: float = 0, padding_mode: str = "constant") -> None:
        if padding_mode not in MODES:
            raise ValueError(f"Pad: padding_mode {padding_mode!r} is none of {', '.join(MODES)}")
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode
        self._sides()

    def _sides(self) -> tuple[int, int, int, int]:
        p = (self.padding,) if isinstance(self.padding, int) else tuple(self.padding)
        if len(p) not in (1, 2, 4) or any(n < 0 for n in p):
            raise ValueError(f"{type(self).__name__}: padding {self.padding} is one, two or four numbers from 0")
        return p * 4 if len(p) == 1 else p * 2 if len(p) == 2 else p  # type: ignore[return-value]

    def of(self, x: Any) -> Any:
        left, top, right, bottom = self._sides()
        return padded(x, (top, bottom), (left, right), self.padding_mode, self.fill)


class CenterCrop(_Transform):
    """The middle, of a height and a width; a smaller picture is filled up with zeros"""

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = pair("CenterCrop", size)

    def of(self, x: Any) -> Any:
        x = grown(x, self.size, 0)
        (h, w), (height, width) = self.size, x.shape[-2:]
        return crop(x, round((height - h) / 2), round((width - w) / 2), h, w)


class RandomCrop(_Transform):
    """A part of a height and a width, anywhere; after `padding` as in `Pad`

    pad_if_needed    fill up a picture that is too small; else that is an error
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float = 0,
        padding_mode: str = "constant",
        *,
        generator: Generator | None = None,
    ) -> None:
        self.size, self.padding, self.pad_if_needed = pair("RandomCrop", size), padding, pad_if_needed
        self.fill, self.padding_mode, self.generator = fill, padding_mode, generator
        self._pad = None if padding is None else Pad(padding, fill, padding_mode)

    def of(self, x: Any) -> Any:
        x = x if self._pad is None else self._pad(x)
        x = grown(x, self.size, self.fill, self.padding_mode) if self.pad_if_needed else x
        (h, w), (height, width) = self.size, x.shape[-2:]
        if h > height or w > width:
            raise ShapeError(
                f"RandomCrop: {self.size} out of a picture of {(height, width)}; pad_if_needed=True fills up"
            )
        return crop(x, self._below(height - h + 1), self._below(width - w + 1), h, w)


class Resize(_Transform):
    """Another height and width, or, of one number, the shorter side; bilinear, bytes are rounded

    antialias    average over the pixels that fall into one when it gets smaller; else only its neighbours count
    """

    def __init__(self, size: int | Sequence[int], antialias: bool = True) -> None:
        found = pair("Resize", size)
        self.size, self.antialias = size if isinstance(size, int) else found, antialias

    def of(self, x: Any) -> Any:
        height, width = x.shape[-2:]
        if isinstance(self.size, tuple):
            return resized(x, *self.size, self.antialias)
        short = min(height, width)
        return resized(x, self.size * height // short, self.size * width // short, self.antialias)


class RandomResizedCrop(_Transform):
    """A part of random area and shape, resized: a share `scale` of the area, width to height within `ratio`

    Szegedy et al., Going deeper with convolutions, 2015
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        antialias: bool = True,
        *,
        generator: Generator | None = None,
    ) -> None:
        self.size, self.scale, self.ratio = pair("RandomResizedCrop", size), tuple(scale), tuple(ratio)
        self.antialias, self.generator = antialias, generator

    def of(self, x: Any) -> Any:
        height, width = x.shape[-2:]
        for _ in range(10):
            part = height * width * self._draw(*self.scale)
            shape = exp(self._draw(log(self.ratio[0]), log(self.ratio[1])))
            h, w = round(sqrt(part / shape)), round(sqrt(part * shape))
            if 0 < h <= height and 0 < w <= width:
                found = crop(x, self._below(height - h + 1), self._below(width - w + 1), h, w)
                return resized(found, *self.size, self.antialias)
        low, high = self.ratio  # none fitted: the middle, as near to the ratios as it goes
        h, w = min(height, round(width / low)), min(width, round(height * high))
        found = crop(x, (height - h) // 2, (width - w) // 2, h, w)
        return resized(found, *self.size, self.antialias)


class RandomErasing(_Transform):
    """With probability p, a rectangle is given `value` (one number, or one a channel)

    Zhong et al., Random erasing data augmentation, 2020
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] = 0,
        *,
        generator: Generator | None = None,
    ) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"RandomErasing: p is a probability, from 0 to 1, not {p}")
        self.p, self.scale, self.ratio, self.value, self.generator = p, tuple(scale), tuple(ratio), value, generator

    def of(self, x: Any) -> Any:
        if self._draw() >= self.p:
            return x
        height, width = x.shape[-2:]
        for _ in range(10):
            part = height * width * self._draw(*self.scale)
            shape = exp(self._draw(log(self.ratio[0]), log(self.ratio[1])))
            h, w = round(sqrt(part * shape)), round(sqrt(part / shape))
            if 0 < h < height and 0 < w < width:
                return self._erased(x, self._below(height - h + 1), self._below(width - w + 1), h, w)
        return x

    def _erased(self, x: Any, top: int, left: int, h: int, w: int) -> Any:
        z = x.clone() if isinstance(x, Tensor) else x.copy()
        value: Any = self.value
        if isinstance(value, Real):
            z[..., top : top + h, left : left + w] = value
            return z
        if len(value) != (x.shape[-3] if x.ndim > 2 else 0):
            raise ShapeError(f"RandomErasing: {len(value)} values for a picture of shape {tuple(x.shape)}")
        for channel, v in enumerate(value):
            z[..., channel, top : top + h, left : left + w] = v
        return z
