"""The error function, its complement and its inverse, from REQUIRED functions.

Two polynomials, highest power first. The coefficients were computed for this file: Chebyshev series of the functions
named beside them, taken at the Chebyshev points with 60 digits, cut off below the rounding of the dtype (1e-17 and
2e-9), and rewritten in powers. The variable t of the second is that of M. M. Shepherd and J. G. Laframboise (1981).
"""

from __future__ import annotations

from ...backend import composed
from ..numbers import INF, ROOT_PI, SLOPE, number

# fmt: off
INSIDE = {  # erf(x) / x in x², for |x| < 1
    "float32": (
        7.882497110086663e-05, -0.0008018854992786387, 0.005189311942686617, -0.026854328796067244,
        0.11283597463488053, -0.3761262690358044, 1.1283791658815026,
    ),
    "float64": (
        5.958930743134941e-11, -1.1373902296430911e-09, 1.4660051998394848e-08, -1.6350354461959655e-07,
        1.6461004480962034e-06, -1.4925595519506043e-05, 0.00012055331122299266, -0.0008548326981129666,
        0.005223977624823223, -0.026866170645077334, 0.11283791670954882, -0.3761263890318375, 1.1283791670955126,
    ),
}
OUTSIDE = {  # (1 + 2x) e^x² erfc(x) in t = (x - 3) / (x + 3), for 1 ≤ x ≤ 28
    "float32": (
        -0.0006777454869950287, 0.0017890291865384695, 0.002498912588301751, -0.02373746244778729,
        0.06831217398545464, -0.11927814897886593, 0.129644881550838, -0.04756208032577739, -0.1356210989881643,
        1.2530080566430821,
    ),
    "float64": (
        -3.2252213553959576e-08, 1.6921860957631358e-07, -1.0406151090178339e-07, -6.982468350497921e-07,
        3.6822122887083294e-07, 3.5096718106667086e-06, -7.458286383476859e-07, -2.0109283406093932e-05,
        4.954477569647615e-06, 0.00012510046538255937, -0.00010516070431858668, -0.0007798323462557369,
        0.0018886904526687221, 0.0025293918181471405, -0.023770514924055398, 0.06830802734397415, -0.11927366341515125,
        0.12964515870276042, -0.04756229435345252, -0.13562110612458117, 1.2530080582697296,
    ),
}
# fmt: on
LAST = 28.0  # beyond it erfc is below the smallest float64
A = 0.147  # S. Winitzki (2008): erf within 2e-3 in elementary functions, which can be solved for x


@composed
def erf(xp, x):
    a = xp.abs(x)
    return xp.where(a < 1, x * _inside(xp, x), xp.copysign(1 - _outside(xp, a), x))


@composed
def erfc(xp, x):
    """1 - erf(x), with all digits for large x."""
    tail = _outside(xp, xp.abs(x))
    return xp.where(xp.abs(x) < 1, 1 - x * _inside(xp, x), xp.where(x < 0, 2 - tail, tail))


@composed
def erfinv(xp, x):
    """A first guess in elementary functions, then E. Halley's steps: each triples the digits."""
    y = xp.where(xp.abs(x) < 1, xp.abs(x), number(xp, 0, x))
    w = xp.log1p(-y * y)
    b = w / 2 + 2 / (A * ROOT_PI * ROOT_PI)
    z = xp.sqrt(-w / A / (xp.sqrt(b * b - w / A) + b))
    for _ in range(3):
        gap = xp.where(y < 0.5, xp.erf(z) - y, (1 - y) - xp.erfc(z))
        step = gap / (SLOPE * xp.exp(-z * z))
        z = z - step / (1 + z * step)
    z = xp.where(xp.abs(x) < 1, z, xp.where(xp.abs(x) == 1, number(xp, INF, x), number(xp, float("nan"), x)))
    return xp.copysign(z, x)


def _inside(xp, x):
    """erf(x) / x for |x| < 1; some finite number elsewhere."""
    s = xp.minimum(x * x, number(xp, 1, x))
    return _polynomial(xp, INSIDE, s)


def _outside(xp, a):
    """erfc(a) for a ≥ 1; some finite number elsewhere. a² is split so that its rounding does not grow with e^-a²."""
    a = xp.minimum(xp.maximum(a, number(xp, 1, a)), number(xp, LAST, a))
    h = xp.round(a * 16) / 16  # few bits: h² is exact
    scale = xp.exp(-h * h) * xp.exp((h - a) * (h + a))
    return scale * _polynomial(xp, OUTSIDE, (a - 3) / (a + 3)) / (1 + 2 * a)


def _polynomial(xp, table, t):
    first, *rest = table[xp.backend.dtype_of(t).name]
    z = first * t
    for c in rest[:-1]:
        z = (z + c) * t
    return z + rest[-1]
