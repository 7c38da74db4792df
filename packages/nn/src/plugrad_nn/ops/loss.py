"""Losses, one number for each sample; reducing them is left to the caller."""

from __future__ import annotations

import plugrad as pg
from plugrad import Op


class CrossEntropy(Op):
    """z = log Σⱼ e^(xⱼ) - x_y        x: logits, classes along `axis`   y: the right class, without that axis

    ∂L/∂x = g · (softmax(x) - [j = y])
    """

    axis: int
    loose = ("y",)

    def forward(self, xp, x, y):
        at = xp.expand_dims(y, axis=self.axis)
        z = _log_sum_exp(xp, x, self.axis) - xp.take_along_axis(x, at, axis=self.axis)
        return xp.squeeze(z, axis=self.axis)

    def dx(self, g, x, y):
        classes = pg.arange(x.shape[self.axis], dtype=y.dtype, device=y.device)
        right = classes.reshape(-1, *[1] * (x.ndim - 1 - self.axis)) == y.expand_dims(self.axis)
        return g.expand_dims(self.axis) * (x.softmax(axis=self.axis) - right)


class SoftCrossEntropy(Op):
    """z = Σⱼ qⱼ (log Σₖ e^(xₖ) - xⱼ)        x: logits, q: weights of the classes, both along `axis`

    ∂L/∂x = g · (softmax(x) · Σ q - q)        ∂L/∂q = -g · log softmax(x)
    """

    axis: int

    def forward(self, xp, x, q):
        terms = q * (_log_sum_exp(xp, x, self.axis) - x)
        return xp.sum(xp.where(q == 0, xp.zeros_like(terms), terms), axis=self.axis)

    def dx(self, g, x, q):
        p = x.softmax(axis=self.axis)
        return g.expand_dims(self.axis) * (p * q.sum(axis=self.axis, keepdims=True) - q)

    def dq(self, g, x):
        return -g.expand_dims(self.axis) * x.log_softmax(axis=self.axis)


class BCEWithLogits(Op):
    """z = p · t · softplus(-x) + (1 - t) · softplus(x)        x: logit, t: target, p: weight of the positive side

    ∂L/∂x = g · ((1 - t) · σ(x) - p · t · σ(-x))    ∂L/∂t = g · (softplus(x) - p · softplus(-x))
    ∂L/∂p = g · t · softplus(-x)
    """

    name = "binary_cross_entropy_with_logits"
    elementwise = scales = True

    def forward(self, xp, x, t, p):
        return _weighed(xp, p * t, _softplus(xp, -x)) + _weighed(xp, 1 - t, _softplus(xp, x))

    def dx(self, g, x, t, p):
        return g * ((1 - t) * pg.sigmoid(x) - p * t * pg.sigmoid(-x))

    def dt(self, g, x, p):
        return g * (pg.softplus(x) - p * pg.softplus(-x))

    def dp(self, g, x, t):
        return g * t * pg.softplus(-x)


class BinaryCrossEntropy(Op):
    """z = -t · max(log x, -100) - (1 - t) · max(log(1 - x), -100)        x: probability, t: target

    ∂L/∂x = g · (x - t) / max(x (1 - x), 10⁻¹²)        ∂L/∂t = g · (max(log(1 - x), -100) - max(log x, -100))
    """

    elementwise = scales = True

    def forward(self, xp, x, t):
        return -t * _floored(xp, xp.log(x)) - (1 - t) * _floored(xp, xp.log1p(-x))

    def dx(self, g, x, t):
        return g * (x - t) / pg.maximum(x * (1 - x), 1e-12)

    def dt(self, g, x):
        return g * (pg.maximum(pg.log1p(-x), -100.0) - pg.maximum(x.log(), -100.0))


def _log_sum_exp(xp, x, axis):
    top = xp.max(x, axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))  # a row of -inf is log 0, not ∞ - ∞
    return top + xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True))


def _softplus(xp, x):
    return xp.maximum(x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))


def _weighed(xp, w, x):
    """w · x, and 0 where w is 0, however infinite x."""
    terms = w * x
    return xp.where(w == 0, xp.zeros_like(terms), terms)


def _floored(xp, x):
    return xp.maximum(x, xp.zeros_like(x) - 100)
