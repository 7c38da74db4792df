"""NumPy's kernels that work block by block, with blocks so small that every input has several: beside the formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import plugrad as pg
from plugrad_nn import functional as F
from plugrad_numpy.kernels import activation, norm

RNG = np.random.default_rng(0)
FAR_OUT = np.array([-np.inf, -1e30, -900.0, -50.0, -15.0, -1e-30, -0.0, 0.0, 1e-30, 15.0, 50.0, 900.0, 1e30, np.inf])


@pytest.fixture(params=[1, 7, 64])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(norm, "BLOCK", request.param)
    monkeypatch.setattr(activation, "PIECE", request.param)


def both_ways(f: Any, *arrays: Any) -> list[list[Any]]:
    """Values and gradients, with kernels and without."""
    found = []
    for mode in ("prefer", "off"):
        with pg.kernels(mode):
            xs = [pg.tensor(a, requires_grad=True) for a in arrays]
            z = f(*xs)
            z.backward(pg.tensor(np.random.default_rng(1).standard_normal(z.shape).astype(str(z.dtype))))
            found.append([z.detach().numpy(), *[x.grad.numpy() for x in xs]])
    return found


def same(f: Any, *arrays: Any, rtol: float = 2e-5, atol: float = 2e-5) -> None:
    for got, want in zip(*both_ways(f, *arrays), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol, atol)


def numbers(*shape: int, offset: float = 0.0) -> Any:
    return (RNG.standard_normal(shape) + offset).astype("float32")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_norms(offset: float) -> None:
    x, c, s = numbers(6, 4, 5, offset=offset), (numbers(4), numbers(4)), (numbers(5), numbers(5))
    same(lambda x, *wb: F.layer_norm(x, (5,), *wb), x, *s)
    same(lambda x: F.layer_norm(x, (4, 5)), x)
    same(lambda x, w: F.layer_norm(x, (5,), w), x[:, :, ::-1], s[0])
    same(lambda x, w: F.rms_norm(x, (5,), w), x, s[0])
    same(lambda x: F.rms_norm(x, (4, 5)), x)
    same(lambda x, *wb: F.group_norm(x, 2, *wb), x, *c)
    same(lambda x, *wb: F.instance_norm(x, None, None, *wb), x.transpose(2, 1, 0), *c)
    same(lambda x, *wb: F.batch_norm(x, None, None, *wb, training=True), x, *c)
    same(lambda x, *wb: F.batch_norm(x, None, None, *wb, training=True), numbers(40, 4, offset=offset), *c)
    same(lambda x: F.batch_norm(x, None, None, training=True), numbers(3, 4, 2, 9, offset=offset))
    same(lambda x, m, v, *wb: F.batch_norm(x, m, v.abs() + 0.5, *wb), x, *(numbers(4) for _ in range(4)))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("value", [0.1, 100.0, 1e6])
def test_equal_numbers_give_the_bias_itself(value: float) -> None:
    x, w, b = np.full((3, 4, 7), value, "float32"), [3.0] * 4, [0.5] * 4
    w4, b4 = pg.tensor(w), pg.tensor(b)
    for z in (
        F.layer_norm(pg.tensor(x), (7,), pg.full((7,), 3.0), pg.full((7,), 0.5)),
        F.batch_norm(pg.tensor(x), None, None, w4, b4, training=True),
        F.group_norm(pg.tensor(x), 2, w4, b4),
        F.instance_norm(pg.tensor(x), None, None, w4, b4),
    ):
        assert (z.numpy() == 0.5).all()


@pytest.mark.usefixtures("small")
def test_a_large_mean_beside_float64() -> None:
    x = numbers(8, 3, 6, offset=65536.0)
    for f in (
        lambda x: F.layer_norm(x, (6,)),
        lambda x: F.batch_norm(x, None, None, training=True),
        lambda x: F.group_norm(x, 1),
    ):
        np.testing.assert_allclose(f(pg.tensor(x)).numpy(), f(pg.tensor(x, dtype="float64")).numpy(), 1e-5, 2e-6)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations(dtype: str) -> None:
    x = numbers(9, 14).astype(dtype) * 3
    x[1] = FAR_OUT
    rtol, atol = (1e-5, 1e-7) if dtype == "float32" else (1e-12, 1e-14)
    tanh: Any = lambda t: pg.gelu(t, approximate="tanh")  # noqa: E731
    for f in (pg.gelu, tanh, pg.silu):
        same(f, x, rtol=rtol, atol=atol)
        same(f, x.T[::2], rtol=rtol, atol=atol)
        same(f, x[0, 0], rtol=rtol, atol=atol)
    b = numbers(14).astype(dtype)
    for kind in ("gelu", "gelu_tanh", "relu", "sigmoid", "silu", "tanh"):
        same(lambda x, b, k=kind: F.bias_activation(x, b, k), x, b, rtol=rtol, atol=20 * atol)
        same(lambda x, b, k=kind: F.bias_activation(x, b, k, axis=0), x, numbers(9).astype(dtype), atol=20 * atol)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 5e-6), ("float64", 3e-14)])
def test_gelu_keeps_its_digits_in_the_tail(dtype: str, rtol: float) -> None:
    x = np.linspace(-9.0, 9.0, 2001).astype(dtype)
    want = [v * math.erfc(-v / math.sqrt(2)) / 2 for v in x.tolist()]
    np.testing.assert_allclose(pg.gelu(pg.tensor(x)).numpy(), want, rtol)


def test_infinite_gradients_pass_relu_where_it_is_open() -> None:
    x = pg.tensor([[-1.0, 2.0]], requires_grad=True)
    F.bias_activation(x, pg.zeros(2), "relu").backward(pg.tensor([[float("inf"), float("inf")]]))
    assert x.grad.tolist() == [[0.0, float("inf")]]


def test_inputs_and_gradients_stay_as_they_were() -> None:
    x, w, b = numbers(4, 3, 6), numbers(3), numbers(3)
    for f, arrays in [
        (lambda x, *wb: F.batch_norm(x, None, None, *wb, training=True), (x, w, b)),
        (lambda x, w: F.rms_norm(x, (6,), w), (x, numbers(6))),
        (lambda x, b: F.bias_activation(x, b, "gelu", axis=1), (x, b)),
        (F.linear, (x, numbers(2, 6), numbers(2))),
    ]:
        xs = [pg.tensor(a, requires_grad=True) for a in arrays]
        z = f(*xs)
        kept, g = z.detach().numpy(), pg.tensor(numbers(*z.shape))
        before = g.numpy()
        z.backward(g)
        assert (z.detach().numpy() == kept).all()
        assert (g.numpy() == before).all()
        assert all((t.detach().numpy() == a).all() for t, a in zip(xs, arrays, strict=True))
