"""Recurrent layers, cells and packed sequences against PyTorch: values, gradients, states, names, starting values."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import against, agree, compare
from torch.nn.utils import rnn as theirs

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F
from plugrad_nn.layers import packed as ours

pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")


def through(step: Any) -> Any:
    """A function of a whole sequence, from `step(x, states, *weights)` → states, and the mask as its last argument."""

    def run(x: Any, *rest: Any, states: int) -> Any:
        state, (*weights, m), found = rest[:states], rest[states:], []
        for t, row in enumerate(x):
            new = step(row, state, *weights)
            state = [torch.where(m[t][:, None], a, b) for a, b in zip(new, state, strict=True)]
            found.append(state)
        kinds = [torch.stack(kind) for kind in zip(*found, strict=True)]
        return kinds[0] if states == 1 else tuple(kinds)

    return run


def row(step: Any, states: int, masked: bool = False) -> Any:
    def f(x: Any, *rest: Any) -> Any:
        m = rest if masked else (*rest, torch.ones(x.shape[:2], dtype=torch.bool))
        return through(step)(x, *m, states=states)

    return f


def plain(x: Any, state: Any, w: Any, kind: str = "tanh") -> Any:
    return [getattr(torch, f"rnn_{kind}_cell")(x, state[0], torch.eye(x.shape[1]), w)]


def relu(x: Any, state: Any, w: Any) -> Any:
    return plain(x, state, w, "relu")


def gru(x: Any, state: Any, w: Any, b: Any = None) -> Any:
    zero = torch.zeros(x.shape[1])
    return [torch.gru_cell(x, state[0], torch.eye(x.shape[1]), w, zero, zero if b is None else b)]


def lstm(x: Any, state: Any, w: Any) -> Any:
    return torch.lstm_cell(x, state, torch.eye(x.shape[1]), w)


def short(x: Any, state: Any, w: Any, p: Any) -> Any:
    h, c = state
    y, c = torch.lstm_cell(
        x + h @ w.T, (torch.zeros_like(c), c), torch.eye(x.shape[1]), torch.zeros(w.shape[0], p.shape[1])
    )
    return y @ p.T, c


#: name of the case → the same in PyTorch
ROWS = {
    "plugrad_nn.RNN": row(plain, 1),
    "plugrad_nn.RNN/lengths": row(plain, 1, True),
    "plugrad_nn.RNN/relu": row(relu, 1),
    "plugrad_nn.RNN/relu, lengths": row(relu, 1, True),
    "plugrad_nn.RNN/one step": row(plain, 1),
    "plugrad_nn.GRU": row(gru, 1),
    "plugrad_nn.GRU/lengths": row(gru, 1, True),
    "plugrad_nn.GRU/no bias": row(gru, 1),
    "plugrad_nn.LSTM": row(lstm, 2),
    "plugrad_nn.LSTM/lengths": row(lstm, 2, True),
    "plugrad_nn.LSTM/any mask": row(lstm, 2, True),
    "plugrad_nn.ProjectedLSTM": row(short, 2),
    "plugrad_nn.ProjectedLSTM/lengths": row(short, 2, True),
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])


# -- layers ---------------------------------------------------------------------------------------------------------

STEPS, BATCH, INPUT, HIDDEN = 6, 4, 3, 5
LENGTHS = [3, 6, 1, 6]
KINDS = [
    pytest.param("RNN", {}, id="RNN"),
    pytest.param("RNN", {"nonlinearity": "relu", "num_layers": 2, "bias": False}, id="RNN relu, two, no bias"),
    pytest.param("RNN", {"num_layers": 3, "bidirectional": True, "batch_first": True}, id="RNN three, both ways"),
    pytest.param("GRU", {}, id="GRU"),
    pytest.param("GRU", {"num_layers": 2, "bidirectional": True, "bias": False}, id="GRU two, both ways, no bias"),
    pytest.param("GRU", {"num_layers": 2, "batch_first": True, "dropout": 0.5}, id="GRU two, batch first, dropout"),
    pytest.param("LSTM", {}, id="LSTM"),
    pytest.param("LSTM", {"num_layers": 2, "bidirectional": True}, id="LSTM two, both ways"),
    pytest.param("LSTM", {"num_layers": 2, "bias": False, "batch_first": True}, id="LSTM two, no bias, batch first"),
    pytest.param("LSTM", {"proj_size": 2}, id="LSTM projected"),
    pytest.param("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True}, id="LSTM projected two, both ways"),
]
FLOATS = [pytest.param("float32", 2e-5, 3e-6, id="float32"), pytest.param("float64", 1e-11, 1e-12, id="float64")]


def pair(kind: str, options: dict[str, Any], dtype: str = "float32") -> tuple[Any, Any]:
    """The same layer twice, with PyTorch's starting values; in eval where dropout would draw."""
    torch.manual_seed(3)
    its = getattr(torch.nn, kind)(INPUT, HIDDEN, **options).to(getattr(torch, dtype))
    mine = getattr(nn, kind)(INPUT, HIDDEN, **options).to(dtype)
    mine.load_state_dict({n: v.numpy() for n, v in its.state_dict().items()})
    mine.train(not options.get("dropout"))
    return mine, its.train(not options.get("dropout"))


def drawn(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def first(kind: str, options: dict[str, Any], dtype: str, batch: int | None = BATCH) -> list[np.ndarray]:
    """First states, (layers · directions, batch, state)."""
    rows = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    sizes = [options.get("proj_size") or HIDDEN, HIDDEN][: 1 + (kind == "LSTM")]
    return [drawn(rows, *([] if batch is None else [batch]), n, dtype=dtype, seed=i) for i, n in enumerate(sizes)]


def whole(out: Any, states: Any) -> tuple[Any, ...]:
    return (out, *(states if isinstance(states, tuple) else (states,)))


def given(states: Any) -> Any:
    return None if not states else states if len(states) > 1 else states[0]


def same_gradients(mine: Any, its: Any, rtol: float, atol: float) -> None:
    assert [n for n, _ in mine.named_parameters()] == [n for n, _ in its.named_parameters()]
    for p, t in zip(mine.parameters(), its.parameters(), strict=True):
        agree(p.grad, t.grad, 5 * rtol, 5 * atol)


@pytest.mark.parametrize(("dtype", "rtol", "atol"), FLOATS)
@pytest.mark.parametrize("states", [False, True], ids=["from zero", "from a state"])
@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_layers(kind: str, options: dict[str, Any], states: bool, dtype: str, rtol: float, atol: float) -> None:
    mine, its = pair(kind, options, dtype)
    x = drawn(*((BATCH, STEPS) if options.get("batch_first") else (STEPS, BATCH)), INPUT, dtype=dtype, seed=9)
    compare(
        lambda x, *s: whole(*mine(x, given(s))),
        lambda x, *s: whole(*its(x, given(s))),
        x,
        *(first(kind, options, dtype) if states else []),
        rtol=rtol,
        atol=atol,
    )
    same_gradients(mine, its, rtol, atol)


@pytest.mark.parametrize("states", [False, True], ids=["from zero", "from a state"])
@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_one_sequence_without_a_batch(kind: str, options: dict[str, Any], states: bool) -> None:
    mine, its = pair(kind, options)
    compare(
        lambda x, *s: whole(*mine(x, given(s))),
        lambda x, *s: whole(*its(x, given(s))),
        drawn(STEPS, INPUT),
        *(first(kind, options, "float32", None) if states else []),
    )


@pytest.mark.parametrize(("dtype", "rtol", "atol"), FLOATS)
@pytest.mark.parametrize("lengths", [LENGTHS, [5, 3, 3, 1]], ids=["as they come", "sorted"])
@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_packed_sequences_and_lengths(
    kind: str, options: dict[str, Any], lengths: list[int], dtype: str, rtol: float, atol: float
) -> None:
    """A packed batch, and the same batch padded, with its lengths: both are PyTorch's packed batch."""
    batch_first, in_order = options.get("batch_first", False), lengths == sorted(lengths, reverse=True)
    x = drawn(*((BATCH, STEPS) if batch_first else (STEPS, BATCH)), INPUT, dtype=dtype, seed=9)
    more = first(kind, options, dtype)

    def run(library: Any, layer: Any) -> Any:
        def f(x: Any, *s: Any) -> Any:
            packed = library.pack_padded_sequence(x, lengths, batch_first, in_order)
            out, last = layer(packed, given(s))
            return whole(library.pad_packed_sequence(out, batch_first, total_length=STEPS)[0], last)

        return f

    def masked(layer: Any) -> Any:
        return lambda x, *s: whole(*layer(x, given(s), lengths=lengths))

    for form in (lambda layer: run(ours, layer), masked):
        mine, its = pair(kind, options, dtype)
        compare(form(mine), run(theirs, its), x, *more, rtol=rtol, atol=atol)
        same_gradients(mine, its, rtol, atol)


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_state_dicts_load_into_each_other(kind: str, options: dict[str, Any]) -> None:
    mine, its = getattr(nn, kind)(INPUT, HIDDEN, **options), getattr(torch.nn, kind)(INPUT, HIDDEN, **options)
    mine_shapes, its_shapes = ([(n, tuple(v.shape)) for n, v in m.state_dict().items()] for m in (mine, its))
    assert mine_shapes == its_shapes
    its.load_state_dict({n: torch.tensor(v.numpy()) for n, v in mine.state_dict().items()})
    x = drawn(STEPS, INPUT)
    agree(whole(*mine.eval()(pg.tensor(x))), whole(*its.eval()(torch.tensor(x))))
    assert repr(mine) == repr(its)


CELLS = [
    ("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu", "bias": False}), ("GRUCell", {}),
    ("GRUCell", {"bias": False}), ("LSTMCell", {}), ("LSTMCell", {"bias": False}),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "rtol", "atol"), FLOATS)
@pytest.mark.parametrize(("batched", "states"), list(product([False, True], repeat=2)))
@pytest.mark.parametrize(("kind", "options"), CELLS)
def test_cells(
    kind: str, options: dict[str, Any], batched: bool, states: bool, dtype: str, rtol: float, atol: float
) -> None:
    mine, its = pair(kind, options, dtype)
    shape = [BATCH] if batched else []
    more = [drawn(*shape, HIDDEN, dtype=dtype, seed=i) for i in range(1 + (kind == "LSTMCell"))] if states else []
    compare(
        lambda x, *s: mine(x, given(s)),
        lambda x, *s: its(x, given(s)),
        drawn(*shape, INPUT, dtype=dtype, seed=4),
        *more,
        rtol=rtol,
        atol=atol,
    )
    same_gradients(mine, its, rtol, atol)
    assert repr(mine) == repr(its)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell"])
def test_starting_values_are_distributed_alike(kind: str) -> None:
    pg.manual_seed(0)
    torch.manual_seed(0)
    mine, its = getattr(nn, kind)(30, 50), getattr(torch.nn, kind)(30, 50)
    for p, t in zip(mine.parameters(), its.parameters(), strict=True):
        assert p.shape == tuple(t.shape)
        assert float(p.std()) == pytest.approx(float(t.detach().std()), rel=5 / p.size**0.5)
        assert 0.9 * 50**-0.5 < float(p.abs().max()) <= 50**-0.5


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_arguments_stand_in_pytorchs_order(name: str) -> None:
    """PyTorch hides them behind *args, but for those of the base class."""
    base = list(inspect.signature(torch.nn.RNNBase.__init__).parameters)[2:]
    mine = list(inspect.signature(getattr(nn, name)).parameters)
    assert mine == [n for n in base if n != "proj_size" or name == "LSTM"]
    assert list(inspect.signature(nn.RNN).parameters)[3] == "nonlinearity"  # PyTorch takes the fourth for it


def test_no_sequences_and_no_steps() -> None:
    for kind in ("RNN", "GRU", "LSTM"):
        mine, its = pair(kind, {})
        compare(lambda x: whole(*mine(x)), lambda x: whole(*its(x)), drawn(STEPS, 0, INPUT))  # noqa: B023
        with pytest.raises(ValueError, match="no steps"):
            mine(pg.zeros(0, BATCH, INPUT))
        with pytest.raises(RuntimeError, match="larger than 0"):
            its(torch.zeros(0, BATCH, INPUT))


def test_dropout_between_layers_keeps_as_much_and_scales() -> None:
    """Draws differ, so what is dropped is counted: relu and weights of 1 let it be seen."""
    options = {"num_layers": 2, "nonlinearity": "relu", "dropout": 0.25, "bias": False}
    mine, its = nn.RNN(1, 1, **options), torch.nn.RNN(1, 1, **options)
    state = {"weight_ih_l0": [[1.0]], "weight_hh_l0": [[0.0]], "weight_ih_l1": [[1.0]], "weight_hh_l1": [[0.0]]}
    mine.load_state_dict({n: np.array(v, "float32") for n, v in state.items()})
    its.load_state_dict({n: torch.tensor(v) for n, v in state.items()})
    pg.manual_seed(1)
    x = np.ones((200, 50, 1), "float32")
    y, t = mine(pg.tensor(x))[0].detach().numpy(), its(torch.tensor(x))[0].detach().numpy()
    assert set(np.unique(y)) == set(np.unique(t)) == {np.float32(0), np.float32(1 / 0.75)}
    assert (y == 0).mean() == pytest.approx(0.25, abs=0.02)


def test_functions_are_one_layer_in_one_direction() -> None:
    shapes = [(6, 4, 3), (5, 3), (5, 5), (5,), (5,), (4, 5)]

    def its(x: Any, w: Any, u: Any, b: Any, d: Any, h: Any) -> Any:
        out, last = torch.rnn_relu(x.flip(0), h[None], [w, u, b, d], True, 1, 0.0, False, False, False)
        return out.flip(0), last[0]

    compare(
        lambda x, w, u, b, d, h: F.rnn(x, h, w, u, b, d, "relu", reverse=True),
        its,
        *[drawn(*s, seed=i) for i, s in enumerate(shapes)],
    )
