"""Comparisons, truths, bits and tests: dtypes, what is refused, and what is known of integers."""

from __future__ import annotations

import math

import pytest

import plugrad as pg
from plugrad.errors import DTypeError

INF, NAN = math.inf, math.nan


def test_nan_is_equal_to_nothing():
    x = pg.tensor([NAN, 1.0])
    assert (x == x).tolist() == [False, True]
    assert (x != x).tolist() == [True, False]
    assert (x < 2).tolist() == [False, True]
    assert (x == x).dtype == "bool"


def test_bools_are_ordered():
    assert pg.less(pg.tensor([False, True]), pg.tensor([True, True])).tolist() == [True, False]


def test_logic_takes_numbers():
    x, y = pg.tensor([0.0, 2.0, NAN]), pg.tensor([1, 0, 1])
    assert pg.logical_and(x, y).tolist() == [False, False, True]
    assert pg.logical_or(x, y).tolist() == [True, True, True]
    assert pg.logical_xor(x, y).tolist() == [True, True, False]
    assert pg.logical_not(x).tolist() == [True, False, False]


def test_bits():
    x, y = pg.tensor([6, -1]), pg.tensor([3, 3])
    assert (x & y).tolist() == [2, 3]
    assert (x | y).tolist() == [7, -1]
    assert (x ^ y).tolist() == [5, -4]
    assert (~x).tolist() == [-7, 0]
    assert (x << y).tolist() == [48, -8]
    assert (x >> 1).tolist() == [3, -1]
    assert (1 << y).tolist() == [8, 8]
    assert (100 >> y).tolist() == [12, 12]
    assert (~pg.tensor([True, False])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: x & 1, "bitwise_and"),
        (lambda x: ~x, "bitwise_invert"),
        (lambda x: x << 1, "bitwise_left_shift"),
        (lambda x: pg.bitwise_xor(x, x), "bitwise_xor"),
    ],
)
def test_bits_of_floats_are_refused(f, name):
    with pytest.raises(pg.errors.DTypeError, match=rf"{name}: works on integers.*not on float32; compare first"):
        f(pg.tensor([1.0]))


def test_shifts_of_bools_are_refused():
    with pytest.raises(pg.errors.DTypeError, match="works on integers, not on bool"):
        pg.tensor([True]) << pg.tensor([True])


def test_what_is_known_of_integers():
    x = pg.tensor([0, -5])
    assert pg.isnan(x).tolist() == pg.isinf(x).tolist() == [False, False]
    assert pg.isfinite(x).tolist() == [True, True]
    assert pg.signbit(x).tolist() == [False, True]
    assert pg.signbit(pg.tensor([0.0, -0.0, -INF])).tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nextafter(dtype):
    x = pg.tensor([1.0, 0.0, 0.0, INF, NAN, 2.0], dtype=dtype)
    y = pg.tensor([2.0, 1.0, -1.0, 0.0, 1.0, 2.0], dtype=dtype)
    step, tiny, top = (2.0**-23, 2.0**-149, (2 - 2.0**-23) * 2.0**127)
    if dtype == "float64":
        step, tiny, top = 2.0**-52, 5e-324, (2 - 2.0**-52) * 2.0**1023
    z = pg.nextafter(x, y).tolist()
    assert z[:4] == [1 + step, tiny, -tiny, top]
    assert math.isnan(z[4])
    assert z[5] == 2


def test_closeness():
    x, y = pg.tensor([1.0, INF, INF, NAN]), pg.tensor([1.000001, INF, 5.0, NAN])
    assert pg.isclose(x, y).tolist() == [True, True, False, False]
    assert pg.isclose(x, y, equal_nan=True).tolist() == [True, True, False, True]
    assert pg.allclose(x[:2], y[:2]) is True
    assert pg.allclose(x, y) is False


def test_closeness_of_integers_is_exact():
    x, y = pg.tensor([2**60, -(2**63), 5]), pg.tensor([2**60 + 1, 2**63 - 1, 5])
    assert pg.isclose(x, y, rtol=0, atol=0).tolist() == [False, False, True]
    assert pg.isclose(x, y, rtol=0, atol=1).tolist() == [True, False, True]


def test_array_equal():
    x = pg.tensor([1, 2])
    assert pg.array_equal(x, pg.tensor([1.0, 2.0])) is True
    assert pg.array_equal(x, pg.tensor([1, 3])) is False
    assert pg.array_equal(x, pg.tensor([[1, 2]])) is False


def test_functions_carry_their_names():
    for name in pg.ops.compare.__all__:
        assert getattr(pg, name).__name__ == name
        assert getattr(pg, name).__doc__


def test_numbers_outside_the_dtype():
    x = pg.tensor([0, 2**31 - 1, -(2**31)], dtype="int32")
    for f, above, below in (
        (pg.equal, False, False), (pg.not_equal, True, True), (pg.less, True, False), (pg.less_equal, True, False),
        (pg.greater, False, True), (pg.greater_equal, False, True),
    ):  # fmt: skip
        assert f(x, 2**31).tolist() == [above] * 3
        assert f(x, -(10**30)).tolist() == [below] * 3
        assert f(-(2**31) - 1, x).tolist() == [above if f in (pg.equal, pg.not_equal) else not below] * 3
    assert pg.greater(300, pg.tensor([1], dtype="uint8")).tolist() == [True]
    with pytest.raises(DTypeError, match="str"):
        x < "300"  # noqa: B015
