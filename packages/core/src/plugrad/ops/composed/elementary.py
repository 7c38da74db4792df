"""Elementary functions that a backend may lack, from REQUIRED ones: number by number, like the standard's."""

from __future__ import annotations

from ...backend import composed
from ..numbers import HALF_PI, INF, LN2, LN10, PI, STEPS, kind, number


@composed
def zeros_like(xp, x):
    return xp.zeros(x.shape, dtype=x.dtype)


@composed
def ones_like(xp, x):
    return xp.full(x.shape, 1, dtype=x.dtype)


@composed
def isinf(xp, x):
    return xp.abs(x) == number(xp, INF, x)


@composed
def signbit(xp, x):
    """-0.0 counts: 1 / -0 = -∞."""
    return (x < 0) | ((x == 0) & (xp.where(x == 0, 1 / xp.where(x == 0, x, ones_like(xp, x)), x) < 0))


@composed
def copysign(xp, x, y):
    a = xp.abs(x)
    return xp.where(xp.signbit(y), -a, a)


@composed
def sign(xp, x):
    one = number(xp, 1, x)
    positive = xp.where(x > 0, one, x * 0 if kind(xp, x) != "float" else xp.where(xp.isnan(x), x, number(xp, 0, x)))
    return positive if kind(xp, x) == "uint" else xp.where(x < 0, -one, positive)


@composed
def square(xp, x):
    return x * x


@composed
def reciprocal(xp, x):
    return 1 / x


@composed
def trunc(xp, x):
    return xp.where(x < 0, -xp.floor(-x), xp.floor(x))


@composed
def ceil(xp, x):
    return -xp.floor(-x)


@composed
def exp2(xp, x):
    return xp.pow(number(xp, 2, x), x)


@composed
def log2(xp, x):
    """Exact at powers of two."""
    return _whole(xp, x, xp.log(x) / LN2, 2)


@composed
def log10(xp, x):
    """Exact at powers of ten."""
    return _whole(xp, x, xp.log(x) / LN10, 10)


def _whole(xp, x, z, base):
    """z = log x to a base, rounded where that gives x exactly."""
    whole = xp.round(z)
    exact = (xp.abs(z - whole) < 1e-3) & (xp.pow(number(xp, base, x), whole) == x)
    return xp.where(exact, whole, z)


@composed
def logaddexp(xp, x, y):
    m = xp.maximum(x, y)
    tail = xp.log1p(xp.exp(xp.minimum(x, y) - xp.where(xp.isfinite(m), m, zeros_like(xp, m))))
    return xp.where(xp.isfinite(m), m + tail, m)


@composed
def sigmoid(xp, x):
    """1 / (1 + e⁻ˣ) with the exponential that cannot overflow: small values keep all their digits."""
    e = xp.exp(-xp.abs(x))
    return xp.where(x < 0, e, number(xp, 1, x)) / (1 + e)


@composed
def softplus(xp, x):
    """log(1 + eˣ), with all digits on both sides."""
    return xp.maximum(x, number(xp, 0, x)) + xp.log1p(xp.exp(-xp.abs(x)))


@composed
def hypot(xp, x, y):
    """Scaled by the longer side: neither overflows nor vanishes."""
    a, b = xp.abs(x), xp.abs(y)
    m, n = xp.maximum(a, b), xp.minimum(a, b)
    inside = xp.isfinite(m) & (m > 0)
    t = xp.where(inside, n, zeros_like(xp, n)) / xp.where(inside, m, ones_like(xp, m))
    z = xp.where(inside, m * xp.sqrt(1 + t * t), m)
    return xp.where((a == INF) | (b == INF), number(xp, INF, z), z)


@composed
def tan(xp, x):
    return xp.sin(x) / xp.cos(x)


@composed
def asin(xp, x):
    return xp.atan2(x, xp.sqrt((1 - x) * (1 + x)))


@composed
def acos(xp, x):
    return 2 * xp.atan2(xp.sqrt(1 - x), xp.sqrt(1 + x))


@composed
def atan2(xp, y, x):
    """The angle of the point (x, y), signed zeros and infinities included."""
    a, b = xp.abs(y), xp.abs(x)
    m, n = xp.maximum(a, b), xp.minimum(a, b)
    t = n / xp.where(m == 0, ones_like(xp, m), m)
    t = xp.atan(xp.where(n == INF, ones_like(xp, t), t))
    t = xp.where(a > b, HALF_PI - t, t)
    return xp.copysign(xp.where(xp.signbit(x), PI - t, t), y)


@composed
def sinh(xp, x):
    """Through expm1: exact near 0; halved before it grows, so that it overflows where it must."""
    t = xp.expm1(xp.abs(x) / 2)
    u = t * (t + 2)  # e^|x| - 1
    z = (u + u / (u + 1)) / 2
    half = xp.exp(xp.abs(x) / 2)
    return xp.copysign(xp.where(xp.abs(x) > 20, half / 2 * half, z), x)


@composed
def cosh(xp, x):
    half = xp.exp(xp.abs(x) / 2)
    return half / 2 * half + 1 / half / half / 2


@composed
def asinh(xp, x):
    a = xp.abs(x)
    small = xp.minimum(a, ones_like(xp, a))
    near = xp.log1p(small + small * small / (1 + xp.sqrt(1 + small * small)))
    b = xp.maximum(a, ones_like(xp, a))
    far = xp.log(b) + xp.log1p(xp.hypot(ones_like(xp, b), 1 / b))
    return xp.copysign(xp.where(a < 1, near, far), x)


@composed
def acosh(xp, x):
    """log(x + √(x² - 1)) with t = x - 1, exact near 1 and without x²."""
    t = xp.minimum(x, number(xp, 2, x)) - 1
    near = xp.log1p(t + xp.sqrt(t) * xp.sqrt(t + 2))
    b = xp.maximum(x, number(xp, 2, x))
    far = xp.log(b) + xp.log1p(xp.sqrt((1 - 1 / b) * (1 + 1 / b)))
    return xp.where(x > 2, far, near)


@composed
def atanh(xp, x):
    a = xp.abs(x)
    return xp.copysign(xp.log1p(2 * a / (1 - a)) / 2, x)


@composed
def nextafter(xp, x, y):
    """By a step that rounds to exactly one place (S. M. Rump, P. Zimmermann, S. Boldo, G. Melquiond, 2009)."""
    unit, tiny, top = STEPS[xp.backend.dtype_of(x).name]
    u, eta, one = (number(xp, v, x) for v in (unit, tiny, 1))
    c = xp.abs(x)
    low, lowest = c < tiny / unit / unit / 2, c < tiny / unit
    scaled = xp.where(low, c / u, c)
    step, back = number(xp, unit * (1 + 2 * unit), x) * scaled, xp.where(low, u, one)
    up = xp.where(lowest, c + eta, xp.where(xp.isfinite(x), (scaled + step) * back, c))
    down = xp.where(lowest, c - eta, xp.where(xp.isfinite(x), (scaled - step) * back, number(xp, top, x)))
    side = xp.copysign(ones_like(xp, x), xp.where(x == 0, y, x))
    z = xp.copysign(xp.where((y > x) == (side > 0), up, down), side)
    return xp.where(xp.isnan(x) | xp.isnan(y), x + y, xp.where(x == y, y, z))
