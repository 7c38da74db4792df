"""Circular and hyperbolic functions, inside their domains, at the ends of these and far out."""

from __future__ import annotations

import math

from ... import ops
from ...ops import trigonometric
from ..case import between, case, exactly, positive, real

POINTS = [(y, x) for y in (0.0, -0.0, 2.0, -2.0) for x in (0.0, -0.0, 3.0, -3.0)]
Y, X = (exactly([p[i] for p in POINTS]) for i in (0, 1))
FAR = exactly([-300.0, -25.0, -1e-9, 0.0, 1e-9, 25.0, 300.0])
LARGE = exactly([-8.0, -1e-9, 0.0, 1e-9, 8.0])
ROWS = [
    case(trigonometric.Sin, ops.sin, real(2, 3), closed=math.sin),
    case(trigonometric.Cos, ops.cos, real(2, 3), closed=math.cos),
    case(trigonometric.Tan, ops.tan, between(-1.2, 1.2, 2, 3), closed=math.tan),
    case(trigonometric.Asin, ops.asin, between(-0.9, 0.9, 2, 3), closed=math.asin),
    case(trigonometric.Asin, ops.asin, exactly([-1.0, 0.0, 1.0]), closed=math.asin, order=0, label="ends"),
    case(trigonometric.Acos, ops.acos, between(-0.9, 0.9, 2, 3), closed=math.acos),
    case(trigonometric.Acos, ops.acos, exactly([-1.0, 0.0, 1.0]), closed=math.acos, order=0, label="ends"),
    case(trigonometric.Atan, ops.atan, real(2, 3), closed=math.atan),
    case(trigonometric.Atan2, ops.atan2, real(2, 3), positive(3), closed=math.atan2),
    case(trigonometric.Atan2, ops.atan2, positive(2, 1), between(-2, -0.5, 2, 3), closed=math.atan2, label="behind"),
    case(trigonometric.Atan2, ops.atan2, Y, X, closed=math.atan2, order=0, label="signed zeros"),
    case(trigonometric.Sinh, ops.sinh, real(2, 3), closed=math.sinh),
    case(trigonometric.Sinh, ops.sinh, LARGE, closed=math.sinh, order=0, label="large"),
    case(trigonometric.Cosh, ops.cosh, real(2, 3), closed=math.cosh),
    case(trigonometric.Cosh, ops.cosh, LARGE, closed=math.cosh, order=0, label="large"),
    case(trigonometric.Tanh, ops.tanh, real(2, 3), closed=math.tanh),
    case(trigonometric.Tanh, ops.tanh, FAR, closed=math.tanh, label="far out"),
    case(trigonometric.Asinh, ops.asinh, real(2, 3), closed=math.asinh),
    case(trigonometric.Asinh, ops.asinh, FAR, closed=math.asinh, label="far out"),
    case(trigonometric.Acosh, ops.acosh, between(1.2, 4, 2, 3), closed=math.acosh),
    case(trigonometric.Acosh, ops.acosh, exactly([1.0, 1.0 + 1e-9, 1e9]), closed=math.acosh, order=0, label="ends"),
    case(trigonometric.Atanh, ops.atanh, between(-0.9, 0.9, 2, 3), closed=math.atanh),
    case(trigonometric.Atanh, ops.atanh, exactly([-1e-9, 0.0, 0.9375]), closed=math.atanh, order=0, label="ends"),
]  # fmt: skip
