"""Every case row of the package: gradients to their order, closed forms, frames."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import plugrad as pg
from plugrad import Op
from plugrad.testing.draw import tensor
from plugrad.testing.gradcheck import gradcheck
from plugrad_nn import ops
from plugrad_nn._cases import ROWS


def flat(value: Any) -> list[float]:
    return [v for row in value for v in flat(row)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_row(row: Any) -> None:
    xs = [tensor(spec, pg.device(), seed=i) for i, spec in enumerate(row.inputs)]
    z = row.f(*xs)
    assert all(v == v for t in (z if isinstance(z, tuple) else (z,)) for v in flat(t.tolist()))
    if row.order:
        assert gradcheck(row.f, xs, order=row.order)
    if row.closed:
        wide = [flat(pg.broadcast_to(x, xs[0].shape).tolist()) for x in xs]
        want = [row.closed(*numbers) for numbers in zip(*wide, strict=True)]
        assert flat(row.f(*xs).tolist()) == pytest.approx(want, rel=1e-12)


def test_every_op_has_a_row() -> None:
    modules = [vars(m) for m in vars(ops).values() if isinstance(m, ModuleType)]
    own = {c for module in modules for c in module.values() if isinstance(c, type) and issubclass(c, Op)} - {Op}
    own = {c for c in own if c.key.startswith("plugrad_nn.") and not c.__name__.startswith("_")}
    assert own == {row.op for row in ROWS} == {getattr(ops, c.__name__) for c in own}
