"""Recurrent layers over a whole sequence: all gates in one buffer, one product a step, and one product for ∂L/∂W.

Formulas and names are those of the ops: a step back makes ∂L/∂x = (D, ...) k in the memory of k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up
from .common import no_float, quiet


def supports(op: Any, x: Any, *others: Any) -> bool | str:
    return no_float(x) or op.misfit(x.shape, *[a.shape for a in others]) or True


# -- RNN ------------------------------------------------------------------------------------------------------------


@quiet
def rnn_forward(op: Any, x: Any, h: Any, w: Any, m: Any) -> tuple[Any, Any]:
    z, wt = np.empty(x.shape, x.dtype), turned(w)
    kept = z, h, w, m
    for t, s in enumerate(z):
        np.matmul(h, wt, out=s)
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
    """Keeps r and v in one buffer, the last third of u, and c."""
    (steps, batch, _), n, wt = x.shape, h.shape[-1], turned(w)
    rv, u, c, z = (np.empty((steps, batch, size), x.dtype) for size in (2 * n, n, n, n))
    kept = rv, u, c, z, h, w, m
    for t in range(steps):
        s = h @ wt
        s += b
        u[t] = s[:, 2 * n :]
        sigmoid(np.add(s[:, : 2 * n], x[t, :, : 2 * n], out=rv[t]))
        np.multiply(rv[t, :, :n], u[t], out=c[t])
        c[t] += x[t, :, 2 * n :]
        np.tanh(c[t], out=c[t])
        np.subtract(h, c[t], out=z[t])
        z[t] *= rv[t, :, n:]
        z[t] += c[t]
        h = held(z[t], h, m, t)
    return z, kept


@quiet
def gru_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    rv, u, c, z, h, w, m = kept
    r, v = parts(rv, 2)
    k, a = np.empty((*c.shape[:2], w.shape[0]), c.dtype), (1 - v) * (1 - c * c)  # for ∂L/∂u; the last third for ∂L/∂x
    kr, kv, kc = parts(k, 3)
    np.multiply(a, r, out=kc)
    np.multiply(kc, u * (1 - r), out=kr)
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
    """Keeps i, f, u, o in one buffer, and y = tanh c."""
    (steps, batch, _), n, wt = x.shape, c.shape[-1], turned(w)
    a, hs, cs, ys = (np.empty((steps, batch, size), x.dtype) for size in (4 * n, h.shape[-1], n, n))
    kept = a, hs, cs, ys, h, c, w, p, m
    for t, s in enumerate(a):
        np.matmul(h, wt, out=s)
        s += x[t]
        i, f, u, o = parts(s, 4)
        new = np.tanh(u)
        sigmoid(s)  # of all, as that lies in one piece; u is put back
        u[...] = new
        new *= i
        np.multiply(f, c, out=cs[t])
        cs[t] += new
        np.tanh(cs[t], out=ys[t])
        if p is None:
            np.multiply(o, ys[t], out=hs[t])
        else:
            np.matmul(o * ys[t], p.T, out=hs[t])
        h, c = held(hs[t], h, m, t), held(cs[t], c, m, t)
    return (hs, cs), kept


def lstm_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    *found, _, none = projected_backward(op, kept, g, [*wanted[:4], False, False])
    return [*found, none]


@quiet
def projected_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    a, hs, cs, ys, h, c, w, p, m = kept
    (gh, gc), (k, s, gap, keep) = g, lstm_factors(a, ys, before(c, cs), m)
    ko, n = parts(k, 4)[3], c.shape[-1]
    ds, dh, dc = np.empty(hs.shape, hs.dtype), np.zeros(h.shape, h.dtype), np.zeros(c.shape, c.dtype)
    for t in reversed(range(len(k))):
        d = np.add(gh[t], dh, out=ds[t])
        q = d if p is None else d @ p
        dc += gc[t]
        s[t] *= q
        dc += s[t]
        times(k[t, :, : 3 * n], dc)
        ko[t] *= q
        handed(k[t], w, d, gap, t, dh)
        dc *= keep[t]
    dw = product(k, h, hs) if wanted[3] else None
    dp = projection(ds, parts(a, 4)[3] * ys, m) if wanted[4] else None
    return [k, dh, dc, dw, dp, None]


def lstm_factors(a: Any, y: Any, c: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """k, o (1 - y²), 1 where there is no step, and f, but 1 there."""
    k = 1 - a
    k *= a  # the slope of σ, for i, f and o
    (ki, kf, ku, ko), (i, f, u, o) = parts(k, 4), parts(a, 4)
    ki *= u
    kf *= c
    np.multiply(i, 1 - u * u, out=ku)
    ko *= y
    s = y * y
    np.subtract(1, s, out=s)
    s *= o
    gap = emptied(m, k, s)
    return k, s, gap, f if gap is None else np.where(m[..., None], f, f.dtype.type(1))


def projection(d: Any, y: Any, m: Any) -> Any:
    """∂L/∂P = Σₜ Dₜᵀ yₜ over the steps there are"""
    emptied(m, d, y)
    return flat(d).T @ flat(y)


# -- what they share ------------------------------------------------------------------------------------------------


def sigmoid(x: Any) -> None:
    """x ← 1 / (1 + e⁻ˣ), which keeps the digits of small values: e⁻ˣ = ∞ gives 0."""
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1
    np.reciprocal(x, out=x)


def turned(w: Any) -> Any:
    """Wᵀ, laid out for the product of every step."""
    return np.ascontiguousarray(w.T)


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
