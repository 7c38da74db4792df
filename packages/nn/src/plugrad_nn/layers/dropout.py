"""Dropout layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    function: ClassVar[Any]

    def __init__(self, p: float = 0.5, *, generator: Generator | None = None) -> None:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"{type(self).__name__}: p is a probability, from 0 to 1, not {p}")
        self.p, self.generator = p, generator

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = type(self).function(x, self.p, self.training, generator=self.generator)
        return y

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Dropout(_Dropout):
    """In training y = 0 with probability p, else x / (1 - p); in use y = x, and nothing is drawn.

    generator    what the mask is drawn from; default: plugrad's default generator
    """

    function = F.dropout


class Dropout1d(_Dropout):
    """Dropout of whole channels        x: (N, C, L) or (C, L)"""

    function = F.dropout1d


class Dropout2d(_Dropout):
    """Dropout of whole channels        x: (N, C, H, W) or (N, C, L)"""

    function = F.dropout2d


class Dropout3d(_Dropout):
    """Dropout of whole channels        x: (N, C, D, H, W) or (C, D, H, W)"""

    function = F.dropout3d


class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1 after SELU; see `F.alpha_dropout`"""

    function = F.alpha_dropout


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels        x: (N, C, ...)"""

    function = F.feature_alpha_dropout
