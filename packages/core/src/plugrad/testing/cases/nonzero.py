"""Positions: of what is not zero, and of everything."""

from ... import ops
from ...apply import apply
from ...ops.nonzero import Nonzero, Positions
from ..case import bools, case, exactly, real

ROWS = [
    case(Nonzero, ops.nonzero, exactly([[0.0, -1.5, 2.0], [0.0, 0.0, 1.0]]), order=0),
    case(Nonzero, ops.nonzero, bools(2, 3, 2), order=0, label="mask"),
    case(Nonzero, ops.nonzero, exactly([0, 0], "int"), order=0, label="none"),
    case(Positions, lambda x: apply(Positions(x.shape, x.device)), real(2, 3), order=0),
]
