"""Rounding and division with remainder: Python's signs, whole numbers, gradients of steps."""

from __future__ import annotations

import pytest

import plugrad as pg

PAIRS = [(a, b) for a in (-7, -6, -1, 0, 1, 6, 7) for b in (-3, -1, 2, 3)]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_division_follows_python(dtype):
    x, y = (pg.tensor([pair[i] for pair in PAIRS], dtype=dtype) for i in (0, 1))
    assert (x // y).tolist() == [a // b for a, b in PAIRS]
    assert (x % y).tolist() == [a % b for a, b in PAIRS]
    assert (x // y).dtype == (x % y).dtype == dtype


def test_division_of_floats_that_only_just_fits():
    x, y = pg.tensor([1.0, 6.0, -1.0], dtype="float64"), pg.tensor([0.1, 0.1, 0.1], dtype="float64")
    assert (x // y).tolist() == [1.0 // 0.1, 6.0 // 0.1, -1.0 // 0.1]
    assert (x % y).tolist() == [1.0 % 0.1, 6.0 % 0.1, -1.0 % 0.1]


def test_reflected():
    y = pg.tensor([2, 3])
    assert (7 // y).tolist() == [3, 2]
    assert (7 % y).tolist() == [1, 1]


@pytest.mark.parametrize("f", [pg.floor_divide, pg.remainder])
def test_integers_divided_by_zero(f):
    with pytest.raises(ZeroDivisionError, match=r"integers divided by 0; .*astype"):
        f(pg.tensor([1, 2]), pg.tensor([1, 0]))
    with pytest.raises(ZeroDivisionError):
        f(pg.tensor([1, 2]), 0)


def test_gradient_of_remainder():
    x, y = pg.tensor([7.5, -7.5], requires_grad=True), pg.tensor([2.0, 2.0], requires_grad=True)
    (x % y).sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert y.grad.tolist() == [-3, 4]


@pytest.mark.parametrize("f", [pg.floor, pg.ceil, pg.round, pg.trunc, pg.sign])
def test_steps_have_a_gradient_and_it_is_zero(f):
    x = pg.tensor([-1.5, 0.3, 2.0], requires_grad=True)
    f(x).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    n = pg.tensor([-2, 0, 3])
    assert f(n).dtype == "int64"


def test_absolute_value_and_its_gradient_at_zero():
    x = pg.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    abs(x).sum().backward()
    assert x.grad.tolist() == [-1, 0, 1]
    assert abs(pg.tensor([-2, 3])).tolist() == [2, 3]


def test_copysign_reads_the_sign_of_zero():
    assert pg.copysign(pg.tensor([2.0, 2.0]), pg.tensor([-0.0, 0.0])).tolist() == [-2, 2]
