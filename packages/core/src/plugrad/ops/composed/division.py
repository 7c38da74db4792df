"""Division with remainder as Python does it: what a backend without `floor_divide` and `remainder` still has."""

from __future__ import annotations

from ...backend import composed
from ...dtypes import limits
from ..numbers import kind, number
from .elementary import zeros_like

SPLIT = {"float32": 4097.0, "float64": 134217729.0}  # 2^⌈p/2⌉ + 1: cuts a number of p bits into halves
FAR = 2.0**64  # beyond it, and below its inverse, floats are scaled: products and their low halves stay in range


@composed
def floor_divide(xp, x, y):
    return (_divided if kind(xp, x) == "float" else divmod_integers)(xp, x, y)[0]


@composed
def remainder(xp, x, y):
    return (_divided if kind(xp, x) == "float" else divmod_integers)(xp, x, y)[1]


def _divided(xp, x, y):
    """⌊x / y⌋ and x - y ⌊x / y⌋ of floats; exact while the quotient has no more bits than the dtype."""
    a, one = xp.abs(x), number(xp, 1, x)
    scale = xp.where(a > FAR, one / FAR, xp.where(a < 1 / FAR, one * FAR, one))
    q, r = _quotient(xp, x * scale, y * scale)
    short = (a < xp.abs(y)) & xp.isfinite(x)
    other = (x != 0) & ((x < 0) != (y < 0))
    q = xp.where(xp.isfinite(x), q, x - x)
    q = xp.where(short, xp.where(other, -one, xp.copysign(zeros_like(xp, x), x / y)), q)
    r = xp.where(short, xp.where(other, x + y, x), r / scale)
    return q, xp.where(r == 0, xp.copysign(zeros_like(xp, y), y), r)


def _quotient(xp, x, y):
    """⌊x / y⌋ by way of x / y, one less where the residue shows that this had been rounded up."""
    q = xp.floor(x / y)
    r = _residue(xp, x, q, y)
    q = xp.where((r != 0) & ((r < 0) != (y < 0)), q - 1, q)
    return q, _residue(xp, x, q, y)


def _residue(xp, x, q, y):
    """x - q y with the rounding of the product put back (T. J. Dekker, 1971)."""
    p = q * y
    (a, b), (c, d) = _halves(xp, q), _halves(xp, y)
    return (x - p) - (((a * c - p) + a * d + b * c) + b * d)


def _halves(xp, x):
    c = x * SPLIT[xp.backend.dtype_of(x).name]
    high = c - (c - x)
    return high, x - high


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
