"""Normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.apply import apply
from plugrad.errors import ShapeError

from .. import ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = ["layer_norm"]


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int] | int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - μ) / √(σ² + ε) · w + b, with μ and σ² over the last axes, whose sizes are `normalized_shape`."""
    sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not sizes or input.shape[-len(sizes) :] != sizes:
        raise ShapeError(f"layer_norm: the last axes of input {input.shape} are not normalized_shape {sizes}")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t.shape != sizes:
            raise ShapeError(f"layer_norm: {name} has shape {t.shape}, normalized_shape is {sizes}")
    op = ops.LayerNorm(tuple(range(-len(sizes), 0)), float(eps))
    return apply(op, input, 1.0 if weight is None else weight, 0.0 if bias is None else bias)  # type: ignore[no-any-return]
