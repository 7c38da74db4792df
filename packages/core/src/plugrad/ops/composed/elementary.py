"""Elementary functions that a backend may lack, from REQUIRED ones: number by number, like the standard's."""

from __future__ import annotations

from functools import partial

from ...backend import composed
from .integer import divmod_integers

LN2, LN10 = 0.6931471805599453, 2.302585092994046
PI, HALF_PI = 3.141592653589793, 1.5707963267948966
INF = float("inf")
SPLIT = {"float32": 4097.0, "float64": 134217729.0}  # 2^⌈p/2⌉ + 1: cuts a number of p bits into halves
UNIT = {"float16": (2.0**-11, 2.0**-24), "float32": (2.0**-24, 2.0**-149), "float64": (2.0**-53, 2.0**-1074)}
UNIT["bfloat16"] = 2.0**-8, 2.0**-133


def number(xp, value, x):
    """The plain number `value` as a 0-d array of the dtype of `x`."""
    return xp.asarray(value, dtype=x.dtype)


def kind(xp, x):
    """"bool", "uint", "int" or "float"."""
    return xp.backend.dtype_of(x).kind


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
def floor_divide(xp, x, y):
    return _divided(xp, x, y)[0] if kind(xp, x) == "float" else divmod_integers(xp, x, y)[0]


@composed
def remainder(xp, x, y):
    return _divided(xp, x, y)[1] if kind(xp, x) == "float" else divmod_integers(xp, x, y)[1]


def _divided(xp, x, y):
    """⌊x / y⌋ and x - y ⌊x / y⌋ of floats; exact while the quotient has no more bits than the dtype."""
    q = xp.floor(x / y)
    r = _residue(xp, x, q, y)
    q = xp.where((r != 0) & ((r < 0) != (y < 0)), q - 1, q)  # x / y had been rounded up to q
    r = _residue(xp, x, q, y)
    wide = xp.isfinite(x) & ~xp.isfinite(y) & ~xp.isnan(y)
    other = (x != 0) & ((x < 0) != (y < 0))
    q = xp.where(wide, xp.where(other, number(xp, -1, x), number(xp, 0, x)), q)
    r = xp.where(wide, xp.where(other, y, x), r)
    return q, xp.where(r == 0, xp.copysign(zeros_like(xp, y), y), r)


def _residue(xp, x, q, y):
    """x - q y with the rounding of the product put back (T. J. Dekker, 1971)."""
    p = q * y
    (a, b), (c, d) = _halves(xp, q), _halves(xp, y)
    return (x - p) - (((a * c - p) + a * d + b * c) + b * d)


def _halves(xp, x):
    c = x * SPLIT[xp.backend.dtype_of(x).name]
    high = c - (c - x)
    return high, x - high


@composed
def exp2(xp, x):
    return xp.pow(number(xp, 2, x), x)


@composed
def log2(xp, x):
    """Exact at powers of two."""
    z = xp.log(x) / LN2
    whole = xp.round(z)
    exact = xp.isfinite(z) & (xp.pow(number(xp, 2, x), whole) == x)
    return xp.where(exact, whole, z)


@composed
def log10(xp, x):
    """Exact at powers of ten."""
    z = xp.log(x) / LN10
    whole = xp.round(z)
    exact = xp.isfinite(z) & (xp.pow(number(xp, 10, x), whole) == x)
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
    u, tiny = UNIT[xp.backend.dtype_of(x).name]
    c = xp.abs(x)
    low, middle = c < tiny / u / u / 2, c < tiny / u
    scaled = xp.where(low, c / u, c)
    step = u * (1 + 2 * u) * scaled
    up, down = ((scaled + s) * xp.where(low, number(xp, u, x), ones_like(xp, x)) for s in (step, -step))
    up = xp.where(middle, c + tiny, xp.where(xp.isfinite(x), up, c))
    largest = number(xp, (2 - 2 * u) * 2.0 ** _top(xp, x), x)
    down = xp.where(middle, c - tiny, xp.where(xp.isfinite(x), down, largest))
    outward = xp.where(x == 0, xp.copysign(xp.ones_like(x), y), xp.copysign(xp.ones_like(x), x))
    away = (y > x) == (outward > 0)
    z = xp.copysign(xp.where(away, up, down), outward)
    return xp.where(xp.isnan(x) | xp.isnan(y), x + y, xp.where(x == y, y, z))


def _top(xp, x):
    """Exponent of the largest number."""
    return {"float16": 15, "float64": 1023}.get(xp.backend.dtype_of(x).name, 127)
