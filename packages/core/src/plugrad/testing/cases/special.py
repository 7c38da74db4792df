"""The error functions, near 0, around 1 where the two polynomials meet, and in the tails."""

from __future__ import annotations

import math

from ... import ops
from ...ops import special
from ..case import between, case, exactly, real

NUMBERS = exactly([-6.0, -2.5, -1.0, -0.7, -1e-9, 0.0, 0.3, 0.99, 1.01, 3.5, 9.0])
ROWS = [
    case(special.Erf, ops.erf, real(2, 3), closed=math.erf),
    case(special.Erf, ops.erf, NUMBERS, closed=math.erf, label="range"),
    case(special.Erfc, ops.erfc, real(2, 3), closed=math.erfc),
    case(special.Erfc, ops.erfc, NUMBERS, closed=math.erfc, label="range"),
    case(special.Erfinv, ops.erfinv, between(-0.9, 0.9, 2, 3)),
    case(special.Erfinv, lambda x: ops.erfinv(ops.erf(x)), real(2, 5), closed=lambda x: x, label="there and back"),
    case(special.Erfinv, ops.erfinv, exactly([-1.0, -0.0, 1.0]), order=0, label="ends",
         closed=lambda x: math.copysign(math.inf, x) if x else x),
]  # fmt: skip
