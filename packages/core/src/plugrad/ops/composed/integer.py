"""Division of whole numbers, bit by bit: what a backend without `floor_divide` and `remainder` still has."""

from __future__ import annotations

from ...dtypes import limits


def divmod_integers(xp, x, y):
    """⌊x / y⌋ and x - y ⌊x / y⌋, exact for every pair of one integer dtype, y ≠ 0."""
    t = xp.backend.dtype_of(x)
    lowest = limits(t)[0]
    if t.kind == "uint":
        return _long_division(xp, x, y, t.bits)
    zero, one = (xp.full((), n, dtype=x.dtype) for n in (0, 1))
    size = xp.where(y < 0, -y, y)
    edge = y == lowest  # has no absolute value in this dtype
    q, r = _long_division(xp, x, xp.where(edge, one, size), t.bits)
    negative = (y < 0) & ~edge
    flip = negative & (r != 0)
    q, r = xp.where(flip, -q - one, xp.where(negative, -q, q)), xp.where(flip, r + y, r)
    q = xp.where(edge, xp.where(x == lowest, one, xp.where(x > 0, -one, zero)), q)
    r = xp.where(edge, xp.where(x == lowest, zero, xp.where(x > 0, x + y, x)), r)
    return q, r


def _long_division(xp, x, y, bits):
    """For y > 0, from the highest bit down; 2r + bit is never formed where it could overflow."""
    one = xp.full((), 1, dtype=x.dtype)
    q = -one * xp.astype(x < 0, x.dtype) if (bits and _signed(xp, x)) else x - x
    r = xp.where(q < 0, y - one, q)
    for i in reversed(range(bits)):
        bit = (x >> xp.full((), i, dtype=x.dtype)) & one
        room = y - r
        over = r + bit >= room
        r = xp.where(over, r + bit - room, r + r + bit)
        q = q + q + xp.astype(over, x.dtype)
    return q, r


def _signed(xp, x):
    return xp.backend.dtype_of(x).kind == "int"
