"""Lengths, angles and distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["cosine_similarity", "normalize", "pairwise_distance"]

SMALL = 2.0**-20  # times the largest number there is: a million such can still be added up


def normalize(input: Tensor, p: float = 2.0, axis: int | tuple[int, ...] = 1, eps: float = 1e-12) -> Tensor:
    """x / max(‖x‖ₚ, ε) along an axis, or several; 0 stays 0."""
    if p == 0:
        return input / pg.maximum(input.norm(0, axis=axis, keepdims=True), eps)
    x = _wide(input) * SMALL
    return _like(x / pg.maximum(x.norm(p, axis=axis, keepdims=True), eps * SMALL), input)


def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """x₁ · x₂ / (max(‖x₁‖, ε) · max(‖x₂‖, ε)) along an axis; shapes broadcast."""
    shape = pg.broadcast_shapes(x1.shape, x2.shape)
    a, b = (normalize(_wide(pg.broadcast_to(x, shape)), axis=axis, eps=eps) for x in (x1, x2))
    return (a * b).sum(axis=axis).astype(pg.result_type(x1, x2))


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """‖x₁ - x₂ + ε‖ₚ along the last axis; shapes broadcast."""
    return (x1 - x2 + eps).norm(p, axis=-1, keepdims=keepdim)


def _wide(x: Tensor) -> Tensor:
    """Half precision as float32: there is room for sums of squares."""
    return x.astype("float32") if x.dtype.bits == 16 and x.dtype.is_floating_point else x


def _like(z: Tensor, x: Tensor) -> Tensor:
    return z.astype(x.dtype) if x.dtype.is_floating_point else z
