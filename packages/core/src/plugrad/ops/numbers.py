"""Plain numbers that formulas need, and how an array sees them."""

from __future__ import annotations

from _operator import index as as_int  # `operator` and `math` would cost 0.6 ms of `import plugrad`

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "HALF_PI", "INF", "LN2", "LN10", "NAN", "PI", "ROOT_PI", "SLOPE", "STEPS", "as_int", "ceil", "floor", "kind",
    "number", "prod",
]  # fmt: skip

LN2, LN10 = 0.6931471805599453, 2.302585092994046
PI, HALF_PI = 3.141592653589793, 1.5707963267948966
INF, NAN = float("inf"), float("nan")
ROOT_PI, SLOPE = 1.772453850905516, 1.1283791670955126  # √π, 2/√π
STEPS = {  # half the distance from 1 to the next number, the smallest number, the largest
    "float16": (2.0**-11, 2.0**-24, 65504.0),
    "bfloat16": (2.0**-8, 2.0**-133, 3.3895313892515355e38),
    "float32": (2.0**-24, 2.0**-149, 3.4028234663852886e38),
    "float64": (2.0**-53, 2.0**-1074, 1.7976931348623157e308),
}


def number(xp, value, x):
    """The plain number `value` as a 0-d array of the dtype of `x`."""
    return xp.asarray(value, dtype=x.dtype)


def kind(xp, x):
    """ "bool", "uint", "int" or "float"."""
    return xp.backend.dtype_of(x).kind


def prod(sizes: Iterable[int]) -> int:
    """∏ sizes"""
    n = 1
    for k in sizes:
        n *= k
    return n


def floor(x: float) -> int:
    """The largest integer that is not above x."""
    return int(x // 1)


def ceil(x: float) -> int:
    """The smallest integer that is not below x."""
    return -int(-x // 1)
