"""Ties share the gradient, NaN shows, bounds are numbers or tensors."""

from __future__ import annotations

import math

import pytest

import plugrad as pg


@pytest.mark.parametrize("f", [pg.maximum, pg.minimum])
def test_ties_share(f):
    a, b = pg.tensor([2.0, 5.0], requires_grad=True), pg.tensor([2.0, 4.0], requires_grad=True)
    f(a, b).sum().backward()
    assert a.grad.tolist()[0] == b.grad.tolist()[0] == 0.5
    assert a.grad.tolist()[1] + b.grad.tolist()[1] == 1


@pytest.mark.parametrize("f", [pg.maximum, pg.minimum])
def test_nan_shows(f):
    x, y = pg.tensor([math.nan, 1.0]), pg.tensor([1.0, math.nan])
    assert all(map(math.isnan, f(x, y).tolist()))


def test_clip_passes_the_gradient_at_its_bounds():
    x = pg.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
    pg.clip(x, -1, 1).sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 1, 0]


def test_clip_with_tensors():
    x = pg.tensor([[-2.0, 0.0], [0.5, 3.0]], requires_grad=True)
    low, high = pg.tensor([-1.0, 0.0], requires_grad=True), pg.tensor(1.0, requires_grad=True)
    z = pg.clip(x, low, high)
    assert z.tolist() == [[-1, 0], [0.5, 1]]
    z.sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]]
    assert low.grad.tolist() == [1, 0]
    assert high.grad.item() == 1


def test_clip_with_crossed_bounds_gives_the_upper_one():
    x = pg.tensor([0.0, 5.0])
    assert pg.clip(x, 3, 1).tolist() == pg.clip(x, pg.tensor(3.0), 1).tolist() == [1, 1]


def test_clip_and_dtypes():
    x = pg.tensor([0, 200], dtype="uint8")
    assert pg.clip(x, -1, 300).tolist() == [0, 200]
    assert pg.clip(x, 10, 100).dtype == "uint8"
    assert pg.clip(pg.tensor([1, 5]), 1.5, None).tolist() == [1.5, 5]
    with pytest.raises(pg.errors.DTypeError, match="outside uint8"):
        pg.clip(x, 300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy tells of infinities and NaNs, as it should
def test_nothing_leaks_from_the_side_that_was_not_taken():
    x = pg.tensor([0.0, 4.0], requires_grad=True)
    pg.maximum(-1.0 / x, -1.0).sum().backward()
    assert x.grad.tolist() == [0, 0.0625]
