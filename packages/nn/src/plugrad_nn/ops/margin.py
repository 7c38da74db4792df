"""Losses that ask for a margin, before they are reduced; at the kinks the gradient is that of the sloping side."""

from __future__ import annotations

import plugrad as pg
from plugrad import Op

__all__ = [
    "CosineEmbedding", "HingeEmbedding", "MarginRanking", "MultiLabelMargin", "MultiMargin", "SoftMargin",
    "TripletMargin",
]  # fmt: skip


class HingeEmbedding(Op):
    """z = [t ≠ -1] x + [t ≠ 1] max(0, m - x)        x: a distance   t: 1 (alike) or -1

    ∂L/∂x = g ([t ≠ -1] - [t ≠ 1 and x ≤ m])
    """

    margin: float
    name = "hinge_embedding_loss"
    elementwise = selects = floats = True

    def forward(self, xp, x, t):
        zero = xp.zeros_like(x)
        return xp.where(t != -1, x, zero) + xp.where(t != 1, xp.maximum(self.margin - x, zero), zero)

    def dx(self, g, x, t):
        return pg.where(t != -1, g, 0) - pg.where((t != 1) & (x <= self.margin), g, 0)


class MarginRanking(Op):
    """z = max(0, m - t (x - y))        t: 1 (x is to be larger) or -1

    ∂L/∂x = -g t where m ≥ t (x - y), else 0        ∂L/∂y = g t there        ∂L/∂t = -g (x - y) there
    """

    margin: float
    name = "margin_ranking_loss"
    elementwise = selects = scales = floats = True

    def forward(self, xp, x, y, t):
        z = self.margin - t * (x - y)
        return xp.maximum(z, xp.zeros_like(z))

    def dx(self, g, x, y, t):
        return pg.where(t * (x - y) <= self.margin, -g * t, 0)

    def dy(self, g, x, y, t):
        return pg.where(t * (x - y) <= self.margin, g * t, 0)

    def dt(self, g, x, y, t):
        return pg.where(t * (x - y) <= self.margin, g * (y - x), 0)


class TripletMargin(Op):
    """z = max(0, m + p - n)        p: distance to the positive, n: to the negative

    ∂L/∂p = g where m + p ≥ n, else 0        ∂L/∂n = -g there
    """

    margin: float
    name = "triplet_margin_loss"
    elementwise = selects = floats = True

    def forward(self, xp, p, n):
        z = self.margin + p - n
        return xp.maximum(z, xp.zeros_like(z))

    def dp(self, g, p, n):
        return pg.where(self.margin + p - n >= 0, g, 0)

    def dn(self, g, p, n):
        return pg.where(self.margin + p - n >= 0, -g, 0)


class CosineEmbedding(Op):
    """z = 1 - c where t = 1, max(0, c - m) where t = -1, else 0        c: the cosine

    ∂L/∂c = -g where t = 1, g where t = -1 and c ≥ m, else 0
    """

    margin: float
    name = "cosine_embedding_loss"
    elementwise = selects = floats = True

    def forward(self, xp, c, t):
        zero = xp.zeros_like(c)
        return xp.where(t == 1, 1 - c, xp.where(t == -1, xp.maximum(c - self.margin, zero), zero))

    def dc(self, g, c, t):
        return pg.where(t == 1, -g, pg.where((t == -1) & (c >= self.margin), g, 0))


class SoftMargin(Op):
    """z = log(1 + e⁻ᵗˣ)        t: 1 or -1

    ∂L/∂x = -g t σ(-t x)        ∂L/∂t = -g x σ(-t x)
    """

    name = "soft_margin_loss"
    elementwise = scales = floats = True

    def forward(self, xp, x, t):
        return xp.softplus(-t * x)

    def dx(self, g, x, t):
        return -g * t * pg.sigmoid(-t * x)

    def dt(self, g, x, t):
        return -g * x * pg.sigmoid(-t * x)


class MultiMargin(Op):
    """z = 1/C Σ_{i ≠ y} max(0, h_i)ᵖ  with  h_i = m - x_y + x_i        x: (..., C)   y: the right class   p: 1 or 2

    ∂L/∂x_i = g a_i / C  for i ≠ y,  ∂L/∂x_y = -g Σ a / C,  with  a_i = p h_iᵖ⁻¹ where h_i > 0, else 0
    """

    p: int
    margin: float
    name = "multi_margin_loss"
    loose, floats = ("y",), True

    def forward(self, xp, x, y):
        at = xp.expand_dims(y, axis=-1)
        h = xp.maximum(self.margin - xp.take_along_axis(x, at, axis=-1) + x, xp.zeros_like(x))
        return xp.sum(_others(xp, h, at) ** self.p, axis=-1) / x.shape[-1]

    def dx(self, g, x, y):
        right = pg.arange(x.shape[-1], dtype=y.dtype, device=y.device) == y.expand_dims(-1)
        h = self.margin - pg.where(right, x, 0).sum(axis=-1, keepdims=True) + x
        a = pg.where(right | (h <= 0), 0, h * 2 if self.p == 2 else pg.ones_like(h)) / x.shape[-1]
        return g.expand_dims(-1) * pg.where(right, -a.sum(axis=-1, keepdims=True), a)


class MultiLabelMargin(Op):
    """z = 1/C Σ_j Σ_i max(0, 1 - x_{y_j} + x_i)        y: (..., C), the labels j come first, then -1   i: no label

    ∂L/∂x_i = g n_i / C for a class that is no label, -g n_i / C for a label: n_i of its terms are above 0
    """

    name = "multilabel_margin_loss"
    loose, floats = ("y",), True

    def forward(self, xp, x, y):
        h, _ = _pairs(xp, x, y, xp.arange(x.shape[-1], dtype=y.dtype), xp.zeros_like(x), xp.int64)
        return xp.sum(xp.maximum(h, xp.zeros_like(h)), axis=(-2, -1)) / x.shape[-1]

    def dx(self, g, x, y):
        places = pg.arange(x.shape[-1], dtype=y.dtype, device=y.device)
        h, is_label = _pairs(pg, x.detach(), y, places, x.new_zeros(x.shape), "int64")
        above = (h > 0).astype(x.dtype)
        down = (is_label.astype(x.dtype) * above.sum(axis=-1, keepdims=True)).sum(axis=-2)
        return g.expand_dims(-1) * ((above.sum(axis=-2) - down) / x.shape[-1])


def _others(xp, h, at):
    """h, but 0 at the class `at`."""
    right = xp.arange(h.shape[-1], dtype=at.dtype) == at
    return xp.where(right, xp.zeros_like(h), h)


def _pairs(f, x, y, places, zero, whole):
    """(1 - x_{y_j} + x_i for label j and class i that is none, else 0; whether label j is class i).

    In functions `f` of arrays or of tensors.
    """
    ended = f.cumulative_sum(f.astype(y < 0, whole), axis=len(y.shape) - 1) > 0
    is_label = f.expand_dims(y, axis=-1) == places
    is_label = is_label & ~f.expand_dims(ended, axis=-1)
    labels = f.sum(f.astype(is_label, whole), axis=-2, keepdims=True) > 0
    own = f.take_along_axis(x, f.where(ended, f.zeros_like(y), y), axis=-1)
    h = 1 - f.expand_dims(own, axis=-1) + f.expand_dims(x, axis=-2)
    return f.where(labels | f.expand_dims(ended, axis=-1), f.expand_dims(zero, axis=-1), h), is_label
