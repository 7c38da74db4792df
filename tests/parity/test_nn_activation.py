"""Activations and dropout against PyTorch: values, gradients, settings, state; what is drawn, by its statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from against_torch import CASES, against, agree, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F

THEIRS: dict[str, Any] = {
    "gelu": TF.gelu,
    "gelu_tanh": lambda x: TF.gelu(x, approximate="tanh"),
    "hardswish": TF.hardswish,
    "mish": TF.mish,
    "relu": TF.relu,
    "sigmoid": torch.sigmoid,
    "silu": TF.silu,
    "tanh": torch.tanh,
}


def after_sum(f: Any) -> Any:
    return lambda x, b: f(x + b)


#: name of the case → the same in PyTorch
ROWS = {
    **{f"plugrad_nn.BiasActivation/{kind}": after_sum(f) for kind, f in THEIRS.items()},
    "plugrad_nn.BiasActivation/axis": after_sum(TF.relu),
    "plugrad_nn.Hardshrink": TF.hardshrink,
    "plugrad_nn.Hardshrink/edge": TF.hardshrink,
    "plugrad_nn.Softshrink": TF.softshrink,
    "plugrad_nn.Softshrink/edge": TF.softshrink,
    "plugrad_nn.Tanhshrink": TF.tanhshrink,
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    assert name in CASES
    against(name, ROWS[name])


RNG = np.random.default_rng(3)
X = (RNG.standard_normal((3, 4, 6)) * 3).astype("float32")
EDGES = np.array([[-np.inf, -200.0, -88.0, -3.0, -0.5, -0.0], [0.0, 0.5, 3.0, 6.0, 88.0, 200.0]], "float32")

LAYERS: list[tuple[str, tuple[Any, ...]]] = [
    ("ReLU", ()), ("ReLU6", ()), ("SELU", ()), ("Sigmoid", ()), ("LogSigmoid", ()), ("Tanh", ()), ("Tanhshrink", ()),
    ("Softsign", ()), ("Hardsigmoid", ()), ("Hardswish", ()), ("SiLU", ()), ("Mish", ()),
    ("LeakyReLU", ()), ("LeakyReLU", (0.3,)), ("ELU", ()), ("ELU", (0.4,)), ("CELU", ()), ("CELU", (2.5,)),
    ("GELU", ()), ("GELU", ("tanh",)), ("Softplus", ()), ("Softplus", (2.0, 3.0)), ("Hardtanh", ()),
    ("Hardtanh", (-0.5, 2.0)), ("Threshold", (0.7, -2.0)), ("Hardshrink", ()), ("Hardshrink", (1.3,)),
    ("Softshrink", ()), ("Softshrink", (1.3,)), ("GLU", ()), ("GLU", (1,)), ("Softmax", (1,)), ("Softmin", (0,)),
    ("LogSoftmax", (-1,)), ("Softmax2d", ()), ("PReLU", ()), ("PReLU", (4, 0.6)), ("RReLU", ()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "how"), LAYERS, ids=str)
def test_layers(name: str, how: tuple[Any, ...]) -> None:
    mine, its = getattr(nn, name)(*how).eval(), getattr(torch.nn, name)(*how).eval()
    assert repr(mine).replace("axis=", "dim=") == repr(its)
    assert [(n, t.shape) for n, t in mine.state_dict().items()] == [
        (n, tuple(t.shape)) for n, t in its.state_dict().items()
    ]
    compare(mine, its, X)
    for p, q in zip(mine.parameters(), its.parameters(), strict=True):
        agree(p.grad, q.grad, 1e-4, 1e-5)


@pytest.mark.parametrize("name", [n for n, how in LAYERS if not how and n not in ("GLU", "Softmax2d", "Tanhshrink")])
def test_far_out_and_on_the_kinks(name: str) -> None:
    mine, its = getattr(nn, name)().eval(), getattr(torch.nn, name)().eval()
    a = EDGES[:, 1:]  # PyTorch's gelu, silu, mish and hardswish are NaN at -inf
    compare(mine, its, a, rtol=1e-5, atol=2e-7)
    nan = np.isnan(mine(pg.tensor(EDGES)).detach().numpy())
    assert not nan.any() or (name, nan.sum()) == ("Softsign", 1)  # ∞ / ∞, in both


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_softmax_in_another_dtype_and_without_an_axis(name: str) -> None:
    ours, theirs = getattr(F, name), getattr(TF, name)
    compare(lambda x: ours(x, 1, dtype="float64"), lambda x: theirs(x, 1, dtype=torch.float64), X)
    whole = RNG.integers(-5, 5, (3, 4))
    agree(ours(pg.tensor(whole), -1, dtype="float32"), theirs(torch.tensor(whole), -1, dtype=torch.float32))
    for a in (X[0], X[0, 0]):
        with pytest.warns(UserWarning, match="Implicit"):
            expected = theirs(torch.tensor(a))
        agree(ours(pg.tensor(a)), expected)
    with pytest.raises(ValueError, match="say which one"):
        ours(pg.tensor(X))


def test_swiglu_is_shazeers() -> None:
    compare(lambda x: F.swiglu(x, 1), lambda x: TF.silu(x[:, :2]) * x[:, 2:], X)
    layer = nn.SwiGLU(6, 5, 3, bias=True)
    ws = [t.numpy() for t in layer.state_dict().values()]

    def theirs(x: Any) -> Any:
        w, c, v, d, u, e = map(torch.tensor, ws)
        return TF.linear(TF.silu(TF.linear(x, w, c)) * TF.linear(x, v, d), u, e)

    compare(layer, theirs, X)


def test_hard_gumbel_softmax_has_the_soft_gradient() -> None:
    """One draw, given: with PyTorch's formula for the rest."""
    u = pg.rand(X.shape, generator=pg.Generator(5)).numpy()
    noise = -np.log(-np.log1p(-np.maximum(u, 2.0**-25)))
    for hard in (False, True):

        def theirs(x: Any, hard: bool = hard) -> Any:
            soft = torch.softmax((x + torch.tensor(noise)) / 0.7, 1)
            one = TF.one_hot(soft.argmax(1), 4).movedim(-1, 1).float()
            return one - soft.detach() + soft if hard else soft

        compare(lambda x, h=hard: F.gumbel_softmax(x, 0.7, h, axis=1, generator=pg.Generator(5)), theirs, X)


def test_gumbel_softmax_draws_with_the_chances_of_softmax() -> None:
    logits = np.log(np.array([0.1, 0.2, 0.3, 0.4], "float32")) * np.ones((40_000, 1), "float32")
    mine = F.gumbel_softmax(pg.tensor(logits), hard=True, generator=pg.Generator(0)).mean(axis=0).numpy()
    torch.manual_seed(0)
    its = TF.gumbel_softmax(torch.tensor(logits), hard=True).mean(0).numpy()
    np.testing.assert_allclose(mine, its, atol=0.02)
    np.testing.assert_allclose(mine, [0.1, 0.2, 0.3, 0.4], atol=0.01)


DROPS = [("dropout", (200, 50)), ("dropout1d", (200, 50, 3)), ("dropout1d", (9000, 3)), ("dropout2d", (200, 50, 3, 2)),
         ("dropout2d", (200, 50, 4)), ("dropout3d", (200, 50, 2, 1, 2)), ("dropout3d", (9000, 2, 1, 2)),
         ("alpha_dropout", (200, 50)), ("feature_alpha_dropout", (200, 50, 3))]  # fmt: skip


@pytest.mark.filterwarnings("ignore:dropout2d. Received a 3D input")
@pytest.mark.parametrize(("name", "shape"), DROPS)
@pytest.mark.parametrize("p", [0.2, 0.7])
def test_dropout_leaves_out_alike(name: str, shape: tuple[int, ...], p: float) -> None:
    """The values that come out of ones, how often, and which go together."""
    torch.manual_seed(1)
    mine = getattr(F, name)(pg.ones(shape), p, True, generator=pg.Generator(1)).numpy()
    its = getattr(TF, name)(torch.ones(shape), p, True).numpy()
    values = [np.unique(z.round(4)) for z in (mine, its)]
    np.testing.assert_allclose(*values, atol=2e-4)
    np.testing.assert_allclose(*[np.mean(z == z.max()) for z in (mine, its)], atol=0.03)
    for axis in range(1, len(shape)):
        together = [bool((z == z.take([0], axis)).all()) for z in (mine, its)]
        assert together[0] == together[1]


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout"])
def test_dropout_of_everything_and_in_use(name: str) -> None:
    for p, training in [(1.0, True), (0.0, True), (0.5, False)]:
        compare(
            lambda x, p=p, t=training: getattr(F, name)(x, p, t),
            lambda x, p=p, t=training: getattr(TF, name)(x, p, t), X,
        )  # fmt: skip


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    a = RNG.standard_normal(100_000).astype("float32")
    y = TF.selu(torch.tensor(a))
    mine = F.alpha_dropout(pg.tensor(y.numpy()), 0.3, True, generator=pg.Generator(2)).numpy()
    assert mine.mean() == pytest.approx(0.0, abs=0.02)
    assert mine.var() == pytest.approx(1.0, abs=0.03)


def test_the_slopes_that_rrelu_draws() -> None:
    x = -np.ones(50_000, "float32")
    mine = -F.rrelu(pg.tensor(x), 0.1, 0.4, True, generator=pg.Generator(0)).numpy()
    its = -TF.rrelu(torch.tensor(x), 0.1, 0.4, True).numpy()
    for z in (mine, its):
        assert 0.1 <= z.min() < 0.101
        assert 0.399 < z.max() <= 0.4
    assert mine.mean() == pytest.approx(its.mean(), abs=0.005)
    compare(lambda x: F.rrelu(x, 0.1, 0.4), lambda x: TF.rrelu(x, 0.1, 0.4), X)
    up = pg.tensor(np.abs(X))
    agree(F.rrelu(up, training=True), TF.rrelu(torch.tensor(np.abs(X)), training=True))
