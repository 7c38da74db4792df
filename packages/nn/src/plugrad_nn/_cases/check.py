"""Case rows of conditions."""

from __future__ import annotations

from plugrad.testing.case import case, exactly, real

from .. import ops
from .door import through

told = through(ops.Checked(ValueError, "not fine"))

ROWS = [
    case(ops.Checked, told, real(2, 3), exactly([[True, True, True]], "bool"), closed=lambda x, fine: x),
    case(ops.Checked, told, real(0, 3), exactly([], "bool"), label="nothing"),
]
