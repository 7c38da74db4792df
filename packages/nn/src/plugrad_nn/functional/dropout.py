"""Dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = ["dropout"]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, *, generator: Generator | None = None) -> Tensor:
    """In training 0 with probability p, else x / (1 - p), so that the mean stays; otherwise x, and nothing is drawn."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout: p is a probability, from 0 to 1, not {p}")
    if not training or p == 0.0:
        return input
    keep = pg.rand(input.shape, generator=generator, device=input.device) >= p
    kept: Tensor = pg.where(keep, input * (1 / (1 - p) if p < 1 else 0.0), 0.0)
    return kept
