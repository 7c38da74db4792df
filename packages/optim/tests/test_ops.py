"""The update rules as ops: every one has a case row, and its inputs are not written to."""

from __future__ import annotations

from typing import Any

import pytest

import plugrad as pg
from plugrad import Op
from plugrad.testing.draw import tensor
from plugrad_optim import ops
from plugrad_optim._cases import ROWS


def test_every_op_has_a_row() -> None:
    assert len(ROWS) == len({row.name for row in ROWS})
    rules = {c for c in vars(ops).values() if isinstance(c, type) and issubclass(c, Op) and c.forward is not Op.forward}
    assert rules == {row.op for row in ROWS}


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_rows_run_and_leave_their_inputs(row: Any) -> None:
    xs = [tensor(spec, pg.device(), seed=i) for i, spec in enumerate(row.inputs)]
    before = [x.tolist() for x in xs]
    out = row.f(*xs)
    shapes = {x.shape for x in xs}
    assert all(z.shape in shapes for z in (out if isinstance(out, tuple) else (out,)))
    assert [x.tolist() for x in xs] == before
