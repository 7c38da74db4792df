"""Case rows of pooling."""

from plugrad.testing.case import case, exactly, ints, real

from .. import ops
from ..ops.pool import Windows
from .door import through

row = Windows((7,), (3,), (3,), (2,), (0,), (1,))
edge = Windows((6,), (4,), (3,), (2,), (1,), (1,))  # the last window hangs over
holes = Windows((5, 6), (3, 3), (2, 3), (1, 2), (0, 1), (2, 1))
cube = Windows((3, 2, 4), (2, 1, 2), (2, 2, 2), (1, 2, 2), (0, 0, 0), (1, 1, 1))
uneven = Windows((5, 7), (3, 4))
ties = exactly([[[1.0, 2.0, 2.0, 2.0, 0.0, 0.0]]])
hard, at, soft, spread = ops.MaxPool, ops.MaxPoolIndices, ops.AvgPool, ops.AvgSpread

ROWS = [
    case(hard, through(hard(row)), real(2, 3, 7)),
    case(hard, through(hard(edge)), real(2, 1, 6), label="edge"),
    case(hard, through(hard(holes)), real(2, 1, 5, 6), label="holes"),
    case(hard, through(hard(cube)), real(1, 2, 3, 2, 4), label="three axes"),
    case(hard, through(hard(uneven)), real(1, 2, 5, 7), label="uneven"),
    case(hard, through(hard(edge)), ties, order=0, label="ties"),
    case(hard, through(hard(edge)), ints(-4, 5, 2, 3, 6), order=0, label="integers"),
    case(hard, through(hard(row)), real(0, 3, 7), label="no samples"),
    case(at, through(at(holes)), real(2, 1, 5, 6), order=0),
    case(at, through(at(edge)), ties, order=0, label="ties"),
    case(soft, through(soft(row, True, 0)), real(2, 3, 7)),
    case(soft, through(soft(edge, True, 0)), real(2, 1, 6), label="edge"),
    case(soft, through(soft(edge, False, 0)), real(2, 1, 6), label="edge left out"),
    case(soft, through(soft(cube, False, 3)), real(1, 2, 3, 2, 4), label="divisor"),
    case(soft, through(soft(uneven, False, 0)), real(1, 2, 5, 7), label="uneven"),
    case(spread, through(spread(row, True, 0)), real(2, 3, 3)),
    case(spread, through(spread(edge, False, 0)), real(2, 1, 4), label="edge left out"),
    case(spread, through(spread(uneven, False, 0)), real(1, 2, 3, 4), label="uneven"),
]
