"""Activations as layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["GELU", "LeakyReLU", "LogSoftmax", "ReLU", "SiLU", "Sigmoid", "Softmax", "Tanh"]


class ReLU(Module):
    """y = max(x, 0)"""

    def forward(self, x: Tensor) -> Tensor:
        return pg.relu(x)


class LeakyReLU(Module):
    """y = x where x > 0, else negative_slope · x"""

    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: Tensor) -> Tensor:
        return F.leaky_relu(x, self.negative_slope)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}"


class GELU(Module):
    """y = x · Φ(x), Φ the normal distribution; with approximate="tanh" Hendrycks and Gimpel's formula"""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(x, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Tanh(Module):
    """y = tanh x"""

    def forward(self, x: Tensor) -> Tensor:
        return pg.tanh(x)


class Sigmoid(Module):
    """y = 1 / (1 + e⁻ˣ)"""

    def forward(self, x: Tensor) -> Tensor:
        return pg.sigmoid(x)


class SiLU(Module):
    """y = x · σ(x)"""

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(x)


class Softmax(Module):
    """y = eˣ / Σ eˣ along an axis"""

    def __init__(self, axis: int = -1) -> None:
        self.axis = axis

    def forward(self, x: Tensor) -> Tensor:
        return pg.softmax(x, axis=self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"


class LogSoftmax(Softmax):
    """y = x - log Σ eˣ along an axis"""

    def forward(self, x: Tensor) -> Tensor:
        return pg.log_softmax(x, axis=self.axis)
