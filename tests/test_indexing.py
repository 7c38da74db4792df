"""Indexing and assignment against NumPy, with keys drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import plugrad as pg

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@st.composite
def slices(draw, n):
    step = draw(st.sampled_from([None, 1, 2, 3, -1, -2, -5]))
    return slice(draw(st.none() | st.integers(-n - 2, n + 2)), draw(st.none() | st.integers(-n - 2, n + 2)), step)


@st.composite
def keys(draw, shape, advanced):
    """A tuple of items for some of the axes of `shape`, with None and one ellipsis anywhere."""
    items, axis, common = [], 0, draw(st.sampled_from([(), (1,), (2,), (2, 1), (0,), (1, 3)]))
    kinds = ["slice", "int", "skip", *(["array", "mask", "bool"] if advanced else [])]
    while axis < len(shape):
        kind, n = draw(st.sampled_from(kinds)), shape[axis]
        if kind == "skip":
            break
        if kind == "mask":
            ndim = draw(st.integers(1, len(shape) - axis))
            items.append(draw(hnp.arrays(bool, shape[axis : axis + ndim])))
            axis += ndim
            continue
        if kind == "bool":
            items.append(draw(st.booleans()))
            continue
        if kind == "slice" or n == 0:
            items.append(draw(slices(n)))
        elif kind == "int":
            items.append(draw(st.integers(-n, n - 1)))
        else:
            fit = draw(st.sampled_from([common, common[1:], tuple(1 for _ in common)]))
            items.append(draw(hnp.arrays(np.int64, fit, elements=st.integers(-n, n - 1))))
        axis += 1
    for extra in draw(st.lists(st.just(None), max_size=2)):
        items.insert(draw(st.integers(0, len(items))), extra)
    if axis < len(shape) or draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items)) if axis == len(shape) else st.just(len(items))), ...)
    return tuple(items)


def ours(key):
    """The same key with tensors in place of NumPy's arrays."""
    return tuple(pg.tensor(k) if isinstance(k, np.ndarray) else k for k in key)


def numbered(shape):
    return np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)


@pytest.mark.parametrize("advanced", [False, True], ids=["basic", "advanced"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_getitem_is_numpys(advanced, data):
    x = numbered(data.draw(SHAPES))
    key = data.draw(keys(x.shape, advanced))
    try:
        want = x[key]
    except IndexError:
        with pytest.raises(pg.errors.ShapeError):
            pg.tensor(x)[ours(key)]
        return
    for form in (key, ours(key)):
        got = pg.tensor(x)[form]
        assert got.shape == want.shape
        np.testing.assert_array_equal(got.numpy(), want)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_gradient_of_getitem_adds_up_at_the_places_taken(data):
    x = numbered(data.draw(SHAPES))
    key = data.draw(keys(x.shape, True))
    try:
        g = numbered(x[key].shape) + 1
    except IndexError:
        return
    want = np.zeros_like(x)
    np.add.at(want, key, g)
    leaf = pg.tensor(x, requires_grad=True)
    leaf[ours(key)].backward(pg.tensor(g))
    np.testing.assert_array_equal(leaf.grad.numpy(), want)


@pytest.mark.parametrize("advanced", [False, True], ids=["basic", "advanced"])
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_setitem_is_numpys_and_its_gradients_share_out_the_incoming_one(advanced, data):
    x = numbered(data.draw(SHAPES))
    key = data.draw(keys(x.shape, advanced))
    try:
        shape = x[key].shape
    except IndexError:
        with pytest.raises(pg.errors.ShapeError):
            pg.ops.setitem(pg.tensor(x), ours(key), 1.0)
        return
    v = -1 - numbered(tuple(data.draw(st.sampled_from([n, 1])) for n in shape)[data.draw(st.integers(0, len(shape))) :])
    want = x.copy()
    want[key] = v
    old, new = pg.tensor(x, requires_grad=True), pg.tensor(v, requires_grad=True)
    z = pg.ops.setitem(old, ours(key), new)
    np.testing.assert_array_equal(z.detach().numpy(), want)
    w = numbered(x.shape) + 1
    z.backward(pg.tensor(w))
    # z is linear in both: Σ w z = Σ x ∂x + Σ v ∂v, and what stayed has ∂x = w.
    assert np.sum(w * want) == np.sum(x * old.grad.numpy()) + np.sum(v * new.grad.numpy())
    np.testing.assert_array_equal(old.grad.numpy(), np.where(want < 0, 0, w))


@pytest.mark.parametrize("value", [2, 2.5, np.float32(2.5), np.float64(2.5), [1.0, 2.0], np.array([1, 2])])
def test_assigned_numbers_take_the_dtype_of_the_tensor(value):
    x, want = pg.zeros(3, 2), np.zeros((3, 2), np.float32)
    x[1], want[1] = value, value
    assert x.dtype is pg.float32
    np.testing.assert_array_equal(x.numpy(), want)


def test_python_numbers_are_rounded_once():
    x = pg.zeros(2, dtype="float64")
    x[:] = [0.1, 0.2]
    assert x.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int64", 1.5), ("bool", 1), ("int32", np.array([1])), ("int64", pg.tensor([1.0])), ("uint8", 300)],
)
def test_values_that_would_lose_their_kind_are_refused(dtype, value):
    x = pg.zeros(2, dtype=dtype)
    with pytest.raises(pg.errors.DTypeError):
        x[0:1] = value


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_an_index_may_have_any_integer_dtype(dtype):
    x = pg.arange(200)
    index = np.array([3, 120], dtype)
    assert x[pg.tensor(index)].tolist() == x[index].tolist() == [3, 120]
    assert x[index[0]].item() == 3


def test_small_integer_dtypes_do_not_overflow_when_counted_from_the_front():
    assert pg.arange(200)[np.array([-1, -128], np.int8)].tolist() == [199, 72]
    with pytest.raises(pg.errors.AxisError, match="index 18446744073709551615 is out of range for axis 0 of size 3"):
        pg.arange(3)[np.array([2**64 - 1], np.uint64)]


MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@settings(max_examples=60, deadline=None)
@given(
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4),
    st.sampled_from(list(MODES)), st.data(),
)  # fmt: skip
def test_pad_is_numpys(shape, mode, data):
    widths = data.draw(st.tuples(*[st.tuples(st.integers(0, 7), st.integers(0, 7)) for _ in shape]))
    x = numbered(shape)
    np.testing.assert_array_equal(pg.tensor(x).pad(widths, mode).numpy(), np.pad(x, widths, MODES[mode]))
    want = np.pad(x, widths, constant_values=1.5)
    np.testing.assert_array_equal(pg.tensor(x).pad(widths, value=1.5).numpy(), want)


@settings(max_examples=60, deadline=None)
@given(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), st.data())
def test_tile_repeat_and_roll_are_numpys(shape, data):
    x, few = numbered(shape), st.integers(0, 3)
    y = pg.tensor(x)
    times = tuple(data.draw(st.lists(few, max_size=4)))
    np.testing.assert_array_equal(y.tile(times).numpy(), np.tile(x, times))
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1)) if shape else None
    shift = data.draw(st.integers(-9, 9))
    np.testing.assert_array_equal(y.roll(shift, axis).numpy(), np.roll(x, shift, axis))
    counts = (
        data.draw(few | st.lists(few, min_size=1, max_size=1))
        if axis is None
        else data.draw(few | st.lists(few, min_size=shape[axis], max_size=shape[axis]))
    )
    np.testing.assert_array_equal(y.repeat(counts, axis=axis).numpy(), np.repeat(x, counts, axis))


@settings(max_examples=60, deadline=None)
@given(hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4), st.integers(-4, 4), st.data())
def test_diagonals_and_triangles_are_numpys(shape, k, data):
    x = numbered(shape)
    i, j = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=2, max_size=2, unique=True))
    y = pg.tensor(x)
    np.testing.assert_array_equal(y.diagonal(k, i, j).numpy(), np.diagonal(x, k, i, j))
    np.testing.assert_array_equal(y.tril(k).numpy(), np.tril(x, k))
    np.testing.assert_array_equal(y.triu(k).numpy(), np.triu(x, k))


@settings(max_examples=60, deadline=None)
@given(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4), st.data())
def test_take_along_axis_is_numpys_and_nonzero_too(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    rows = list(shape)
    rows[axis] = data.draw(st.integers(0, 5))
    index = data.draw(hnp.arrays(np.int64, tuple(rows), elements=st.integers(-shape[axis], shape[axis] - 1)))
    x = numbered(shape) % 3
    got = pg.take_along_axis(pg.tensor(x), pg.tensor(index), axis=axis)
    np.testing.assert_array_equal(got.numpy(), np.take_along_axis(x, index, axis))
    for mine, theirs in zip(pg.nonzero(pg.tensor(x)), np.nonzero(x), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs)
