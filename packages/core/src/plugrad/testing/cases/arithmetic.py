"""Arithmetic: each operand broadcast, plain numbers on both sides, whole numbers."""

from __future__ import annotations

import operator

from ... import ops
from ...ops import arithmetic
from ..case import between, case, exactly, ints, positive, real

FEW, MORE = ints(-5, 5, 2, 3), ints(0, 9, 3)
ROWS = [
    case(arithmetic.Add, ops.add, real(2, 3), real(2, 3), closed=operator.add),
    case(arithmetic.Add, ops.add, real(5, 1, 3), real(2, 1), closed=operator.add, label="broadcast"),
    case(arithmetic.Add, ops.add, FEW, MORE, closed=operator.add, order=0, label="integers"),
    case(arithmetic.Sub, ops.subtract, real(3), real(2, 3), closed=operator.sub),
    case(arithmetic.Sub, lambda x: 1 - x, real(2, 3), closed=lambda x: 1 - x, label="reflected"),
    case(arithmetic.Mul, ops.multiply, real(2, 1), real(2, 3), closed=operator.mul),
    case(arithmetic.Mul, lambda x: x * 2.5, real(5), closed=lambda x: x * 2.5, label="number"),
    case(arithmetic.Mul, ops.multiply, FEW, MORE, closed=operator.mul, order=0, label="integers"),
    case(arithmetic.Div, ops.divide, real(2, 3), positive(3), closed=operator.truediv),
    case(arithmetic.Div, lambda y: 2 / y, between(-3, -0.5, 5), closed=lambda y: 2 / y, label="reflected"),
    case(arithmetic.Div, ops.divide, exactly([0.0, 0.0]), exactly([2.0, -3.0]), closed=operator.truediv, label="zero"),
    case(arithmetic.Reciprocal, ops.reciprocal, positive(2, 3), closed=lambda x: 1 / x),
    case(arithmetic.Reciprocal, ops.reciprocal, between(-3, -0.5, 5), closed=lambda x: 1 / x, label="negative"),
    case(arithmetic.Neg, ops.negative, real(2, 3), closed=operator.neg),
    case(arithmetic.Positive, ops.positive, real(2, 3), closed=operator.pos),
    case(
        arithmetic.Lerp, ops.lerp, real(2, 1), real(3), between(-0.5, 1.5, 2, 3),
        closed=lambda x, y, t: x + t * (y - x),
    ),
    case(
        arithmetic.Lerp, lambda x, y: ops.lerp(x, y, 0.75), real(2, 3), real(2, 3),
        closed=lambda x, y: x + 0.75 * (y - x), label="number",
    ),
]  # fmt: skip
