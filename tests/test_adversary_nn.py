"""Layers and losses where they once failed: odd windows, no samples, half precision, integers, slots."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import partial
from math import inf, log, nan

import numpy as np
import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.ops.composed import scan
from plugrad.testing.cases import every
from plugrad.testing.draw import numbers
from plugrad_nn import functional as F

RNG = np.random.default_rng(3)
CASES = [c for c in every() if not c.name.startswith("plugrad_optim")]
MODES = ("off", "prefer")


def normal(*shape):
    return pg.tensor(RNG.standard_normal(shape).astype("float32"))


def drawn(c, dtype):
    arrays = [np.asarray(numbers(s, i)).reshape(s.shape if s.values is None else np.shape(s.values)) for i, s in
              enumerate(c.inputs)]  # fmt: skip
    kinds = [dtype if s.kind == "float" else {"int": "int64"}.get(s.kind, s.kind) for s in c.inputs]
    return [pg.tensor(a, dtype=kind) for a, kind in zip(arrays, kinds, strict=True)]


def results(y):
    return [t for t in (y if isinstance(y, (tuple, list)) else (y,)) if isinstance(t, pg.Tensor)]


# -- windows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_padding_takes_no_gradient_from_windows_of_minus_infinity(mode):
    x = pg.full((1, 1, 3, 3), -inf, requires_grad=True)
    with pg.kernels(mode):
        F.max_pool2d(x, 2, 1, 1).backward(pg.ones(1, 1, 4, 4))
    assert x.grad.tolist() == [[[[4.0, 2.0, 2.0], [2.0, 1.0, 1.0], [2.0, 1.0, 1.0]]]]


@pytest.mark.parametrize("mode", MODES)
def test_the_gradient_of_a_window_with_nan_goes_to_the_nan(mode):
    x = pg.tensor([[[nan, inf, 1.0, 2.0]]], requires_grad=True)
    with pg.kernels(mode):
        F.max_pool1d(x, 2).backward(pg.tensor([[[3.0, 5.0]]]))
    assert x.grad.tolist() == [[[3.0, 0.0, 0.0, 5.0]]]


@pytest.mark.parametrize("mode", MODES)
def test_a_window_that_reads_nothing_is_refused(mode):
    with pg.kernels(mode), pytest.raises(pg.errors.ShapeError, match=r"max_pool2d.*dilation.*reads nothing"):
        F.max_pool2d(pg.ones(1, 1, 8, 1), 2, 4, 1, (1, 3), True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.avg_pool2d(x, (3, 2)), lambda x: F.avg_pool2d(x, 2, 1, 1), lambda x: F.adaptive_avg_pool2d(x, 1),
        lambda x: F.lp_pool2d(x, 2, 2), lambda x: F.max_unpool2d(x, pg.zeros(x.shape, dtype="int64"), 2),
    ],
)  # fmt: skip
def test_pooling_of_no_samples(mode, f):
    x = pg.zeros((0, 4, 3, 2), requires_grad=True)
    with pg.kernels(mode):
        y = f(x)
        y.sum().backward()
    assert y.shape[:2] == (0, 4)
    assert x.grad.shape == x.shape


def test_circular_padding_goes_around_what_is_left():
    x = pg.arange(6.0)
    assert F.pad(x, (3, -2), "circular").tolist() == [1, 2, 3, 0, 1, 2, 3]
    assert F.pad(x, (-2, 3), "circular").tolist() == [2, 3, 4, 5, 2, 3, 4]
    assert F.pad(x, (7, 0), "circular").tolist() == [5, *range(6), *range(6)]


@pytest.mark.parametrize("mode", ["linear", "bilinear", "bicubic", "area"])
def test_integers_are_interpolated_as_floats(mode):
    x = pg.arange(8).reshape((1, 1, 8) if mode == "linear" else (1, 1, 2, 4)) * 10
    small = F.interpolate(x, scale_factor=1.5, mode=mode)
    assert small.dtype is pg.float32
    np.testing.assert_array_equal(
        small.numpy(), F.interpolate(x.astype("float32"), scale_factor=1.5, mode=mode).numpy()
    )
    assert F.interpolate(x, scale_factor=2, mode="nearest").dtype is pg.int64


# -- dtypes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("c", [c for c in CASES if c.order], ids=lambda c: c.name)
def test_gradients_have_the_dtype_of_what_they_are_for(c, dtype):
    for mode in MODES:
        xs = [x.requires_grad_() if x.dtype.is_floating_point else x for x in drawn(c, dtype)]
        with pg.kernels(mode):
            ys = [y for y in results(c.f(*xs)) if y.requires_grad]
            given = [x for x in xs if x.requires_grad]
            found = pg.grad(ys, given, [pg.ones_like(y) for y in ys], allow_unused=True)
        assert {y.dtype.name for y in ys} <= {dtype}
        assert {g.dtype.name for g in found if g is not None} <= {dtype}


TAKE_INTEGERS = {
    "Conv", "ConvTranspose", "ConvWeight", "BiasedConv", "BiasedConvTranspose", "Linear", "Patches", "AddPatches",
    "MaxPool", "MaxPoolIndices", "Resample", "ResampleTranspose", "Embedding", "EmbeddingBag", "Checked", "Attention",
    "AttentionWeights", "Rotary",
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "c",
    [c for c in CASES if c.name.startswith("plugrad_nn") and c.op.__name__ not in TAKE_INTEGERS],
    ids=lambda c: c.name,
)
def test_small_unsigned_integers_are_computed_as_floats(c, mode):
    floats = [pg.abs(pg.nan_to_num(x, posinf=9.0, neginf=3.0)).clip(0, 100).round() if s.kind == "float" else x for x, s
              in zip(drawn(c, "float32"), c.inputs, strict=True)]  # fmt: skip
    small = [x.astype("uint8") if s.kind == "float" else x for x, s in zip(floats, c.inputs, strict=True)]
    with pg.kernels(mode):
        for got, want in zip(results(c.f(*small)), results(c.f(*floats)), strict=True):
            assert got.dtype is want.dtype
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-5)


def test_softmin_of_unsigned_integers():
    want = np.exp(-np.array([1.0, 2, 3])) / np.exp(-np.array([1.0, 2, 3])).sum()
    for f in (pg.softmin, F.softmin):
        np.testing.assert_allclose(f(pg.tensor([1, 2, 3], dtype="uint8")).numpy(), want, rtol=1e-6)


# -- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_cross_entropy_of_large_logits_keeps_its_digits(mode):
    x, soft = pg.tensor([[1e6, 1e6, 0.0]]), pg.tensor([[0.5, 0.5, 0.0]])
    with pg.kernels(mode):
        for target in (pg.tensor([0]), soft):
            assert F.cross_entropy(x, target).item() == pytest.approx(log(2), rel=1e-6)
        smooth = F.cross_entropy(x[:, :2], pg.tensor([0]), label_smoothing=0.3)
    assert smooth.item() == pytest.approx(log(2), rel=1e-6)


@pytest.mark.parametrize("large", [-1e9, -3e38, 1e9])
def test_rows_of_attention_with_a_large_mask_share_one_gradient(large):
    """Such a mask leaves a row's weights equal, and their gradients small: the sum of them is 1, not their number."""
    q, k, v = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 3)
    m, g = pg.zeros(3, 5), normal(2, 3, 3)
    m[1] = large

    def gradients(mode):
        xs = [x.detach().requires_grad_() for x in (q, k, v)]
        with pg.kernels(mode):
            return pg.grad(F.scaled_dot_product_attention(*xs, attn_mask=m), xs, g)

    for got, want in zip(gradients("force"), gradients("off"), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-4, atol=1e-5)


def test_softsign_far_out():
    x = pg.tensor([inf, -inf, 3e38, -2.0, nan], requires_grad=True)
    y = F.softsign(x)
    y.sum().backward()
    assert y.tolist()[:3] == [1.0, -1.0, 1.0]
    assert y.tolist()[3] == pytest.approx(-2 / 3)
    assert np.isnan(y.tolist()[4])
    assert x.grad.tolist()[:4] == pytest.approx([0.0, 0.0, 0.0, 1 / 9])


def test_a_linear_map_without_bias_says_what_does_not_fit():
    with pytest.raises(pg.errors.ShapeError, match=r"linear: input \(2, 3, 5\) and weight \(4, 6\)"):
        F.linear(pg.ones(2, 3, 5), pg.ones(4, 6))
    assert F.linear(pg.ones(0, 3, 5), pg.ones(4, 5)).shape == (0, 3, 4)


@pytest.mark.parametrize("axis", [-2, -1, 0, 1])
def test_composed_scans_take_axes_from_the_end(axis):
    xp, x = pg.device("numpy").xp, RNG.standard_normal((3, 5))
    for composed, theirs in ((scan.cumulative_sum, np.cumsum), (scan.cumulative_prod, np.cumprod)):
        np.testing.assert_allclose(composed(xp, x, axis=axis), theirs(x, axis=axis))


# -- models ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(slots=True)
class Slotted:
    inner: nn.Module


class InSlots(nn.Module):
    __slots__ = ("kept",)

    def __init__(self):
        self.kept = nn.Linear(2, 3)
        self.box = Slotted(nn.Linear(3, 1))

    def forward(self, x):
        return self.box.inner(self.kept(x))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_what_lies_in_slots_is_found_and_copied(copied):
    m = InSlots()
    assert sorted(m.state_dict()) == ["box.inner.bias", "box.inner.weight", "kept.bias", "kept.weight"]
    other, x = copied(m), normal(4, 2)
    assert other(x).tolist() == m(x).tolist()
    assert other.kept.weight is not m.kept.weight


@pytest.mark.parametrize(
    "clip", [partial(nn.utils.clip_grad_norm_, max_norm=1.0), partial(nn.utils.clip_grad_value_, clip_value=2.0)]
)
def test_a_gradient_that_two_parameters_share_is_clipped_once(clip):
    a, b, g = nn.Parameter(pg.zeros(2)), nn.Parameter(pg.zeros(2)), pg.tensor([3.0, 4.0])
    a.grad = b.grad = g
    clip([a, b])
    want = [3 / 50**0.5, 4 / 50**0.5] if clip.func is nn.utils.clip_grad_norm_ else [2.0, 2.0]
    assert a.grad.tolist() == pytest.approx(want, rel=1e-5)
    assert b.grad.tolist() == pytest.approx(want, rel=1e-5)
