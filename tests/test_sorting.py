"""Sorting, ranks, unique values and histograms against NumPy at random shapes, with ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plugrad as pg
from plugrad.ops.composed import order as composed
from plugrad.testing.gradcheck import gradcheck

FEW = settings(max_examples=40, deadline=None)
xp = pg.device("numpy").xp
WAYS = ["linear", "lower", "higher", "nearest", "midpoint"]
SHARES = st.sampled_from([0.0, 0.1, 0.35, 0.5, 1.0])


@st.composite
def arrays(draw, low=0, dims=3):
    """An array with ties, and one of its axes."""
    shape = tuple(draw(st.lists(st.integers(low, 5), min_size=1, max_size=dims)))
    n = int(np.prod(shape))
    data = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 7.0]), min_size=n, max_size=n))
    return np.array(data).reshape(shape), draw(st.integers(-len(shape), len(shape) - 1))


def distinct(shape, seed=0):
    """Numbers of which no two are close."""
    return np.random.default_rng(seed).permutation(int(np.prod(shape))).reshape(shape) / 3.0


@FEW
@given(arrays())
def test_sort_and_argsort(problem):
    x, axis = problem
    t = pg.tensor(x)
    up = np.argsort(x, axis=axis, stable=True)
    down = np.argsort(-x, axis=axis, stable=True)
    assert t.argsort(axis).tolist() == up.tolist()
    assert t.argsort(axis, descending=True).tolist() == down.tolist()
    assert t.sort(axis).tolist() == np.sort(x, axis=axis).tolist()
    assert t.sort(axis, descending=True).tolist() == np.take_along_axis(x, down, axis).tolist()


@FEW
@given(arrays(), st.integers(0, 5), st.booleans())
def test_topk(problem, k, largest):
    x, axis = problem
    k = min(k, x.shape[axis])
    order = np.argsort(-x if largest else x, axis=axis, stable=True)
    want = np.take(order, np.arange(k), axis=axis)
    values, indices = pg.topk(pg.tensor(x), k, axis=axis, largest=largest)
    assert indices.tolist() == want.tolist()
    assert values.tolist() == np.take_along_axis(x, want, axis).tolist()


@FEW
@given(arrays(low=1), st.sampled_from(WAYS), st.lists(SHARES, min_size=1, max_size=3))
def test_quantiles(problem, how, q):
    x, axis = problem
    for keepdims in (False, True):
        want = np.quantile(x, q, axis=axis, keepdims=keepdims, method=how)
        z = pg.tensor(x).quantile(q, axis=axis, keepdims=keepdims, interpolation=how)
        assert z.shape == want.shape
        np.testing.assert_allclose(z.numpy(), want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pg.tensor(x).quantile(q[0]).numpy(), np.quantile(x, q[0]), rtol=1e-12, atol=1e-12)


@FEW
@given(arrays(low=1))
def test_medians_are_elements_and_one_of_them_gets_the_gradient(problem):
    x, axis = problem
    t = pg.tensor(x, requires_grad=True)
    z = t.median(axis=axis)
    assert z.tolist() == np.quantile(x, 0.5, axis=axis, method="lower").tolist()
    z.sum().backward()
    g = t.grad.numpy()
    np.testing.assert_array_equal(np.sum(g != 0, axis=axis), np.ones(z.shape))
    np.testing.assert_array_equal(np.sum(g, axis=axis), np.ones(z.shape))
    np.testing.assert_array_equal(np.sum(g * x, axis=axis), z.detach().numpy())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gradients_are_slopes(axis):
    x = pg.tensor(distinct((3, 4, 2)))
    for f in (
        lambda t: t.sort(axis),
        lambda t: t.sort(axis, descending=True),
        lambda t: t.topk(2, axis)[0],
        lambda t: t.topk(1, axis, largest=False)[0],
        lambda t: t.median(axis),
        lambda t: t.quantile([0.2, 0.9], axis),
        lambda t: t.quantile(0.4, (axis, (axis + 1) % 3), keepdims=True),
    ):
        gradcheck(lambda t, f=f: f(t) ** 2, [x], order=2)


@FEW
@given(arrays(), st.booleans())
def test_unique(problem, missing):
    x = problem[0]
    if missing and x.size:
        x = x.copy()
        x.reshape(-1)[:2] = np.nan
    v, i, j, n = np.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    found = pg.unique_all(pg.tensor(x))
    np.testing.assert_array_equal(found.values.numpy(), v)
    np.testing.assert_array_equal(found.indices.numpy(), i)
    np.testing.assert_array_equal(found.inverse_indices.numpy(), j.reshape(x.shape))
    np.testing.assert_array_equal(found.counts.numpy(), n)


@FEW
@given(arrays(dims=1), arrays(), st.sampled_from(["left", "right"]))
def test_searchsorted(row, problem, side):
    row, x = np.sort(row[0]), problem[0]
    want = np.searchsorted(row, x, side=side)
    assert pg.searchsorted(pg.tensor(row), pg.tensor(x), side=side).tolist() == want.tolist()
    assert composed.searchsorted(xp, row, x, side=side).tolist() == want.tolist()
    odd = np.array([np.nan, np.inf, -np.inf])
    row = np.sort(np.append(row, odd))
    assert composed.searchsorted(xp, row, odd, side=side).tolist() == np.searchsorted(row, odd, side=side).tolist()


@FEW
@given(arrays(low=1), st.integers(0, 3))
def test_take_along_axis_and_sort_from_required_functions_alone(problem, seed):
    x, axis = problem
    shape = list(x.shape)
    shape[axis] = seed
    index = np.random.default_rng(seed).integers(-x.shape[axis], x.shape[axis], shape)
    found = composed.take_along_axis(xp, x, index, axis=axis)
    np.testing.assert_array_equal(found, np.take_along_axis(x, index, axis))
    np.testing.assert_array_equal(composed.sort(xp, x, axis=axis), np.sort(x, axis=axis))


@FEW
@given(arrays(low=1), st.integers(1, 6))
def test_histogram(problem, bins):
    x = problem[0]
    for span in (None, (-1.0, 2.0)):
        counts, edges = np.histogram(x, bins, span)
        found = pg.histogram(pg.tensor(x), bins, span)
        np.testing.assert_allclose(found[1].numpy(), edges, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(np.histogram(x, found[1].numpy())[0], found[0].numpy())
        assert int(counts.sum()) == found[0].sum().item()


@FEW
@given(st.lists(st.integers(0, 6), max_size=9), st.integers(0, 9))
def test_bincount(numbers, minlength):
    x = np.array(numbers, dtype="int64")
    w = np.arange(len(numbers)) + 0.5
    assert pg.bincount(pg.tensor(x), minlength=minlength).tolist() == np.bincount(x, minlength=minlength).tolist()
    found = pg.bincount(pg.tensor(x), pg.tensor(w), minlength=minlength)
    np.testing.assert_allclose(found.numpy(), np.bincount(x, w, minlength))
