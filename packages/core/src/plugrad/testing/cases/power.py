"""Powers and roots: bases of both signs and 0, exponents as numbers and as tensors."""

from __future__ import annotations

import math
import operator

from ... import ops
from ...ops import power
from ..case import between, case, exactly, ints, positive, real

ROWS = [
    case(power.Square, ops.square, real(2, 3), closed=lambda x: x * x),
    case(power.Square, ops.square, ints(-9, 9, 5), closed=lambda x: x * x, order=0, label="integers"),
    case(power.Sqrt, ops.sqrt, positive(2, 3), closed=math.sqrt),
    case(power.Rsqrt, ops.rsqrt, positive(2, 3), closed=lambda x: 1 / math.sqrt(x)),
    case(power.Power, lambda x: x**3, real(2, 3), closed=lambda x: x**3),
    case(power.Power, lambda x: x**2, exactly([0.0, -1.5, 3.0]), closed=lambda x: x**2, order=4, label="square at 0"),
    case(power.Power, lambda x: x**0, exactly([0.0, -1.5, 3.0]), closed=lambda x: x**0, label="nothing"),
    case(power.Power, lambda x: x**1, exactly([0.0, -1.5, 3.0]), closed=lambda x: x**1, label="itself"),
    case(power.Power, lambda x: x**-1.5, positive(5), closed=lambda x: x**-1.5, label="negative"),
    case(power.Power, lambda x: x**0.5, positive(5), closed=math.sqrt, label="root"),
    case(power.Pow, ops.pow, positive(2, 3), real(3), closed=math.pow),
    case(power.Pow, lambda y: 2**y, real(5), closed=lambda y: 2**y, label="reflected"),
    case(
        power.Pow, lambda x: ops.pow(x, x.new_ones(x.shape) * 3), exactly([0.0, -2.0, -0.5, 1.5]),
        closed=lambda x: x**3, order=3, label="negative base",
    ),
    case(power.Pow, ops.pow, ints(-5, 6, 2, 3), ints(0, 4, 3), closed=operator.pow, order=0, label="integers"),
    case(power.Hypot, ops.hypot, real(2, 3), between(0.5, 2, 3), closed=math.hypot),
    case(
        power.Hypot, ops.hypot, exactly([0.0, 3.0, 1e-30]), exactly([0.0, -4.0, 0.0]), closed=math.hypot, order=0,
        label="origin",
    ),
    case(
        power.Slope, lambda x: power.slope(x, 1), between(-0.9, 0.9, 2, 3), order=3,
        closed=lambda x: 1 / math.sqrt(1 - x * x),
    ),
    case(
        power.Slope, lambda x: power.slope(x, -1), between(1.2, 4, 2, 3), label="beyond 1",
        closed=lambda x: 1 / math.sqrt(x * x - 1),
    ),
    case(
        power.Slope, lambda x: power.slope(x, 1, root=False), exactly([-0.9, 0.0, 0.5, 3.0]), label="no root",
        closed=lambda x: 1 / (1 - x * x),
    ),
]  # fmt: skip
