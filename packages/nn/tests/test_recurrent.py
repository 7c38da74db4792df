"""Recurrent layers, cells, and sequences of unequal length."""

from __future__ import annotations

import copy
import pickle
import warnings
from math import inf, nan, tanh
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import DTypeError, ShapeError
from plugrad_nn import functional as F
from plugrad_nn.layers.packed import (
    PackedSequence,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

KINDS = [
    ("RNN", {}), ("RNN", {"nonlinearity": "relu", "bidirectional": True}), ("GRU", {}),
    ("GRU", {"num_layers": 2, "bidirectional": True, "bias": False}), ("LSTM", {"num_layers": 2}),
    ("LSTM", {"bidirectional": True, "proj_size": 2}), ("LSTM", {"batch_first": True, "num_layers": 2}),
]  # fmt: skip
LENGTHS = [2, 4, 1]


def made(kind: str, **options: Any) -> Any:
    pg.manual_seed(5)
    return getattr(nn, kind)(3, 4, dtype="float64", **options)


def drawn(*shape: int) -> pg.Tensor:
    return pg.randn(shape, generator=pg.Generator(7), dtype=pg.float64)


def states(last: Any) -> tuple[pg.Tensor, ...]:
    return last if isinstance(last, tuple) else (last,)


def close(a: pg.Tensor, b: pg.Tensor) -> bool:
    return a.shape == b.shape and (not a.size or float((a - b).abs().max()) < 1e-12)


def test_gates_biases_and_a_state_that_advances() -> None:
    lstm = nn.LSTM(1, 1)
    lstm.load_state_dict({
        "weight_ih_l0": pg.tensor([[0.5], [-0.3], [0.8], [0.2]]), "bias_ih_l0": pg.tensor([0.01, 0.02, 0.03, 0.04]),
        "weight_hh_l0": pg.tensor([[0.1], [0.4], [-0.6], [0.7]]), "bias_hh_l0": pg.tensor([0.5, 0.6, 0.7, 0.8]),
    })  # fmt: skip
    out, (h, c) = lstm(pg.tensor([[[1.0]], [[-2.0]]]))
    assert out.flatten().tolist() == pytest.approx([0.4309271, 0.145596], rel=1e-5)
    assert (h.item(), c.item()) == pytest.approx((0.145596, 0.2183526), rel=1e-5)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_every_layer_feeds_its_state_into_the_next_step(layers: int) -> None:
    rnn = nn.RNN(1, 1, layers, dtype="float64")
    for k in range(layers):
        values = {"weight_ih": 0.5 + k, "weight_hh": -0.4 - k, "bias_ih": 0.1, "bias_hh": 0.2 * k}
        for name, value in values.items():
            nn.init.constant_(getattr(rnn, f"{name}_l{k}"), value)
    h, want = [0.0] * layers, []
    for x in (1.0, 2.0, 3.0):
        for k in range(layers):
            x = h[k] = tanh((0.5 + k) * x + (-0.4 - k) * h[k] + 0.1 + 0.2 * k)
        want.append(x)
    out, last = rnn(pg.tensor([[[1.0]], [[2.0]], [[3.0]]], dtype=pg.float64))
    assert out.flatten().tolist() == pytest.approx(want, rel=1e-12)
    assert last.flatten().tolist() == pytest.approx(h, rel=1e-12)


@pytest.mark.parametrize(("kind", "many"), [("RNN", 1), ("GRU", 1), ("LSTM", 2)])
def test_a_cell_is_one_step_of_its_layer(kind: str, many: int) -> None:
    a, b = made(kind + "Cell"), made(kind)
    a.load_state_dict({n.removesuffix("_l0"): v for n, v in b.state_dict().items()})
    x, first = drawn(4, 2, 3), tuple(drawn(2, 4) + i for i in range(many))
    state: Any = first if many > 1 else first[0]
    seen = []
    for step in x.unstack():
        state = a(step, state)
        seen.append(states(state)[0])
    out, last = b(x, tuple(s.expand_dims(0) for s in first) if many > 1 else first[0].expand_dims(0))
    assert close(out, pg.stack(seen))
    assert all(close(p[0], q) for p, q in zip(states(last), states(state), strict=True))
    assert close(states(a(x[0, 0]))[0], states(a(x[0]))[0][0])  # a vector, from zero


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_sequences_of_a_batch_do_not_see_one_another_or_the_padding(kind: str, options: dict[str, Any]) -> None:
    """Padded with lengths, packed, or each alone: one result, also where the padding holds infinities and NaN."""
    layer, batch_first = made(kind, **options), options.get("batch_first", False)
    rows = [drawn(n, 3) * (i + 1) for i, n in enumerate(LENGTHS)]
    alone = [layer(row) for row in rows]
    for value in (0.0, inf, nan):
        padded = pad_sequence(rows, batch_first, value)
        out, last = layer(padded, lengths=LENGTHS)
        again, same = layer(pack_padded_sequence(padded, pg.tensor(LENGTHS), batch_first, enforce_sorted=False))
        unpacked, lengths = pad_packed_sequence(again, batch_first)
        assert lengths.tolist() == LENGTHS
        for o, s in ((out, last), (unpacked, same)):
            assert close(o, pad_sequence([a[0] for a in alone], batch_first))
            for i, (_, own) in enumerate(alone):
                assert all(close(p[:, i], q) for p, q in zip(states(s), states(own), strict=True))


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_padding_gets_no_gradient_and_gives_none(kind: str, options: dict[str, Any]) -> None:
    layer, batch_first = made(kind, **options), options.get("batch_first", False)
    rows = [drawn(n, 3) * (i + 1) for i, n in enumerate(LENGTHS)]
    total = sum([(layer(row)[0] * layer(row)[0]).sum() for row in rows], pg.tensor(0.0, dtype=pg.float64))
    want = pg.grad(total, list(layer.parameters()))
    for value in (0.0, nan):
        x = pad_sequence(rows, batch_first, value).requires_grad_()
        out, _ = layer(x, lengths=LENGTHS)
        *got, gx = pg.grad((out * out).sum(), [*layer.parameters(), x])
        assert all(float((a - b).abs().max()) < 1e-10 for a, b in zip(got, want, strict=True))
        steps = gx if batch_first else gx.swapaxes(0, 1)
        assert all(not g[n:].any() and bool(g[:n].all()) for g, n in zip(steps.unstack(), LENGTHS, strict=True))


def test_the_reverse_direction_starts_at_each_sequences_own_end() -> None:
    layer = made("GRU", bidirectional=True)
    x = drawn(4, 3, 3)
    out, last = layer(x, lengths=LENGTHS)
    for i, n in enumerate(LENGTHS):
        assert close(last[0, i], out[n - 1, i, :4])  # forward: the last step
        assert close(last[1, i], out[0, i, 4:])  # reverse: the first
        assert not out[n:, i].any()
    turned = nn.GRU(3, 4, dtype="float64")
    turned.load_state_dict({n.removesuffix("_reverse"): v for n, v in layer.state_dict().items() if "reverse" in n})
    assert close(out[:2, 0, 4:], pg.flip(turned(pg.flip(x[:2, 0], 0))[0], 0))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_a_long_sequence_in_two_halves(kind: str) -> None:
    layer, x = made(kind, num_layers=2), drawn(6, 2, 3)
    whole, last = layer(x)
    first, between = layer(x[:2])
    second, end = layer(x[2:], between)
    assert close(pg.concat([first, second]), whole)
    assert all(close(a, b) for a, b in zip(states(last), states(end), strict=True))


def test_layouts() -> None:
    x = drawn(5, 2, 3)
    a = made("LSTM", bidirectional=True, proj_size=2, num_layers=2)
    b = made("LSTM", bidirectional=True, proj_size=2, num_layers=2, batch_first=True)
    out, (h, c) = a(x)
    assert (out.shape, h.shape, c.shape) == ((5, 2, 4), (4, 2, 2), (4, 2, 4))
    swapped, (g, _) = b(x.swapaxes(0, 1))
    assert close(swapped.swapaxes(0, 1), out) and close(g, h)
    alone, (g, d) = b(x[:, 0])  # without a batch, `batch_first` means nothing
    assert (alone.shape, g.shape, d.shape) == ((5, 4), (4, 2), (4, 4))
    assert close(alone, out[:, 0]) and close(d, c[:, 0])
    with pytest.raises(ShapeError, match=r"first state has shape \(4, 2, 2\), \(4, 1, 4\); this input needs"):
        a(x, (h, c[:, :1]))


def test_names_and_shapes_of_parameters() -> None:
    layer = nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2)
    shapes = {n: p.shape for n, p in layer.named_parameters()}
    own = ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"]
    assert list(shapes) == [f"{n}_l{k}{way}" for k in (0, 1) for way in ("", "_reverse") for n in own]
    assert (shapes["weight_ih_l0"], shapes["weight_ih_l1"], shapes["weight_hh_l1"]) == ((16, 3), (16, 4), (16, 2))
    assert repr(layer) == "LSTM(3, 4, proj_size=2, num_layers=2, bidirectional=True)"
    assert repr(nn.GRU(3, 4, bias=False, batch_first=True)) == "GRU(3, 4, bias=False, batch_first=True)"
    assert repr(nn.RNNCell(3, 4, False, "relu")) == "RNNCell(3, 4, bias=False, nonlinearity=relu)"
    pg.manual_seed(2)
    bounds = [float(p.abs().max()) for p in nn.GRU(3, 16).parameters()]
    assert max(bounds) <= 1 / 4 and min(bounds) > 0.2


def test_dropout_is_between_layers_only_and_in_training_only() -> None:
    with pytest.warns(UserWarning, match="num_layers is 1"):
        one = made("GRU", dropout=1.0)
    x = drawn(3, 2, 3)
    assert close(one(x)[0], made("GRU")(x)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        two = made("RNN", num_layers=2, dropout=1.0, bias=False)
    assert not two(x)[0].any()  # the second layer sees nothing
    assert two(x)[1][0].any()
    assert two.eval()(x)[0].any()
    half = made("RNN", num_layers=2, dropout=0.5)
    pg.manual_seed(0)
    first = half(x)[0]
    assert not close(first, half(x)[0])
    pg.manual_seed(0)
    assert close(first, half(x)[0])


def test_what_does_not_fit_is_said() -> None:
    x = pg.ones(5, 2, 3)
    for wrong, words in [
        (lambda: nn.GRU(3, 4)(x[..., :2]), r"GRU: it takes input of size 3, .*; this one is \(5, 2, 2\)"),
        (lambda: nn.GRU(3, 4)(x[:0]), r"GRU: input of shape \(0, 2, 3\) has no steps"),
        (lambda: nn.GRU(3, 4)(x, lengths=[5]), "GRU: 1 lengths for a batch of 2"),
        (lambda: nn.GRU(3, 4)(x, lengths=[5, 6]), "a sequence of length 6; the padded ones have 5"),
        (lambda: nn.GRU(3, 4)(x, lengths=[5, 0]), "a sequence of length 0"),
        (lambda: nn.GRU(3, 4)(x, pg.ones(1, 4)), r"first state has shape \(1, 4\); this input needs \(1, 2, 4\)"),
        (lambda: nn.GRU(4, 4)(pack_sequence([x[:, 0]])), r"size 4 packed, and the data is \(5, 3\)"),
        (lambda: nn.LSTMCell(3, 4)(x), r"not input of shape \(5, 2, 3\)"),
        (lambda: nn.LSTMCell(3, 4)(x[0], (x[0], x[0])), r"the state has shape \(2, 3\), \(2, 3\); .* needs \(2, 4\)"),
        (lambda: F.rnn(x, pg.ones(1, 4), pg.ones(4, 3), pg.ones(4, 4)), r"rnn: the initial state has shape \(1, 4\)"),
        (lambda: F.gru(x, pg.ones(2, 4), pg.ones(12, 3), pg.ones(12, 3)), "gru: the weight of the state has shape"),
        (lambda: F.rnn(x[0], pg.ones(1, 4), pg.ones(4, 3), pg.ones(4, 4)), r"rnn: input of shape \(2, 3\)"),
        (lambda: pack_padded_sequence(x, [3, 5]), "not sorted, the longest first; enforce_sorted=False"),
        (lambda: pack_padded_sequence(x[:, :0], []), "has no sequences"),
        (lambda: pack_padded_sequence(x[:, 0, 0], [5]), r"pack_padded_sequence: shape \(5,\)"),
        (
            lambda: pad_packed_sequence(pack_sequence([x[:, 0]]), total_length=4),
            "total_length 4 is less than the longest",
        ),
        (lambda: pad_sequence([x, x[0]]), "may differ in the first axis alone"),
        (lambda: pad_sequence([]), "no sequences"),
    ]:
        with pytest.raises(ShapeError, match=words):
            wrong()
    for make, words in [
        (lambda: nn.RNN(3, 4, nonlinearity="sigmoid"), "'sigmoid' is none of"),
        (lambda: nn.RNNCell(3, 4, nonlinearity="sigmoid"), "'sigmoid' is none of"),
        (lambda: nn.GRU(3, 0), "hidden_size is 0"),
        (lambda: nn.GRU(3, 4, dropout=1.5), "dropout is a probability"),
        (lambda: nn.LSTM(3, 4, proj_size=4), "proj_size is 4; it must be less than hidden_size"),
        (lambda: pad_sequence([x], padding_side="top"), "'top' is none of"),
    ]:
        with pytest.raises(ValueError, match=words):
            make()
    for call in (lambda: nn.GRU(3, 4)(x, lengths=[2.5, 1]), lambda: pack_padded_sequence(x, pg.tensor([2.0, 1.0]))):
        with pytest.raises(DTypeError, match="not a list of whole numbers"):
            call()
    with pytest.raises(DTypeError, match="the mask is int64"):
        F.rnn(x, pg.ones(2, 4), pg.ones(4, 3), pg.ones(4, 4), mask=pg.ones((5, 2), dtype=pg.int64))


def test_packing_puts_step_after_step() -> None:
    x = pg.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 6]])
    packed = pack_padded_sequence(x, [2, 1, 3], batch_first=True, enforce_sorted=False)
    assert [t.tolist() for t in packed] == [[4, 1, 3, 5, 2, 6], [3, 2, 1], [2, 0, 1], [1, 2, 0]]
    assert all(t.dtype is pg.int64 for t in packed)
    padded, lengths = pad_packed_sequence(packed, batch_first=True)
    assert (padded.tolist(), lengths.tolist()) == (x.tolist(), [2, 1, 3])
    assert pad_packed_sequence(packed, padding_value=-1, total_length=4)[0].swapaxes(0, 1).tolist() == [
        [1, 2, -1, -1], [3, -1, -1, -1], [4, 5, 6, -1],
    ]  # fmt: skip
    assert [s.tolist() for s in unpack_sequence(packed)] == [[1, 2], [3], [4, 5, 6]]
    assert [s.tolist() for s in unpad_sequence(x, lengths, batch_first=True)] == [[1, 2], [3], [4, 5, 6]]
    short = pack_sequence([pg.tensor([1.0, 2.0]), pg.tensor([3.0])])
    assert (short.data.tolist(), short.batch_sizes.tolist(), short.sorted_indices) == ([1.0, 3.0, 2.0], [2, 1], None)
    with pytest.raises(DTypeError, match="does not fit int64"):
        pad_packed_sequence(packed, padding_value=0.5)


def test_a_packed_sequence_is_a_tuple_that_moves_and_is_kept() -> None:
    packed = pack_sequence([pg.tensor([3.0]), pg.tensor([1.0, 2.0])], enforce_sorted=False)
    data, sizes, order, back = packed
    assert PackedSequence(data, sizes, order).unsorted_indices.tolist() == back.tolist() == [1, 0]
    assert invert_permutation(pg.tensor([2, 0, 1])).tolist() == [1, 2, 0]
    wide = packed.double()
    assert (wide.data.dtype, wide.batch_sizes.dtype, wide.sorted_indices.dtype) == (pg.float64, pg.int64, pg.int64)
    assert packed.half().float().to(data.device).data.tolist() == data.tolist()
    for other in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert type(other) is PackedSequence
        assert [t.tolist() for t in other] == [t.tolist() for t in packed]


def test_half_precision_is_rounded_once() -> None:
    layer, x = made("LSTM"), drawn(5, 2, 3)
    narrow = copy.deepcopy(layer).half()
    out = narrow(x.half())[0]
    assert out.dtype is pg.float16
    assert float((out.double() - layer(x)[0]).abs().max()) < 4e-3
