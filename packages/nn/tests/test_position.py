"""Where tokens stand, rotary and sinusoidal; and the memory of earlier ones, token by token."""

from __future__ import annotations

from copy import deepcopy
from math import cos, sin
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import DTypeError, ShapeError
from plugrad_nn import functional as F


def flat(x: Any) -> list[float]:
    return x.reshape(-1).tolist()


def close(a: Any, b: Any, tol: float = 1e-5) -> None:
    assert a.shape == b.shape
    assert flat(a) == pytest.approx(flat(b), abs=tol)


def draw(*shape: int, seed: int = 0, **options: Any) -> Any:
    return pg.randn(shape, generator=pg.Generator(seed), **options)


# -- positions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_turns_pairs(interleaved: bool) -> None:
    layer = nn.RotaryEmbedding(4, base=100.0, interleaved=interleaved)
    x = draw(2, 3, 6, dtype="float64")
    y = layer(x, offset=5)
    pairs = [(0, 1), (2, 3)] if interleaved else [(0, 2), (1, 3)]
    for b in range(2):
        for n in range(3):
            row, out = x[b, n].tolist(), y[b, n].tolist()
            for i, (p, q) in enumerate(pairs):
                angle = (5 + n) * 100.0 ** (-2 * i / 4)
                assert out[p] == pytest.approx(row[p] * cos(angle) - row[q] * sin(angle))
                assert out[q] == pytest.approx(row[q] * cos(angle) + row[p] * sin(angle))
            assert out[4:] == row[4:]


def test_the_two_forms_of_rotary_are_one_in_another_order() -> None:
    x = draw(3, 8)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    close(nn.RotaryEmbedding(8)(x[:, order]), nn.RotaryEmbedding(8, interleaved=True)(x)[:, order])


def test_rotary_knows_distances_alone() -> None:
    layer = nn.RotaryEmbedding(6, interleaved=True)
    q, k = draw(1, 6, dtype="float64"), draw(1, 6, seed=1, dtype="float64")
    products = [(layer(q, m + 3) * layer(k, m)).sum().item() for m in (0, 7, 5000)]
    assert products == pytest.approx([products[0]] * 3, abs=1e-9)
    assert products[0] != pytest.approx((q * k).sum().item(), abs=1e-3)


def test_rotary_positions() -> None:
    layer, x = nn.RotaryEmbedding(4), draw(2, 3, 5, 4)
    whole = layer(x)
    close(layer(x[:, :, 2:], offset=2), whole[:, :, 2:])
    close(layer(x, positions=pg.arange(5)), whole)
    places = pg.tensor([[0, 1, 2, 3, 4], [7, 0, 0, 9, 2]])
    each = layer(x, positions=places)
    close(each[0], whole[0])
    close(each[1], layer(x[1], positions=places[1]))
    close(each[1, :, 1], x[1, :, 1])
    cos_, sin_ = layer.angles(x)
    close(F.apply_rotary(x, cos_, sin_), whole)


def test_angles_of_far_positions_are_exact() -> None:
    """And those of a layer that was cast to half precision are as good."""
    layer = nn.Sequential(nn.RotaryEmbedding(4)).half()[0]
    x = pg.tensor([[1.0, 1.0, 0.0, 0.0]])
    y = layer(x, offset=1_000_003)
    want = [cos(1_000_003), cos(1_000_003 / 100), sin(1_000_003), sin(1_000_003 / 100)]
    assert flat(y) == pytest.approx(want, abs=1e-6)
    half = layer(x.astype("float16"), offset=1_000_003)
    assert half.dtype is pg.float16
    assert flat(half.astype("float32")) == pytest.approx(want, abs=1e-3)
    assert (list(layer.state_dict()), list(layer.parameters())) == ([], [])


def test_angles_can_be_learned() -> None:
    x, c, s = draw(2, 3, 4, dtype="float16"), draw(3, 2, seed=1), draw(3, 2, seed=2)
    c.requires_grad_(), s.requires_grad_()
    F.apply_rotary(x, c, s).astype("float32").sum().backward()
    assert (c.grad.dtype, s.grad.shape) == (pg.float32, (3, 2))


def test_sinusoidal_positions() -> None:
    z = F.sinusoidal_positions(pg.tensor([0, 3]), 5, base=100.0)
    rates = [1.0, 100.0 ** (-2 / 5), 100.0 ** (-4 / 5)]
    want = [[f(p * r) for r in rates for f in (sin, cos)][:5] for p in (0, 3)]
    close(z, pg.tensor(want))
    layer, x = nn.SinusoidalPositions(6), draw(2, 4, 6)
    close(layer(x) - x, pg.broadcast_to(F.sinusoidal_positions(pg.arange(4), 6), (2, 4, 6)))
    close(layer(x[:, 1:], offset=1), layer(x)[:, 1:])
    assert layer(x.astype("float64")).dtype is pg.float64


def test_refusals_of_positions() -> None:
    with pytest.raises(ShapeError, match="must be even"):
        nn.RotaryEmbedding(3)
    with pytest.raises(ShapeError, match="must be even"):
        F.rotary_angles(pg.arange(2), 3)
    with pytest.raises(ShapeError, match="d at least 8"):
        nn.RotaryEmbedding(8)(pg.ones(2, 4))
    with pytest.raises(ShapeError, match=r"positions \(3,\)"):
        nn.RotaryEmbedding(4)(pg.ones(2, 4), positions=pg.arange(3))
    with pytest.raises(ShapeError, match="half of its last axis"):
        F.apply_rotary(pg.ones(2, 4), pg.ones(2, 3), pg.ones(2, 3))
    with pytest.raises(DTypeError, match="not floating"):
        F.apply_rotary(pg.arange(4), pg.ones(2), pg.ones(2))
    with pytest.raises(ShapeError, match=r"\(..., n, 6\)"):
        nn.SinusoidalPositions(6)(pg.ones(2, 4))
    with pytest.raises(DTypeError, match="arange"):
        F.sinusoidal_positions(pg.ones(2, dtype="bool"), 4)


# -- tokens one by one ----------------------------------------------------------------------------------------------


class Grouped(nn.Module):
    """Causal self-attention as in today's language models: four heads, two of keys, rotary positions."""

    def __init__(self) -> None:
        self.q, self.k, self.v = nn.Linear(6, 16), nn.Linear(6, 8), nn.Linear(6, 8)
        self.rotary = nn.RotaryEmbedding(4)

    def forward(self, x: Any, cache: nn.KVCache | None = None) -> Any:
        past = 0 if cache is None else len(cache)
        q, k, v = (f(x).reshape((2, x.shape[1], -1, 4)).transpose(1, 2) for f in (self.q, self.k, self.v))
        q, k = self.rotary(q, past), self.rotary(k, past)
        if cache is not None:
            k, v = cache.append(k, v)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True, offset=past)


@pytest.mark.parametrize("steps", [[1] * 7, [4, 1, 1, 1], [2, 3, 2]])
@pytest.mark.parametrize("recorded", [False, True])
def test_token_by_token_is_the_whole(steps: list[int], recorded: bool) -> None:
    pg.manual_seed(0)
    model, x = Grouped(), draw(2, 7, 6).requires_grad_(recorded)
    cache, done, parts = nn.KVCache(), 0, []
    with pg.set_grad_enabled(recorded):
        whole = model(x)
        for n in steps:
            parts.append(model(x[:, done : done + n], cache))
            done += n
            assert len(cache) == done
        z = pg.concat(parts, axis=2)
    close(z, whole)
    assert z.requires_grad is recorded
    if recorded:
        (a,), (b,) = (pg.grad((y * y).sum(), x) for y in (z, whole))
        close(a, b)


def test_multihead_attention_token_by_token() -> None:
    m, x = nn.MultiheadAttention(6, 2, batch_first=True, add_bias_kv=True), draw(3, 5, 6)
    padding = pg.tensor([[False] * 5, [False, True, False, False, False], [False] * 5])
    whole, weights = m(x, x, x, padding, is_causal=True)
    cache = nn.KVCache()
    with pg.no_grad():
        for i in range(5):
            part = x[:, i : i + 1]
            z, w = m(part, part, part, padding[:, : i + 1], is_causal=True, cache=cache)
            close(z, whole[:, i : i + 1])
            close(w[:, :, : i + 1], weights[:, i : i + 1, : i + 1])
        cache.crop(2)
        z, _ = m(x[:, 2:], x[:, 2:], x[:, 2:], padding, need_weights=False, is_causal=True, cache=cache)
    close(z, whole[:, 2:])


def test_the_past_is_not_copied() -> None:
    cache = nn.KVCache()
    with pg.no_grad():
        rooms = []
        for i in range(40):
            cache.append(draw(1, 1, 4, seed=i), draw(1, 1, 2, seed=i))
            rooms.append(cache._rooms[0])
    assert len({id(room) for room in rooms}) == 7
    close(cache.keys, pg.concat([draw(1, 1, 4, seed=i) for i in range(40)], axis=-2))
    assert cache.values.shape == (1, 40, 2)
    roomy = nn.KVCache(capacity=50)
    with pg.no_grad():
        rooms = [roomy.append(pg.ones(1, 4), pg.ones(1, 4)) and roomy._rooms[0] for _ in range(50)]
    assert all(room is rooms[0] for room in rooms)


def test_what_was_given_out_never_changes() -> None:
    cache = nn.KVCache()
    with pg.no_grad():
        cache.append(pg.ones(2, 3), pg.ones(2, 1))
        before, _ = cache.append(pg.full((1, 3), 2.0), pg.full((1, 1), 2.0))
        cache.crop(-1)
        after, _ = cache.append(pg.full((1, 3), 3.0), pg.full((1, 1), 3.0))
        assert before.tolist() == [[1.0] * 3, [1.0] * 3, [2.0] * 3]
        assert after.tolist() == [[1.0] * 3, [1.0] * 3, [3.0] * 3]
        copied = deepcopy(cache)
        copied.append(pg.full((1, 3), 4.0), pg.full((1, 1), 4.0))
        cache.append(pg.full((1, 3), 5.0), pg.full((1, 1), 5.0))
        assert (copied.keys[3].tolist(), cache.keys[3].tolist()) == ([4.0] * 3, [5.0] * 3)
        after *= 0.0
        assert cache.keys[2].tolist() == [3.0] * 3
    first = pg.ones(1, 3, requires_grad=True)
    other = nn.KVCache()
    k, _ = other.append(first, pg.ones(1, 1))
    k += 1.0
    assert other.keys.tolist() == [[1.0] * 3]


def test_crop_and_reset() -> None:
    cache = nn.KVCache()
    assert (len(cache), cache.keys, cache.values) == (0, None, None)
    cache.append(draw(2, 5, 3), draw(2, 5, 4))
    cache.crop(3)
    close(cache.keys, draw(2, 5, 3)[:, :3])
    cache.crop(-2)
    assert (len(cache), cache.values.shape) == (1, (2, 1, 4))
    cache.crop(-9)
    assert len(cache) == 0
    with pytest.raises(ShapeError, match="there are 0 tokens, of which 2"):
        cache.crop(2)
    cache.reset()
    k, _ = cache.append(pg.ones(1, 3, dtype="float64"), pg.ones(1, 3, dtype="float64"))
    assert k.dtype is pg.float64


def test_a_watcher_sees_the_cache() -> None:
    cache = nn.KVCache()
    with pg.no_grad():
        cache.append(pg.ones(1, 2), pg.ones(1, 2))
        with pg.profiler() as seen:
            cache.append(pg.ones(1, 2), pg.ones(1, 2))
        cache.append(pg.full((1, 2), 2.0), pg.ones(1, 2))
    assert [e.name for e in seen.events] == ["concat", "concat"]
    assert cache.keys.tolist() == [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]]


def test_refusals_of_the_cache() -> None:
    cache = nn.KVCache()
    with pytest.raises(ShapeError, match=r"key .* and value"):
        cache.append(pg.ones(2, 3), pg.ones(3, 3))
    cache.append(pg.ones(2, 1, 3), pg.ones(2, 1, 4))
    with pytest.raises(ShapeError, match=r"value \(2, 1, 5\) behind \(2, 1, 4\)"):
        cache.append(pg.ones(2, 1, 3), pg.ones(2, 1, 5))
    with pytest.raises(DTypeError, match="key is float64, what it holds float32"):
        cache.append(pg.ones(2, 1, 3, dtype="float64"), pg.ones(2, 1, 4))
    assert len(cache) == 1
