"""Functions that run a second time: recorded by `compile`, or computed again on the way back by `checkpoint`."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.testing.cases import every
from plugrad.testing.draw import numbers
from plugrad_nn import functional as F

RNG = np.random.default_rng(4)
CASES = [c for c in every() if c.name.startswith("plugrad_nn")]


def normal(*shape):
    return pg.tensor(RNG.standard_normal(shape).astype("float32"))


def drawn(c, dtype):
    arrays = [np.asarray(numbers(s, i)).reshape(s.shape if s.values is None else np.shape(s.values)) for i, s in
              enumerate(c.inputs)]  # fmt: skip
    kinds = [dtype if s.kind == "float" else {"int": "int64"}.get(s.kind, s.kind) for s in c.inputs]
    return [pg.tensor(a, dtype=kind) for a, kind in zip(arrays, kinds, strict=True)]


def results(y):
    return [t for t in (y if isinstance(y, (tuple, list)) else (y,)) if isinstance(t, pg.Tensor)]


TWICE = {
    "batch norm": lambda: nn.BatchNorm1d(3), "mean over all": lambda: nn.BatchNorm1d(3, momentum=None),
    "spectral norm": lambda: nn.utils.spectral_norm(nn.Linear(3, 3)),
}  # fmt: skip


@pytest.mark.parametrize("kind", TWICE)
def test_checkpoint_moves_statistics_once(kind):
    plain = nn.Sequential(TWICE[kind](), nn.Tanh())
    again = copy.deepcopy(plain)
    for _ in range(3):
        x = normal(5, 3).requires_grad_()
        want = pg.grad((plain(x) ** 2).sum(), [x, *plain.parameters()])
        loss = (pg.checkpoint(again, x) ** 2).sum()
        moved = {name: t.tolist() for name, t in again.state_dict().items()}
        got = pg.grad(loss, [x, *again.parameters()], retain_graph=True)
        twice = pg.grad(loss, [x, *again.parameters()])
        for a, b, c in zip(want, got, twice, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
            np.testing.assert_array_equal(a.numpy(), c.numpy())
        assert moved == {name: t.tolist() for name, t in again.state_dict().items()}
        assert moved == {name: t.tolist() for name, t in plain.state_dict().items()}


def test_checkpoint_of_a_function_that_changes_what_it_made():
    def f(x):
        h = x * 2
        h += 1
        return h * x

    x = pg.tensor([1.0, 3.0], requires_grad=True)
    pg.checkpoint(f, x).sum().backward()
    assert x.grad.tolist() == [5.0, 13.0]


@pytest.mark.parametrize("c", CASES, ids=lambda c: c.name)
def test_a_recorded_step_gives_the_gradients_of_its_own_arguments(c):
    """Gradients that a kernel brings are no ops: a recorded function must not take them for constants."""

    def step(*given):
        xs = [x.detach().requires_grad_() if x.dtype.is_floating_point else x for x in given]
        ys = [y for y in results(c.f(*xs)) if y.requires_grad]
        wanted = [x for x in xs if x.requires_grad]
        if not ys:
            return tuple(results(c.f(*given)))
        return pg.grad(ys, wanted, [pg.ones_like(y) for y in ys], materialize_grads=True)

    recorded, first = pg.compile(step), drawn(c, "float32")
    recorded(*first)
    other = [x * 0.75 if s.kind == "float" else x for x, s in zip(first, c.inputs, strict=True)]
    for got, want in zip(recorded(*other), step(*other), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-4, atol=1e-5)


LOSSES = {
    "cross_entropy": F.cross_entropy, "nll_loss": F.nll_loss,
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(x.sigmoid(), F.one_hot(y % 3, 3).astype("float32")),
    "multi_margin_loss": lambda x, y: F.multi_margin_loss(x, y % 3),
    "multilabel_margin_loss": lambda x, y: F.multilabel_margin_loss(x, F.one_hot(y % 3, 3)),
    "gaussian_nll_loss": lambda x, y: F.gaussian_nll_loss(x, -x.detach(), x.detach() ** 2),
    "ctc_loss": lambda x, y: F.ctc_loss(x.log_softmax(axis=1), pg.where(y[:2] < 0, 1, y[:2] % 2 + 1), [4], [2]),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses_can_be_recorded(name):
    def step(x, y):
        x = x.detach().requires_grad_()
        return pg.grad(LOSSES[name](x, y), x)

    recorded, x = pg.compile(step), normal(4, 3)
    recorded(x, pg.tensor([0, 1, 2, 0]))
    other, targets = x[::-1], pg.tensor([2, -100, 1, 1])
    if name in ("multi_margin_loss", "multilabel_margin_loss", "binary_cross_entropy"):
        targets = pg.tensor([2, 1, 1, 1])
    np.testing.assert_allclose(
        recorded(other, targets)[0].numpy(), step(other, targets)[0].numpy(), rtol=1e-5, atol=1e-6
    )


def test_a_recorded_loss_refuses_targets_out_of_range():
    recorded = pg.compile(F.cross_entropy)
    recorded(normal(2, 3), pg.tensor([0, 2]))
    with pytest.raises(pg.errors.AxisError, match="cross_entropy: a target is out of range for 3 classes"):
        recorded(normal(2, 3), pg.tensor([0, 3]))
    recorded = pg.compile(F.binary_cross_entropy)
    recorded(pg.tensor([0.5]), pg.tensor([1.0]))
    with pytest.raises(ValueError, match="outside"):
        recorded(pg.tensor([1.5]), pg.tensor([1.0]))
