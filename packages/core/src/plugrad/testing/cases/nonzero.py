"""Positions of what is not zero."""

from ... import ops
from ...ops import nonzero
from ..case import bools, case, exactly

ROWS = [
    case(nonzero.Nonzero, ops.nonzero, exactly([[0.0, -1.5, 2.0], [0.0, 0.0, 1.0]]), order=0),
    case(nonzero.Nonzero, ops.nonzero, bools(2, 3, 2), order=0, label="mask"),
    case(nonzero.Nonzero, ops.nonzero, exactly([0, 0], "int"), order=0, label="none"),
]
