"""Case rows of normalisation."""

from plugrad.testing.case import case, exactly, positive, real

from .. import ops
from .door import through

norm = ops.LayerNorm
flat, row = through(norm((-1,), 1e-5)), through(norm((-1,), 0.1))
constant_row = exactly([[3.0] * 4, [1.0, 2.0, 4.0, 8.0]])

ROWS = [
    case(norm, flat, real(3, 5), positive(5), real(5)),
    case(norm, through(norm((-2, -1), 1e-2)), real(2, 3, 5), positive(3, 5), real(3, 5), label="axes"),
    case(norm, row, constant_row, positive(4), real(4), label="constant row"),
]
