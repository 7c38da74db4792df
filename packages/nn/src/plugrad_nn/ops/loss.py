"""Losses of classes and probabilities, one number for each sample; reducing them is left to the caller."""

from __future__ import annotations

import plugrad as pg
from plugrad import Op
from plugrad.ops import mend

__all__ = ["NLL", "BCEWithLogits", "BinaryCrossEntropy", "CrossEntropy", "KLDiv", "SoftCrossEntropy"]


INF = float("inf")


class CrossEntropy(Op):
    """z = (1 - ε) (M - x_y) + ε/C Σⱼ (M - xⱼ)  with  M = log Σⱼ e^(xⱼ)        ε: smoothing

    ∂L/∂xⱼ = g · (softmax(x)ⱼ - (1 - ε) [j = y] - ε/C)        x: logits, C classes along `axis`   y: the right class
    """

    axis: int
    smoothing: float
    loose, floats = ("y",), True

    def forward(self, xp, x, y):
        m, s = _peak(xp, x, self.axis)
        z = s + _gap(xp, m, _of_class(xp, x, y, self.axis))
        return xp.reshape(_smooth(xp, z, s + _gap(xp, m, x), self) if self.smoothing else z, y.shape)

    def dx(self, g, x, y):
        g, right = g.expand_dims(self.axis), _right(x.shape, y, self.axis).astype(x.dtype)
        q = right * (1 - self.smoothing) + self.smoothing / x.shape[self.axis] if self.smoothing else right
        return mend(g, g * (x.softmax(axis=self.axis) - q))


class NLL(Op):
    """z = -x_y        x: log-probabilities, classes along `axis`   y: the right class, without that axis

    ∂L/∂xⱼ = -g where j = y, else 0
    """

    axis: int
    shape: tuple[int, ...]
    name = "nll_loss"
    loose, floats = ("y",), True

    def forward(self, xp, x, y):
        return -xp.reshape(_of_class(xp, x, y, self.axis), y.shape)

    def dx(self, g, y):
        return pg.where(_right(self.shape, y, self.axis), -g.expand_dims(self.axis), 0)


class SoftCrossEntropy(Op):
    """z = Σⱼ qⱼ (log Σₖ e^(xₖ) - xⱼ)        x: logits, q: weights of the classes, both along `axis`

    ∂L/∂x = g · (softmax(x) · Σ q - q)        ∂L/∂q = -g · log softmax(x)
    """

    axis: int
    floats = True

    def forward(self, xp, x, q):
        m, s = _peak(xp, x, self.axis)
        return xp.sum(_weighed(xp, q, s + _gap(xp, m, x)), axis=self.axis)

    def dx(self, g, x, q):
        g, p = g.expand_dims(self.axis), x.softmax(axis=self.axis)
        return mend(g, g * (p * q.sum(axis=self.axis, keepdims=True) - q))

    def dq(self, g, x):
        g = g.expand_dims(self.axis)
        return mend(g, -g * x.log_softmax(axis=self.axis))


class BCEWithLogits(Op):
    """z = p · t · softplus(-x) + (1 - t) · softplus(x)        x: logit, t: target, p: weight of the positive side

    ∂L/∂x = g · ((1 - t) · σ(x) - p · t · σ(-x))    ∂L/∂t = g · (p · softplus(-x) - softplus(x))
    ∂L/∂p = g · t · softplus(-x)
    """

    name = "binary_cross_entropy_with_logits"
    elementwise = scales = floats = True

    def forward(self, xp, x, t, p):
        return _weighed(xp, p * t, _softplus(xp, -x)) + _weighed(xp, 1 - t, _softplus(xp, x))

    def dx(self, g, x, t, p):
        return g * ((1 - t) * pg.sigmoid(x) - p * t * pg.sigmoid(-x))

    def dt(self, g, x, p):
        return g * (p * pg.softplus(-x) - pg.softplus(x))

    def dp(self, g, x, t):
        return g * t * pg.softplus(-x)


class BinaryCrossEntropy(Op):
    """z = -t · max(log x, -100) - (1 - t) · max(log(1 - x), -100)        x: probability, t: target

    ∂L/∂x = g · (x - t) / max(x (1 - x), 10⁻¹²)        ∂L/∂t = g · (max(log(1 - x), -100) - max(log x, -100))
    """

    elementwise = scales = floats = True

    def forward(self, xp, x, t):
        return -t * _floored(xp, xp.log, x) - (1 - t) * _floored(xp, xp.log1p, -x)

    def dx(self, g, x, t):
        return g * (x - t) / pg.maximum(x * (1 - x), 1e-12)

    def dt(self, g, x):
        return g * (pg.maximum(pg.log1p(-x), -100.0) - pg.maximum(x.log(), -100.0))


class KLDiv(Op):
    """z = t (log t - x), 0 where t = 0        x: log-probability, t: probability; `logs`: t is its logarithm

    ∂L/∂x = -g t        ∂L/∂t = g (log t + 1 - x)        with logs  -g eᵗ  and  g eᵗ (t + 1 - x)
    """

    logs: bool
    name = "kl_div"
    elementwise = singular = floats = True

    def forward(self, xp, x, t):
        if self.logs:
            return _weighed(xp, xp.exp(t), xp.where(t == -INF, xp.zeros_like(t), t) - x)
        return _weighed(xp, t, xp.log(xp.where(t == 0, xp.ones_like(t), t)) - x)

    def dx(self, g, t):
        return -g * (t.exp() if self.logs else t)

    def dt(self, g, x, t):
        if not self.logs:
            return g * (t.log() + 1 - x)
        return g * t.exp() * pg.where(t == -INF, 0, t + 1 - x)


def _of_class(xp, x, y, axis):
    """x_y, the axis of the classes of size 1."""
    return xp.take_along_axis(x, xp.reshape(y, (*y.shape[:axis], 1, *y.shape[axis:])), axis=axis)


def _right(shape, y, axis):
    """Whether class j is the right one, for logits of this shape."""
    classes = pg.arange(shape[axis], dtype=y.dtype, device=y.device)
    return classes.reshape(-1, *[1] * (len(shape) - 1 - axis)) == y.expand_dims(axis)


def _peak(xp, x, axis):
    """m = max x, and log Σ eˣ⁻ᵐ, 0 where m is not finite: apart, so that a large m takes no digits from the rest."""
    m = xp.max(x, axis=axis, keepdims=True)
    finite, zero = xp.isfinite(m), xp.zeros_like(m)
    s = xp.sum(xp.exp(xp.minimum(x - xp.where(finite, m, zero), zero)), axis=axis, keepdims=True)
    return m, xp.log(xp.where(finite, s, zero + 1))


def _gap(xp, m, x):
    """m - x; NaN, without asking for it, where both are the same infinity."""
    same = (m == x) & ~xp.isfinite(x)
    return xp.where(same, xp.zeros_like(x) + float("nan"), m - xp.where(same, xp.zeros_like(x), x))


def _smooth(xp, z, zs, op):
    """(1 - ε) z + ε · the mean of the losses of all classes"""
    return (1 - op.smoothing) * z + op.smoothing / zs.shape[op.axis] * xp.sum(zs, axis=op.axis, keepdims=True)


def _softplus(xp, x):
    return xp.maximum(x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))


def _weighed(xp, w, x):
    """w · x, and 0 where w is 0, however infinite x."""
    return w * xp.where(w == 0, xp.zeros_like(x), x)


def _floored(xp, log, x):
    """max(log x, -100), where log is log(x) or log(1 + x), without asking for log 0."""
    none, low = x == (0 if log is xp.log else -1), xp.zeros_like(x) - 100
    return xp.where(none, low, xp.maximum(log(xp.where(none, xp.zeros_like(x) + 0.5, x)), low))
