"""The table of a model."""

from __future__ import annotations

from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn


class Net(nn.Module):
    def __init__(self) -> None:
        self.body = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Dropout(0.5))
        self.heads = [nn.Linear(4, 2, bias=False), nn.Linear(4, 2)]
        self.heads[1].requires_grad_(False)
        self.unused = nn.Linear(1, 1)

    def forward(self, x: Any) -> Any:
        x = self.body(x)
        return {"a": self.heads[0](x), "b": (self.heads[1](x), self.heads[1](x))}


def test_the_rows_and_totals() -> None:
    table = nn.summary(Net(), pg.ones((3, 5)))
    told = [
        (r.depth, r.name, r.kind, r.inputs, r.outputs, r.parameters, r.trainable, r.multiply_adds) for r in table.rows
    ]
    assert told == [
        (0, "", "Net", "(3, 5)", "(3, 2), (3, 2), (3, 2)", 0, 0, 0),
        (1, "body", "Sequential", "(3, 5)", "(3, 4)", 0, 0, 0),
        (2, "0", "Linear", "(3, 5)", "(3, 4)", 24, 24, 60),
        (2, "1", "ReLU", "(3, 4)", "(3, 4)", 0, 0, 0),
        (2, "2", "Dropout", "(3, 4)", "(3, 4)", 0, 0, 0),
        (1, "0", "Linear", "(3, 4)", "(3, 2)", 8, 8, 24),
        (1, "1", "Linear", "(3, 4)", "(3, 2)", 10, 0, 24),
        (1, "1", "Linear", "(3, 4)", "(3, 2)", 0, 0, 24),
    ]
    assert (table.parameters, table.trainable, table.bytes, table.multiply_adds) == (44, 34, 176, 132)


def test_it_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    table = nn.summary(nn.Linear(300, 200), pg.ones((2, 300)))
    out = capsys.readouterr().out
    assert out == f"{table}\n"
    lines = out.splitlines()
    assert lines[0].split() == ["layer", "input", "output", "parameters", "bytes", "multiply-adds"]
    assert lines[2].split("  ")[0] == "Linear"
    assert lines[-1].split() == ["total", "60,200", "240,800", "120,000"]
    assert len({len(line) for line in lines if not line.startswith("layer")}) <= 2


def test_it_leaves_no_trace() -> None:
    net = Net()
    net.body.eval()
    state = pg.get_rng_state()
    nn.summary(net, pg.ones((3, 5)))
    assert net.training
    assert not net.body[2].training
    assert pg.get_rng_state() == state
    assert not any(m._hooks or m._pre_hooks for m in net.modules())
    assert net.body[0].weight.grad is None


def test_it_leaves_no_trace_when_the_model_fails() -> None:
    net = Net()
    with pytest.raises(pg.errors.ShapeError):
        nn.summary(net, pg.ones((3, 7)))
    assert net.training
    assert not any(m._hooks or m._pre_hooks for m in net.modules())


def test_shared_layers_are_counted_once() -> None:
    layer = nn.Linear(4, 4)
    table = nn.summary(nn.Sequential(layer, layer), pg.ones((1, 4)))
    assert table.parameters == 20
    assert [r.parameters for r in table.rows] == [0, 20, 0]
    assert table.multiply_adds == 32


@pytest.mark.parametrize(
    ("make", "shape", "want"),
    [
        (lambda: nn.Conv2d(4, 6, (3, 2), groups=2), (2, 4, 8, 9), 2 * 6 * 6 * 8 * 2 * 6),
        (lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), (2, 4, 5), 2 * 4 * 5 * 6 * 3),
        (lambda: nn.LSTM(5, 3, num_layers=2), (7, 2, 5), 7 * 2 * 12 * (5 + 3 + 3 + 3)),
        (lambda: nn.LSTM(5, 4, proj_size=3), (7, 2, 5), 7 * 2 * (16 * (5 + 3) + 12)),
        (lambda: nn.GRU(5, 3, bidirectional=True, batch_first=True), (2, 7, 5), 2 * 7 * 2 * 9 * (5 + 3)),
        (lambda: nn.RNN(5, 3, bias=False), (7, 2, 5), 7 * 2 * 3 * (5 + 3)),
        (lambda: nn.BatchNorm1d(5), (7, 5), 0),
    ],
)
def test_multiply_adds(make: Any, shape: tuple[int, ...], want: int) -> None:
    assert nn.summary(make(), pg.ones(shape)).multiply_adds == want


def test_multiply_adds_of_attention() -> None:
    class Mix(nn.Module):
        def forward(self, q: Any, k: Any, v: Any) -> Any:
            return nn.functional.scaled_dot_product_attention(q, k, v)

    q, k, v = pg.ones((2, 3, 5, 4)), pg.ones((2, 3, 7, 4)), pg.ones((2, 3, 7, 6))
    assert nn.summary(Mix(), q, k, v).multiply_adds == 2 * 3 * 5 * 7 * (4 + 6)
