"""Selection: masks, numbers on both sides, dtypes, and gradients that do not leak."""

from __future__ import annotations

import math

import pytest

import plugrad as pg

INF, NAN = math.inf, math.nan


def test_numbers_on_both_sides():
    c = pg.tensor([True, False])
    assert pg.where(c, 1.0, 0).dtype == "float32"
    assert pg.where(c, 1, 0).dtype == "int64"
    assert pg.where(c, True, False).dtype == "bool"


def test_one_argument_gives_positions():
    (at,) = pg.where(pg.tensor([True, False, True]))
    assert at.tolist() == [0, 2]


def test_the_mask_must_be_a_mask():
    with pytest.raises(pg.errors.DTypeError, match="where: the condition is int64, not bool; write cond != 0"):
        pg.where(pg.tensor([1, 0]), 1.0, 0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy tells of infinities and NaNs, as it should
def test_the_branch_not_taken_is_silent_to_second_order():
    x = pg.tensor([0.0, 4.0], requires_grad=True)
    for f in (pg.log, pg.sqrt, pg.reciprocal, lambda x: x * (1 / x), lambda x: pg.atan2(x, x * 0)):
        (g,) = pg.grad(pg.where(x > 0, f(x), 0.0).sum(), [x], create_graph=True)
        (h,) = pg.grad(g.sum(), [x], allow_unused=True)
        assert g.tolist()[0] == 0
        assert h is None or h.tolist()[0] == 0


def test_masked_fill():
    x = pg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    z = x.masked_fill(pg.tensor([True, False]), -INF)
    assert z.tolist() == [[-INF, 2], [-INF, 4]]
    z[:, 1].sum().backward()
    assert x.grad.tolist() == [[0, 1], [0, 1]]


def test_masked_fill_keeps_shape_and_dtype():
    with pytest.raises(pg.errors.DTypeError, match=r"masked_fill: 0\.5 does not fit int64"):
        pg.masked_fill(pg.tensor([1, 2]), pg.tensor([True, False]), 0.5)
    with pytest.raises(pg.errors.ShapeError, match=r"masked_fill: mask \(3, 2\)"):
        pg.masked_fill(pg.zeros(2), pg.zeros(3, 2) == 0, 1.0)


def test_nan_to_num():
    x = pg.tensor([NAN, INF, -INF, 2.0], requires_grad=True)
    z = pg.nan_to_num(x)
    assert z.tolist() == [0, 3.4028234663852886e38, -3.4028234663852886e38, 2]
    z.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 1]
    assert pg.nan_to_num(x, 1.0, 2.0, 3.0).tolist() == [1, 2, 3, 2]
    assert pg.nan_to_num(pg.tensor([INF], dtype="float16")).tolist() == [65504]
    assert pg.nan_to_num(pg.tensor([3])).tolist() == [3]
