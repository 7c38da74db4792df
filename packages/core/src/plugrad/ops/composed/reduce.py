"""Reductions from sum, max and argmax."""

from __future__ import annotations

from ...backend import composed


@composed
def count_nonzero(xp, x, *, axis=None, keepdims=False):
    return xp.sum(xp.astype(xp.astype(x, xp.bool), xp.int64), axis=axis, keepdims=keepdims)


@composed
def any(xp, x, *, axis=None, keepdims=False):
    return xp.count_nonzero(x, axis=axis, keepdims=keepdims) > 0


@composed
def all(xp, x, *, axis=None, keepdims=False):
    return xp.count_nonzero(~xp.astype(x, xp.bool), axis=axis, keepdims=keepdims) == 0


@composed
def argmin(xp, x, *, axis=None, keepdims=False):
    """The largest -x; of integers the largest ~x, which does not overflow."""
    whole = xp.backend.dtype_of(x).kind != "float"
    return xp.argmax(~x if whole else -x, axis=axis, keepdims=keepdims)
