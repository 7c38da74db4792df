"""Lengths, angles and distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["cosine_similarity", "normalize"]


def normalize(input: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """x / max(‖x‖ₚ, ε) along an axis."""
    return input / pg.maximum(input.norm(p, axis=axis, keepdims=True), eps)


def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """x₁ · x₂ / (max(‖x₁‖, ε) · max(‖x₂‖, ε)) along an axis."""
    lengths: Any = [pg.maximum(x.norm(axis=axis, keepdims=True), eps) for x in (x1, x2)]
    cosine: Tensor = ((x1 / lengths[0]) * (x2 / lengths[1])).sum(axis=axis)
    return cosine
