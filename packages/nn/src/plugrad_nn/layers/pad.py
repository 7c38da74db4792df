"""Padding layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from plugrad.errors import ShapeError

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

    Sizes = int | Sequence[int]

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    """Entries around the last axes: one number for all sides, or (before, after) for each axis, the last one first."""

    axes: ClassVar[int]
    mode: ClassVar[str] = "constant"
    value: float = 0.0

    def __init__(self, padding: Sizes) -> None:
        self.padding = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != 2 * self.axes:
            raise ShapeError(f"{type(self).__name__}: padding {padding} is not one number, nor {2 * self.axes} of them")

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in (self.axes + 1, self.axes + 2):
            fit = f"{self.axes + 1} or {self.axes + 2}"
            raise ShapeError(f"{type(self).__name__}: input of shape {x.shape} has {x.ndim} axes; {fit} fit")
        return F.pad(x, self.padding, self.mode, self.value if self.mode == "constant" else None)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_Pad):
    """Zeros around the last axis"""

    axes = 1


class ZeroPad2d(ZeroPad1d):
    """Zeros around the last two axes"""

    axes = 2


class ZeroPad3d(ZeroPad1d):
    """Zeros around the last three axes"""

    axes = 3


class ReflectionPad1d(_Pad):
    """The entries mirrored at the edge, without the edge, around the last axis"""

    axes = 1
    mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """The entries mirrored at the edge, without the edge, around the last two axes"""

    axes = 2


class ReflectionPad3d(ReflectionPad1d):
    """The entries mirrored at the edge, without the edge, around the last three axes"""

    axes = 3


class ReplicationPad1d(_Pad):
    """The entries at the edge, repeated, around the last axis"""

    axes = 1
    mode = "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """The entries at the edge, repeated, around the last two axes"""

    axes = 2


class ReplicationPad3d(ReplicationPad1d):
    """The entries at the edge, repeated, around the last three axes"""

    axes = 3


class CircularPad1d(_Pad):
    """The entries from the other side around the last axis"""

    axes = 1
    mode = "circular"


class CircularPad2d(CircularPad1d):
    """The entries from the other side around the last two axes"""

    axes = 2


class CircularPad3d(CircularPad1d):
    """The entries from the other side around the last three axes"""

    axes = 3


class ConstantPad1d(_Pad):
    """`value` around the last axis"""

    axes = 1

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """`value` around the last two axes"""

    axes = 2


class ConstantPad3d(ConstantPad1d):
    """`value` around the last three axes"""

    axes = 3
