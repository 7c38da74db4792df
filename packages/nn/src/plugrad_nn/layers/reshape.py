"""Layers that only reshape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..module import Module

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["Flatten"]


class Flatten(Module):
    """y = x with the axes from `start_axis` to `end_axis` made one"""

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(self.start_axis, self.end_axis)

    def extra_repr(self) -> str:
        return f"start_axis={self.start_axis}, end_axis={self.end_axis}"
