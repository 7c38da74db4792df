"""Entries around a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = ["pad"]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Entries before and after, last axis first: `pad(x, (1, 2, 0, 3))` adds 1 and 2 along axis -1, 0 and 3 along -2.

    mode    "constant" (of `value`, default 0), "reflect", "replicate" or "circular"; negative sizes cut off
    """
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise ShapeError(
            f"pad: {len(pad)} sizes {tuple(pad)} for {input.ndim} axes; pass (before, after) for each, last axis first"
        )
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    whole = [(0, 0)] * (input.ndim - len(pairs)) + pairs[::-1]
    return pg.pad(input, tuple(whole), mode=mode, value=0.0 if value is None else value)
