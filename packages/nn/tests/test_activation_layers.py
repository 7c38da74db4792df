"""Activations as layers and functions, linear maps and distances."""

from __future__ import annotations

import math
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import AxisError, ShapeError
from plugrad.testing.gradcheck import gradcheck
from plugrad_nn import functional as F

INF = math.inf


def x() -> Any:
    return pg.tensor([[-4.0, -0.5, 0.0, 0.25], [0.5, 1.0, 3.0, 7.0]])


PAIRS: list[tuple[Any, Any]] = [
    (nn.ReLU(), F.relu), (nn.ReLU6(), F.relu6), (nn.SELU(), F.selu), (nn.Sigmoid(), F.sigmoid),
    (nn.LogSigmoid(), F.logsigmoid), (nn.Tanh(), F.tanh), (nn.Tanhshrink(), F.tanhshrink), (nn.Softsign(), F.softsign),
    (nn.Hardsigmoid(), F.hardsigmoid), (nn.Hardswish(), F.hardswish), (nn.SiLU(), F.silu), (nn.Mish(), F.mish),
    (nn.LeakyReLU(0.2), lambda t: F.leaky_relu(t, 0.2)), (nn.ELU(0.3), lambda t: F.elu(t, 0.3)),
    (nn.CELU(0.3), lambda t: F.celu(t, 0.3)), (nn.GELU(), F.gelu), (nn.GELU("tanh"), lambda t: F.gelu(t, "tanh")),
    (nn.Softplus(2.0, 3.0), lambda t: F.softplus(t, 2.0, 3.0)), (nn.Hardshrink(0.7), lambda t: F.hardshrink(t, 0.7)),
    (nn.Threshold(0.4, -1.0), lambda t: F.threshold(t, 0.4, -1.0)),
    (nn.Hardtanh(-0.2, 2.0), lambda t: F.hardtanh(t, -0.2, 2.0)),
    (nn.Softshrink(0.7), lambda t: F.softshrink(t, 0.7)), (nn.GLU(0), lambda t: F.glu(t, 0)),
    (nn.Softmax(0), lambda t: F.softmax(t, 0)), (nn.Softmin(1), lambda t: F.softmin(t, 1)),
    (nn.LogSoftmax(1), lambda t: F.log_softmax(t, 1)), (nn.PReLU(init=0.1), lambda t: F.prelu(t, pg.tensor([0.1]))),
    (nn.RReLU(0.2, 0.4).eval(), lambda t: F.leaky_relu(t, (0.2 + 0.4) / 2)),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "function"), PAIRS, ids=lambda f: getattr(type(f), "__name__", None))
def test_layers_are_the_functions(layer: Any, function: Any) -> None:
    assert layer(x()).tolist() == function(x()).tolist()


def test_layers_differ() -> None:
    assert len({str(layer(x()).tolist()) for layer, _ in PAIRS}) == len(PAIRS)


def test_softmax_needs_an_axis_where_there_is_a_choice() -> None:
    assert F.softmax(x()).tolist() == F.softmax(x(), axis=-1).tolist()
    assert F.softmax(x()[0]).tolist() == F.softmax(x()[0], 0).tolist()
    for f in (F.softmax, F.log_softmax, F.softmin, nn.Softmax(), nn.LogSoftmax()):
        with pytest.raises(AxisError, match="has 3 axes; say which one"):
            f(pg.ones(2, 3, 4))
    assert str(F.softmax(pg.tensor([1, 2]), 0).dtype) == "float32"
    assert str(F.softmax(x(), 0, dtype="float64").dtype) == "float64"
    small = pg.tensor([0, 1], dtype="uint8")
    assert F.softmin(small, 0).tolist() == F.softmin(small.astype("float32"), 0).tolist()
    image = pg.ones(2, 3, 1)
    assert nn.Softmax2d()(image).tolist() == F.softmax(image, 0).tolist()
    with pytest.raises(ShapeError, match="Softmax2d"):
        nn.Softmax2d()(pg.ones(2, 3))


def test_shrinking() -> None:
    t = pg.tensor([-INF, -0.6, -0.5, -0.2, 0.5, 0.75, INF, math.nan], requires_grad=True)
    assert F.hardshrink(t).tolist()[:7] == [-INF, pytest.approx(-0.6), 0.0, 0.0, 0.0, 0.75, INF]
    assert F.softshrink(t).tolist()[:7] == [-INF, pytest.approx(-0.1, rel=1e-5), 0.0, 0.0, 0.0, 0.25, INF]
    for f in (F.hardshrink, F.softshrink):
        assert math.isnan(f(t).tolist()[7])
        (g,) = pg.grad(f(t).sum(), t)
        assert g.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="lambd"):
        F.softshrink(t, -1.0)


def test_bias_activation_along_an_axis() -> None:
    b = pg.tensor([1.0, -1.0])
    assert F.bias_activation(x(), b, axis=0).tolist() == F.relu(x() + b.reshape(2, 1)).tolist()
    assert F.bias_activation(x(), pg.ones(4), "tanh").tolist() == (x() + 1).tanh().tolist()
    with pytest.raises(ValueError, match="none of gelu"):
        F.bias_activation(x(), b, "swish")
    with pytest.raises(ShapeError, match=r"bias \(2,\) does not lie along axis -1"):
        F.bias_activation(x(), b)


def test_prelu_learns_its_slope_for_each_channel() -> None:
    layer = nn.PReLU(2, 0.5)
    y = layer(pg.tensor([[-2.0, 4.0], [1.0, -6.0]]))
    assert y.tolist() == [[-1.0, 4.0], [1.0, -3.0]]
    y.sum().backward()
    assert layer.weight.grad.tolist() == [-2.0, -6.0]
    with pg.no_grad():
        layer.weight[...] = 3.0
    layer.reset_parameters()
    assert layer.weight.tolist() == [0.5, 0.5]
    assert nn.PReLU(dtype="float64").weight.dtype is pg.float64
    with pytest.raises(ShapeError, match="prelu"):
        layer(pg.ones(2, 3))


def test_rrelu_draws_in_training_alone() -> None:
    layer, t = nn.RReLU(0.1, 0.3, generator=pg.Generator(0)), pg.full((40,), -1.0, requires_grad=True)
    y = layer(t)
    slopes = [-v for v in y.tolist()]
    assert 0.1 <= min(slopes) < max(slopes) <= 0.3
    y.sum().backward()
    assert t.grad.tolist() == pytest.approx(slopes)
    assert layer(t.abs()).tolist() == [1.0] * 40
    with pytest.raises(ValueError, match="above upper"):
        F.rrelu(t, 0.3, 0.1)


def test_gumbel_softmax_is_a_draw() -> None:
    logits = pg.tensor([[0.0, 1.0, -INF]] * 50, requires_grad=True)
    soft = F.gumbel_softmax(logits, 0.5, generator=pg.Generator(0))
    assert soft.sum(axis=1).tolist() == pytest.approx([1.0] * 50)
    hard = F.gumbel_softmax(logits, 0.5, hard=True, generator=pg.Generator(0))
    assert hard.argmax(axis=1).tolist() == soft.argmax(axis=1).tolist()
    assert {round(v, 5) for row in hard.tolist() for v in row} == {0.0, 1.0}
    (g,) = pg.grad((hard * pg.tensor([1.0, 2.0, 3.0])).sum(), logits)
    (h,) = pg.grad((soft * pg.tensor([1.0, 2.0, 3.0])).sum(), logits)
    assert g.tolist() == h.tolist()
    assert g[:, 2].tolist() == [0.0] * 50
    assert F.gumbel_softmax(pg.zeros(3, 4), hard=True, axis=0).sum(axis=0).tolist() == pytest.approx([1.0] * 4)


def test_swiglu() -> None:
    t = pg.tensor([[1.0, 2.0, 3.0, -1.0]])
    sigma = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-2))
    assert F.swiglu(t).tolist() == [pytest.approx([3 * sigma[0], -2 * sigma[1]])]
    with pytest.raises(ShapeError, match="3 entries"):
        F.swiglu(pg.ones(2, 3))
    layer = nn.SwiGLU(4, 6)
    assert list(layer.state_dict()) == ["gate_proj.weight", "up_proj.weight", "down_proj.weight"]
    assert layer(pg.ones(2, 3, 4)).shape == (2, 3, 4)
    assert nn.SwiGLU(4, 6, 5, bias=True)(pg.ones(4)).shape == (5,)


def test_linear_maps() -> None:
    layer = nn.Bilinear(2, 3, 4)
    assert layer(pg.ones(5, 2), pg.ones(5, 3)).shape == (5, 4)
    assert layer(pg.ones(2), pg.ones(3)).tolist() == pytest.approx(
        (layer.weight.sum(axis=(1, 2)) + layer.bias).tolist(), rel=1e-5
    )
    assert float(layer.weight.abs().max()) <= 2**-0.5
    with pytest.raises(ShapeError, match="bilinear"):
        layer(pg.ones(5, 3), pg.ones(5, 3))
    with pytest.raises(ShapeError, match="same axes in front"):
        layer(pg.ones(5, 2), pg.ones(4, 3))
    double = {"dtype": "float64"}
    inputs = [pg.randn(2, 3, **double), pg.randn(2, 4, **double), pg.randn(5, 3, 4, **double), pg.randn(5, **double)]
    assert gradcheck(F.bilinear, inputs, order=2)


def test_residual_adds_and_names_the_shapes() -> None:
    block = nn.Residual(nn.Linear(4, 4))
    assert list(block.state_dict()) == ["module.weight", "module.bias"]
    assert block(x()).tolist() == (x() + block.module(x())).tolist()
    with pytest.raises(ShapeError, match=r"\(2, 4\), f\(x\) \(2, 3\)"):
        nn.Residual(nn.Linear(4, 3))(x())
    with pytest.raises(ShapeError, match="keep the shape"):  # no broadcasting
        nn.Residual(nn.Linear(4, 1))(x())
    assert nn.Residual(lambda t, k: t * k)(x(), 2).tolist() == (x() * 3).tolist()


HUGE = 3e38


def test_normalize_at_0_and_far_out() -> None:
    t = pg.tensor([[0.0, 0.0], [3.0, 4.0], [HUGE, HUGE], [3e-30, 4e-30]], requires_grad=True)
    y = F.normalize(t)
    assert y.tolist() == [[0.0, 0.0], pytest.approx([0.6, 0.8]), pytest.approx([0.5**0.5] * 2), [
        pytest.approx(3e-18), pytest.approx(4e-18)]]  # fmt: skip
    y[:, 0].sum().backward()
    assert t.grad.isfinite().all().item()
    assert F.normalize(t[1:3], p=1.0).tolist() == [pytest.approx([3 / 7, 4 / 7]), [0.5, 0.5]]
    assert F.normalize(t[1:3], p=INF).tolist() == [[0.75, 1.0], [1.0, 1.0]]
    assert F.normalize(t[1:3], p=0.0).tolist()[0] == [1.5, 2.0]
    assert F.normalize(pg.tensor([3.0, 4.0]), axis=0).tolist() == pytest.approx([0.6, 0.8])
    assert gradcheck(F.normalize, [pg.randn(3, 4, dtype="float64")], order=2)
    assert gradcheck(lambda t: F.normalize(t, eps=50.0), [pg.randn(3, 4, dtype="float64")], order=2)


def test_cosine_similarity_at_0_and_far_out() -> None:
    a = pg.tensor([[0.0, 0.0], [1.0, 0.0], [HUGE, HUGE], [1e-3, 0.0]], requires_grad=True)
    b = pg.tensor([[1.0, 2.0], [1.0, 1.0], [HUGE, -HUGE], [HUGE, 0.0]])
    y = F.cosine_similarity(a, b)
    assert y.tolist() == pytest.approx([0.0, 0.5**0.5, 0.0, 1.0])
    y.sum().backward()
    assert a.grad.isfinite().all().item()
    assert F.cosine_similarity(pg.ones(3, 1, 2), pg.ones(4, 2), axis=-1).tolist() == [pytest.approx([1.0] * 4)] * 3
    assert F.cosine_similarity(pg.ones(3, 1), pg.ones(1, 4)).tolist() == pytest.approx([1.0] * 3)
    pair = [pg.randn(3, 4, dtype="float64"), pg.randn(3, 4, dtype="float64")]
    assert gradcheck(F.cosine_similarity, pair, order=2)
    assert gradcheck(nn.CosineSimilarity(0, eps=3.0), pair, order=2)


def test_pairwise_distance() -> None:
    a, b = pg.tensor([[0.0, 0.0], [1.0, 1.0]], requires_grad=True), pg.tensor([[3.0, 4.0], [1.0, 1.0]])
    layer = nn.PairwiseDistance(eps=0.0)
    assert layer(a, b).tolist() == [5.0, 0.0]
    layer(a, b).sum().backward()
    assert a.grad.tolist() == [pytest.approx([-0.6, -0.8]), [0.0, 0.0]]
    assert nn.PairwiseDistance(1.0, 0.0, keepdim=True)(a, b).tolist() == [[7.0], [0.0]]
    assert F.pairwise_distance(a[0], b, eps=0.0).shape == (2,)
    assert F.pairwise_distance(pg.tensor([HUGE / 2] * 2), pg.zeros(2)).isfinite().item()
