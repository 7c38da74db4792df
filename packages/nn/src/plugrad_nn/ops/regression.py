"""Losses of numbers, one for each entry; reducing them is left to the caller."""

from __future__ import annotations

from math import log, pi

import plugrad as pg
from plugrad import Op
from plugrad.ops.numbers import number

__all__ = ["AbsoluteError", "GaussianNLL", "Huber", "PoissonNLL", "SquaredError"]


class SquaredError(Op):
    """z = (x - t)²

    ∂L/∂x = 2 g (x - t)        ∂L/∂t = -2 g (x - t)
    """

    name = "mse_loss"
    elementwise = scales = floats = True

    def forward(self, xp, x, t):
        d = x - t
        return d * d

    def dx(self, g, x, t):
        return g * (2 * (x - t))

    def dt(self, g, x, t):
        return g * (2 * (t - x))


class AbsoluteError(Op):
    """z = |x - t|

    ∂L/∂x = g sign(x - t), 0 where x = t        ∂L/∂t = -g sign(x - t)
    """

    name = "l1_loss"
    elementwise = scales = floats = True

    def forward(self, xp, x, t):
        return xp.abs(x - t)

    def dx(self, g, x, t):
        return g * (x - t).sign()

    def dt(self, g, x, t):
        return g * (t - x).sign()


class Huber(Op):
    """z = s c (d - c / 2)  with  d = x - t  and  c = d between -δ and δ: squared near 0, straight farther out

    ∂L/∂x = s c g        ∂L/∂t = -s c g        P. Huber (1964); smooth L1 has s = 1 / δ
    """

    delta: float
    scale: float
    name = "huber_loss"
    elementwise = scales = floats = True

    def forward(self, xp, x, t):
        d = x - t
        c = xp.minimum(xp.maximum(d, number(xp, -self.delta, d)), number(xp, self.delta, d))
        return self.scale * c * (d - c / 2)

    def dx(self, g, x, t):
        return g * (self.scale * (x - t).clip(-self.delta, self.delta))

    def dt(self, g, x, t):
        return g * (self.scale * (t - x).clip(-self.delta, self.delta))


class PoissonNLL(Op):
    """z = r - t log r + S        r: the rate, eˣ with `logs`, else x   t: the count   S: log t!, nearly, if `full`

    ∂L/∂x = g (eˣ - t)  or  g (1 - t / (x + ε))        ∂L/∂t = g (S' - log r)
    """

    logs: bool
    full: bool
    eps: float
    name = "poisson_nll_loss"
    elementwise = singular = floats = True

    def forward(self, xp, x, t):
        z = xp.exp(x) - t * x if self.logs else x - t * xp.log(x + self.eps)
        return z + _stirling(xp, t) if self.full else z

    def dx(self, g, x, t):
        return g * (x.exp() - t if self.logs else 1 - t / (x + self.eps))

    def dt(self, g, x, t):
        z = -x if self.logs else -(x + self.eps).log()
        return g * (z + _slope_of_stirling(t) if self.full else z)


class GaussianNLL(Op):
    """z = ½ (log v + (x - t)² / v) + K        v: the variance, at least ε   K = 0, or ½ log 2π if full

    ∂L/∂x = g (x - t) / v    ∂L/∂t = g (t - x) / v    ∂L/∂v = ½ g (1 / v - (x - t)² / v²), as if v were not held at ε
    """

    full: bool
    eps: float
    name = "gaussian_nll_loss"
    elementwise = scales = floats = True

    def forward(self, xp, x, t, v):
        z = _surprise(xp, x - t, xp.maximum(v, number(xp, self.eps, v)))
        return z + log(2 * pi) / 2 if self.full else z

    def dx(self, g, x, t, v):
        return g * ((x - t) / _held(v, self.eps))

    def dt(self, g, x, t, v):
        return g * ((t - x) / _held(v, self.eps))

    def dv(self, g, x, t, v):
        return g * _slope_of_surprise(x - t, _held(v, self.eps))


def _stirling(xp, t):
    """log t! for large t: t log t - t + ½ log 2πt; 0 for t ≤ 1."""
    s = xp.where(t > 1, t, xp.ones_like(t))
    return xp.where(t > 1, s * xp.log(s) - s + xp.log(2 * pi * s) / 2, xp.zeros_like(t))


def _slope_of_stirling(t):
    s = pg.where(t > 1, t, 1)
    return pg.where(t > 1, s.log() + 0.5 / s, 0)


def _surprise(xp, d, v):
    return (xp.log(v) + d * d / v) / 2


def _slope_of_surprise(d, v):
    return (1 / v - (d / v).square()) / 2


def _held(v, eps):
    """max(v, ε), with the gradient of v."""
    return v + (pg.maximum(v, eps) - v).detach()
