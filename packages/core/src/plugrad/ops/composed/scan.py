"""Scans in log₂ n passes: after the pass at distance d, each entry holds what the last 2d entries give."""

from __future__ import annotations

from ...backend import composed
from ..along import shifted


@composed
def cumulative_sum(xp, x, *, axis):
    axis, d = axis % len(x.shape), 1
    while d < x.shape[axis]:
        x, d = x + shifted(xp, x, axis, d), 2 * d
    return x


@composed
def cumulative_prod(xp, x, *, axis):
    axis, d = axis % len(x.shape), 1
    while d < x.shape[axis]:
        x, d = x * shifted(xp, x, axis, d, fill=1), 2 * d
    return x
