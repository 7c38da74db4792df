"""Comparisons, tests and logic on bits: every function, with NaN, infinities, signed zeros and bools."""

from __future__ import annotations

import math
import operator

from ... import ops
from ...ops import compare
from ..case import bools, case, exactly, ints, real

INF, NAN = math.inf, math.nan
A, B = exactly([1.0, 2.0, NAN, NAN, INF, -INF, 0.0]), exactly([2.0, 2.0, NAN, 1.0, INF, INF, -0.0])
P, Q = exactly([False, False, True, True], "bool"), exactly([False, True, False, True], "bool")
FEW, MORE, COUNTS = ints(-9, 9, 2, 3), ints(-9, 9, 3), ints(0, 9, 3)
COMPARE = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
LOGIC = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def _close(x: float, y: float) -> bool:
    return x == y or (math.isfinite(x) and math.isfinite(y) and abs(x - y) <= 1e-8 + 1e-5 * abs(y))


CLOSE = exactly([1.0, 1.0, INF, INF, NAN, 0.0]), exactly([1.000001, 1.1, INF, 1.0, NAN, 1e-9])
ROWS = [
    *(
        case(
            compare.Compare, getattr(ops, name), x, y, closed=getattr(operator, sign), order=0, label=f"{name}, {what}"
        )
        for name, sign in COMPARE.items()
        for what, x, y in (("floats", A, B), ("integers", FEW, MORE), ("bools", P, Q))
    ),
    *(
        case(
            compare.Logical, getattr(ops, f"logical_{name}"), x, y, order=0, label=f"{name}, {what}",
            closed=lambda x, y, f=f: f(x != 0, y != 0),
        )
        for name, f in LOGIC.items()
        for what, x, y in (("bools", P, Q), ("floats", A, B), ("integers", FEW, MORE))
    ),
    case(compare.LogicalNot, ops.logical_not, P, closed=operator.not_, order=0),
    case(compare.LogicalNot, ops.logical_not, A, closed=operator.not_, order=0, label="floats"),
    *(
        case(compare.Bitwise, getattr(ops, f"bitwise_{name}"), x, y, closed=f, order=0, label=f"{name}, {what}")
        for name, f in LOGIC.items()
        for what, x, y in (("integers", FEW, MORE), ("bools", P, Q))
    ),
    case(compare.BitwiseInvert, ops.bitwise_invert, ints(-9, 9, 2, 3), closed=operator.invert, order=0),
    case(compare.BitwiseInvert, ops.bitwise_invert, bools(5), closed=operator.not_, order=0, label="bools"),
    *(
        case(compare.BitwiseShift, f, *inputs, closed=g, order=0, label=label)
        for label, f, g, inputs in (
            ("left", ops.bitwise_left_shift, operator.lshift, (FEW, COUNTS)),
            ("right", ops.bitwise_right_shift, operator.rshift, (FEW, COUNTS)),
            ("reflected left", lambda y: 5 << y, lambda y: 5 << y, (COUNTS,)),
            ("reflected right", lambda y: 500 >> y, lambda y: 500 >> y, (COUNTS,)),
        )
    ),
    *(
        case(compare.Classify, getattr(ops, name), x, closed=getattr(math, name), order=0, label=f"{name}, {what}")
        for name in ("isnan", "isinf", "isfinite")
        for what, x in (("floats", A), ("integers", FEW), ("bools", P))
    ),
    case(compare.Signbit, ops.signbit, exactly([-1.0, -0.0, 0.0, 1.0, INF, -INF]), order=0,
         closed=lambda x: math.copysign(1, x) < 0),
    case(compare.Signbit, ops.signbit, FEW, closed=lambda x: x < 0, order=0, label="integers"),
    case(compare.Nextafter, ops.nextafter, real(2, 3), real(3), closed=math.nextafter, order=0),
    case(
        compare.Nextafter, ops.nextafter, exactly([0.0, 0.0, -1.0, -1.0, 1.0, 5.0, INF, -INF]),
        exactly([1.0, -1.0, 0.0, -9.0, INF, 5.0, INF, -INF]), closed=math.nextafter, order=0, label="steps",
    ),
    case(compare.Isclose, ops.isclose, *CLOSE, closed=_close, order=0),
    case(compare.Isclose, lambda x, y: ops.isclose(x, y, equal_nan=True), *CLOSE, order=0, label="equal_nan",
         closed=lambda x, y: _close(x, y) or (x != x and y != y)),
    case(compare.Isclose, lambda x, y: ops.isclose(x, y, rtol=0, atol=2), FEW, MORE, order=0, label="integers",
         closed=lambda x, y: abs(x - y) <= 2),
]  # fmt: skip
