"""The Transformer: who sees whom, copies, options, and what is refused."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import ShapeError
from plugrad_nn import functional as F


def flat(x: Any) -> list[float]:
    return x.reshape(-1).tolist()


def close(a: Any, b: Any, tol: float = 1e-5) -> None:
    assert a.shape == b.shape
    assert flat(a) == pytest.approx(flat(b), abs=tol)


def draw(*shape: int, seed: int = 0) -> Any:
    return pg.randn(shape, generator=pg.Generator(seed))


def small(**options: Any) -> nn.Transformer:
    pg.manual_seed(0)
    return nn.Transformer(4, 2, 1, 2, 6, **{"dropout": 0.0, "batch_first": True, **options})


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_layer_is_its_formula(norm_first: bool) -> None:
    layer, x = nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu", 0.01, norm_first=norm_first), draw(3, 2, 4)

    def attend(x: Any) -> Any:
        return layer.self_attn(x, x, x)[0]

    def feed(x: Any) -> Any:
        return layer.linear2(F.gelu(layer.linear1(x)))

    assert (layer.norm1.eps, layer.norm2.eps) == (0.01, 0.01)
    if norm_first:
        y = x + attend(layer.norm1(x))
        close(layer(x), y + feed(layer.norm2(y)))
    else:
        y = layer.norm1(x + attend(x))
        close(layer(x), layer.norm2(y + feed(y)))


def test_nobody_sees_what_is_later() -> None:
    model, x = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True), 2), draw(2, 5, 4)
    changed = pg.concat([x[:, :3], draw(2, 2, 4, seed=1)], axis=1)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    want = model(x, mask)
    for how in ({"mask": mask}, {"is_causal": True}, {"mask": mask, "is_causal": True}, {"mask": mask != 0}):
        close(model(x, **how), want)
        close(model(changed, **how)[:, :3], want[:, :3])
        assert flat(model(changed, **how)[:, 3:]) != flat(want[:, 3:])


def test_nobody_sees_padding() -> None:
    model, src, tgt = small(), draw(2, 4, 4), draw(2, 3, 4, seed=1)
    padding = pg.tensor([[False] * 4, [False, False, True, True]])
    changed = pg.where(padding.expand_dims(-1), draw(2, 4, 4, seed=2), src)
    how = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
    close(model(changed, tgt, **how), model(src, tgt, **how))
    close(model(src, tgt, **how)[1:], model(src[1:, :2], tgt[1:]))
    assert flat(model(changed, tgt)) != flat(model(src, tgt))


def test_a_sample_of_nothing_but_padding_learns_nothing_and_harms_nobody() -> None:
    model, src, tgt = small(), draw(2, 4, 4).requires_grad_(), draw(2, 3, 4, seed=1).requires_grad_()
    padding = pg.tensor([[False] * 4, [True] * 4])
    out = model(src, tgt, src_key_padding_mask=padding, memory_key_padding_mask=padding)
    (out * draw(2, 3, 4, seed=2)).sum().backward()
    assert out.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters())
    assert src.grad[1].abs().sum().item() == 0.0
    close(out[:1], model(src[:1], tgt[:1]))


def test_batch_first_is_another_order() -> None:
    first, second = small(), small(batch_first=False)
    src, tgt = draw(2, 5, 4), draw(2, 3, 4, seed=1)
    z = second(src.transpose(0, 1), tgt.transpose(0, 1), tgt_is_causal=True)
    close(first(src, tgt, tgt_is_causal=True), z.transpose(0, 1))
    close(first(src[0], tgt[0], tgt_is_causal=True), z[:, 0])


def test_dropout_is_for_training() -> None:
    model, src, tgt = small(dropout=0.5), draw(2, 5, 4), draw(2, 3, 4, seed=1)
    pg.manual_seed(1)
    a, b = model(src, tgt), model(src, tgt)
    pg.manual_seed(1)
    assert flat(model(src, tgt)) == flat(a) != flat(b)
    model.eval()
    close(model(src, tgt), small(dropout=0.0)(src, tgt))
    rates = [m.p for m in model.modules() if isinstance(m, nn.Dropout)]
    assert rates == [0.5] * (3 + 2 * 4)
    assert {m.dropout for m in model.modules() if isinstance(m, nn.MultiheadAttention)} == {0.5}


def test_copies_start_equal_and_learn_apart() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 6, 0.0)
    model = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4))
    first, second = (dict(m.named_parameters()) for m in model.layers)
    assert all(flat(first[n]) == flat(second[n]) for n in first)
    assert len(list(model.parameters())) == 2 * 12 + 2
    model(draw(3, 2, 4)).square().sum().backward()
    assert flat(first["linear1.weight"].grad) != flat(second["linear1.weight"].grad)
    assert layer.linear1.weight.grad is None
    assert nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6), 0)(draw(3, 2, 4), None).shape == (3, 2, 4)


def test_names_are_pytorchs() -> None:
    names = list(nn.TransformerDecoderLayer(4, 2, 6).state_dict())
    attention = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    assert names == [
        *(f"{a}.{n}" for a in ("self_attn", "multihead_attn") for n in attention),
        *(f"{m}.{n}" for m in ("linear1", "linear2", "norm1", "norm2", "norm3") for n in ("weight", "bias")),
    ]
    bare = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, bias=False, dtype="float64"), 1)
    assert not any(n.endswith("bias") for n in bare.state_dict())
    assert {p.dtype.name for p in bare.parameters()} == {"float64"}
    whole = small()
    assert {n.split(".")[0] for n in whole.state_dict()} == {"encoder", "decoder"}
    assert "decoder.norm.bias" in whole.state_dict()


def test_own_parts() -> None:
    class Twice(nn.Module):
        def forward(self, src: Any, *args: Any) -> Any:
            return src * 2

    model = small(custom_encoder=Twice())
    assert not any(n.startswith("encoder") for n in model.state_dict())
    src, tgt = draw(2, 5, 4), draw(2, 3, 4, seed=1)
    close(model(src, tgt), model.decoder(tgt, src * 2))
    layer = nn.TransformerEncoderLayer(4, 2, 6, 0.0, activation=pg.tanh)
    assert layer.activation is pg.tanh
    with pytest.raises(ValueError, match="'swish' is none of 'relu', 'gelu'"):
        nn.TransformerEncoderLayer(4, 2, activation="swish")


def test_subsequent_mask() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0.0, -inf, -inf], [0.0, 0.0, -inf], [0.0, 0.0, 0.0]]
    assert nn.Transformer.generate_square_subsequent_mask(2, dtype="float64").dtype is pg.float64


def test_refusals() -> None:
    model = small()
    with pytest.raises(ShapeError, match=r"source \(2, 5, 4\) and target \(3, 3, 4\)"):
        model(pg.ones(2, 5, 4), pg.ones(3, 3, 4))
    with pytest.raises(ShapeError, match="d_model"):
        model(pg.ones(2, 5, 4), pg.ones(2, 3, 6))
    with pytest.raises(ShapeError, match="heads of equal size"):
        nn.TransformerEncoderLayer(5, 2)


def test_it_learns_to_turn_a_row_round() -> None:
    """What comes first is known to the encoder's memory alone, so another source makes the answer worse."""
    pg.manual_seed(0)
    embed, out, places = nn.Embedding(5, 8), nn.Linear(8, 5), nn.SinusoidalPositions(8)
    model = nn.Transformer(8, 2, 1, 1, 12, 0.0, batch_first=True)
    params = [p for m in (embed, out, model) for p in m.parameters()]
    x = pg.randint(1, 5, (6, 3), generator=pg.Generator(2))
    y = x[:, [2, 1, 0]]
    given = pg.concat([pg.zeros(6, 1, dtype="int64"), y[:, :-1]], axis=1)

    def loss(source: Any) -> Any:
        z = out(model(places(embed(source)), places(embed(given)), tgt_is_causal=True))
        return F.cross_entropy(z.reshape(-1, 5), y.reshape(-1))

    for _ in range(60):
        slopes = pg.grad(loss(x), params)
        with pg.no_grad():
            for p, g in zip(params, slopes, strict=True):
                p -= 0.3 * g
    assert loss(x).item() < 0.2
    assert loss(pg.roll(x, 1, axis=0)).item() > 1.0
