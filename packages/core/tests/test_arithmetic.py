"""Arithmetic: numbers on either side, whole numbers, signed zeros, aliases."""

from __future__ import annotations

import math

import pytest

import plugrad as pg


def test_numbers_on_either_side():
    x = pg.tensor([1.0, 2.0])
    assert (3 + x).tolist() == [4, 5]
    assert (3 - x).tolist() == [2, 1]
    assert (3 * x).tolist() == [3, 6]
    assert (3 / x).tolist() == [3, 1.5]
    assert (+x).tolist() == [1, 2]
    assert (-x).tolist() == [-1, -2]


def test_division_of_integers_gives_float32():
    z = pg.tensor([1, 3]) / pg.tensor([2, 2])
    assert z.dtype == "float32"
    assert z.tolist() == [0.5, 1.5]
    assert pg.reciprocal(pg.tensor([2, 4])).tolist() == [0.5, 0.25]


def test_negation_keeps_the_sign_of_zero():
    assert math.copysign(1, pg.negative(pg.tensor(0.0)).item()) == -1


def test_lerp_is_exact_at_both_ends():
    x, y = pg.tensor([0.1, 1e8]), pg.tensor([0.7, 1.0])
    assert pg.lerp(x, y, 0.0).tolist() == x.tolist()
    assert pg.lerp(x, y, 1.0).tolist() == y.tolist()
    assert pg.lerp(x, x, 0.3).tolist() == x.tolist()


def test_positive_is_a_value_of_its_own():
    x = pg.tensor([1.0, 2.0], requires_grad=True)
    y = +x
    assert y is not x
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_short_names():
    assert (pg.sub, pg.mul, pg.div, pg.neg) == (pg.subtract, pg.multiply, pg.divide, pg.negative)


def test_shapes_that_do_not_fit():
    with pytest.raises(pg.errors.ShapeError, match=r"multiply|mul.*axis -1 has sizes 2 and 3"):
        pg.multiply(pg.zeros(2), pg.zeros(3))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy tells of infinities and NaNs, as it should
def test_no_gradient_where_nothing_came_in():
    x = pg.tensor([0.0, 2.0], requires_grad=True)
    pg.where(x > 0, 1 / x, 0.0).sum().backward()
    assert x.grad.tolist() == [0, -0.25]
