"""Connectionist temporal classification: labels in order, at places nobody knows."""

from __future__ import annotations

import plugrad as pg
from plugrad import Op

__all__ = ["CTC"]

INF = float("inf")


class CTC(Op):
    """z = -log Σ_π Π_t e^x(t, π_t), over the paths π that are y once repeats are merged and blanks taken out

    x: log-probabilities, (T, N, C)   y: labels, (N, S)   m: the steps of x that count, (N,)   n: the labels, (N,)

    ∂L/∂x(t, c) = -g Σ_{s: l_s = c} e^(α_t(s) + β_t(s) + z): how surely the path is at c then; 0 where there is no path

    A. Graves, S. Fernández, F. Gomez, J. Schmidhuber (2006). l is y with blanks around every label, α_t(s) the
    logarithm of all paths to l_s at step t, β_t(s) that of all paths from there on. x need not be normalised.
    """

    blank: int
    name = "ctc_loss"
    loose, floats = ("y", "m", "n"), True

    def forward(self, xp, x, y, m, n):
        place = xp.arange(2 * y.shape[1] + 1, dtype=y.dtype)
        lattice = Lattice(xp, self.blank, x, y, m, n, place, xp.zeros((y.shape[0], 1), dtype=x.dtype))
        return -lattice.end(lattice.ahead()[-1])

    def dx(self, g, x, y, m, n):
        place = pg.arange(2 * y.shape[1] + 1, dtype=y.dtype, device=y.device)
        lattice = Lattice(pg, self.blank, x, y, m, n, place, x.new_zeros((y.shape[0], 1)))
        return -g.reshape(1, -1, 1) * lattice.occupied(x.shape)


class Lattice:
    """The labels l with blanks around each, and where a path may step; in functions `f` of arrays or of tensors.

    emitted   x(t, l_s), (T, N, 2S + 1)
    skips     may a path step from l_(s-2) to l_s, leaving out the blank between?
    """

    def __init__(self, f, blank, x, y, m, n, place, zero):
        self.f, self.zero, self.low, self.place = f, zero, zero - INF, place
        self.steps, self.m, self.n = x.shape[0], f.expand_dims(m, axis=1), f.expand_dims(n, axis=1)
        first, count = self.n * 0 + blank, place.shape[0]
        between = f.expand_dims(y * 0 + blank, axis=2)
        pairs = f.concat([between, f.expand_dims(y, axis=2)], axis=2)
        self.labels = f.concat([f.reshape(pairs, (y.shape[0], count - 1)), first], axis=1)
        before = f.concat([first, first, self.labels], axis=1)[:, :count]
        self.skips = (self.labels != blank) & (self.labels != before)
        at = f.broadcast_to(f.expand_dims(self.labels, axis=0), (self.steps, *self.labels.shape))
        self.emitted = f.take_along_axis(x, at, axis=2)

    def ahead(self):
        """α before the first step, then after each; a sample whose steps are over stays as it is."""
        f, low, count = self.f, self.low, self.place.shape[0]
        a = f.where(self.place == 0, self.zero, low)
        found = [a]
        for t in range(self.steps):
            one = f.concat([low, a], axis=1)[:, :count]
            two = f.where(self.skips, f.concat([low, low, a], axis=1)[:, :count], low)
            z = f.logaddexp(f.logaddexp(a, one), two) + self.emitted[t, ...]
            a = f.where(self.m > t, z, a)
            found.append(a)
        return found

    def back(self):
        """β after each step, the last first."""
        f, low = self.f, self.low
        last = f.where((self.place == 2 * self.n) | (self.place == 2 * self.n - 1), self.zero, low)
        b = last
        found = [b]
        for t in range(self.steps - 1, 0, -1):
            z = b + self.emitted[t, ...]
            one = f.concat([z, low], axis=1)[:, 1:]
            two = f.concat([f.where(self.skips, z, low), low, low], axis=1)[:, 2:]
            b = f.where(self.m > t, f.logaddexp(f.logaddexp(z, one), two), last)
            found.append(b)
        return found

    def end(self, a):
        """log of all paths that end well: in the last label, or in the blank after it."""
        f, n = self.f, self.n
        blank = f.take_along_axis(a, 2 * n, axis=1)
        label = f.take_along_axis(a, f.where(n > 0, 2 * n - 1, n), axis=1)
        return f.squeeze(f.logaddexp(blank, f.where(n > 0, label, self.low)), axis=1)

    def occupied(self, shape):
        """How surely each class is where the path is at each step: tensors only."""
        if not self.steps:
            return self.zero.new_zeros(shape)
        a, b = self.ahead(), self.back()
        total = self.end(a[-1]).reshape(-1, 1)
        total = pg.where(total == -INF, 0, total)
        steps = [pg.where(self.m > t, (a[t + 1] + b[-1 - t] - total).exp(), 0) for t in range(self.steps)]
        classes = pg.arange(shape[2], dtype=self.labels.dtype, device=self.labels.device)
        which = (self.labels.expand_dims(2) == classes).astype(self.zero.dtype)
        return (pg.stack(steps, axis=1) @ which).permute(1, 0, 2)
