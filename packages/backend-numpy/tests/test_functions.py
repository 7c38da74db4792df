"""The functions that this backend brings itself, against NumPy's own arithmetic in float64 or plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plugrad as pg

device = pg.device("numpy")
xp = device.xp
rng = np.random.default_rng(5)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -3, (0, 1), (0, 2), (-1, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("view", [lambda a: a, lambda a: a.transpose(2, 0, 1), lambda a: a[::-1, :, ::2]])
def test_sum_over_any_axes_and_strides(axis, keepdims, view):
    x = view(rng.normal(size=(1031, 3, 522)).astype("float32"))
    z = xp.sum(x, axis=axis, keepdims=keepdims)
    want = x.astype("float64").sum(axis=axis, keepdims=keepdims)
    assert z.shape == want.shape
    assert z.dtype == x.dtype
    scale = math.sqrt(x.size / max(want.size, 1))
    assert np.abs(z - want).max() <= 1e-5 * scale


@pytest.mark.parametrize("shape", [(1_000_000, 2), (2, 1_000_000), (1000, 2, 1000)])
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_long_sums_in_float32_round_little_along_every_axis(shape, axis):
    x = np.full(shape, 0.1, dtype="float32")
    z = xp.sum(x, axis=axis)
    want = np.full(z.shape, float(np.float32(0.1)) * (x.size / z.size))
    assert np.abs(z / want - 1).max() < 2e-5


@pytest.mark.parametrize(("name", "want"), [("bool", "int64"), ("int8", "int64"), ("uint8", "uint64")])
def test_sums_of_integers_are_wide(name, want):
    x = np.ones((300, 2), dtype=name)
    assert xp.sum(x, axis=0).dtype == want
    assert xp.sum(x, axis=0).tolist() == [300, 300]
    assert xp.prod(x).dtype == want
    assert xp.cumulative_sum(x, axis=0).dtype == want


def test_half_precision_accumulates_in_float32():
    ones = pg.ones(60_000, dtype="float16", device=device)
    assert ones.sum().item() == 60_000  # a float16 counter stops at 2048
    assert pg.ones(65_536, dtype="float16", device=device).mean().item() == 1  # and its sum does not fit float16
    assert (ones.reshape(1, -1) @ ones.reshape(-1, 1)).item() == 60_000
    assert ones.reshape(-1, 1).sum(axis=0).dtype is pg.float16


def test_bfloat16_accumulates_in_float32():
    pytest.importorskip("ml_dtypes")
    ones = pg.ones(65_536, dtype="bfloat16", device=device)
    assert ones.sum().item() == 65_536  # a bfloat16 counter stops at 256
    assert ones.mean().item() == 1
    assert (ones.reshape(1, -1) @ ones.reshape(-1, 1)).item() == 65_536
    assert ones.cumsum(0)[-1].item() == 65_536
    x = pg.tensor([0.1, 3.0], dtype="bfloat16", device=device)
    assert x.dtype is pg.bfloat16
    assert x.tolist() == [0.10009765625, 3.0]


def test_a_gradient_in_half_precision():
    x = pg.tensor([1.0, 2.0], dtype="float16", device=device, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.dtype is pg.float16
    assert x.grad.tolist() == [2, 4]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("kind", ["int32", "int64", "uint8"])
def test_index_add_adds_repeated_indices_one_by_one(axis, kind):
    x = rng.normal(size=(4, 5, 3))
    index = np.array([0, 2, 2, 1, 2, 0], dtype=kind)
    source = rng.normal(size=[6 if i == axis % 3 else n for i, n in enumerate(x.shape)])
    want, rows = np.moveaxis(x.copy(), axis, 0), np.moveaxis(source, axis, 0)
    for i, row in zip(index.tolist(), rows, strict=True):
        want[i] += row
    before = x.copy()
    z = xp.index_add(x, axis, index, source)
    assert np.array_equal(np.moveaxis(z, axis, 0), want)
    assert np.array_equal(x, before)


def test_index_add_in_chunks_is_the_same(monkeypatch):
    from plugrad_numpy import _functions

    x, index, source = np.zeros((3, 4)), rng.integers(0, 3, 50), rng.normal(size=(50, 4))
    whole = xp.index_add(x, 0, index, source)
    monkeypatch.setattr(_functions, "CHUNK", 12)
    assert np.array_equal(xp.index_add(x, 0, index, source), whole)


def test_index_add_of_integers_is_exact_and_edges_hold():
    big = 2**53 + 1
    assert xp.index_add(np.zeros(2, "int64"), 0, np.array([1, 1]), np.array([big, 1])).tolist() == [0, big + 1]
    assert xp.index_add(np.zeros((2, 0)), 0, np.array([1]), np.zeros((1, 0))).shape == (2, 0)
    assert xp.index_add(np.ones(2), 0, np.array([], dtype="int64"), np.zeros(0)).tolist() == [1, 1]
    with pytest.raises(IndexError, match="from 0 to 2 on an axis of size 2"):
        xp.index_add(np.zeros(2), 0, np.array([0, 2]), np.ones(2))


@pytest.mark.parametrize(
    ("args", "want"),
    [((5,), [0, 1, 2, 3, 4]), ((2, 9, 3), [2, 5, 8]), ((5, 0, -2), [5, 3, 1]), ((3, 0), []), ((0.0, 3.0), [0, 1, 2])],
)
def test_arange(args, want):
    assert xp.arange(*args).tolist() == want


def test_arange_of_floats_does_not_drift():
    z = xp.arange(0, 10_000, 0.1, dtype=np.dtype("float32"))
    assert z.dtype == "float32"
    assert np.array_equal(z, (0.1 * np.arange(100_000)).astype("float32"))


def test_argsort_is_stable_both_ways_and_nan_is_the_largest():
    x = np.array([1, 3, 1, math.nan, 3, 2])
    assert xp.argsort(x).tolist() == [0, 2, 5, 1, 4, 3]
    assert xp.argsort(x, descending=True).tolist() == [3, 1, 4, 5, 0, 2]
    table = rng.integers(0, 3, size=(4, 5))
    for axis in (0, 1, -1):
        down = xp.argsort(table, axis=axis, descending=True)
        assert np.array_equal(np.take_along_axis(table, down, axis), xp.sort(table, axis=axis, descending=True))


def test_scans_with_the_initial_value():
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert xp.cumulative_sum(x, axis=1, include_initial=True).tolist() == [[0, 1, 3, 6], [0, 4, 9, 15]]
    assert xp.cumulative_prod(x, axis=0, include_initial=True).tolist() == [[1, 1, 1], [1, 2, 3], [4, 10, 18]]
    assert xp.cumulative_sum(np.array([True, True])).tolist() == [1, 2]
    with pytest.raises(ValueError, match="axis is needed"):
        xp.cumulative_sum(x)


def test_the_rest_of_the_table():
    assert xp.unique_values(np.array([3, 1, 3, 2])).tolist() == [1, 2, 3]
    assert xp.unique_values(np.array([math.nan, math.nan])).shape == (2,)
    assert xp.count_nonzero(np.array([0, 1, 2])).dtype == "int64"
    assert xp.count_nonzero(np.array([[0, 1], [1, 1]]), axis=0).tolist() == [1, 2]
    assert [row.tolist() for row in xp.unstack(np.array([[1, 2], [3, 4]]), axis=1)] == [[1, 3], [2, 4]]
    assert xp.astype(np.float32(2.5), np.dtype("int64")) == 2
    assert xp.floor(np.array([1, 2])).dtype == "int64"
    assert xp.clip(np.array([1.0, 5.0]), min=2.0, max=None).tolist() == [2, 5]


def test_index_put_keeps_the_last_of_equal_indices():
    x = np.zeros(3)
    assert xp.index_put(x, np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0])).tolist() == [3, 0, 2]
    assert x.tolist() == [0, 0, 0]
