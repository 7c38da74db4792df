"""Attention: values by hand, masks, what nobody sees; and with several heads."""

from __future__ import annotations

from math import exp, inf, nan, sqrt
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import DTypeError, ShapeError
from plugrad_nn import functional as F

KERNELS = pytest.mark.parametrize("kernels", ["prefer", "off"])


def flat(x: Any) -> list[float]:
    return x.reshape(-1).tolist()


def close(a: Any, b: Any, tol: float = 1e-5) -> None:
    assert a.shape == b.shape
    assert flat(a) == pytest.approx(flat(b), abs=tol)


def draw(*shape: int, seed: int = 0, **options: Any) -> Any:
    return pg.randn(shape, generator=pg.Generator(seed), **options)


# -- the function ---------------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    q, k = pg.tensor([[2.0, 0.0]]), pg.tensor([[1.0, 5.0], [0.0, 7.0]])
    v = pg.tensor([[10.0, 1.0, 0.0], [20.0, 1.0, -2.0]])
    p = 1 / (1 + exp(-2 / sqrt(2)))
    close(F.scaled_dot_product_attention(q, k, v), pg.tensor([[20 - 10 * p, 1.0, 2 * p - 2]]))
    close(F.attention_weights(q, k), pg.tensor([[p, 1 - p]]))
    p = 1 / (1 + exp(-0.5 * 2 + 3))
    added = pg.tensor([[0.0, 3.0]])
    close(F.scaled_dot_product_attention(q, k, v, added, scale=0.5), pg.tensor([[20 - 10 * p, 1.0, 2 * p - 2]]))


def test_far_scores_are_no_nan() -> None:
    q = pg.tensor([[1e4, 0.0]], requires_grad=True)
    z = F.scaled_dot_product_attention(q, pg.tensor([[1e4, 0.0], [-1e4, 1.0]]), pg.tensor([[1.0], [2.0]]))
    assert z.tolist() == [[1.0]]
    z.backward()
    assert q.grad.tolist() == [[0.0, 0.0]]
    low = F.scaled_dot_product_attention(draw(2, 3), draw(4, 3), pg.ones(4, 2), pg.full((2, 4), -1e4))
    close(low, pg.ones(2, 2))


@KERNELS
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["bool", "float", "causal"])
def test_a_query_without_a_key_gives_zero(kind: str, dtype: str, kernels: str) -> None:
    """And the other queries, and the gradients, are what they are without it."""
    keep = pg.tensor([[False] * 4, [True, False, True, True]])
    mask = {"bool": keep, "float": pg.where(keep, 0.0, -inf).astype(dtype), "causal": None}[kind]
    how = {"is_causal": True, "offset": -1} if kind == "causal" else {}
    xs = [draw(*s, seed=i, dtype=dtype).requires_grad_() for i, s in enumerate([(2, 3), (4, 3), (4, 2)])]
    ys = [x.detach().requires_grad_() for x in xs]
    with pg.kernels(kernels):
        z = F.scaled_dot_product_attention(*xs, mask, **how)
        one = F.scaled_dot_product_attention(
            ys[0][1:], *ys[1:], None if mask is None else mask[1:], **{**how, "offset": 0} if how else {}
        )
        assert z[0].tolist() == [0.0, 0.0]
        close(z[1:], one)
        (z * z + z).sum().backward()
        (one * one + one).sum().backward()
    for x, y in zip(xs, ys, strict=True):
        close(x.grad, y.grad)
    assert xs[0].grad[0].tolist() == [0.0, 0.0, 0.0]


@KERNELS
def test_what_takes_no_part_is_not_seen(kernels: str) -> None:
    """Keys and values that are masked hold ∞ and NaN; so do queries whose result nobody asks for."""
    q = draw(2, 3, seed=1, dtype="float64")
    k = pg.concat(
        [draw(2, 3, seed=2, dtype="float64"), pg.tensor([[nan, inf, 1.0], [-inf, 0.0, nan]], dtype="float64")]
    )
    v = pg.concat([draw(2, 2, seed=3, dtype="float64"), pg.tensor([[inf, -inf], [nan, 1.0]], dtype="float64")])
    keep = pg.tensor([[True, True, False, False]])
    for mask in (keep, pg.where(keep, 0.5, -inf).astype("float64")):

        def f(q: Any, k: Any, v: Any, m: Any = mask) -> Any:
            return F.scaled_dot_product_attention(q, k, v, m)

        with pg.kernels(kernels):
            close(f(q, k, v), F.scaled_dot_product_attention(q, k[:2], v[:2]))
            assert pg.gradcheck(f, [q, k, v], order=2)
    q = pg.concat([q, pg.tensor([[nan, 0.0, 0.0]], dtype="float64")]).requires_grad_()
    k, v = (x[:2].detach().requires_grad_() for x in (k, v))
    with pg.kernels(kernels):
        z = F.scaled_dot_product_attention(q, k, v)
        (pg.where(pg.tensor([[True], [True], [False]]), z, 0.0) ** 2).sum().backward()
    for x in (q, k, v):
        assert all(g == g for g in flat(x.grad))
    assert q.grad[2].tolist() == [0.0, 0.0, 0.0]


def test_causal_and_offset() -> None:
    q, k, v = draw(2, 3, 4), draw(2, 5, 4, seed=1), draw(2, 5, 6, seed=2)
    for offset in (-1, 0, 2):
        mask = pg.tril(pg.ones(3, 5, dtype="bool"), offset)
        want = F.scaled_dot_product_attention(q, k, v, mask)
        close(F.scaled_dot_product_attention(q, k, v, is_causal=True, offset=offset), want)
        close(F.attention_weights(q, k, is_causal=True, offset=offset) @ v, want)
    last = F.scaled_dot_product_attention(q[:, 2:], k, v, is_causal=True, offset=4)
    close(last, F.scaled_dot_product_attention(q, k, v, is_causal=True, offset=2)[:, 2:])


@pytest.mark.parametrize("masked", [None, "all", "each"])
def test_grouped_heads_are_repeated_ones(masked: str | None) -> None:
    q, k, v = draw(2, 6, 3, 4), draw(2, 2, 5, 4, seed=1), draw(2, 2, 5, 3, seed=2)
    mask = {None: None, "all": draw(3, 5) > 0, "each": draw(2, 6, 3, 5) > 0}[masked]
    wide = [pg.repeat(x, 3, axis=1) for x in (k, v)]
    z = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
    close(z, F.scaled_dot_product_attention(q, *wide, mask))
    pg.manual_seed(3)
    z = F.scaled_dot_product_attention(q, k, v, mask, 0.5, is_causal=True, enable_gqa=True)
    pg.manual_seed(3)
    close(z, F.scaled_dot_product_attention(q, *wide, mask, 0.5, is_causal=True))


def test_dropout_of_weights() -> None:
    q, k, v = pg.zeros(10, 20, 2), pg.zeros(10, 30, 2), pg.ones(10, 30, 1)
    z = F.scaled_dot_product_attention(q, k, v, dropout_p=0.25, generator=pg.Generator(1))
    again = F.scaled_dot_product_attention(q, k, v, dropout_p=0.25, generator=pg.Generator(1))
    assert flat(z) == flat(again)
    assert float(z.mean()) == pytest.approx(1.0, abs=0.03)
    assert float(z.var()) == pytest.approx(0.25 / 0.75 / 30, rel=0.3)
    assert flat(F.scaled_dot_product_attention(q, k, v, dropout_p=1.0)) == [0.0] * 200


def test_sizes_that_are_nothing() -> None:
    z = F.scaled_dot_product_attention(pg.ones(2, 3, 4), pg.ones(2, 0, 4), pg.ones(2, 0, 5))
    assert (z.shape, sum(map(abs, flat(z)))) == ((2, 3, 5), 0.0)
    assert F.scaled_dot_product_attention(pg.ones(2, 0, 4), pg.ones(2, 3, 4), pg.ones(2, 3, 5)).shape == (2, 0, 5)
    grouped = F.scaled_dot_product_attention(
        pg.ones(0, 4, 3, 2), pg.ones(0, 2, 3, 2), pg.ones(0, 2, 3, 5), enable_gqa=True
    )
    assert grouped.shape == (0, 4, 3, 5)
    even = F.scaled_dot_product_attention(pg.ones(1, 0), pg.ones(2, 0), pg.tensor([[1.0], [3.0]]))
    assert even.tolist() == [[2.0]]


def test_dtypes() -> None:
    q = pg.tensor([[1, 2]])
    z = F.scaled_dot_product_attention(q, q, q, pg.zeros(1, 1, dtype="float64"))
    assert (z.dtype, z.tolist()) == (pg.float32, [[1.0, 2.0]])
    wide = F.scaled_dot_product_attention(pg.ones(1, 2), pg.ones(1, 2, dtype="float64"), pg.ones(1, 2))
    assert wide.dtype is pg.float64
    bias = pg.zeros(2, 3, dtype="float64", requires_grad=True)
    F.scaled_dot_product_attention(draw(2, 4), draw(3, 4, seed=1), draw(3, 5, seed=2), bias).sum().backward()
    assert bias.grad.dtype is pg.float64


def test_refusals() -> None:
    q, k, v = pg.ones(2, 3, 4), pg.ones(2, 5, 4), pg.ones(2, 5, 6)
    f = F.scaled_dot_product_attention
    for shapes, words in [
        ((pg.ones(4), k, v), "two axes at least"),
        ((pg.ones(2, 3, 7), k, v), "a query has 7 entries, a key 4"),
        ((q, k, pg.ones(2, 3, 6)), "5 keys and 3 values"),
        ((q, pg.ones(3, 5, 4), v), "axis -3 has sizes 2 and 3"),
        ((q, k, v, pg.ones(4, 5, dtype="bool")), r"3 queries and 5 keys take a mask \(..., 3, 5\), not \(4, 5\)"),
    ]:
        with pytest.raises(ShapeError, match=words):
            f(*shapes)
    with pytest.raises(DTypeError, match="mask != 0"):
        f(q, k, v, pg.ones(3, 5, dtype="int64"))
    with pytest.raises(ShapeError, match="enable_gqa"):
        f(pg.ones(3, 2, 4), pg.ones(2, 2, 4), pg.ones(2, 2, 4), enable_gqa=True)
    with pytest.raises(ValueError, match="probability"):
        f(q, k, v, dropout_p=1.5)


# -- heads ----------------------------------------------------------------------------------------------------------


def test_one_masked_query_does_not_reach_the_weights() -> None:
    """Fully masked, with and without the weights: the shared projection learns from the others alone."""
    pg.manual_seed(0)
    m = nn.MultiheadAttention(4, 2, batch_first=True)
    x = draw(1, 2, 4)
    for need in (True, False):
        found = []
        for query, mask in ((x, pg.tensor([[False, False], [True, True]])), (x[:, :1], None)):
            m.zero_grad()
            out, weights = m(query, x, x, need_weights=need, attn_mask=mask)
            out[0, 0].sum().backward()
            found.append(m.in_proj_weight.grad)
        close(*found)
    out, weights = m(x, x, x, attn_mask=pg.tensor([[False, False], [True, True]]), average_attn_weights=False)
    assert weights[:, :, 1].abs().sum().item() == 0.0
    close(out[0, 1], m.out_proj.bias)


def test_padding_that_leaves_nothing() -> None:
    m = nn.MultiheadAttention(4, 2, batch_first=True)
    x = draw(2, 3, 4).requires_grad_()
    out, weights = m(x, x, x, key_padding_mask=pg.tensor([[True] * 3, [False, False, True]]))
    close(out[0], pg.broadcast_to(m.out_proj.bias, (3, 4)))
    assert weights[0].abs().sum().item() == 0.0
    close(weights[1].sum(axis=-1), pg.ones(3))
    out.sum().backward()
    assert x.grad[0].abs().sum().item() == 0.0
    assert x.grad[1].isfinite().all()


def test_causal_without_a_mask() -> None:
    m = nn.MultiheadAttention(6, 2, batch_first=True)
    x = draw(2, 4, 6)
    hidden = ~pg.tril(pg.ones(4, 4, dtype="bool"))
    for need in (True, False):
        close(m(x, x, x, need_weights=need, is_causal=True)[0], m(x, x, x, need_weights=need, attn_mask=hidden)[0])


def test_additional_keys_are_there_for_every_query() -> None:
    m = nn.MultiheadAttention(6, 2, batch_first=True, add_bias_kv=True, add_zero_attn=True)
    x = draw(2, 4, 6)
    for mask in (None, pg.ones(4, 4, dtype="bool"), pg.full((4, 4), -inf)):
        out, weights = m(x, x, x, attn_mask=mask, is_causal=True)
        assert weights.shape == (2, 4, 6)
        assert float(weights[:, :, 4:].min()) > 0.0
        close(m(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0], out)
        if mask is None:
            assert weights[:, 0, 1:4].abs().sum().item() == 0.0
        else:
            close(weights[:, :, 4:].sum(axis=-1), pg.ones(2, 4))


def test_dropout_of_heads() -> None:
    m = nn.MultiheadAttention(6, 2, dropout=0.5, generator=pg.Generator(4))
    x = draw(5, 2, 6)
    a, b = (m(x, x, x)[0] for _ in range(2))
    assert flat(a) != flat(b)
    weights = m(x, x, x, average_attn_weights=False)[1]
    assert 0 < sum(w == 0.0 for w in flat(weights)) < 100
    m.eval()
    close(m(x, x, x)[0], m(x, x, x, need_weights=False)[0])
    close(m(x, x, x)[1].sum(axis=-1), pg.ones(2, 5))


def test_names_and_sizes_of_parameters() -> None:
    shapes = {n: p.shape for n, p in nn.MultiheadAttention(6, 3, kdim=4, vdim=5, add_bias_kv=True).named_parameters()}
    assert shapes == {
        "q_proj_weight": (6, 6), "k_proj_weight": (6, 4), "v_proj_weight": (6, 5), "in_proj_bias": (18,),
        "bias_k": (1, 1, 6), "bias_v": (1, 1, 6), "out_proj.weight": (6, 6), "out_proj.bias": (6,),
    }  # fmt: skip
    whole = nn.MultiheadAttention(6, 3, bias=False, dtype="float64")
    assert {n: p.shape for n, p in whole.named_parameters()} == {"in_proj_weight": (18, 6), "out_proj.weight": (6, 6)}
    assert {p.dtype.name for p in whole.parameters()} == {"float64"}
    bound = sqrt(6 / (18 + 6))
    assert 0.8 * bound < float(whole.in_proj_weight.abs().max()) <= bound
    assert flat(nn.MultiheadAttention(6, 3).in_proj_bias) == [0.0] * 18


def test_refusals_of_heads() -> None:
    with pytest.raises(ShapeError, match="3 heads"):
        nn.MultiheadAttention(4, 3)
    with pytest.raises(ValueError, match="probability"):
        nn.MultiheadAttention(4, 2, dropout=2.0)
    m, x = nn.MultiheadAttention(4, 2, batch_first=True), pg.ones(3, 5, 4)
    for args in ((x, x[:2], x[:2]), (x, x, x[:, :4]), (x, x[0], x[0]), (pg.ones(3, 5, 6), x, x)):
        with pytest.raises(ShapeError, match=r"it takes \(batch, n, 4\)"):
            m(*args)
    with pytest.raises(ShapeError, match=r"key_padding_mask \(5, 3\); it takes \(3, 5\)"):
        m(x, x, x, key_padding_mask=pg.ones(5, 3, dtype="bool"))
    with pytest.raises(ShapeError, match=r"attn_mask \(3, 5, 5\)"):
        m(x, x, x, attn_mask=pg.ones(3, 5, 5, dtype="bool"))
    with pytest.raises(DTypeError, match="attn_mask is int64"):
        m(x, x, x, attn_mask=pg.ones(5, 5, dtype="int64"))
