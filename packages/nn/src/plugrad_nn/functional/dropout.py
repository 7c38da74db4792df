"""Dropout: in training some numbers, or whole channels, are left out at random."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

LOWEST = -1.7580993408473766  # what SELU tends to for x → -∞: -α λ


def dropout(input: Tensor, p: float = 0.5, training: bool = True, *, generator: Generator | None = None) -> Tensor:
    """In training 0 with probability p, else x / (1 - p), so that the mean stays; otherwise x, and nothing is drawn.

    (Srivastava et al. 2014)
    """
    return _drop("dropout", input, p, training, input.shape, generator)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, *, generator: Generator | None = None) -> Tensor:
    """`dropout` of whole channels        x: (N, C, L) or (C, L)"""
    return _drop("dropout1d", input, p, training, _channels("dropout1d", input, 2, 3), generator)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, *, generator: Generator | None = None) -> Tensor:
    """`dropout` of whole channels        x: (N, C, H, W), or (N, C, L) as in PyTorch"""
    return _drop("dropout2d", input, p, training, _channels("dropout2d", input, 3, 4), generator)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, *, generator: Generator | None = None) -> Tensor:
    """`dropout` of whole channels        x: (N, C, D, H, W) or (C, D, H, W)"""
    return _drop("dropout3d", input, p, training, _channels("dropout3d", input, 4, 5), generator)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """In training a · (m with probability p, else x) + b; a and b keep the mean 0 and variance 1 that SELU gives

    m = -α λ is what SELU tends to far below 0 (Klambauer et al. 2017).
    """
    return _alpha("alpha_dropout", input, p, training, input.shape, generator)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`alpha_dropout` of whole channels        x: (N, C, ...)"""
    shape = _channels("feature_alpha_dropout", input, 2, max(input.ndim, 2))
    return _alpha("feature_alpha_dropout", input, p, training, shape, generator)


def _drop(name: str, x: Tensor, p: float, training: bool, shape: Any, generator: Generator | None) -> Tensor:
    if _nothing(name, p, training):
        return x
    scaled = x * (1 / (1 - p) if p < 1 else 0.0)
    kept: Tensor = pg.where(_keep(x, p, shape, generator), scaled, 0.0)
    return kept


def _alpha(name: str, x: Tensor, p: float, training: bool, shape: Any, generator: Generator | None) -> Tensor:
    if _nothing(name, p, training):
        return x
    a = 1 / sqrt((1 - p) * (1 + p * LOWEST * LOWEST)) if p < 1 else 0.0
    b = -a * p * LOWEST
    kept: Tensor = pg.where(_keep(x, p, shape, generator), x * a + b, a * LOWEST + b)
    return kept


def _nothing(name: str, p: float, training: bool) -> bool:
    """Is there nothing to drop?"""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{name}: p is a probability, from 0 to 1, not {p}")
    return not training or p == 0.0


def _keep(x: Tensor, p: float, shape: Any, generator: Generator | None) -> Tensor:
    """What stays: true with probability 1 - p."""
    return pg.rand(shape, generator=generator, device=x.device) >= p


def _channels(name: str, x: Tensor, least: int, most: int) -> tuple[int, ...]:
    """The shape of a mask for whole channels: (N, C, 1, ...), or (C, 1, ...) where there is no batch."""
    if not least <= x.ndim <= most:
        raise ShapeError(f"{name}: input {x.shape} has {x.ndim} axes; it takes {least} to {most}")
    front = 1 if name in ("dropout1d", "dropout3d") and x.ndim == least else 2
    return (*x.shape[:front], *[1] * (x.ndim - front))
