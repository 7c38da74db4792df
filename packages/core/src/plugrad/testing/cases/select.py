"""Selection by a mask: both branches, broadcast, with numbers, and what is not a number mended."""

from __future__ import annotations

import math

from ... import ops
from ...ops import select
from ..case import bools, case, exactly, real

ODD = exactly([1.5, math.nan, math.inf, -math.inf, -0.0])


def _number(x: float) -> float:
    return 7.0 if math.isnan(x) else math.copysign(9.0, x) if math.isinf(x) else x


ROWS = [
    case(select.Where, ops.where, bools(2, 3), real(2, 3), real(2, 3), closed=lambda c, x, y: x if c else y),
    case(select.Where, ops.where, bools(5, 1), real(3), real(5, 3), closed=lambda c, x, y: x if c else y,
         label="broadcast"),
    case(select.Where, lambda c, x: ops.where(c, x, 2), bools(5), real(5), closed=lambda c, x: x if c else 2.0,
         label="number on the right"),
    case(select.Where, lambda c, x: ops.where(c, 2, x), bools(5), real(5), closed=lambda c, x: 2.0 if c else x,
         label="number on the left"),
    case(select.Where, lambda c: ops.where(c, 1, 0), bools(5), closed=lambda c: 1 if c else 0, order=0,
         label="numbers"),
    case(select.Where, lambda x, c: ops.masked_fill(x, c, -3.0), real(2, 3), bools(2, 3), label="masked_fill",
         closed=lambda x, c: -3.0 if c else x),
    case(select.Mend, ops.mend, exactly([0.0, 0.0, 2.0]), exactly([math.nan, 3.0, 4.0]), order=0,
         closed=lambda u, x: 0.0 if u == 0 and x != x else x),
    case(select.Mend, ops.mend, real(2, 3), real(2, 3), closed=lambda u, x: x, label="nothing to mend"),
    case(select.NanToNum, lambda x: ops.nan_to_num(x, 7, 9, -9), ODD, closed=_number, order=0),
    case(select.NanToNum, ops.nan_to_num, real(2, 3), closed=lambda x: x, label="finite"),
]  # fmt: skip
