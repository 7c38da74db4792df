"""Rounding, signs and division with remainder: away from the jumps, and on them."""

from __future__ import annotations

import math
import operator

from ... import ops
from ...ops import rounding
from ..case import between, case, exactly, ints, positive, real


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


HALVES = exactly([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5])
ROWS = [
    case(rounding.Abs, ops.abs, real(2, 3), closed=abs),
    case(rounding.Abs, ops.abs, ints(-9, 9, 5), closed=abs, order=0, label="integers"),
    case(rounding.Sign, ops.sign, real(2, 3), closed=_sign),
    case(rounding.Sign, ops.sign, HALVES, closed=_sign, order=0, label="zero"),
    case(rounding.Sign, ops.sign, exactly([-4, 0, 7], "int"), closed=lambda x: (x > 0) - (x < 0), order=0,
         label="integers"),
    case(rounding.Floor, ops.floor, real(2, 3), closed=lambda x: float(math.floor(x))),
    case(rounding.Floor, ops.floor, ints(-9, 9, 5), closed=lambda x: x, order=0, label="integers"),
    case(rounding.Ceil, ops.ceil, real(2, 3), closed=lambda x: float(math.ceil(x))),
    case(rounding.Ceil, ops.ceil, ints(-9, 9, 5), closed=lambda x: x, order=0, label="integers"),
    case(rounding.Round, ops.round, real(2, 3), closed=lambda x: float(round(x))),
    case(rounding.Round, ops.round, HALVES, closed=lambda x: float(round(x)), order=0, label="halves"),
    case(rounding.Round, ops.round, ints(-9, 9, 5), closed=lambda x: x, order=0, label="integers"),
    case(rounding.Trunc, ops.trunc, real(2, 3), closed=lambda x: float(math.trunc(x))),
    case(rounding.Trunc, ops.trunc, ints(-9, 9, 5), closed=lambda x: x, order=0, label="integers"),
    case(rounding.FloorDivide, ops.floor_divide, real(2, 3), positive(3), closed=operator.floordiv),
    case(
        rounding.FloorDivide, lambda y: 7 // y, exactly([-3.0, -2.0, 1.5]), closed=lambda y: 7 // y, order=0,
        label="reflected",
    ),
    case(
        rounding.FloorDivide, ops.floor_divide, ints(-20, 20, 5, 1), exactly([-7, -1, 1, 3], "int"),
        closed=operator.floordiv, order=0, label="integers",
    ),
    case(rounding.Remainder, ops.remainder, between(4, 5, 2, 3), between(2.6, 3.4, 3), closed=operator.mod),
    case(rounding.Remainder, ops.remainder, between(-5, -4, 3), between(2.6, 3.4, 3), closed=operator.mod,
         label="below 0"),
    case(rounding.Remainder, lambda y: 7 % y, exactly([-3.0, 2.5, 1.8]), closed=lambda y: 7 % y, label="reflected"),
    case(
        rounding.Remainder, ops.remainder, ints(-20, 20, 5, 1), exactly([-7, -1, 1, 3], "int"), closed=operator.mod,
        order=0, label="integers",
    ),
    case(rounding.Copysign, ops.copysign, real(2, 3), between(-3, -1, 3), closed=math.copysign),
    case(
        rounding.Copysign, ops.copysign, exactly([2.0, -2.0, 2.0, -2.0]), exactly([0.0, 0.0, -0.0, -0.0]),
        closed=math.copysign, order=0, label="signed zeros",
    ),
]  # fmt: skip
