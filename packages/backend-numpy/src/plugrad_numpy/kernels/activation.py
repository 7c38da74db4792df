"""Activations, alone or after a bias: a piece at a time, whose steps share one buffer that stays in cache.

Each has a function for its value z and one for its slope, from x and z: where z = x s(x), s(x) is z / x.
"""

from __future__ import annotations

from math import pi, prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from plugrad.kernel import Kernel

from .common import no_float, quiet
from .mend import has_nan

if TYPE_CHECKING:
    from collections.abc import Callable

PIECE = 2**16  # numbers that are worked on at a time
DENSITY = 1 / sqrt(2 * pi)
SLOPE, CUBIC = sqrt(2 / pi), 0.044715  # the published fit of the tanh form of GELU
FLAT = 800.0  # below -800 σ(x) is 0 in every dtype

# e^(a²/2) (1 - Φ(a)) = s p(s), s = 1 / (a + k), for a ≥ 0: k, and p with the lowest power first. Computed for this
# file: the polynomial that has the function's values, taken with 50 digits, at the Chebyshev points of 0 < s < 1/k.
# fmt: off
TAIL: dict[str, tuple[float, tuple[float, ...]]] = {
    "float32": (3.5, (
        0.398942339, 1.39626382, 4.4918596, 12.7429259, 35.8672511, 3.90534973, 477.298652, -1962.13647,
        1961.42179,
    )),
    "float64": (5.5, (
        0.39894228040143337, 2.194182542204544, 11.669061704399361, 59.791473442907765, 293.84605984139824,
        1376.9731742633426, 6105.075133158297, 25271.693240607077, 97748.89696072975, 298669.9747228453,
        1433583.63168336, -4005936.95874726, 43222732.43684623, -104191113.81166951, -2476909640.7133193,
        33102761230.835846, -243307501235.01962, 1100929961024.1274, -2974538392241.139, 4427118305890.556,
        -2816149472341.3135,
    )),
}
# fmt: on


def gelu(x: Any, z: Any) -> None:
    """z = max(x, 0) - a (1 - Φ(a)), a = |x|: no digit is lost on either side"""
    k, (*powers, last) = TAIL[x.dtype.name]
    a = np.abs(x)
    s = a + k
    np.divide(1, s, out=s)
    t = s * last
    for p in powers[:0:-1]:
        t += p
        t *= s
    t += powers[0]
    t *= s
    t *= a
    a *= a
    a *= -0.5
    t *= np.exp(a, out=a)
    np.maximum(x, 0, out=z)
    z -= t
    if has_nan(z):  # ∞ · 0
        z[x == -np.inf], z[x == np.inf] = 0, np.inf


def gelu_slope(x: Any, z: Any, d: Any) -> None:
    """d = Φ(x) + x φ(x), φ the density"""
    np.multiply(x, x, out=d)
    d *= -0.5
    np.exp(d, out=d)
    d *= x
    d *= DENSITY
    d += z / x
    patch(d, x)


def silu(x: Any, z: Any) -> None:
    """z = x σ(x)"""
    np.maximum(x, -FLAT, out=z)
    shrink(z, np.negative(z))


def silu_slope(x: Any, z: Any, d: Any) -> None:
    """d = s + z (1 - s), s = σ(x)"""
    s = z / x
    np.subtract(1, s, out=d)
    d *= z
    d += s
    patch(d, x)


def gelu_tanh(x: Any, z: Any) -> None:
    """z = x σ(2u), u = √(2/π) (x + 0.044715 x³)"""
    np.maximum(x, -FLAT, out=z)
    u = z * z
    u *= -2 * SLOPE * CUBIC
    u -= 2 * SLOPE
    u *= z
    shrink(z, u)


def gelu_tanh_slope(x: Any, z: Any, d: Any) -> None:
    """d = s + z (1 - s) 2u', s = σ(2u)"""
    s = z / x
    np.multiply(x, x, out=d)
    d *= 6 * SLOPE * CUBIC
    d += 2 * SLOPE
    d *= 1 - s
    d *= z
    d += s
    patch(d, x)


def shrink(z: Any, u: Any) -> None:
    """z ← z / (1 + eᵘ)"""
    np.exp(u, out=u)
    u += 1
    z /= u


def patch(d: Any, x: Any) -> None:
    """What a slope is where 0 / 0 or 0 · ∞ came up in it."""
    if has_nan(d):
        lost = d != d
        for place, slope in ((x == 0, 0.5), (x > 0, 1.0), (x < 0, 0.0)):
            d[lost & place] = slope


def relu(x: Any, z: Any) -> None:
    """z = max(x, 0)"""
    np.maximum(x, 0, out=z)


def sigmoid(x: Any, z: Any) -> None:
    """z = 1 / (1 + e⁻ˣ)"""
    np.negative(x, out=z)
    np.exp(z, out=z)
    z += 1
    np.divide(1, z, out=z)


def sigmoid_slope(x: Any, z: Any, d: Any) -> None:
    """d = z (1 - z)"""
    np.subtract(1, z, out=d)
    d *= z


def tanh(x: Any, z: Any) -> None:
    """z = tanh x"""
    np.tanh(x, out=z)


def tanh_slope(x: Any, z: Any, d: Any) -> None:
    """d = 1 - z²"""
    np.multiply(z, z, out=d)
    np.subtract(1, d, out=d)


#: Name → value and slope; relu's gradient is g or 0, without a slope.
KINDS: dict[str, tuple[Callable[..., None], Callable[..., None] | None]] = {
    "gelu": (gelu, gelu_slope),
    "gelu_tanh": (gelu_tanh, gelu_tanh_slope),
    "relu": (relu, None),
    "sigmoid": (sigmoid, sigmoid_slope),
    "silu": (silu, silu_slope),
    "tanh": (tanh, tanh_slope),
}


def back(kind: str, x: Any, z: Any, g: Any, d: Any) -> None:
    """d = g · slope"""
    slope = KINDS[kind][1]
    if slope is None:
        np.multiply(g, ~(z <= 0), out=d)
        if has_nan(d):  # ∞ · 0
            d[z <= 0] = 0
        return
    slope(x, z, d)
    d *= g


def is_float(op: Any, x: Any) -> bool | str:
    return no_float(x) or True


def alone(kind: str) -> Kernel:
    """The kernel of an activation by itself; keeps x and z."""

    @quiet
    def forward(op: Any, x: Any) -> tuple[Any, Any]:
        flat, z = x.reshape(-1), np.empty(x.size, x.dtype)
        for i in range(0, x.size, PIECE):
            KINDS[kind][0](flat[i : i + PIECE], z[i : i + PIECE])
        z = z.reshape(x.shape)
        return z, (x, z)

    @quiet
    def backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
        x, z, flat = (t.reshape(-1) for t in (*kept, g))
        d = np.empty(x.size, x.dtype)
        for i in range(0, x.size, PIECE):
            piece = slice(i, i + PIECE)
            back(kind, x[piece], z[piece], flat[piece], d[piece])
        return [d.reshape(g.shape)]

    return Kernel(forward, backward, is_float)


def rows(x: Any) -> list[slice]:
    """Pieces of x along its first axis."""
    many = max(PIECE // max(prod(x.shape[1:]), 1), 1)
    return [slice(i, i + many) for i in range(0, len(x), many)]


@quiet
def bias_forward(op: Any, x: Any, b: Any) -> tuple[Any, Any]:
    """z = a(x + b); keeps x and b, but for relu, and z"""
    z = np.empty(x.shape, x.dtype)
    for i in rows(x):
        KINDS[op.kind][0](x[i] + b, z[i])
    return z, (None if op.kind == "relu" else x, b, z)


@quiet
def bias_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = g a'(x + b)        ∂L/∂b = Σ ∂L/∂x"""
    x, b, z = kept
    d, full = np.empty(g.shape, g.dtype), (1,) * (g.ndim - b.ndim) + b.shape
    db = np.zeros(full, g.dtype) if wanted[1] else None
    over = tuple(i for i, n in enumerate(full) if n == 1)
    for i in rows(g):
        back(op.kind, z[i] if x is None else x[i] + b, z[i], g[i], d[i])
        if db is not None:
            db += np.add.reduce(d[i], axis=over, keepdims=True)
    return [d if wanted[0] else None, db]


def supports_bias(op: Any, x: Any, b: Any) -> bool | str:
    if op.kind not in KINDS:
        return f"{op.kind} has no fused form"
    if x.ndim < 2 or b.ndim > x.ndim or (b.ndim == x.ndim and b.shape[0] != 1):
        return f"a bias of shape {b.shape} does not meet each row of x of shape {x.shape} alike"
    if np.broadcast_shapes(x.shape, b.shape) != x.shape:
        return f"a bias of shape {b.shape} is larger than x of shape {x.shape}"
    return is_float(op, x)


gelu_exact, gelu_fit, silu_alone = alone("gelu"), alone("gelu_tanh"), alone("silu")
bias_activation = Kernel(bias_forward, bias_backward, supports_bias)
