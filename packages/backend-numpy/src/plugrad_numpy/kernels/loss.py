"""Losses of classes with one exponential for both ways: eˣ⁻ᵐ and its sum are kept; m is the largest x of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up
from .common import no_float, quiet
from .mend import has_nan


def supports(op: Any, x: Any, *others: Any) -> bool | str:
    return no_float(x) or bool(x.size) or f"shape {x.shape} has no numbers"


def picked(x: Any, y: Any, axis: int) -> Any:
    """x at the class y of each sample; the axis of the classes has size 1."""
    if x.ndim == 2 and axis == 1:
        return x[np.arange(len(y)), y][:, None]
    return np.take_along_axis(x, np.expand_dims(y, axis), axis)


def lower(x: Any, y: Any, axis: int, v: Any) -> None:
    """x -= v at the class y of each sample, in place."""
    if x.ndim == 2 and axis == 1:
        x[np.arange(len(y)), y] -= v[:, 0]
    else:
        np.put_along_axis(x, np.expand_dims(y, axis), picked(x, y, axis) - v, axis)


def mended(g: Any, dx: Any) -> Any:
    """`dx`, but 0 where it is NaN and g is 0."""
    return dx if g.all() or not has_nan(dx) else np.where((g == 0) & np.isnan(dx), dx.dtype.type(0), dx)


def shifted(x: Any, axis: int) -> tuple[Any, Any, Any]:
    """m, what is taken off x for it (finite where m is -∞), and x less that."""
    m = np.maximum.reduce(x, axis=axis, keepdims=True)
    off = np.maximum(m, np.finfo(m.dtype).min)
    return m, off, x - off


@quiet
def cross_entropy_forward(op: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """z = log Σ eˣ⁻ᵐ + (m - x_y), and m - x_y where m is infinite; keeps eˣ⁻ᵐ and its sum"""
    m, off, e = shifted(x, op.axis)
    rest = add_up(e, axis=op.axis, keepdims=True) if op.smoothing else None
    np.exp(e, out=e)
    s = add_up(e, axis=op.axis, keepdims=True)
    z = m - picked(x, y, op.axis)
    top = np.where(np.isinf(m), m.dtype.type(0), np.log(s))
    z += top
    if rest is not None:
        z = (1 - op.smoothing) * z + op.smoothing * (top + (m - off) - rest / x.shape[op.axis])
    return z.reshape(y.shape), (e, s, y)


@quiet
def cross_entropy_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = g (eˣ⁻ᵐ / Σ eˣ⁻ᵐ - (1 - ε) [j = y] - ε/C)"""
    (e, s, y), g = kept, np.expand_dims(g, op.axis)
    dx = e * (g / s)
    if op.smoothing:
        dx -= g * (op.smoothing / e.shape[op.axis])
    lower(dx, y, op.axis, g * (1 - op.smoothing))
    return [mended(g, dx), None]


@quiet
def soft_forward(op: Any, x: Any, q: Any) -> Any:
    """z = Σ q · log Σ eˣ⁻ᵐ - Σ q (x - m); declines what comes out infinite or NaN"""
    _, off, d = shifted(x, op.axis)
    e = np.exp(d)
    s, mass = (add_up(v, axis=op.axis, keepdims=True) for v in (e, q))
    z = mass * np.log(s) - add_up(np.multiply(d, q, out=d), axis=op.axis, keepdims=True)
    return (np.squeeze(z, op.axis), (e, s, mass, x, off, q)) if np.isfinite(z).all() else NotImplemented


@quiet
def soft_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = g (eˣ⁻ᵐ Σ q / Σ eˣ⁻ᵐ - q)        ∂L/∂q = g (log Σ eˣ⁻ᵐ - (x - m))"""
    (e, s, mass, x, off, q), g = kept, np.expand_dims(g, op.axis)
    dx = dq = None
    if wanted[0]:
        dx = e * (g * mass / s)
        dx -= g * q
    if wanted[1]:
        dq = np.subtract(np.log(s) + off, x)
        dq *= g
        dq = mended(g, dq)
    return [dx, dq]


def nll_forward(op: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return np.negative(picked(x, y, op.axis)).reshape(y.shape), y


def nll_backward(op: Any, y: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = -g at y, 0 elsewhere"""
    dx = np.zeros(op.shape, g.dtype)
    lower(dx, y, op.axis, np.expand_dims(g, op.axis))
    return [dx, None]


def alike(op: Any, x: Any, *others: Any) -> bool | str:
    """One shape, but for the weight of the positive side, which may be one number."""
    if not x.ndim:
        return "one number is not worth it"
    if any(v.shape != x.shape and not (i and v.ndim == 0) for i, v in enumerate(others)):
        return f"shapes {x.shape} and {' and '.join(str(v.shape) for v in others)} differ"
    return supports(op, x)


def spread(g: Any) -> Any:
    """The gradient; as the one number that it is where a sum or mean has spread it."""
    return g if not g.size or any(g.strides) else g[(slice(0, 1),) * g.ndim]


def squared_forward(op: Any, x: Any, t: Any) -> tuple[Any, Any]:
    """z = d²; keeps d = x - t"""
    d = np.subtract(x, t)
    return d * d, d


def squared_backward(op: Any, d: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = 2 g d, ∂L/∂t = -2 g d"""
    twice = 2 * spread(g)
    return [d * (twice * sign) if w else None for sign, w in zip((1, -1), wanted, strict=True)]


def log1p(e: Any, u: Any) -> Any:
    """log(1 + e) for u = 1 + e: log u, and what was lost when u was rounded; NumPy's own log1p is four times slower."""
    lost = u - 1
    np.subtract(e, lost, out=lost)
    lost /= u
    lost += np.log(u)
    return lost


@quiet
def logits_forward(op: Any, x: Any, t: Any, p: Any) -> Any:
    """z = |x| w + (p t + 1 - t) log(1 + e^-|x|),  w = 1 - t where x > 0, else p t; declines what is infinite or NaN"""
    a, b, up = p * t, 1 - t, (x > 0).astype(x.dtype)
    total = None if not p.ndim and p == 1 else a + b
    w = chosen(up, b, a)
    e = np.abs(x)
    z = w * e
    np.negative(e, out=e)
    np.exp(e, out=e)
    u = 1 + e
    soft = log1p(e, u)
    z += soft if total is None else soft * total
    e /= u
    return (z, (x, t, p, up, w, e, total)) if np.isfinite(np.add.reduce(z, axis=None)) else NotImplemented


def chosen(up: Any, b: Any, a: Any) -> Any:
    """b where `up` is 1, a where it is 0: without a jump."""
    w = up * b
    w += (1 - up) * a
    return w


@quiet
def logits_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = ±g (w - (p t + 1 - t) σ(-|x|)), + where x > 0"""
    x, t, p, up, w, s, total = kept
    dx = dt = dp = None
    if wanted[0]:
        dx = w - (s if total is None else s * total)
        dx *= 2 * up - 1
        dx *= g
    if wanted[1] or wanted[2]:
        soft = -np.log1p(-s)  # log(1 + e^-|x|)
        low = soft - np.minimum(x, 0)  # log(1 + e⁻ˣ)
        dt = g * (p * low - (soft + np.maximum(x, 0))) if wanted[1] else None
        dp = g * t * low if wanted[2] else None
    return [dx, dt, dp]


def huber_forward(op: Any, x: Any, t: Any) -> tuple[Any, Any]:
    """z = s c (d - c / 2); keeps c = d between -δ and δ"""
    d = x - t
    c = np.maximum(d, -op.delta)
    np.minimum(c, op.delta, out=c)
    d -= 0.5 * c
    d *= c
    if op.scale != 1:
        d *= op.scale
    return d, c


def huber_backward(op: Any, c: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = s c g, ∂L/∂t = -s c g"""
    scaled = op.scale * spread(g)
    return [c * (scaled * sign) if w else None for sign, w in zip((1, -1), wanted, strict=True)]


cross_entropy = Kernel(cross_entropy_forward, cross_entropy_backward, supports)
soft_cross_entropy = Kernel(soft_forward, soft_backward, alike)
nll = Kernel(nll_forward, nll_backward, supports)
squared_error = Kernel(squared_forward, squared_backward, alike)
huber = Kernel(huber_forward, huber_backward, alike)
bce_with_logits = Kernel(logits_forward, logits_backward, alike)
