"""What the suite cannot see: this namespace has the required functions and no more, and numbers of its own."""

from __future__ import annotations

import math

import pytest
from plugrad_purepy._array import Array
from plugrad_purepy._backend import PurePyBackend
from plugrad_purepy._namespace import Namespace as xp

from plugrad.backend import ARRAY, REQUIRED
from plugrad.errors import UnsupportedError

INF, NAN = math.inf, math.nan


def test_exactly_the_required_functions():
    assert {name for name in vars(xp) if not name.startswith("_")} == set(REQUIRED)


def test_every_required_operator():
    array = xp.asarray([1.0], dtype="float64")
    assert [name for name in ARRAY if not hasattr(array, name)] == []


def test_the_interface_version_is_written_in_numbers():
    assert PurePyBackend.api == (1, 0)


@pytest.mark.parametrize(
    ("dtype", "value", "want"),
    [
        ("float16", 65519.0, 65504.0), ("float16", 65520.0, INF), ("float16", 0.1, 0.0999755859375),
        ("float32", 0.1, 0.10000000149011612), ("float32", -1e39, -INF), ("float32", 1e-46, 0.0),
        ("float64", 0.1, 0.1), ("int32", 2.9, 2), ("int32", -2.9, -2), ("bool", 0.5, True),
    ],
)  # fmt: skip
def test_numbers_are_rounded_to_their_width(dtype, value, want):
    assert xp.asarray(value, dtype=dtype).flat == [want]


def test_integers_wrap_in_arithmetic_but_must_fit_when_written_down():
    top = xp.asarray([2**64 - 1], dtype="uint64")
    assert (top + 1).flat == [0]
    assert (top * top).flat == [1]
    assert (xp.asarray([2**31 - 1], dtype="int32") + 1).flat == [-(2**31)]
    assert (-xp.asarray([1], dtype="uint8")).flat == [255]
    with pytest.raises(OverflowError, match="300 does not fit uint8"):
        xp.asarray([300], dtype="uint8")
    with pytest.raises(OverflowError, match="-1 does not fit uint64"):
        top + -1


def test_no_arithmetic_raises_where_hardware_gives_infinity_or_nan():
    x = xp.asarray([1.0, -1.0, 0.0, INF, NAN], dtype="float64")
    assert str((x / 0.0).flat) == "[inf, -inf, nan, inf, nan]"
    assert str((x / -0.0).flat) == "[-inf, inf, nan, -inf, nan]"
    assert str((x**-1).flat) == "[1.0, -1.0, inf, 0.0, nan]"
    assert str((x**0.5).flat) == "[1.0, nan, 0.0, inf, nan]"
    assert str(xp.log(x).flat) == "[0.0, nan, -inf, inf, nan]"
    assert str(xp.exp(x * 1000).flat) == "[inf, 0.0, 1.0, inf, nan]"
    assert str(xp.floor(x - 0.5).flat) == "[0.0, -2.0, -1.0, inf, nan]"
    assert math.copysign(1, xp.floor(xp.asarray(-0.0, dtype="float64")).flat[0]) == -1
    assert xp.sum(xp.asarray([1e308, 1e308], dtype="float64")).flat == [INF]


@pytest.mark.parametrize(
    ("key", "want"),
    [
        (1, [3, 4, 5]), ((-1, -1), 5), ((slice(None), 1), [1, 4]), ((..., slice(None, None, -2)), [[2, 0], [5, 3]]),
        ((None, 0), [[0, 1, 2]]), (slice(5, 2), []), ((0, ..., None), [[0], [1], [2]]),
    ],
)  # fmt: skip
def test_indexing(key, want):
    x = xp.reshape(xp.arange(6), (2, 3))
    assert x[key].tolist() == want


def test_results_share_no_list_with_their_inputs():
    x = xp.arange(4)
    for y in (x[...], xp.reshape(x, (2, 2)), xp.astype(x, "int64"), xp.asarray(x, dtype="int64"), xp.floor(x)):
        y[...] = 9
        assert x.flat == [0, 1, 2, 3]


def test_mixtures_are_refused_as_in_the_standard():
    i, f = xp.asarray([1], dtype="int64"), xp.asarray([1.0], dtype="float32")
    for wrong in (lambda: i + f, lambda: i + 0.5, lambda: f == i, lambda: i / i, lambda: f & f, lambda: f + True):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="broadcast"):
        xp.zeros((2, 3)) + xp.zeros((2,))
    with pytest.raises(IndexError, match="index 2 on axis 0 of size 2"):
        xp.take(xp.zeros((2, 3)), xp.asarray([2]), axis=0)
    with pytest.raises(IndexError, match="size 2"):
        xp.zeros((2, 3))[2]


def test_nan_is_the_largest_and_equal_numbers_stay_in_order():
    x = xp.asarray([2.0, NAN, 1.0, 2.0], dtype="float64")
    assert xp.argsort(x).flat == [2, 0, 3, 1]
    assert xp.argsort(x, descending=True).flat == [1, 0, 3, 2]
    assert xp.argmax(x).flat == [1]
    assert math.isnan(xp.max(x).flat[0])
    assert math.isnan(xp.maximum(x, 3.0).flat[1])


def test_sums_are_rounded_once_and_small_integers_widened():
    tenth = xp.full((1000,), 0.1, dtype="float64")
    assert xp.sum(tenth).flat == [100.0]
    assert xp.sum(xp.asarray([True, True])).dtype == "int64"
    assert xp.sum(xp.full((300,), 1, dtype="uint8")).tolist() == 300
    assert xp.sum(xp.zeros((0, 2)), axis=0).tolist() == [0, 0]


def test_shapes_of_empty_arrays():
    x = xp.zeros((2, 0, 3))
    assert x.tolist() == [[], []]
    assert xp.matmul(xp.zeros((2, 0)), xp.zeros((0, 3))).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_memory_cannot_be_shared():
    with pytest.raises(UnsupportedError, match="copy"):
        PurePyBackend().share([1.0], 0)


def test_it_reads_well():
    assert repr(Array([1, 2], (2,), "int64")) == "Array([1, 2], 'int64')"
