"""Softmax and its logarithms with one buffer: x - m, eˣ⁻ᵐ and the result share memory; m is the largest x."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up
from .common import no_float, quiet
from .mend import has_nan


def supports(op: Any, x: Any) -> bool | str:
    return no_float(x) or bool(x.ndim and x.size) or f"shape {x.shape} has no rows"


def peak(x: Any, axis: Any) -> Any:
    """The largest of each row, but 0 where that is -∞."""
    m = np.max(x, axis=axis, keepdims=True)
    m[m == -np.inf] = 0
    return m


def exponentials(x: Any, m: Any, axis: Any) -> tuple[Any, Any]:
    """eˣ⁻ᵐ in a buffer of its own, and its sum over each row."""
    e = x - m
    np.exp(e, out=e)
    return e, add_up(e, axis=axis, keepdims=True)


def mass(x: Any, axis: Any) -> tuple[Any, Any, Any]:
    """m, eˣ⁻ᵐ and Σ eˣ⁻ᵐ; the sum is NaN in a row of nothing but -∞."""
    m = peak(x, axis)
    e, s = exponentials(x, m, axis)
    s[s == 0] = np.nan
    return m, e, s


@quiet
def softmax_forward(op: Any, x: Any) -> tuple[Any, Any]:
    """z = eˣ⁻ᵐ / Σ eˣ⁻ᵐ; keeps z."""
    _, z, s = mass(x, op.axis)
    z /= s
    return z, z


@quiet
def softmax_backward(op: Any, z: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = z (g - Σ g z), 0 in a row of NaN"""
    p = np.where(z == z, z, z.dtype.type(0)) if has_nan(z) else z
    dx = g * p
    dx -= p * add_up(dx, axis=op.axis, keepdims=True)
    return [dx]


@quiet
def log_softmax_forward(op: Any, x: Any) -> tuple[Any, Any]:
    """z = x - m - log Σ eˣ⁻ᵐ; keeps z."""
    m, e, s = mass(x, op.axis)
    z = np.subtract(x, m, out=e)
    z -= np.log(s)
    return z, z


@quiet
def log_softmax_backward(op: Any, z: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = g - e^z Σ g, 0 in a row of NaN"""
    dx = np.exp(z)
    dx *= -add_up(g, axis=op.axis, keepdims=True)
    dx += g
    return [np.where(z == z, dx, z.dtype.type(0)) if has_nan(z) else dx]


@quiet
def logsumexp_forward(op: Any, x: Any) -> Any:
    """z = m + log Σ eˣ⁻ᵐ, and m itself where that is not finite"""
    m = np.max(x, axis=op.axis, keepdims=True)
    finite = np.isfinite(m)
    _, s = exponentials(x, np.where(finite, m, x.dtype.type(0)), op.axis)
    z = np.where(finite, m + np.log(s), m)
    return z if op.keepdims else np.squeeze(z, axis=op.axis)


softmax = Kernel(softmax_forward, softmax_backward, supports)
log_softmax = Kernel(log_softmax_forward, log_softmax_backward, supports)
logsumexp = Kernel(logsumexp_forward, supports=supports)
