"""Clipping gradients; parameters as one vector."""

from __future__ import annotations

from math import inf, nan

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import NonFiniteError, ShapeError
from plugrad_nn import utils


def params(*grads: list[float] | None) -> list[nn.Parameter]:
    made = []
    for g in grads:
        made.append(nn.Parameter(pg.zeros(2)))
        made[-1].grad = None if g is None else pg.tensor(g)
    return made


def test_norms_are_taken_of_all_gradients_together() -> None:
    for p, norm in ((2.0, 13.0), (1.0, 19.0), (inf, 12.0)):
        ps = params([3.0, 4.0], None, [0.0, 12.0])
        assert utils.clip_grad_norm_(ps, 1.0, p).item() == pytest.approx(norm, rel=1e-6)
        assert ps[0].grad.tolist() == pytest.approx([3 / norm, 4 / norm], rel=1e-5)
        assert ps[2].grad.tolist() == pytest.approx([0.0, 12 / norm], rel=1e-5)


def test_small_gradients_stay() -> None:
    ps = params([0.3, 0.4])
    assert utils.clip_grad_norm_(ps, 1.0).item() == pytest.approx(0.5)
    assert ps[0].grad.tolist() == pytest.approx([0.3, 0.4])
    assert utils.clip_grad_norm_(params(None), 1.0).item() == 0.0
    assert utils.clip_grad_norm_(params([0.0, 0.0]), 1.0).item() == 0.0


def test_large_gradients_do_not_overflow() -> None:
    ps = params([3e30, 4e30])
    assert utils.clip_grad_norm_(ps[0], 1.0).item() == pytest.approx(5e30, rel=1e-6)
    assert ps[0].grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)
    ps = params([3e38, 3e38])
    assert utils.clip_grad_norm_(ps, 1.0).item() == inf
    assert ps[0].grad.tolist() == pytest.approx([0.5**0.5] * 2, rel=1e-5)


def test_half_precision_and_parameters_given_twice() -> None:
    p = nn.Parameter(pg.ones(300, 300, dtype="float16"))
    p.grad = pg.full((300, 300), 300.0, dtype="float16")
    norm = utils.clip_grad_norm_([p, p], 30.0).item()
    assert norm == pytest.approx(90000.0, rel=1e-6)
    assert p.grad.dtype is pg.float16
    assert p.grad[0, 0].item() == pytest.approx(0.1, rel=1e-3)


def test_what_cannot_be_clipped_is_told() -> None:
    for bad in (inf, nan):
        with pytest.raises(NonFiniteError, match="cannot be clipped"):
            utils.clip_grad_norm_(params([bad, 1.0]), 1.0, error_if_nonfinite=True)
        norm = utils.clip_grad_norm_(params([bad, 1.0]), 1.0).item()
        assert norm == bad or norm != norm


def test_values() -> None:
    ps = params([-3.0, 0.5], None)
    utils.clip_grad_value_(ps, 1.0)
    assert ps[0].grad.tolist() == [-1.0, 0.5]


def test_vectors() -> None:
    net = nn.Linear(2, 1)
    v = utils.parameters_to_vector(net.parameters())
    assert v.tolist() == [*net.weight.tolist()[0], *net.bias.tolist()]
    utils.vector_to_parameters(pg.tensor([1.0, 2.0, 3.0]), net.parameters())
    assert (net.weight.tolist(), net.bias.tolist(), net.weight.requires_grad) == ([[1.0, 2.0]], [3.0], True)
    with pytest.raises(ShapeError, match="3 entries"):
        utils.vector_to_parameters(pg.zeros(4), net.parameters())
