"""The linear map with its bias in one buffer: one matrix product for all rows, the bias added in place."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .common import no_float


def rows(x: Any) -> Any:
    """(..., n) as (rows, n)."""
    return x.reshape(prod(x.shape[:-1]), x.shape[-1])


def forward(op: Any, x: Any, w: Any, b: Any) -> tuple[Any, Any]:
    """Z = X Wᵀ + b; keeps X and W"""
    z = rows(x) @ w.T
    z += b
    return z.reshape(*x.shape[:-1], w.shape[0]), (x, w)


def backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂X = G W        ∂L/∂W = Gᵀ X        ∂L/∂b = Σ G"""
    (x, w), flat = kept, rows(g)
    dx = (flat @ w).reshape(x.shape) if wanted[0] else None
    dw = flat.T @ rows(x) if wanted[1] else None
    return [dx, dw, np.ones(len(flat), g.dtype) @ flat if wanted[2] else None]


def supports(op: Any, x: Any, w: Any, b: Any) -> bool | str:
    if odd := no_float(x):
        return odd
    if not x.ndim or w.ndim != 2 or x.shape[-1] != w.shape[1] or b.shape != w.shape[:1]:
        return f"shapes {x.shape}, {w.shape} and {b.shape} are not (..., n), (m, n) and (m,)"
    return True


linear = Kernel(forward, backward, supports)
