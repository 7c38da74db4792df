"""Optimizers where they once failed: a learning rate that is a tensor, a model in place of its parameters."""

from __future__ import annotations

import copy

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad import optim

RULES = [
    "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Rprop", "ASGD", "Adafactor",
    "Lion", "Muon",
]  # fmt: skip


def moved(name, lr):
    p = nn.Parameter(pg.tensor([[1.0, -2.0], [0.5, 3.0]]))
    optimizer = getattr(optim, name)([p], lr=lr)
    for scale in (1.0, -0.5, 2.0):
        p.grad = pg.tensor([[0.3, 0.1], [-0.2, 0.7]]) * scale
        optimizer.step()
    return p


@pytest.mark.parametrize("name", RULES)
def test_a_learning_rate_may_be_a_tensor(name):
    p = moved(name, pg.tensor(0.125))
    assert p.dtype is pg.float32
    assert p.tolist() == moved(name, 0.125).tolist()


def test_a_schedule_moves_a_rate_that_is_a_tensor():
    p = nn.Parameter(pg.ones(1))
    optimizer = optim.SGD([p], lr=pg.tensor(0.5))
    schedule = optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    for _ in range(2):
        p.grad = pg.ones(1)
        optimizer.step()
        schedule.step()
    assert p.tolist() == [0.25]
    assert float(optimizer.param_groups[0]["lr"]) == 0.125


def test_a_model_in_place_of_its_parameters_is_told():
    with pytest.raises(pg.errors.DTypeError, match=r"SGD: Linear is a model; write model.parameters\(\)"):
        optim.SGD(nn.Linear(1, 1), lr=0.1)


@pytest.mark.parametrize("name", RULES)
def test_steps_after_a_load_leave_the_loaded_state_as_it_was(name):
    p = nn.Parameter(pg.tensor([[1.0, -2.0], [0.5, 3.0]]))
    first = getattr(optim, name)([p], lr=0.1)
    p.grad = pg.ones(2, 2)
    first.step()
    state = first.state_dict()
    before = copy.deepcopy(state)
    second = getattr(optim, name)([p], lr=0.1)
    second.load_state_dict(state)
    for _ in range(3):
        second.step()
        first.step()
    for number, entries in before["state"].items():
        for key, value in entries.items():
            now = state["state"][number][key]
            assert (now.tolist() == value.tolist()) if isinstance(value, pg.Tensor) else now == value
    assert state["param_groups"] == before["param_groups"]
