"""Normalisation, linear maps and distances against PyTorch: values, gradients, running statistics, state dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from against_torch import CASES, against, agree, both, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F


def batched(eps: float, axes: tuple[int, ...]) -> Any:
    """PyTorch's formula, with the statistics it uses."""

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        v, m = torch.var_mean(x, axes, correction=0, keepdim=True)
        return (x - m) / (v + eps).sqrt() * w + b, m, v

    return f


def rescaled(x: Any, m: Any, v: Any, w: Any, b: Any) -> Any:
    return TF.batch_norm(x, m.reshape(-1).detach(), v.reshape(-1).detach(), w.reshape(-1), b.reshape(-1), eps=0.1)


#: name of the case → the same in PyTorch
ROWS = {
    "plugrad_nn.Linear": TF.linear,
    "plugrad_nn.Linear/batches": TF.linear,
    "plugrad_nn.Linear/vector": TF.linear,
    "plugrad_nn.Linear/no rows": TF.linear,
    "plugrad_nn.LayerNorm": lambda x, w, b: TF.layer_norm(x, (5,), w, b),
    "plugrad_nn.LayerNorm/axes": lambda x, w, b: TF.layer_norm(x, (3, 5), w, b, 1e-2),
    "plugrad_nn.LayerNorm/constant row": lambda x, w, b: TF.layer_norm(x, (4,), w, b, 0.1),
    "plugrad_nn.LayerNorm/channels": lambda x, w, b: TF.instance_norm(
        x, weight=w.reshape(-1), bias=b.reshape(-1), eps=0.1
    ),
    "plugrad_nn.BatchNorm": batched(1e-2, (0, 2)),
    "plugrad_nn.BatchNorm/images": batched(0.1, (0, 2, 3)),
    "plugrad_nn.RMSNorm": lambda x, w: TF.rms_norm(x, (5,), w, 1e-3),
    "plugrad_nn.RMSNorm/axes": lambda x, w: TF.rms_norm(x, (3, 5), w, 1e-2),
    "plugrad_nn.RMSNorm/a row of 0": lambda x, w: TF.rms_norm(x, (4,), w, 0.1),
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])


RNG = np.random.default_rng(11)


def numbers(*shape: int, dtype: str = "float32") -> Any:
    return (RNG.standard_normal(shape) * 2 + 0.5).astype(dtype)


def same_state(mine: Any, its: Any, rtol: float = 2e-5) -> None:
    """State dicts with the same names in the same order, and the same numbers."""
    ours, theirs = mine.state_dict(), its.state_dict()
    assert list(ours) == list(theirs)
    for name in ours:
        agree(ours[name], theirs[name], rtol)


def filled(mine: Any, its: Any) -> None:
    """Random parameters and statistics, the same on both sides; loaded into plugrad's from PyTorch's."""
    with torch.no_grad():
        for name, t in its.state_dict().items():
            if t.is_floating_point():
                t.copy_(torch.tensor(RNG.random(tuple(t.shape)) + (0.5 if "var" in name or "weight" in name else 0)))
    mine.load_state_dict({name: t.numpy() for name, t in its.state_dict().items()})


def same_steps(mine: Any, its: Any, arrays: list[Any], rtol: float = 2e-5, atol: float = 5e-6) -> None:
    """Values, gradients of input and parameters, and state, one array after the other."""
    for a in arrays:
        (x, t), g = both(a), RNG.standard_normal(a.shape).astype(a.dtype)
        y, z = mine(x), its(t)
        agree(y, z, rtol, atol)
        mine.zero_grad(), its.zero_grad()
        y.backward(pg.tensor(g)), z.backward(torch.tensor(g))
        agree(x.grad, t.grad, 5 * rtol, 5 * atol)
        for p, q in zip(mine.parameters(), its.parameters(), strict=True):
            agree(p.grad, q.grad, 5 * rtol, 5 * atol)
        same_state(mine, its, rtol)


SHAPES = {
    "BatchNorm1d": [(5, 3), (4, 3, 7)],
    "BatchNorm2d": [(4, 3, 5, 2)],
    "BatchNorm3d": [(2, 3, 4, 5, 2)],
    "InstanceNorm1d": [(4, 3, 7), (3, 7)],
    "InstanceNorm2d": [(4, 3, 5, 2), (3, 5, 2)],
    "InstanceNorm3d": [(2, 3, 4, 5, 2), (3, 4, 5, 2)],
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"affine": True, "momentum": 0.3, "eps": 1e-2},
    {"affine": False},
    {"affine": True, "bias": False, "track_running_stats": True},
    {"track_running_stats": False, "affine": True},
    {"track_running_stats": True, "momentum": None},
    {"track_running_stats": True, "momentum": 1.0, "affine": True},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize(("name", "shape"), [(name, shape) for name, shapes in SHAPES.items() for shape in shapes])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_and_instance_norm(name: str, shape: tuple[int, ...], settings: dict[str, Any], dtype: str) -> None:
    mine = getattr(nn, name)(3, **settings, dtype=dtype)
    its = getattr(torch.nn, name)(3, **settings, dtype=getattr(torch, dtype))
    assert repr(mine) == repr(its)
    same_state(mine, its)
    filled(mine, its)
    tight = {"rtol": 1e-11, "atol": 1e-11} if dtype == "float64" else {}
    same_steps(mine, its, [numbers(*shape, dtype=dtype) for _ in range(3)], **tight)
    same_steps(mine.eval(), its.eval(), [numbers(*shape, dtype=dtype) for _ in range(2)], **tight)
    same_steps(mine.train(), its.train(), [numbers(*shape, dtype=dtype)], **tight)
    its.load_state_dict({n: torch.tensor(v.numpy()) for n, v in mine.state_dict().items()})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["BatchNorm2d", "InstanceNorm2d"])
def test_half_precision_keeps_statistics_in_float32(name: str, dtype: str) -> None:
    how: dict[str, Any] = {"affine": True, "track_running_stats": True}
    mine, its = getattr(nn, name)(3, **how), getattr(torch.nn, name)(3, **how)
    a = numbers(4, 3, 5, 2) * 300
    for _ in range(2):
        y, z = mine(pg.tensor(a, dtype=dtype)), its(torch.tensor(a).to(getattr(torch, dtype)))
        agree(y.astype("float32"), z.float(), 1e-2, 1e-3)
        assert str(y.dtype) == dtype
        assert str(mine.running_var.dtype) == "float32"
        same_state(mine, its, 1e-4)


def test_statistics_that_were_switched_off_stay() -> None:
    mine, its = nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3)
    filled(mine, its)
    mine.track_running_stats = its.track_running_stats = False
    same_steps(mine, its, [numbers(5, 3)])
    same_steps(mine.eval(), its.eval(), [numbers(5, 3)])


@pytest.mark.parametrize(("groups", "shape"), [(2, (3, 4, 5)), (4, (3, 4, 2, 3)), (1, (2, 6)), (3, (2, 6, 1, 2, 3))])
@pytest.mark.parametrize("how", [{}, {"affine": False, "eps": 1e-2}, {"bias": False}])
def test_group_norm(groups: int, shape: tuple[int, ...], how: dict[str, Any]) -> None:
    mine, its = nn.GroupNorm(groups, shape[1], **how), torch.nn.GroupNorm(groups, shape[1], **how)
    assert repr(mine) == repr(its)
    filled(mine, its)
    same_steps(mine, its, [numbers(*shape)])


@pytest.mark.parametrize(("sizes", "shape"), [(5, (2, 3, 5)), ((3, 5), (2, 3, 5)), ((5,), (5,))])
@pytest.mark.parametrize("how", [{}, {"elementwise_affine": False, "eps": 1e-2}, {"bias": False}])
def test_layer_norm(sizes: Any, shape: tuple[int, ...], how: dict[str, Any]) -> None:
    mine, its = nn.LayerNorm(sizes, **how), torch.nn.LayerNorm(sizes, **how)
    filled(mine, its)
    same_steps(mine, its, [numbers(*shape)])
    if "bias" not in how:
        rms, theirs = nn.RMSNorm(sizes, **how), torch.nn.RMSNorm(sizes, **how)
        assert repr(rms) == repr(theirs)
        filled(rms, theirs)
        same_steps(rms, theirs, [numbers(*shape)])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_eps_that_rms_norm_takes(dtype: str) -> None:
    a = np.array([[1e-4, 2e-4], [1e-3, -3e-3]])
    y = F.rms_norm(pg.tensor(a, dtype=dtype), (2,))
    t = TF.rms_norm(torch.tensor(a).to(getattr(torch, dtype)), (2,))
    agree(y.astype("float32"), t.float(), 1e-2 if "16" in dtype else 1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_local_response_norm(size: int) -> None:
    how = {"alpha": 0.3, "beta": 0.6, "k": 1.5}
    compare(
        lambda x: F.local_response_norm(x, size, **how), lambda x: TF.local_response_norm(x, size, **how),
        numbers(2, 5, 3, 2),
    )  # fmt: skip
    compare(nn.LocalResponseNorm(size), torch.nn.LocalResponseNorm(size), numbers(2, 5, 3))


@pytest.mark.parametrize("offset", [0.0, 100.0, 65536.0])
def test_a_large_mean_costs_no_digits(offset: float) -> None:
    """Beside PyTorch in float64, on the numbers that float32 holds."""
    a = numbers(8, 3, 5) + np.float32(offset)
    wide = a.astype("float64")
    for ours, theirs in [
        (lambda x: F.batch_norm(x, None, None, training=True), lambda x: TF.batch_norm(x, None, None, training=True)),
        (lambda x: F.instance_norm(x), lambda x: TF.instance_norm(x)),
        (lambda x: F.group_norm(x, 3), lambda x: TF.group_norm(x, 3)),
        (lambda x: F.layer_norm(x, (3, 5)), lambda x: TF.layer_norm(x, (3, 5))),
    ]:
        np.testing.assert_allclose(ours(pg.tensor(a)).numpy(), theirs(torch.tensor(wide)).numpy(), 1e-5, 2e-6)


def test_running_statistics_of_a_large_mean() -> None:
    mine, its = nn.BatchNorm1d(3, momentum=1.0), torch.nn.BatchNorm1d(3, momentum=1.0).double()
    a = numbers(64, 3) + np.float32(4096)
    mine(pg.tensor(a)), its(torch.tensor(a.astype("float64")))
    np.testing.assert_allclose(mine.running_var.numpy(), its.running_var.numpy(), 1e-6)
    np.testing.assert_allclose(mine.running_mean.numpy(), its.running_mean.numpy(), 1e-7)


def test_what_has_no_variance_raises_in_both() -> None:
    x, t = pg.ones(1, 3, 1), torch.ones(1, 3, 1)
    for ours, theirs in [
        (lambda: F.batch_norm(x, None, None, training=True), lambda: TF.batch_norm(t, None, None, training=True)),
        (lambda: F.instance_norm(x), lambda: TF.instance_norm(t)),
        (lambda: F.group_norm(x, 3), lambda: TF.group_norm(t, 3)),
    ]:
        with pytest.raises(ValueError, match="more than 1"):
            ours()
        with pytest.raises(ValueError, match="more than 1"):
            theirs()
    mine, its = nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3)
    assert mine(pg.ones(0, 3)).shape == tuple(its(torch.ones(0, 3)).shape)
    same_state(mine, its)


def test_second_derivatives_of_the_norms() -> None:
    """The gradient of a gradient penalty, which PyTorch takes through its own double backward."""
    a, w, b = numbers(4, 3, 5, dtype="float64"), numbers(3, dtype="float64"), numbers(3, dtype="float64")
    mean, var = numbers(3, dtype="float64"), np.abs(numbers(3, dtype="float64")) + 0.5
    pairs: list[tuple[Any, Any]] = [
        (lambda x, *wb: F.batch_norm(x, None, None, *wb, training=True),
         lambda x, *wb: TF.batch_norm(x, None, None, *wb, training=True)),
        (lambda x, *wb: F.batch_norm(x, pg.tensor(mean), pg.tensor(var), *wb),
         lambda x, *wb: TF.batch_norm(x, torch.tensor(mean), torch.tensor(var), *wb)),
        (lambda x, *wb: F.group_norm(x, 3, *wb), lambda x, *wb: TF.group_norm(x, 3, *wb)),
    ]  # fmt: skip
    for ours, theirs in pairs:
        mine, its = zip(*[both(v) for v in (a, w, b)], strict=True)
        (g,) = pg.grad((ours(*mine) ** 3).sum(), mine[0], create_graph=True)
        (h,) = torch.autograd.grad((theirs(*its) ** 3).sum(), its[0], create_graph=True)
        (g**2).sum().backward(), (h**2).sum().backward()
        for p, q in zip(mine[:2], its[:2], strict=True):
            agree(p.grad, q.grad, 1e-9, 1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_linear_maps(bias: bool) -> None:
    mine, its = nn.Linear(4, 3, bias), torch.nn.Linear(4, 3, bias)
    assert repr(mine) == repr(its)
    filled(mine, its)
    for shape in [(5, 4), (2, 3, 4), (4,), (0, 4)]:
        x, t = both(numbers(*shape))
        y, z = mine(x), its(t)
        agree(y, z)
        y.sum().backward(), z.sum().backward()
        agree(x.grad, t.grad)
        agree(mine.weight.grad, its.weight.grad, 1e-4, 1e-5)
    pair, theirs = nn.Bilinear(4, 2, 3, bias), torch.nn.Bilinear(4, 2, 3, bias)
    assert repr(pair) == repr(theirs)
    assert float(pair.weight.abs().max()) <= 0.5
    filled(pair, theirs)
    arrays = [t.detach().numpy() for t in theirs.parameters()]
    for front in [(5,), (2, 3), (0,)]:
        compare(F.bilinear, TF.bilinear, numbers(*front, 4), numbers(*front, 2), *arrays, rtol=5e-5, atol=1e-5)


def test_layers_start_as_pytorchs_do() -> None:
    for mine, its in [
        (nn.Linear(50, 40), torch.nn.Linear(50, 40)),
        (nn.Bilinear(30, 4, 9), torch.nn.Bilinear(30, 4, 9)),
    ]:
        assert float(mine.weight.std()) == pytest.approx(float(its.weight.detach().std()), rel=0.1)
    assert float(nn.Linear(4, 400).bias.abs().max()) == pytest.approx(0.5, rel=0.02)


X, Y = numbers(5, 3, 4), numbers(5, 3, 4)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, 0.5, float("inf")])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_normalize(p: float, axis: int) -> None:
    compare(lambda x: F.normalize(x, p, axis), lambda x: TF.normalize(x, p, axis), X)
    compare(lambda x: F.normalize(x, p, axis, 5.0), lambda x: TF.normalize(x, p, axis, 5.0), X)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cosine_similarity(axis: int) -> None:
    compare(lambda x, y: F.cosine_similarity(x, y, axis), lambda x, y: TF.cosine_similarity(x, y, axis), X, Y)
    mine, its = nn.CosineSimilarity(axis, 3.0), torch.nn.CosineSimilarity(axis, 3.0)
    # values alone: below eps PyTorch's gradient is that of the length, which the value does not depend on there
    compare(lambda x, y: mine(x, y).detach(), lambda x, y: its(x, y).detach(), X, Y)
    compare(nn.CosineSimilarity(axis), torch.nn.CosineSimilarity(axis), X, Y[:1])


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("keepdim", [False, True])
def test_pairwise_distance(p: float, keepdim: bool) -> None:
    how = p, 0.1, keepdim
    compare(lambda x, y: F.pairwise_distance(x, y, *how), lambda x, y: TF.pairwise_distance(x, y, *how), X, Y)
    compare(nn.PairwiseDistance(*how), torch.nn.PairwiseDistance(*how), X, Y[0])


def test_zeros_have_a_finite_gradient_in_both() -> None:
    zero = np.zeros((2, 3), "float32")
    compare(F.normalize, TF.normalize, zero, rtol=1e-4)
    compare(F.cosine_similarity, TF.cosine_similarity, zero, X[0, :2, :3], rtol=1e-4)
    compare(lambda x: F.rms_norm(x, (3,)), lambda x: TF.rms_norm(x, (3,)), zero, rtol=1e-4)


def test_every_row_here_is_a_case() -> None:
    assert set(ROWS) <= set(CASES)
