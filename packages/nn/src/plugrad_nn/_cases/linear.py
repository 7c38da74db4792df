"""Case rows of linear maps."""

from plugrad.testing.case import case, real

from .. import functional as F
from .. import ops

ROWS = [
    case(ops.Linear, F.linear, real(3, 5), real(2, 5), real(2)),
    case(ops.Linear, F.linear, real(2, 3, 5), real(4, 5), real(4), label="batches"),
    case(ops.Linear, F.linear, real(5), real(2, 5), real(2), label="vector"),
    case(ops.Linear, F.linear, real(0, 5), real(2, 5), real(2), label="no rows"),
]
