"""Layers that only reshape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.errors import ShapeError

from ..module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """y = x with the axes from `start_axis` to `end_axis` made one"""

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(self.start_axis, self.end_axis)

    def extra_repr(self) -> str:
        return f"start_axis={self.start_axis}, end_axis={self.end_axis}"


class Unflatten(Module):
    """y = x with one axis made several, of the sizes `unflattened_size` (one of them may be -1)"""

    def __init__(self, axis: int, unflattened_size: Sequence[int]) -> None:
        self.axis, self.unflattened_size = axis, tuple(unflattened_size)

    def forward(self, x: Tensor) -> Tensor:
        if not -x.ndim <= self.axis < x.ndim:
            raise ShapeError(f"Unflatten: shape {x.shape} has no axis {self.axis}")
        a = self.axis % x.ndim
        return x.reshape(*x.shape[:a], *self.unflattened_size, *x.shape[a + 1 :])

    def extra_repr(self) -> str:
        return f"axis={self.axis}, unflattened_size={self.unflattened_size}"
