"""Casts: between floating dtypes with a gradient, from and to integers and bools without."""

from __future__ import annotations

from ... import ops, rules
from ...apply import unary
from ..case import bools, case, exactly, ints, real

ROWS = [
    case(rules.Cast, lambda x: unary(rules.Cast(x.dtype, x.dtype), x), real(2, 3), closed=lambda x: x),
    case(rules.Convert, lambda x: ops.astype(x, "int64"), real(2, 3), closed=int, order=0),
    case(rules.Convert, lambda x: ops.astype(x, "bool"), exactly([0.0, -0.0, 0.5, -1.0]), order=0, label="to bool"),
    case(rules.Convert, lambda x: ops.astype(x, "float32"), ints(-5, 5, 2, 3), closed=float, order=0, label="from int"),
    case(rules.Convert, lambda x: ops.astype(x, "float32"), bools(5), closed=float, order=0, label="from bool"),
]
