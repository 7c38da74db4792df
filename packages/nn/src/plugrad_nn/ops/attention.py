"""Attention: what each query makes of the values, by how well it fits their keys; and the turning of positions."""

from __future__ import annotations

from plugrad import Op
from plugrad.apply import apply
from plugrad.op import _clash
from plugrad.ops import mend
from plugrad.ops.linear import Spared, spared
from plugrad.ops.numbers import INF, number

__all__ = ["Attention", "AttentionWeights", "Rotary"]


def _unlike(op: Op, *shapes: tuple[int, ...]) -> str | None:
    """Why queries, keys, values (if any) and a mask do not go together."""
    q, k, *v, m = shapes
    if q[-1] != k[-1]:
        return f"a query has {q[-1]} entries, a key {k[-1]}; their products are summed, so they must agree"
    if v and k[-2] != v[0][-2]:
        return f"there are {k[-2]} keys and {v[0][-2]} values; each key has one value"
    return _clash(tuple([(*shape[:-2], 1, 1) for shape in (q, k, *v, m)]))


class AttentionWeights(Op):
    """P = softmax S along the last axis, and 0 in a row of nothing but -∞        S = s Q Kᵀ + m

    Q: (..., n, d)   K: (..., t, d)   P: (..., n, t)
    m: bool, True where a key takes part, else -∞ (a plain True: they all do); or numbers

    reach    the last key of query i is i + reach; None: all keys

    ∂L/∂S = P (G - Σ G P)        ∂L/∂Q = s ∂L/∂S K        ∂L/∂K = s (∂L/∂S)ᵀ Q        ∂L/∂m = ∂L/∂S
    """

    scale: float
    reach: int | None
    loose, floats, misfit = ("m",), True, _unlike

    def forward(self, xp, q, k, m):
        return _shares(xp, _scores(xp, self, q, k, m))

    def dq(self, g, z, k):
        return spared(_slope(g, z), k) * self.scale

    def dk(self, g, z, q):
        return spared(_slope(g, z).mT, q) * self.scale

    def dm(self, g, z):
        return _slope(g, z)


class Attention(Op):
    """Z = P V        P = softmax(s Q Kᵀ + m), the weights: see AttentionWeights

    Q: (..., n, d)   K: (..., t, d)   V: (..., t, e)   Z: (..., n, e)   m: bool or numbers, (..., n, t)

    ∂L/∂V = Pᵀ G        ∂L/∂P = G Vᵀ, and from there as for the weights

    What takes no part (a weight of 0, a gradient of 0) is not seen, not even where it is ∞ or NaN.
    """

    scale: float
    reach: int | None
    loose, floats, misfit = ("m",), True, _unlike

    def forward(self, xp, q, k, v, m):
        return _spared.forward(xp, _shares(xp, _scores(xp, self, q, k, m)), v)

    def dq(self, g, q, k, v, m):
        return spared(_through(self, g, q, k, v, m), k) * self.scale

    def dk(self, g, q, k, v, m):
        return spared(_through(self, g, q, k, v, m).mT, q) * self.scale

    def dv(self, g, q, k, m):
        return spared(g.mT, apply(AttentionWeights(*self.settings), q, k, m)).mT

    def dm(self, g, q, k, v, m):
        return _through(self, g, q, k, v, m)


class Rotary(Op):
    """(z₁, z₂) = (x₁ c - x₂ s, x₂ c + x₁ s) for pairs of entries, turned by angles of cosine c and sine s

    X: (..., d)   c, s: (..., r/2), r ≤ d; entries from r on stay
    A pair is (i, i + r/2); if interleaved (2i, 2i + 1)

    ∂L/∂X: g turned back        ∂L/∂c = g₁ x₁ + g₂ x₂        ∂L/∂s = g₂ x₁ - g₁ x₂
    """

    interleaved: bool
    loose = ("c", "s")

    def forward(self, xp, x, c, s):
        (a, b), rest = _pairs(self, x, 2 * c.shape[-1], xp.reshape)
        return _joined(xp, self, [a * c - b * s, b * c + a * s], rest)

    def dx(self, g, c, s):
        return apply(self, g, c, -s)

    def dc(self, g, x, c):
        (a, b), (ga, gb) = (_pairs(self, t, 2 * c.shape[-1], type(t).reshape)[0] for t in (x, g))
        return (ga * a + gb * b).astype(c.dtype)

    def ds(self, g, x, s):
        (a, b), (ga, gb) = (_pairs(self, t, 2 * s.shape[-1], type(t).reshape)[0] for t in (x, g))
        return (gb * a - ga * b).astype(s.dtype)


_spared = Spared()


def _scores(xp, op, q, k, m):
    """S = s Q Kᵀ + m, -∞ where a key takes no part."""
    axes = (*range(len(k.shape) - 2), len(k.shape) - 1, len(k.shape) - 2)
    x = xp.matmul(q * op.scale, xp.permute_dims(k, axes))
    if m.dtype != xp.dtypes["bool"]:
        x, m = x + m, m != -INF  # even where x is ∞
    if op.reach is not None:
        m = m & _reached(xp, x.shape[-2], x.shape[-1], op.reach)
    return xp.where(m, x, number(xp, -INF, x))


def _reached(xp, n, t, reach):
    """(n, t): is key j within reach of query i?"""
    return xp.reshape(xp.arange(t), (1, t)) <= xp.reshape(xp.arange(reach, reach + n), (n, 1))


def _shares(xp, x):
    """eˣ / Σ eˣ of each row; 0 in a row of nothing but -∞, and of nothing."""
    if 0 in x.shape:
        return x
    top = xp.max(x, axis=-1, keepdims=True)
    e = xp.exp(x - xp.where(top == -INF, number(xp, 0, x), top))
    s = xp.sum(e, axis=-1, keepdims=True)
    return e / xp.where(s == 0, number(xp, 1, s), s)


def _through(op, g, q, k, v, m):
    """∂L/∂S"""
    return _slope(spared(g, v.mT), apply(AttentionWeights(*op.settings), q, k, m))


def _slope(g, p):
    """p (g - Σ g p)"""
    return _met(p, g - _met(p, g).sum(axis=-1, keepdims=True))


def _met(x, y):
    """x y, and 0 · ∞ is 0"""
    return mend(y, mend(x, x * y))


def _pairs(op, x, r, reshape):
    """The first and the second of each pair among the first r entries, and the entries after them."""
    axis, sizes = (-1, (r // 2, 2)) if op.interleaved else (-2, (2, r // 2))
    pairs = reshape(x[..., :r], (*x.shape[:-1], *sizes))
    return [pairs[..., i] if axis == -1 else pairs[..., i, :] for i in (0, 1)], x[..., r:]


def _joined(xp, op, pair, rest):
    """The reverse."""
    if op.interleaved:
        pair = [xp.reshape(z, (*z.shape, 1)) for z in pair]
    z = xp.concat(pair, axis=-1)
    wide = xp.reshape(z, (*z.shape[:-2], 2 * z.shape[-2])) if op.interleaved else z
    rest = xp.broadcast_to(rest, (*wide.shape[:-1], rest.shape[-1]))
    return xp.concat([wide, rest], axis=-1) if rest.shape[-1] else wide
