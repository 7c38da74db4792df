"""Recurrent layers over a whole sequence: one layer, one direction, from the projected inputs to every state.

t counts steps, b the batch, n the state. `m` says which steps there are, (t, b), or is True; where it is False the
state stays as it was. The way back is a recurrence of its own, from the last step to the first: what a step hands to
the step before is linear in its own gradient, and the factors of all steps are found at once.
"""

from __future__ import annotations

import plugrad as pg
from plugrad import Op
from plugrad.ops.numbers import number

__all__ = ["GRU", "LSTM", "RNN", "ProjectedLSTM"]


class _Sequence(Op):
    """What the sequences share: a mask that keeps its dtype, and what is said of shapes that do not fit."""

    loose, floats = ("m",), True
    gates = 1

    def misfit(self, *shapes):
        return _misfit(self.gates, **dict(zip(self.inputs, shapes, strict=True)))


class RNN(_Sequence):
    """hₜ = φ(xₜ + hₜ₋₁ Wᵀ), φ = tanh or relu        x, z: (t, b, n)   h: (b, n)   W: (n, n)

    ∂L/∂xₜ = Dₜ φ'ₜ        Dₜ = ∂L/∂hₜ = gₜ + ∂L/∂xₜ₊₁ W        ∂L/∂h = ∂L/∂x₁ W        ∂L/∂W = Σₜ (∂L/∂xₜ)ᵀ hₜ₋₁
    """

    nonlinearity: str
    name = "rnn"

    def forward(self, xp, x, h, w, m):
        return _rnn(xp, self.nonlinearity, x, h, w, m)

    def dx(self, g, z, w, m):
        return _rnn_back(self.nonlinearity, g, z, w, m)[0]

    def dh(self, g, z, w, m):
        return _rnn_back(self.nonlinearity, g, z, w, m)[1]

    def dw(self, g, z, h, w, m):
        return _product(_rnn_back(self.nonlinearity, g, z, w, m)[0], _before(h, z))


class GRU(_Sequence):
    """hₜ = c + v (hₜ₋₁ - c)        r, v = σ(xₜ + uₜ)   c = tanh(xₜ + r uₜ), each with its third of xₜ and uₜ
    uₜ = hₜ₋₁ Wᵀ + b                x: (t, b, 3n)   h: (b, n)   W: (3n, n)   b: (3n,)   z: (t, b, n)

    ∂L/∂xₜ = (Dₜ, Dₜ, Dₜ) kₜ        Dₜ = ∂L/∂hₜ = gₜ + ∂L/∂uₜ₊₁ W + Dₜ₊₁ vₜ₊₁        ∂L/∂h = ∂L/∂u₁ W + D₁ v₁
    ∂L/∂uₜ = ∂L/∂xₜ, its last third times r                                         ∂L/∂W = Σₜ (∂L/∂uₜ)ᵀ hₜ₋₁
    """

    name, gates = "gru", 3

    def forward(self, xp, x, h, w, b, m):
        return _gru(xp, x, h, w, b, m)

    def dx(self, g, z, x, h, w, b, m):
        return _gru_back(g, z, x, h, w, b, m)[0]

    def dh(self, g, z, x, h, w, b, m):
        return _gru_back(g, z, x, h, w, b, m)[2]

    def dw(self, g, z, x, h, w, b, m):
        return _product(_gru_back(g, z, x, h, w, b, m)[1], _before(h, z))

    def db(self, g, z, x, h, w, b, m):
        return _gru_back(g, z, x, h, w, b, m)[1]


class LSTM(_Sequence):
    """cₜ = f cₜ₋₁ + i u        i, f, o = σ(xₜ + hₜ₋₁ Wᵀ)   u = tanh(xₜ + hₜ₋₁ Wᵀ), in the order i, f, u, o
    hₜ = o tanh cₜ              x: (t, b, 4n)   h, c: (b, n)   W: (4n, n)   z: every hₜ and every cₜ, (t, b, n)

    ∂L/∂xₜ = (Eₜ, Eₜ, Eₜ, Dₜ) kₜ        Dₜ = ∂L/∂hₜ, with what comes from ∂L/∂xₜ₊₁ W        ∂L/∂h = ∂L/∂x₁ W
    ∂L/∂W = Σₜ (∂L/∂xₜ)ᵀ hₜ₋₁           Eₜ = ∂L/∂cₜ + Eₜ₊₁ fₜ₊₁ + Dₜ o (1 - tanh² cₜ)       ∂L/∂c = E₁ f₁
    """

    name, gates = "lstm", 4

    def forward(self, xp, x, h, c, w, m):
        return _lstm(xp, x, h, c, w, None, m)

    def dx(self, g, z, x, h, c, w, m):
        return _lstm_back(g, z, x, h, c, w, None, m)[0]

    def dh(self, g, z, x, h, c, w, m):
        return _lstm_back(g, z, x, h, c, w, None, m)[1]

    def dc(self, g, z, x, h, c, w, m):
        return _lstm_back(g, z, x, h, c, w, None, m)[2]

    def dw(self, g, z, x, h, c, w, m):
        return _product(_lstm_back(g, z, x, h, c, w, None, m)[0], _before(h, z[0]))


class ProjectedLSTM(_Sequence):
    """As LSTM, but hₜ = (o tanh cₜ) Pᵀ        h: (b, k)   W: (4n, k)   P: (k, n)

    ∂L/∂P = Σₜ Dₜᵀ (o tanh cₜ); the others as there, with Dₜ P in place of Dₜ
    """

    name, gates = "projected_lstm", 4

    def forward(self, xp, x, h, c, w, p, m):
        return _lstm(xp, x, h, c, w, p, m)

    def dx(self, g, z, x, h, c, w, p, m):
        return _lstm_back(g, z, x, h, c, w, p, m)[0]

    def dh(self, g, z, x, h, c, w, p, m):
        return _lstm_back(g, z, x, h, c, w, p, m)[1]

    def dc(self, g, z, x, h, c, w, p, m):
        return _lstm_back(g, z, x, h, c, w, p, m)[2]

    def dw(self, g, z, x, h, c, w, p, m):
        return _product(_lstm_back(g, z, x, h, c, w, p, m)[0], _before(h, z[0]))

    def dp(self, g, z, x, h, c, w, p, m):
        return _product(*_lstm_back(g, z, x, h, c, w, p, m)[3:])


# -- forward, on arrays ---------------------------------------------------------------------------------------------


def _rnn(xp, nonlinearity, x, h, w, m):
    wt, hs = xp.permute_dims(w, (1, 0)), []
    for t in range(x.shape[0]):
        a = x[t, ...] + xp.matmul(h, wt)
        new = xp.tanh(a) if nonlinearity == "tanh" else xp.maximum(a, number(xp, 0, a))
        hs.append(h := _held(xp, m, t, new, h))
    return _stacked(xp, hs)


def _gru(xp, x, h, w, b, m):
    wt, hs, n = xp.permute_dims(w, (1, 0)), [], h.shape[-1]
    for t in range(x.shape[0]):
        a, u = x[t, ...], xp.matmul(h, wt) + b
        s = xp.sigmoid(a[..., : 2 * n] + u[..., : 2 * n])
        c = xp.tanh(a[..., 2 * n :] + s[..., :n] * u[..., 2 * n :])
        hs.append(h := _held(xp, m, t, c + s[..., n:] * (h - c), h))
    return _stacked(xp, hs)


def _lstm(xp, x, h, c, w, p, m):
    wt, hs, cs, n = xp.permute_dims(w, (1, 0)), [], [], c.shape[-1]
    for t in range(x.shape[0]):
        a = x[t, ...] + xp.matmul(h, wt)
        i, f, o = [xp.sigmoid(a[..., k * n : (k + 1) * n]) for k in (0, 1, 3)]
        new = f * c + i * xp.tanh(a[..., 2 * n : 3 * n])
        y = o * xp.tanh(new)
        hs.append(h := _held(xp, m, t, y if p is None else xp.matmul(y, xp.permute_dims(p, (1, 0))), h))
        cs.append(c := _held(xp, m, t, new, c))
    return _stacked(xp, hs), _stacked(xp, cs)


def _held(xp, m, t, new, old):
    """The new state where there is a step, else the old one."""
    return xp.where(xp.reshape(m[t, ...], (-1, 1)), new, old) if m.shape else new


def _stacked(xp, zs):
    return xp.concat([xp.reshape(z, (1, *z.shape)) for z in zs], axis=0)


# -- the way back, on tensors ---------------------------------------------------------------------------------------


def _rnn_back(nonlinearity, g, z, w, m):
    """∂L/∂x and ∂L/∂h"""
    k = _masked(m, 1 - z * z if nonlinearity == "tanh" else (z > 0).astype(z.dtype), 0)
    d, dh = _walk(g, k, w, _gap(m, g))
    return d * k, dh


def _gru_back(g, z, x, h, w, b, m):
    """∂L/∂x, ∂L/∂u and ∂L/∂h"""
    before = _before(h, z)
    u = before @ w.mT + b
    (xr, xv, xc), (ur, uv, uc) = x.chunk(3, -1), u.chunk(3, -1)
    r, v = (xr + ur).sigmoid(), (xv + uv).sigmoid()
    c = (xc + r * uc).tanh()
    kc = (1 - v) * (1 - c * c)
    k = _masked(m, pg.concat([kc * uc * r * (1 - r), (before - c) * v * (1 - v), kc], -1), 0)
    ku = _masked(m, pg.concat([k[..., : -h.shape[-1]], kc * r], -1), 0)
    d, dh = _walk(g, ku, w, _masked(m, v, 1))
    return _copies(d, 3) * k, _copies(d, 3) * ku, dh


def _lstm_back(g, z, x, h, c, w, p, m):
    """∂L/∂x, ∂L/∂h and ∂L/∂c; Dₜ and what P is multiplied by."""
    (gh, gc), (hs, cs) = g, z
    i, f, u, o = (x + _before(h, hs) @ w.mT).chunk(4, -1)
    i, f, u, o, y = i.sigmoid(), f.sigmoid(), u.tanh(), o.sigmoid(), cs.tanh()
    k = pg.concat([u * i * (1 - i), _before(c, cs) * f * (1 - f), i * (1 - u * u), y * o * (1 - o)], -1)
    k, s, f = _masked(m, k, 0), _masked(m, o * (1 - y * y), 0), _masked(m, f, 1)
    deltas, ds, dh, dc = [], [], 0.0, 0.0
    for gh_, gc_, k_, s_, f_, gap in _last_first(gh, gc, k, s, f, _gap(m, gh)):
        d = gh_ + dh
        q = d if p is None else d @ p
        e = gc_ + dc + q * s_
        delta = pg.concat([e, e, e, q], -1) * k_
        dh, dc = _handed(delta, w, d, gap), e * f_
        deltas.append(delta)
        ds.append(d)
    return _in_order(deltas), dh, dc, _masked(m, _in_order(ds), 0), _masked(m, o * y, 0)


def _walk(g, k, w, keep):
    """D of every step, and ∂L/∂h: a step hands (D, D, ...) k W + D keep to the step before."""
    ds, dh = [], 0.0
    for g_, k_, keep_ in _last_first(g, k, keep):
        ds.append(d := g_ + dh)
        dh = _handed(_copies(d, k.shape[-1] // g.shape[-1]) * k_, w, d, keep_)
    return _in_order(ds), dh


def _handed(delta, w, d, keep):
    return delta @ w if keep is None else delta @ w + d * keep


def _last_first(*tensors):
    """The steps of several tensors side by side, the last first; None where there is no tensor."""
    steps = tensors[0].shape[0]
    return zip(*[[None] * steps if x is None else x.unstack()[::-1] for x in tensors], strict=True)


def _in_order(steps):
    return pg.stack(steps[::-1])


def _copies(x, n):
    return x if n == 1 else pg.concat([x] * n, -1)


def _before(h, hs):
    """The state before each step."""
    return pg.concat([h.expand_dims(0), hs[:-1]])


def _product(d, x):
    """Σₜ dₜᵀ xₜ"""
    return d.flatten(0, 1).mT @ x.flatten(0, 1)


def _masked(m, x, other):
    """`x`, but `other` where there is no step."""
    return pg.where(m.expand_dims(-1), x, other) if m.ndim else x


def _gap(m, like):
    """1 where there is no step, else 0; None where there is every step."""
    return (~m).expand_dims(-1).astype(like.dtype) if m.ndim else None


def _misfit(gates, x, h, w, c=None, b=None, p=None, m=None):
    """The first shape that is not what x, and P if there is one, ask for."""
    if len(x) != 3 or x[2] % gates:
        return f"x has shape {x}; it takes (steps, batch, {gates} · state)"
    if not x[0]:
        return f"x has shape {x}: a sequence takes at least one step"
    n = x[2] // gates
    k = p[0] if p else n
    wanted = {
        "the initial state": (h, (x[1], k)), "the initial cell state": (c, (x[1], n)), "the bias": (b or None, (x[2],)),
        "the weight of the state": (w, (x[2], k)), "the projection": (p, (k, n)), "the mask": (m or None, x[:2]),
    }  # fmt: skip
    wrong = [(name, have, want) for name, (have, want) in wanted.items() if have is not None and have != want]
    return next((f"{name} has shape {have}, not {want}" for name, have, want in wrong), None)
