"""Linear maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.apply import apply

from .. import ops

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["linear"]

_linear = ops.Linear()


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b        x: (..., n)   W: (m, n)   b: (m,)"""
    if bias is None:
        plain: Tensor = input @ weight.mT
        return plain
    return apply(_linear, input, weight, bias)  # type: ignore[no-any-return]
