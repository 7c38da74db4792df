"""Linear maps."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from plugrad.apply import apply
from plugrad.errors import ShapeError

from .. import ops

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["bilinear", "linear"]

_linear = ops.Linear()


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b        x: (..., n)   W: (m, n)   b: (m,)"""
    if bias is None:
        return _plain(input, weight)
    return apply(_linear, input, weight, bias)  # type: ignore[no-any-return]


def _plain(x: Tensor, w: Tensor) -> Tensor:
    """x Wᵀ, with all axes in front as one: one matrix product, and one for each gradient."""
    *front, n = x.shape if x.ndim else (0,)
    if w.ndim != 2 or not x.ndim or n != w.shape[1]:
        raise ShapeError(f"linear: input {x.shape} and weight {w.shape}; they are (..., n) and (m, n)")
    z: Tensor = x @ w.mT if x.ndim < 3 else (x.reshape(prod(front), n) @ w.mT).reshape(*front, w.shape[0])
    return z


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """z_k = x₁ᵀ W_k x₂ + b_k        x₁: (..., n)   x₂: (..., m)   W: (k, n, m)   b: (k,)   z: (..., k)"""
    fits = weight.ndim == 3 and input1.shape[:-1] == input2.shape[:-1]
    if not fits or (input1.shape[-1:], input2.shape[-1:]) != (weight.shape[1:2], weight.shape[2:]):
        raise ShapeError(
            f"bilinear: inputs {input1.shape} and {input2.shape}, weight {weight.shape}; "
            "they are (..., n), (..., m) and (k, n, m), with the same axes in front"
        )
    k, n, m = weight.shape
    half = (input1 @ weight.moveaxis(0, 1).reshape(n, k * m)).reshape(*input1.shape[:-1], k, m)  # x₁ᵀ W
    z = (half @ input2.expand_dims(-1)).squeeze(-1)
    return z if bias is None else z + bias
