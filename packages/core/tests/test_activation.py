"""Smooth activations in their tails; the gated one."""

from __future__ import annotations

import math

import pytest

import plugrad as pg


def test_gelu_keeps_its_tail():
    x = pg.tensor([-9.0, 9.0], requires_grad=True)
    z = pg.gelu(x)
    z.sum().backward()
    assert z.tolist() == pytest.approx([-9 * math.erfc(9 / math.sqrt(2)) / 2, 9], rel=1e-4, abs=0)
    assert x.grad.tolist()[0] < 0
    assert pg.gelu(pg.tensor([-9.0]), "tanh").item() < 0


@pytest.mark.parametrize("f", [pg.gelu, lambda x: pg.gelu(x, "tanh"), pg.silu, pg.mish, pg.softsign])
def test_far_out(f):
    x = pg.tensor([-300.0, 0.0, 300.0], requires_grad=True)
    z = f(x)
    z.sum().backward()
    assert all(map(math.isfinite, z.tolist() + x.grad.tolist()))
    assert z.tolist()[1] == 0


def test_gelu_refuses_other_forms():
    with pytest.raises(ValueError, match="gelu: approximate is 'none' or 'tanh', not 'fast'"):
        pg.gelu(pg.zeros(1), "fast")


def test_glu():
    x = pg.tensor([[1.0, 2.0], [3.0, 0.0]], requires_grad=True)
    assert pg.glu(x, axis=1).tolist() == [[pytest.approx(1 / (1 + math.exp(-2)))], [1.5]]
    assert pg.glu(x, axis=0).tolist()[0] == pytest.approx([1 / (1 + math.exp(-3)), 1])
    pg.glu(x).sum().backward()
    assert x.grad.tolist()[1] == [0.5, 0.75]


def test_glu_needs_two_halves():
    with pytest.raises(pg.errors.ShapeError, match=r"glu: axis -1 of shape \(2, 3\) has 3 entries"):
        pg.glu(pg.zeros(2, 3))


@pytest.mark.parametrize("f", [pg.gelu, lambda x: pg.gelu(x, "tanh"), pg.silu, pg.mish, pg.hardswish])
def test_at_infinity(f):
    for dtype in ("float32", "float16"):
        x = pg.tensor([-math.inf, -1000.0, 1000.0, math.inf], dtype=dtype, requires_grad=True)
        z = f(x)
        z.backward(pg.ones_like(z))
        assert z.tolist() == [0, 0, 1000, math.inf]
        assert x.grad.tolist() == [0, 0, 1, 1]
