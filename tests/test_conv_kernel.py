"""NumPy's kernels of convolutions against their formulas: all settings, and blocks of every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plugrad as pg
from plugrad_nn import functional as F
from plugrad_nn import ops
from plugrad_numpy.kernels import conv_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSE = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


@pytest.fixture(params=[2**4, 2**8, 2**11, 2**19])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Blocks of a few numbers: rows, channels, groups and entries of the kernel apart; and of many."""
    monkeypatch.setattr(conv_plan, "ROOM", request.param)
    conv_plan.plan_of.cache_clear()
    yield request.param
    conv_plan.plan_of.cache_clear()


@pytest.fixture(params=[-1, 80, 10**9])
def dear(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Columns that count alone, as it pays, whole runs."""
    monkeypatch.setattr(conv_plan, "DEAR", request.param)
    return request.param


def numbers(shape: tuple[int, ...], seed: int, dtype: str = "float64") -> pg.Tensor:
    return pg.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype), requires_grad=True)


def outcome(f: Callable[..., pg.Tensor], xs: list[pg.Tensor], mode: str) -> list[np.ndarray]:
    """The output, and the gradients of a weighting of it."""
    with pg.kernels(mode):
        z = f(*xs)
        g = np.random.default_rng(9).standard_normal(z.shape)
        return [z.detach().numpy(), *[t.numpy() for t in pg.grad(z, xs, pg.tensor(g, dtype=z.dtype))]]


def agree(f: Callable[..., pg.Tensor], *xs: pg.Tensor, rtol: float = 1e-11) -> None:
    for ours, right in zip(outcome(f, list(xs), "force"), outcome(f, list(xs), "off"), strict=True):
        np.testing.assert_allclose(ours, right, rtol=rtol, atol=rtol)


SETTINGS = [
    ((3, 4, 9), (6, 4, 3), {"padding": 1}),
    ((2, 6, 11), (4, 3, 2), {"stride": 3, "padding": 4, "dilation": 2, "groups": 2}),
    ((5, 3, 7, 6), (4, 3, 3, 2), {"padding": (1, 0)}),
    ((2, 4, 8, 9), (8, 1, 3, 3), {"padding": 1, "groups": 4}),
    ((3, 4, 8, 7), (4, 1, 5, 3), {"padding": 2, "groups": 4, "stride": 2}),
    ((2, 6, 9, 8), (4, 3, 2, 3), {"groups": 2, "stride": (2, 3), "padding": 3, "dilation": (1, 2)}),
    ((2, 3, 6, 6), (5, 3, 4, 3), {"padding": "same"}),
    ((3, 4, 5, 6), (6, 2, 1, 1), {"groups": 2}),
    ((3, 4, 6, 7), (2, 4, 1, 1), {"stride": 2}),
    ((2, 3, 9, 4), (4, 3, 2, 4), {}),
    ((2, 2, 3, 4, 5), (4, 2, 2, 1, 3), {"padding": 1, "stride": (1, 2, 1)}),
]


@pytest.mark.usefixtures("room", "dear")
@pytest.mark.parametrize(("x", "w", "how"), SETTINGS)
def test_convolution_in_blocks(x: Any, w: Any, how: Any) -> None:
    agree(lambda *xs: CONV[len(x) - 2](*xs, **how), numbers(x, 0), numbers(w, 1), numbers(w[:1], 2))


@pytest.mark.usefixtures("room", "dear")
@pytest.mark.parametrize(("x", "w", "how"), [row for row in SETTINGS if row[2].get("padding") != "same"])
def test_transposed_convolution_in_blocks(x: Any, w: Any, how: Any) -> None:
    """Of what the convolution gives: the same weight the other way."""
    size = len(x) - 2
    z = CONV[size](numbers(x, 0), numbers(w, 1), **how)
    bias = numbers((w[1] * how.get("groups", 1),), 3)
    agree(lambda *xs: TRANSPOSE[size](*xs, **how), z.detach().requires_grad_(), numbers(w, 1), bias)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_convolution(data: st.DataObject) -> None:
    draw = data.draw
    axes, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    each = lambda low, high: tuple(draw(st.lists(st.integers(low, high), min_size=axes, max_size=axes)))  # noqa: E731
    kernel, stride, dilation, padding = each(1, 3), each(1, 4), each(1, 2), each(0, 3)
    spare = [max(1, (k - 1) * d + 1 - 2 * p) for k, d, p in zip(kernel, dilation, padding, strict=True)]
    sizes = [n + more for n, more in zip(spare, each(0, 4), strict=True)]
    channels, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    x = numbers((draw(st.integers(1, 3)), channels * groups, *sizes), 0)
    w = numbers((outputs * groups, channels, *kernel), 1)
    how: Any = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    agree(lambda x, w: CONV[axes](x, w, **how), x, w)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inputs_in_any_order_of_memory(dtype: str) -> None:
    x, w = numbers((6, 7, 4, 3), 0, dtype), numbers((3, 2, 4, 5), 1, dtype)
    turned = lambda x, w: F.conv2d(x.permute_dims((3, 2, 1, 0)), w.permute_dims((3, 2, 0, 1)), padding=1)  # noqa: E731
    agree(turned, x, w, rtol=1e-11 if dtype == "float64" else 2e-5)


@pytest.mark.parametrize(("at", "value"), [((0, 0, 4, 5), np.nan), ((0, 1, 0, 5), np.inf)])
def test_what_no_window_reads_reaches_no_gradient(at: Any, value: float) -> None:
    x, w = numbers((2, 3, 5, 6), 0), numbers((4, 3, 3, 3), 1)
    x = x.detach().numpy()
    x[at] = value
    x = pg.tensor(x, requires_grad=True)
    found = outcome(lambda x, w: F.conv2d(x, w, stride=2), [x, w], "prefer")
    assert all(np.isfinite(a).all() for a in found)


@pytest.mark.parametrize("where", ["x", "w"])
def test_infinities_reach_what_the_formula_says(where: str) -> None:
    x, w = np.ones((2, 2, 5, 6)), np.ones((3, 2, 3, 3))
    if where == "x":
        x[0, 1, 4, 5] = np.inf
    else:
        w[1, 0, 0, 2] = np.inf
    xs = [pg.tensor(a, requires_grad=True) for a in (x, w)]
    f = lambda x, w: F.conv2d(x, w, padding=1)  # noqa: E731
    for ours, right in zip(outcome(f, xs, "prefer"), outcome(f, xs, "off"), strict=True):
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(right))
        np.testing.assert_array_equal(np.isinf(ours), np.isinf(right))


def test_memory_does_not_grow_with_the_batch() -> None:
    plan = conv_plan.plan_of(ops.Conv((1, 1), ((1, 1), (1, 1)), (1, 1), 1), (28, 28), (32, 16, 3, 3))
    for images in (1, 64, 4096):
        chunk = next(plan.chunks(images))
        assert plan.each * (chunk.stop - chunk.start) <= conv_plan.ROOM
