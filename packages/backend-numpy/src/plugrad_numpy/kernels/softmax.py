"""Softmax and its logarithms with one buffer: eˣ⁻ᵐ is made in place, m the largest x of each row.

Rows whose largest number is not finite (all -∞, some ∞, some NaN) are left to the formula, which says what they mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up


def supports(op: Any, x: Any) -> bool | str:
    if x.dtype not in (np.float32, np.float64):
        return f"{x.dtype} is not float32 or float64"
    if not x.ndim or not x.size:
        return f"shape {x.shape} has no rows"
    return bool(np.isfinite(np.max(x, axis=op.axis)).all()) or "the largest number of some row is not finite"


def exponentials(x: Any, axis: Any) -> tuple[Any, Any, Any]:
    """m, eˣ⁻ᵐ and Σ eˣ⁻ᵐ; the exponentials are made in the buffer of x - m."""
    m = np.max(x, axis=axis, keepdims=True)
    e = x - m
    np.exp(e, out=e)
    return m, e, add_up(e, axis=axis, keepdims=True)


def softmax_forward(op: Any, x: Any) -> tuple[Any, Any]:
    """z = eˣ⁻ᵐ / Σ eˣ⁻ᵐ; keeps z."""
    _, z, total = exponentials(x, op.axis)
    z /= total
    return z, z


def softmax_backward(op: Any, z: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = z · (g - Σ g z)"""
    dx = g * z
    dx -= z * add_up(dx, axis=op.axis, keepdims=True)
    return [dx]


def log_softmax_forward(op: Any, x: Any) -> Any:
    """z = x - m - log Σ eˣ⁻ᵐ"""
    m, e, total = exponentials(x, op.axis)
    z = np.subtract(x, m, out=e)
    z -= np.log(total)
    return z


def logsumexp_forward(op: Any, x: Any) -> Any:
    """z = m + log Σ eˣ⁻ᵐ"""
    m, _, total = exponentials(x, op.axis)
    z = m + np.log(total)
    return z if op.keepdims else np.squeeze(z, axis=op.axis)


softmax = Kernel(softmax_forward, softmax_backward, supports)
log_softmax = Kernel(log_softmax_forward, supports=supports)
logsumexp = Kernel(logsumexp_forward, supports=supports)
