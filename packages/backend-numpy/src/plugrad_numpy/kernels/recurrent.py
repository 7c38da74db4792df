"""Recurrent layers over a whole sequence: all gates in one buffer, one product a step, and one product for ∂L/∂W.

Formulas and names are those of the ops: a step back makes ∂L/∂x = (D, ...) k in the memory of k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up

quiet = np.errstate(all="ignore")  # e⁻ˣ = ∞, and NaN where there is no step, are meant


def supports(op: Any, x: Any, *others: Any) -> bool | str:
    if x.dtype not in (np.float32, np.float64):
        return f"{x.dtype} is not float32 or float64"
    return op.misfit(x.shape, *[a.shape for a in others]) or True


# -- RNN ------------------------------------------------------------------------------------------------------------


@quiet
def rnn_forward(op: Any, x: Any, h: Any, w: Any, m: Any) -> tuple[Any, Any]:
    z, w = np.empty(x.shape, x.dtype), np.ascontiguousarray(w)
    kept = z, h, w, m
    for t, s in enumerate(z):
        np.matmul(h, w.T, out=s)
        s += x[t]
        np.tanh(s, out=s) if op.nonlinearity == "tanh" else np.maximum(s, 0, out=s)
        h = held(s, h, m, t)
    return z, kept


@quiet
def rnn_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    z, h, w, m = kept
    k = 1 - z * z if op.nonlinearity == "tanh" else (z > 0).astype(z.dtype)
    gap, dh = emptied(m, k), np.zeros(h.shape, h.dtype)
    for t in reversed(range(len(k))):
        d = g[t] + dh
        k[t] *= d
        handed(k[t], w, d, gap, t, dh)
    return [k, dh, product(k, h, z) if wanted[2] else None, None]


# -- GRU ------------------------------------------------------------------------------------------------------------


@quiet
def gru_forward(op: Any, x: Any, h: Any, w: Any, b: Any, m: Any) -> tuple[Any, Any]:
    """Keeps r, v and the last third of u in one buffer, and c."""
    u, w, n = np.empty(x.shape, x.dtype), np.ascontiguousarray(w), h.shape[-1]
    c, z = np.empty((2, *x.shape[:2], n), x.dtype)
    kept = u, c, z, h, w, m
    for t, s in enumerate(u):
        np.matmul(h, w.T, out=s)
        s += b
        s[:, : 2 * n] += x[t, :, : 2 * n]
        sigmoid(s[:, : 2 * n])
        np.multiply(s[:, :n], s[:, 2 * n :], out=c[t])
        c[t] += x[t, :, 2 * n :]
        np.tanh(c[t], out=c[t])
        np.subtract(h, c[t], out=z[t])
        z[t] *= s[:, n : 2 * n]
        z[t] += c[t]
        h = held(z[t], h, m, t)
    return z, kept


@quiet
def gru_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    u, c, z, h, w, m = kept
    r, v, uc = parts(u, 3)
    k, a = np.empty(u.shape, u.dtype), (1 - v) * (1 - c * c)  # of ∂L/∂u; of the last third of ∂L/∂x
    kr, kv, kc = parts(k, 3)
    np.multiply(a, r, out=kc)
    np.multiply(kc, uc * (1 - r), out=kr)
    np.subtract(before(h, z), c, out=kv)
    kv *= v * (1 - v)
    keep = v if emptied(m, k, a) is None else np.where(m[..., None], v, v.dtype.type(1))
    dh = np.zeros(h.shape, h.dtype)
    for t in reversed(range(len(k))):
        d = g[t] + dh
        times(k[t], d)
        a[t] *= d
        handed(k[t], w, d, keep, t, dh)
    dw = product(k, h, z) if wanted[2] else None
    db = add_up(flat(k), axis=0) if wanted[3] else None
    kc[...] = a
    return [k, dh, dw, db, None]


# -- LSTM -----------------------------------------------------------------------------------------------------------


def lstm_forward(op: Any, x: Any, h: Any, c: Any, w: Any, m: Any) -> tuple[Any, Any]:
    return projected_forward(op, x, h, c, w, None, m)


@quiet
def projected_forward(op: Any, x: Any, h: Any, c: Any, w: Any, p: Any, m: Any) -> tuple[Any, Any]:
    """Keeps i, f, u, o in one buffer."""
    (steps, batch, _), n, w = x.shape, c.shape[-1], np.ascontiguousarray(w)
    a, hs, cs = (np.empty((steps, batch, size), x.dtype) for size in (4 * n, h.shape[-1], n))
    kept = a, hs, cs, h, c, w, p, m
    for t, s in enumerate(a):
        np.matmul(h, w.T, out=s)
        s += x[t]
        i, f, u, o = parts(s, 4)
        sigmoid(s[:, : 2 * n])
        np.tanh(u, out=u)
        sigmoid(o)
        np.multiply(f, c, out=cs[t])
        cs[t] += i * u
        y = np.tanh(cs[t])
        y *= o
        hs[t] = y if p is None else y @ p.T
        h, c = held(hs[t], h, m, t), held(cs[t], c, m, t)
    return (hs, cs), kept


def lstm_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    *found, _, none = projected_backward(op, kept, g, [*wanted[:4], False, False])
    return [*found, none]


@quiet
def projected_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    a, hs, cs, h, c, w, p, m = kept
    (gh, gc), (i, f, u, o), y = g, parts(a, 4), np.tanh(cs)
    k, s, oy = np.empty(a.shape, a.dtype), o * (1 - y * y), o * y
    ki, kf, ku, ko = parts(k, 4)
    np.multiply(u, i * (1 - i), out=ki)
    np.multiply(before(c, cs), f * (1 - f), out=kf)
    np.multiply(i, 1 - u * u, out=ku)
    np.multiply(oy, 1 - o, out=ko)
    gap = emptied(m, k, s, oy)
    keep = f if gap is None else np.where(m[..., None], f, f.dtype.type(1))
    ds, dh, dc = np.empty(hs.shape, hs.dtype), np.zeros(h.shape, h.dtype), np.zeros(c.shape, c.dtype)
    for t in reversed(range(len(k))):
        d = np.add(gh[t], dh, out=ds[t])
        q = d if p is None else d @ p
        dc += gc[t]
        dc += q * s[t]
        times(k[t, :, : -c.shape[-1]], dc)
        ko[t] *= q
        handed(k[t], w, d, gap, t, dh)
        dc *= keep[t]
    dw = product(k, h, hs) if wanted[3] else None
    return [k, dh, dc, dw, flat(ds).T @ flat(oy) if wanted[4] else None, None]


# -- what they share ------------------------------------------------------------------------------------------------


def sigmoid(x: Any) -> None:
    """x ← 1 / (1 + e⁻ˣ), which keeps the digits of small values: e⁻ˣ = ∞ gives 0."""
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1
    np.reciprocal(x, out=x)


def parts(x: Any, n: int) -> list[Any]:
    """`x` in n equal parts of its last axis."""
    size = x.shape[-1] // n
    return [x[..., k * size : (k + 1) * size] for k in range(n)]


def before(h: Any, hs: Any) -> Any:
    """The state before each step."""
    return np.concatenate([h[None], hs[:-1]])


def held(new: Any, old: Any, m: Any, t: int) -> Any:
    """`new`, with `old` written into it where there is no step."""
    if m.ndim:
        np.copyto(new, old, where=~m[t][:, None])
    return new


def emptied(m: Any, *factors: Any) -> Any:
    """Put 0 where there is no step; 1 there and 0 elsewhere, or None where there is every step."""
    if not m.ndim:
        return None
    for k in factors:
        k[~m] = 0
    return (~m)[..., None].astype(factors[0].dtype)


def times(k: Any, d: Any) -> None:
    """k ← (d, d, ...) k"""
    for part in parts(k, k.shape[-1] // d.shape[-1]):
        part *= d


def handed(delta: Any, w: Any, d: Any, keep: Any, t: int, dh: Any) -> None:
    """dh ← δ W + d keep"""
    np.matmul(delta, w, out=dh)
    if keep is not None:
        dh += d * keep[t]


def product(delta: Any, h: Any, hs: Any) -> Any:
    """Σₜ δₜᵀ hₜ₋₁"""
    return delta[0].T @ h + flat(delta[1:]).T @ flat(hs[:-1])


def flat(x: Any) -> Any:
    """(steps, batch, n) as (steps · batch, n)"""
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2])


rnn = Kernel(rnn_forward, rnn_backward, supports)
gru = Kernel(gru_forward, gru_backward, supports)
lstm = Kernel(lstm_forward, lstm_backward, supports)
projected_lstm = Kernel(projected_forward, projected_backward, supports)
