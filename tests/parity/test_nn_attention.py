"""Attention and the Transformer against PyTorch in float32: values, weights, gradients, state dicts both ways."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import against, agree, both, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F

#: PyTorch's advice about its own fast paths.
pytestmark = [
    pytest.mark.filterwarnings("ignore:enable_nested_tensor is True"),
    pytest.mark.filterwarnings("ignore:Support for mismatched"),
]
attention = TF.scaled_dot_product_attention


def causal(**how: Any) -> Any:
    return lambda q, k, v: attention(q, k, v, is_causal=True, **how)


def lower_right(q: Any, k: Any, v: Any) -> Any:
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(k.shape[-2] - q.shape[-2])
    return attention(q, k, v, mask)


def causal_bias(q: Any, k: Any, v: Any, m: Any) -> Any:
    low = torch.full((q.shape[-2], k.shape[-2]), -inf).triu(1)
    return attention(q, k, v, m + low, scale=0.7)


def grouped(q: Any, k: Any, v: Any, m: Any) -> Any:
    low = torch.full((q.shape[-2], k.shape[-2]), -inf).triu(1)
    return attention(q, k, v, m + low, enable_gqa=True)


def weights(q: Any, k: Any, m: Any = None) -> Any:
    """The weights, as what comes of the unit matrix as values."""
    eye = torch.eye(k.shape[-2]).expand(*torch.broadcast_shapes(q.shape[:-2], k.shape[:-2]), -1, -1)
    return attention(q, k, eye, m)


def rotary(interleaved: bool) -> Any:
    """A pair of entries as a complex number, times one of length 1."""

    def turned(x: Any, c: Any, s: Any) -> Any:
        r = 2 * c.shape[-1]
        a, b = (x[..., :r:2], x[..., 1:r:2]) if interleaved else x[..., :r].chunk(2, -1)
        z = torch.complex(a, b) * torch.complex(c, s)
        both = torch.stack([z.real, z.imag], -1 if interleaved else -2).flatten(-2)
        return torch.cat([both, x[..., r:].expand(*both.shape[:-1], -1)], -1)

    return turned


#: name of the case → the same in PyTorch (which has no like of rows without a key, when gradients are asked for)
ROWS = {
    "plugrad_nn.Attention": attention,
    "plugrad_nn.Attention/one head": attention,
    "plugrad_nn.Attention/bias": attention,
    "plugrad_nn.Attention/causal bias": causal_bias,
    "plugrad_nn.Attention/causal": causal(),
    "plugrad_nn.Attention/offset": lower_right,
    "plugrad_nn.Attention/batches": attention,
    "plugrad_nn.Attention/groups": grouped,
    "plugrad_nn.AttentionWeights": weights,
    "plugrad_nn.Rotary": rotary(False),
    "plugrad_nn.Rotary/interleaved": rotary(True),
    "plugrad_nn.Rotary/partial": rotary(False),
    "plugrad_nn.Rotary/partial, interleaved": rotary(True),
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])


def draw(*shape: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


@pytest.mark.parametrize("kind", ["bool", "float", "float, -inf", "row"])
@pytest.mark.parametrize("off", [False, True])
def test_masks(kind: str, off: bool) -> None:
    """With and without the kernel."""
    q, k, v = draw(2, 3, 5, 4), draw(2, 3, 7, 4, seed=4), draw(2, 3, 7, 6, seed=5)
    mask: Any = draw(2, 1, 5, 7, seed=6)
    mask = {"bool": mask > -0.5, "float, -inf": np.where(mask > -0.5, mask, -inf).astype("float32")}.get(kind, mask)
    mask[..., 0] = True if mask.dtype == bool else 0.5
    mask = mask[:, :, :1] if kind == "row" else mask
    with pg.kernels("off" if off else "prefer"):
        compare(F.scaled_dot_product_attention, attention, q, k, v, mask)


@pytest.mark.parametrize("scale", [30.0, 1e-3])
def test_far_scores(scale: float) -> None:
    q, k, v = draw(2, 3, 5, 4), draw(2, 3, 7, 4, seed=4), draw(2, 3, 7, 6, seed=5)
    compare(
        lambda *xs: F.scaled_dot_product_attention(*xs, scale=scale),
        lambda *xs: attention(*xs, scale=scale),
        q, k, v, rtol=5e-5, atol=2e-5,
    )  # fmt: skip


# -- layers -------------------------------------------------------------------------------------------------------


def same(mine: Any, its: Any) -> None:
    """Names and shapes of the state agree, in order; `mine` takes the values of `its`, and gives them back."""
    shapes = [[(n, tuple(v.shape)) for n, v in m.state_dict().items()] for m in (mine, its)]
    assert shapes[0] == shapes[1]
    mine.load_state_dict({n: v.numpy() for n, v in its.state_dict().items()})
    its.load_state_dict({n: torch.tensor(v.numpy()) for n, v in mine.state_dict().items()})


def layers_agree(mine: Any, its: Any, *arrays: np.ndarray, atol: float = 3e-6, **how: Any) -> None:
    """Outputs, and gradients of inputs and parameters, for the same state; masks in `how` as arrays."""
    same(mine, its)
    ours, theirs = zip(*map(both, arrays), strict=True)
    how_mine = {n: pg.tensor(v) if isinstance(v, np.ndarray) else v for n, v in how.items()}
    how_its = {n: torch.tensor(v) if isinstance(v, np.ndarray) else v for n, v in how.items()}
    y, t = mine(*ours, **how_mine), its(*theirs, **how_its)
    y, t = (v if isinstance(v, tuple) else (v,) for v in (y, t))
    pairs = [(a, b) for a, b in zip(y, t, strict=True) if b is not None]
    assert [a is None for a in y] == [b is None for b in t]
    for a, b in pairs:
        agree(a, b, 3e-5, atol)
    ws = [draw(*b.shape, seed=i) for i, (_, b) in enumerate(pairs)]
    sum((a * pg.tensor(w)).sum() for (a, _), w in zip(pairs, ws, strict=True)).backward()
    sum((b * torch.tensor(w)).sum() for (_, b), w in zip(pairs, ws, strict=True)).backward()
    slopes = dict(its.named_parameters())
    for name, p in mine.named_parameters():
        if slopes[name].grad is not None:
            agree(p.grad, slopes[name].grad, 2e-4, 10 * atol)
    for a, b in zip(ours, theirs, strict=True):
        if b.grad is not None:
            agree(a.grad, b.grad, 2e-4, 10 * atol)


def pair(name: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    pg.manual_seed(0)
    torch.manual_seed(0)
    mine, its = getattr(nn, name)(*args, **options), getattr(torch.nn, name)(*args, **options)
    with torch.no_grad():
        for p in its.parameters():  # biases start at 0, and norms at 1: others show more
            p += 0.1 * torch.randn(p.shape)
    return mine, its


N, L, S, E, H = 3, 4, 5, 6, 2
OPTIONS = [
    {},
    {"bias": False},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"kdim": 5, "vdim": 7},
    {"vdim": 7, "add_bias_kv": True, "add_zero_attn": True},
]


def inputs(options: dict[str, Any], batch_first: bool) -> list[np.ndarray]:
    sizes = [(L, E), (S, options.get("kdim", E)), (S, options.get("vdim", E))]
    return [draw(*((N, n) if batch_first else (n, N)), e, seed=i) for i, (n, e) in enumerate(sizes)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("batch_first", "need_weights"), list(product([False, True], repeat=2)))
def test_multihead_attention(options: dict[str, Any], batch_first: bool, need_weights: bool) -> None:
    mine, its = pair("MultiheadAttention", E, H, batch_first=batch_first, **options)
    layers_agree(mine, its, *inputs(options, batch_first), need_weights=need_weights)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[-1]], ids=str)
@pytest.mark.parametrize("masks", ["attn", "each head", "padding", "both", "floats", "bool and float"])
def test_masks_of_multihead_attention(masks: str, options: dict[str, Any], average: bool) -> None:
    """True is what nobody looks at; the first key is there for every query."""
    hidden = draw(N * H, L, S) > 0.3
    padded = draw(N, S, seed=9) > 0.5
    hidden[..., 0] = padded[:, 0] = False
    numbers = draw(L, S, seed=5)
    how: dict[str, Any] = {
        "attn": {"attn_mask": hidden[0]},
        "each head": {"attn_mask": hidden},
        "padding": {"key_padding_mask": padded},
        "both": {"attn_mask": hidden, "key_padding_mask": padded},
        "floats": {"attn_mask": numbers, "key_padding_mask": draw(N, S, seed=6)},
        "bool and float": {"attn_mask": numbers, "key_padding_mask": np.where(padded, -inf, 0).astype("float32")},
    }[masks]
    for need in (True, False):
        mine, its = pair("MultiheadAttention", E, H, **options)
        arrays = inputs(options, False)
        layers_agree(mine, its, *arrays, need_weights=need, average_attn_weights=average, **how)


@pytest.mark.parametrize("padded", [False, True])
def test_self_attention(padded: bool) -> None:
    """One tensor for all three, causal, as a hint beside the mask."""
    mine, its = pair("MultiheadAttention", E, H, dropout=0.5, batch_first=True)
    mine.eval(), its.eval()
    mask = torch.nn.Transformer.generate_square_subsequent_mask(L).numpy()
    how = {"key_padding_mask": np.array([[0, 0, 0, 1], [0] * 4, [0, 0, 1, 1]], bool)} if padded else {}
    same(mine, its)
    x, t = both(draw(N, L, E))
    for need in (False, True):
        ours = {n: pg.tensor(v) for n, v in how.items()}
        theirs = {n: torch.tensor(v) for n, v in how.items()}
        a = mine(x, x, x, need_weights=need, attn_mask=pg.tensor(mask), is_causal=True, **ours)[0]
        b = its(t, t, t, need_weights=need, attn_mask=torch.tensor(mask) != 0, is_causal=True, **theirs)[0]
        agree(a, b, 3e-5, 3e-6)
        agree(mine(x, x, x, need_weights=need, is_causal=True, **ours)[0], b, 3e-5, 3e-6)
        a.sum().backward()
        b.sum().backward()
        agree(x.grad, t.grad, 1e-4, 2e-5)


def test_without_a_batch() -> None:
    for average in (False, True):
        mine, its = pair("MultiheadAttention", E, H, add_bias_kv=True)
        how = {"average_attn_weights": average, "key_padding_mask": np.array([0, 1, 0, 0, 1], bool)}
        layers_agree(mine, its, draw(L, E), draw(S, E, seed=1), draw(S, E, seed=2), attn_mask=draw(L, S, seed=3), **how)


ENCODERS = [
    {"dropout": 0.0},
    {"dropout": 0.0, "norm_first": True, "activation": "gelu", "bias": False},
    {"dropout": 0.0, "batch_first": True, "layer_norm_eps": 0.1, "activation": "tanh"},
]


def built(name: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    """A pair; an activation that has no name in PyTorch is given as a function."""
    if options.get("activation") != "tanh":
        return pair(name, *args, **options)
    mine, its = pair(name, *args, **{**options, "activation": "relu"})
    mine.activation, its.activation = pg.tanh, torch.tanh
    return mine, its


@pytest.mark.parametrize("options", ENCODERS, ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_encoder_layer(options: dict[str, Any], training: bool) -> None:
    mine, its = built("TransformerEncoderLayer", E, H, 9, **options)
    mine.train(training), its.train(training)
    shape = (N, L) if options.get("batch_first") else (L, N)
    padding = np.array([[0, 0, 0, 1], [0] * 4, [0, 0, 1, 1]], bool)
    layers_agree(mine, its, draw(*shape, E), atol=1e-5)
    layers_agree(mine, its, draw(*shape, E), atol=1e-5, src_mask=draw(L, L) > 1, src_key_padding_mask=padding)


@pytest.mark.parametrize("options", ENCODERS, ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_decoder_layer(options: dict[str, Any], training: bool) -> None:
    mine, its = built("TransformerDecoderLayer", E, H, 9, **options)
    mine.train(training), its.train(training)
    first = bool(options.get("batch_first"))
    x, memory = (draw(*((N, n) if first else (n, N)), E, seed=n) for n in (L, S))
    how = {
        "tgt_mask": np.triu(np.ones((L, L), bool), 1),
        "memory_mask": draw(L, S, seed=8),
        "memory_key_padding_mask": np.array([[0] * 5, [0, 0, 1, 0, 1], [0, 1, 1, 1, 1]], bool),
    }
    layers_agree(mine, its, x, memory, atol=1e-5)
    layers_agree(mine, its, x, memory, atol=1e-5, tgt_is_causal=True, **how)


@pytest.mark.parametrize("norm", [False, True])
def test_stacks(norm: bool) -> None:
    def stack(lib: Any) -> list[Any]:
        last = [lib.LayerNorm(E) if norm else None for _ in range(2)]
        inner = [lib.TransformerEncoderLayer(E, H, 9, 0.0), lib.TransformerDecoderLayer(E, H, 9, 0.0)]
        return [lib.TransformerEncoder(inner[0], 2, last[0]), lib.TransformerDecoder(inner[1], 2, last[1])]

    (encoder, decoder), (its_encoder, its_decoder) = stack(nn), stack(torch.nn)
    mask = np.triu(np.full((L, L), -inf, "float32"), 1)
    layers_agree(encoder, its_encoder, draw(L, N, E), atol=1e-5, mask=mask, is_causal=True)
    layers_agree(decoder, its_decoder, draw(L, N, E), draw(S, N, E, seed=1), atol=1e-5, tgt_mask=mask)


@pytest.mark.parametrize("options", [{}, {"batch_first": True, "norm_first": True, "activation": "gelu"}], ids=str)
def test_transformer(options: dict[str, Any]) -> None:
    mine, its = pair("Transformer", E, H, 2, 2, 9, 0.0, **options)
    src, tgt = (draw(*((N, n) if options else (n, N)), E, seed=n) for n in (S, L))
    how = {
        "tgt_mask": nn.Transformer.generate_square_subsequent_mask(L).numpy(),
        "src_key_padding_mask": np.array([[0] * 5, [0, 0, 0, 1, 1], [0, 1, 1, 1, 1]], bool),
        "memory_key_padding_mask": np.array([[0] * 5, [0, 0, 0, 1, 1], [0, 1, 1, 1, 1]], bool),
    }
    layers_agree(mine, its, src, tgt, atol=3e-5, **how)


def test_subsequent_mask() -> None:
    agree(nn.Transformer.generate_square_subsequent_mask(4), torch.nn.Transformer.generate_square_subsequent_mask(4))


def test_starting_values_are_distributed_alike() -> None:
    for options in ({"add_bias_kv": True}, {"kdim": 30, "vdim": 20}):
        pg.manual_seed(0)
        torch.manual_seed(0)
        mine, its = (lib.MultiheadAttention(48, 4, **options) for lib in (nn, torch.nn))
        for (name, p), (other, t) in zip(mine.named_parameters(), its.named_parameters(), strict=True):
            assert name == other
            assert float(p.std()) == pytest.approx(float(t.detach().std()), rel=0.05 if p.ndim == 2 else 0.4), name
    mine, its = (lib.Transformer(24, 2, 1, 1, 40) for lib in (nn, torch.nn))
    its_values = dict(its.named_parameters())
    for name, p in mine.named_parameters():
        assert float(p.std()) == pytest.approx(float(its_values[name].detach().std()), rel=0.3), name


def test_the_copies_of_a_layer_start_equal_and_learn_apart() -> None:
    for lib in (nn, torch.nn):
        stack = lib.TransformerEncoder(lib.TransformerEncoderLayer(E, H, 9), 2)
        first, second = (dict(layer.named_parameters()) for layer in stack.layers)
        assert all((first[n] == second[n]).all() and first[n] is not second[n] for n in first)
