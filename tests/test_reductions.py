"""Reductions and scans against NumPy at random shapes and axes, and their gradients against slopes."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plugrad as pg
from plugrad.ops.composed import reduce as composed_reduce
from plugrad.ops.composed import scan as composed_scan
from plugrad.testing.gradcheck import gradcheck

FEW = settings(max_examples=40, deadline=None)
xp = pg.device("numpy").xp


@st.composite
def problems(draw, low=0, gaps=True):
    """An array, axes of it (an int, a tuple or None), and keepdims. Few different numbers, so that there are ties."""
    shape = tuple(draw(st.lists(st.integers(low, 4), max_size=3)))
    n = int(np.prod(shape))
    numbers = st.sampled_from([-2.0, -0.5, 0.0, 1.0, 1.5, 3.0]) if gaps else st.floats(-2, 2, width=32)
    data = np.array(draw(st.lists(numbers, min_size=n, max_size=n))).reshape(shape)
    signed = st.integers(-len(shape), len(shape) - 1) if shape else st.nothing()
    some = st.lists(signed, max_size=3, unique_by=lambda i: i % len(shape)).map(tuple)
    axis = draw(st.one_of(st.none(), signed, some)) if shape else draw(st.sampled_from([None, ()]))
    return data, axis, draw(st.booleans())


def agree(z, want, dtype=None):
    assert z.shape == np.shape(want)
    np.testing.assert_allclose(z.numpy(), want, rtol=1e-12, atol=1e-12)
    assert dtype is None or z.dtype == dtype


def length(order):
    return lambda x, **how: np.sum(np.abs(x) ** order, **how) ** (1 / order)


REFERENCES = {
    "sum": np.sum,
    "prod": np.prod,
    "all": np.all,
    "any": np.any,
    "count_nonzero": lambda x, **how: np.sum(x != 0, **how),
    "logsumexp": lambda x, **how: np.log(np.sum(np.exp(x), **how)),
    "norm": length(2),
}
FULL = {
    "mean": np.mean,
    "max": np.max,
    "amin": np.min,
    "std": lambda x, **how: np.std(x, ddof=0, **how),
    "var": lambda x, **how: np.var(x, ddof=0, **how),
}


@FEW
@given(problems(), st.sampled_from(sorted(REFERENCES)))
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # the reference takes log 0
def test_reductions_that_take_nothing(problem, name):
    x, axis, keepdims = problem
    how = {"axis": axis, "keepdims": keepdims}
    agree(getattr(pg, name)(pg.tensor(x), **how), REFERENCES[name](x, **how))


@FEW
@given(problems(low=1), st.sampled_from(sorted(FULL)))
def test_reductions_that_take_something(problem, name):
    x, axis, keepdims = problem
    options = {"correction": 0} if name in ("std", "var") else {}
    z = getattr(pg, name)(pg.tensor(x), axis=axis, keepdims=keepdims, **options)
    agree(z, FULL[name](x, axis=axis, keepdims=keepdims), "float64")


@FEW
@given(problems(low=1), st.sampled_from(["argmax", "argmin"]))
def test_positions(problem, name):
    x, axis, keepdims = problem
    axis = axis if isinstance(axis, int) else None
    want = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    agree(getattr(pg, name)(pg.tensor(x), axis=axis, keepdims=keepdims), want, "int64")


@FEW
@given(problems(low=1), st.sampled_from([pg.sum, pg.mean, pg.prod, pg.var, pg.logsumexp]))
def test_gradients_are_slopes_at_any_point(problem, f):
    x, axis, keepdims = problem
    options = {"correction": 0} if f is pg.var else {}
    gradcheck(lambda t: f(t, axis=axis, keepdims=keepdims, **options), [pg.tensor(x)], order=2)


@FEW
@given(problems(), st.integers(-3, 3), st.sampled_from(["cumsum", "cumprod"]))
def test_scans(problem, axis, name):
    x = np.atleast_1d(problem[0])
    axis = axis % x.ndim
    agree(getattr(pg, name)(pg.tensor(x), axis), getattr(np, name)(x, axis=axis), "float64")
    gradcheck(lambda t: getattr(pg, name)(t, axis), [pg.tensor(x)], order=2)


@FEW
@given(problems(), st.integers(0, 3), st.integers(0, 3))
def test_differences(problem, axis, n):
    x = np.atleast_1d(problem[0])
    agree(pg.diff(pg.tensor(x), axis=axis % x.ndim, n=n), np.diff(x, n=n, axis=axis % x.ndim))


@FEW
@given(problems(), st.integers(0, 3))
def test_scans_and_reductions_from_required_functions_alone(problem, axis):
    x, axes, keepdims = problem
    for name in ("all", "any"):
        want = getattr(np, name)(x, axis=axes, keepdims=keepdims)
        np.testing.assert_array_equal(getattr(composed_reduce, name)(xp, x, axis=axes, keepdims=keepdims), want)
    x = np.atleast_1d(x)
    axis = axis % x.ndim
    np.testing.assert_allclose(composed_scan.cumulative_sum(xp, x, axis=axis), np.cumsum(x, axis=axis))
    np.testing.assert_allclose(composed_scan.cumulative_prod(xp, x, axis=axis), np.cumprod(x, axis=axis))
    if x.shape[axis]:
        np.testing.assert_array_equal(composed_reduce.argmin(xp, x, axis=axis), np.argmin(x, axis=axis))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_add_up_without_wrapping_around(dtype):
    top = 1 if dtype == "bool" else min(np.iinfo(dtype).max, 2**40)
    x = np.full((3, 2), top).astype(dtype)
    wide = "uint64" if dtype.startswith("u") else "int64"
    agree(pg.tensor(x).sum(axis=0), [3 * int(top)] * 2, wide)
    agree(pg.tensor(x).cumsum(0)[-1], [3 * int(top)] * 2, wide)
    agree(pg.tensor(x).max(axis=0), [top] * 2, dtype)
    assert pg.tensor(x).mean().dtype == pg.tensor(x).norm().dtype == "float32"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_summed_in_float32_and_rounded_once(dtype):
    x = pg.ones((4097,), dtype=dtype)
    assert x.sum().item() == 4096
    assert x.mean().item() == 1.0
    assert (x * 0.5).norm().dtype == dtype
    assert x.cumsum(0)[2047].item() == 2048


def test_float32_variances_are_good_to_float32_at_any_mean():
    rng = np.random.default_rng(0)
    for mean in (0.0, 1e3, 1e5, 1e7):
        x = (mean + rng.standard_normal((200, 3))).astype("float32")
        want = np.var(x.astype("float64"), axis=0, ddof=1)
        np.testing.assert_allclose(pg.tensor(x).var(axis=0).numpy(), want, rtol=2e-6)
        np.testing.assert_allclose(pg.tensor(x).std(axis=0).numpy(), want**0.5, rtol=2e-6)


def test_float32_logsumexp_and_its_gradient_are_good_to_float32_far_out():
    x = np.float32([[1000.0, 1000.5, 998.0], [-3e38, -3e38, -3e38], [1e-30, 0.0, 3e38]])
    t = pg.tensor(x, requires_grad=True)
    t.logsumexp(axis=1).sum().backward()
    wide = x.astype("float64")
    share = np.exp(wide - wide.max(1, keepdims=True))
    np.testing.assert_allclose(t.grad.numpy(), share / share.sum(1, keepdims=True), rtol=1e-6, atol=1e-38)


def test_nothing_is_computed_that_numpy_would_warn_of():
    rows = [[-inf, -inf], [inf, 1000.0], [inf, inf], [nan, 1.0], [0.0, 0.0], [-inf, 3.0]]
    for f in (pg.logsumexp, pg.norm, pg.max, pg.min):
        f(pg.tensor(rows), axis=1)
    for f in (pg.mean, pg.var, pg.std, pg.logsumexp, pg.norm):
        f(pg.zeros((2, 0)), axis=1)
    for f in (pg.var, pg.std):
        f(pg.ones((2, 1)), axis=1)
    for p in (-1, 0, 0.5, 1, 3, inf, -inf):
        pg.zeros(3).norm(p)


def test_a_sum_along_a_million_numbers_is_walked_back_at_once():
    x = pg.ones(10**6, requires_grad=True)
    x.cumprod(0).mean().backward()
    assert x.grad[0].item() == pytest.approx(1.0)
    assert x.grad[-1].item() == pytest.approx(1e-6)
