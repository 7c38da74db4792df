"""Case rows of resampling."""

from plugrad.testing.case import case, real

from .. import ops
from ..ops.resize import Grid
from .door import through

there, back = ops.Resample, ops.ResampleTranspose
near = 2, Grid(5, 7, "nearest", 5 / 7, False, False)
exact = 2, Grid(5, 3, "nearest-exact", 5 / 3, False, False)
line = 3, Grid(4, 7, "linear", 4 / 7, False, False)
ends = 2, Grid(5, 3, "linear", 2.0, True, False)
curve = 2, Grid(5, 8, "cubic", 5 / 8, False, False)
wide = 2, Grid(7, 3, "linear", 7 / 3, False, True)
wide_curve = 2, Grid(9, 4, "cubic", 9 / 4, False, True)

ROWS = [
    case(there, through(there(*line)), real(2, 1, 3, 4)),
    case(there, through(there(*near)), real(2, 3, 5), label="nearest"),
    case(there, through(there(*exact)), real(2, 3, 5, 2), label="nearest exact"),
    case(there, through(there(*ends)), real(2, 3, 5), label="aligned"),
    case(there, through(there(*curve)), real(2, 1, 5, 2), label="cubic"),
    case(there, through(there(*wide)), real(2, 1, 7), label="antialias"),
    case(there, through(there(*wide_curve)), real(1, 2, 9), label="antialias cubic"),
    case(back, through(back(*line)), real(2, 1, 3, 7)),
    case(back, through(back(*near)), real(2, 3, 7), label="nearest"),
    case(back, through(back(*wide)), real(2, 1, 3), label="antialias"),
]
