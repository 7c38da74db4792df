"""Dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = ["Dropout"]


class Dropout(Module):
    """In training y = 0 with probability p, else x / (1 - p); in use y = x, and nothing is drawn.

    generator    what the mask is drawn from; default: plugrad's default generator
    """

    def __init__(self, p: float = 0.5, *, generator: Generator | None = None) -> None:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"Dropout: p is a probability, from 0 to 1, not {p}")
        self.p, self.generator = p, generator

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, self.training, generator=self.generator)

    def extra_repr(self) -> str:
        return f"p={self.p}"
