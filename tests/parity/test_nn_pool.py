"""Pooling and resampling against PyTorch: values, indices and gradients over a grid of settings."""

from __future__ import annotations

import itertools
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import against, agree, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F

T = torch.nn
RNG = np.random.default_rng(5)
X = {
    1: RNG.standard_normal((2, 3, 9)).astype("float32"),
    2: RNG.standard_normal((2, 3, 7, 10)).astype("float32"),
    3: RNG.standard_normal((1, 2, 4, 5, 6)).astype("float32"),
}
AXES = [1, 2, 3]


def uneven(x: Any) -> Any:
    return TF.adaptive_max_pool2d(x, (3, 4))


def resampled(size: Any, mode: str, **how: Any) -> Any:
    return lambda x: TF.interpolate(x, size, mode=mode, **how)


#: name of the case → the same in PyTorch
ROWS = {
    "plugrad_nn.MaxPool": lambda x: TF.max_pool1d(x, 3, 2),
    "plugrad_nn.MaxPool/edge": lambda x: TF.max_pool1d(x, 3, 2, 1, ceil_mode=True),
    "plugrad_nn.MaxPool/ties": lambda x: TF.max_pool1d(x, 3, 2, 1, ceil_mode=True),
    "plugrad_nn.MaxPool/holes": lambda x: TF.max_pool2d(x, (2, 3), (1, 2), (0, 1), (2, 1)),
    "plugrad_nn.MaxPool/three axes": lambda x: TF.max_pool3d(x, 2, (1, 2, 2)),
    "plugrad_nn.MaxPool/uneven": uneven,
    "plugrad_nn.AvgPool": lambda x: TF.avg_pool1d(x, 3, 2),
    "plugrad_nn.AvgPool/edge": lambda x: TF.avg_pool1d(x, 3, 2, 1, True),
    "plugrad_nn.AvgPool/edge left out": lambda x: TF.avg_pool1d(x, 3, 2, 1, True, False),
    "plugrad_nn.AvgPool/divisor": lambda x: TF.avg_pool3d(x, 2, (1, 2, 2), divisor_override=3),
    "plugrad_nn.AvgPool/uneven": lambda x: TF.adaptive_avg_pool2d(x, (3, 4)),
    "plugrad_nn.AvgSpread": lambda x: transposed(lambda t: TF.avg_pool1d(t, 3, 2), x, 7),
    "plugrad_nn.AvgSpread/edge left out": lambda x: transposed(lambda t: TF.avg_pool1d(t, 3, 2, 1, True, False), x, 6),
    "plugrad_nn.AvgSpread/uneven": lambda x: transposed(lambda t: TF.adaptive_avg_pool2d(t, (3, 4)), x, 5, 7),
    "plugrad_nn.Resample": resampled((3, 7), "bilinear"),
    "plugrad_nn.Resample/nearest": resampled(7, "nearest"),
    "plugrad_nn.Resample/nearest exact": resampled((3, 2), "nearest-exact"),
    "plugrad_nn.Resample/aligned": resampled(3, "linear", align_corners=True),
    "plugrad_nn.Resample/cubic": resampled((8, 2), "bicubic"),
    "plugrad_nn.Resample/antialias": lambda x: wide(x, 3, "bilinear"),
    "plugrad_nn.Resample/antialias cubic": lambda x: wide(x, 4, "bicubic"),
    "plugrad_nn.ResampleTranspose": lambda x: transposed(resampled((3, 7), "bilinear"), x, 3, 4),
    "plugrad_nn.ResampleTranspose/nearest": lambda x: transposed(resampled(7, "nearest"), x, 5),
    "plugrad_nn.ResampleTranspose/antialias": lambda x: transposed(lambda t: wide(t, 3, "bilinear"), x, 7),
}


def wide(x: Any, to: int, mode: str) -> Any:
    """One axis, as an image of one row."""
    return TF.interpolate(x.unsqueeze(2), (1, to), mode=mode, antialias=True).squeeze(2)


def transposed(f: Any, x: Any, *sizes: int) -> Any:
    """The gradient of the linear f, from x."""
    start = torch.zeros((*x.shape[:2], *sizes), requires_grad=True)
    return torch.autograd.grad(f(start), start, x, create_graph=True)[0]


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])


def settings(axes: int) -> list[tuple[Any, ...]]:
    """(kernel, stride, padding, dilation, ceil_mode) that PyTorch takes."""
    mixed = {1: [2, 3], 2: [2, 3, (2, 3)], 3: [2, (2, 3, 1)]}[axes]
    steps = {1: [None, 1, 2], 2: [None, 1, (3, 2)], 3: [None, (1, 2, 3)]}[axes]
    return list(itertools.product(mixed, steps, [0, 1], [1, 2], [False, True]))


@pytest.mark.parametrize("axes", AXES)
def test_max_pool(axes: int) -> None:
    ours, theirs = getattr(F, f"max_pool{axes}d"), getattr(TF, f"max_pool{axes}d")
    tried = 0
    for how in settings(axes):
        try:
            want = theirs(torch.tensor(X[axes]), *how, True)
        except RuntimeError:
            with pytest.raises(pg.errors.ShapeError):
                ours(pg.tensor(X[axes]), *how, True)
            continue
        agree(ours(pg.tensor(X[axes]), *how, True), want, 0, 0)
        compare(lambda x, how=how: ours(x, *how), lambda x, how=how: theirs(x, *how), X[axes])
        tried += 1
    assert tried > 15


@pytest.mark.parametrize("axes", AXES)
def test_avg_pool(axes: int) -> None:
    ours, theirs = getattr(F, f"avg_pool{axes}d"), getattr(TF, f"avg_pool{axes}d")
    for kernel, stride, padding, dilation, ceil in settings(axes):
        if dilation > 1 or (padding and kernel == (2, 3, 1)):
            continue
        for count, divisor in [(True, None), (False, None)] + [(True, 3)] * (axes > 1):
            how = (kernel, stride, padding, ceil, count, *([divisor] if axes > 1 else []))
            compare(lambda x, how=how: ours(x, *how), lambda x, how=how: theirs(x, *how), X[axes])


@pytest.mark.parametrize("axes", AXES)
def test_adaptive_pools(axes: int) -> None:
    sizes: Any = {1: [1, 4, 9, 3], 2: [1, (2, 3), (None, 4), (7, 10), (9, 4)], 3: [2, (3, 4, None), (1, 5, 3)]}[axes]
    for kind, size in itertools.product(["avg", "max"], sizes):
        ours, theirs = (getattr(lib, f"adaptive_{kind}_pool{axes}d") for lib in (F, TF))
        compare(lambda x, f=ours, s=size: f(x, s), lambda x, f=theirs, s=size: f(x, s), X[axes])
        if kind == "max":
            agree(ours(pg.tensor(X[axes]), size, True), theirs(torch.tensor(X[axes]), size, True), 0, 0)


@pytest.mark.parametrize("axes", AXES)
def test_lp_pool_and_unpool(axes: int) -> None:
    x = np.abs(X[axes]) + 0.1
    for norm, kernel, stride in [(2.0, 2, None), (3, 3, 1), (1.5, 2, 1)]:
        how = (norm, kernel, stride)
        ours, theirs = getattr(F, f"lp_pool{axes}d"), getattr(TF, f"lp_pool{axes}d")
        compare(lambda x, f=ours, h=how: f(x, *h), lambda x, f=theirs, h=how: f(x, *h), x, rtol=1e-4)
    for kernel, stride, size in [(2, None, X[axes].shape), (3, 3, X[axes].shape)]:
        pooled, i = getattr(TF, f"max_pool{axes}d")(torch.tensor(x), kernel, stride, return_indices=True)
        ours, theirs = getattr(F, f"max_unpool{axes}d"), getattr(TF, f"max_unpool{axes}d")
        compare(
            lambda z, f=ours, i=i, k=kernel, s=stride, n=size: f(z, pg.tensor(i.numpy()), k, s, 0, n),
            lambda z, f=theirs, i=i, k=kernel, s=stride, n=size: f(z, i, k, s, 0, n),
            pooled.numpy(),
        )


SIZES: list[dict[str, Any]] = [
    {"size": 5}, {"size": 1}, {"scale_factor": 2}, {"scale_factor": 0.37}, {"scale_factor": 1.7}, {"scale_factor": 3},
    {"scale_factor": 1.7, "recompute_scale_factor": True},
]  # fmt: skip
MODES = [
    *[(1, m) for m in ("nearest", "nearest-exact", "linear", "area")],
    *[(2, m) for m in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")],
    *[(3, m) for m in ("nearest-exact", "trilinear", "area")],
]


@pytest.mark.parametrize(("axes", "mode"), MODES)
def test_interpolate(axes: int, mode: str) -> None:
    smooth = "linear" in mode or mode == "bicubic"
    for how, aligned, antialias in itertools.product(SIZES, [None, False, True], [False, True]):
        if (aligned is not None and not smooth) or (antialias and (aligned or mode not in ("bilinear", "bicubic"))):
            continue
        told = {**how, "mode": mode, "align_corners": aligned, "antialias": antialias}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(partial(F.interpolate, **told), partial(TF.interpolate, **told), X[axes], rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize(("axes", "mode"), [m for m in MODES if m[1] != "area"])
def test_a_scale_that_leaves_the_size(axes: int, mode: str) -> None:
    """Values only: PyTorch's gradient there is not always that of its output, nor are its small images like large."""
    x = np.tile(X[axes], (1, 1, *[10 if axes < 3 else 4] * axes))
    factor = 1 + 0.6 / max(x.shape[2:])
    want = TF.interpolate(torch.tensor(x), None, factor, mode)
    assert want.shape == x.shape
    agree(F.interpolate(pg.tensor(x), None, factor, mode), want, 1e-4, 2e-5)


def test_interpolate_of_one_factor_an_axis() -> None:
    for mode in ("nearest", "bilinear", "bicubic"):
        how = {"scale_factor": (0.6, 2.3), "mode": mode}
        compare(partial(F.interpolate, **how), partial(TF.interpolate, **how), X[2], rtol=1e-4, atol=2e-5)


def test_shuffles() -> None:
    x = RNG.standard_normal((2, 12, 4, 6)).astype("float32")
    compare(lambda x: F.pixel_shuffle(x, 2), lambda x: TF.pixel_shuffle(x, 2), x)
    compare(lambda x: F.pixel_unshuffle(x, 2), lambda x: TF.pixel_unshuffle(x, 2), x)
    compare(lambda x: F.pixel_shuffle(x, 2), lambda x: TF.pixel_shuffle(x, 2), x[0])
    compare(lambda x: F.channel_shuffle(x, 3), lambda x: TF.channel_shuffle(x, 3), x)


LAYERS = [
    (1, lambda lib: lib.MaxPool1d(3, 2, 1)), (2, lambda lib: lib.MaxPool2d((2, 3), stride=2, ceil_mode=True)),
    (3, lambda lib: lib.MaxPool3d(2, padding=1)), (1, lambda lib: lib.AvgPool1d(3, 1, 1, True, False)),
    (2, lambda lib: lib.AvgPool2d(3, 2, 1, divisor_override=4)), (3, lambda lib: lib.AvgPool3d((1, 2, 3))),
    (1, lambda lib: lib.AdaptiveAvgPool1d(4)), (2, lambda lib: lib.AdaptiveAvgPool2d((None, 3))),
    (3, lambda lib: lib.AdaptiveAvgPool3d(2)), (1, lambda lib: lib.AdaptiveMaxPool1d(4)),
    (2, lambda lib: lib.AdaptiveMaxPool2d((2, 3))), (3, lambda lib: lib.AdaptiveMaxPool3d((2, 1, 3))),
    (2, lambda lib: lib.Upsample(scale_factor=2, mode="bilinear")), (2, lambda lib: lib.UpsamplingNearest2d((9, 5))),
    (2, lambda lib: lib.UpsamplingBilinear2d(scale_factor=2)), (1, lambda lib: lib.Upsample(5)),
    (1, lambda lib: lib.ZeroPad1d((1, 2))), (2, lambda lib: lib.ZeroPad2d((1, 2, 0, 3))),
    (3, lambda lib: lib.ZeroPad3d(1)),
    (1, lambda lib: lib.ReflectionPad1d(2)), (2, lambda lib: lib.ReflectionPad2d((1, 2, 3, 0))),
    (3, lambda lib: lib.ReflectionPad3d(1)), (1, lambda lib: lib.ReplicationPad1d((0, 3))),
    (2, lambda lib: lib.ReplicationPad2d(2)), (3, lambda lib: lib.ReplicationPad3d((1, 0, 2, 1, 0, 1))),
    (1, lambda lib: lib.CircularPad1d(2)), (2, lambda lib: lib.CircularPad2d((1, 2, 3, 0))),
    (3, lambda lib: lib.CircularPad3d(1)), (1, lambda lib: lib.ConstantPad1d((1, -1), 2.5)),
    (2, lambda lib: lib.ConstantPad2d(1, -1.0)), (3, lambda lib: lib.ConstantPad3d((1, 2, 0, 0, 1, 0), 3.0)),
    (2, lambda lib: lib.Flatten(1, 2)), (2, lambda lib: lib.Unflatten(3, (2, -1))),
    (2, lambda lib: lib.Unflatten(-4, (1, 2))),
    (1, lambda lib: lib.LPPool1d(2, 3)), (2, lambda lib: lib.LPPool2d(2, 2, 1)), (3, lambda lib: lib.LPPool3d(2, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("axes", "make"), LAYERS, ids=[type(make(nn)).__name__ for _, make in LAYERS])
def test_layers(axes: int, make: Any) -> None:
    compare(make(nn), make(T), np.abs(X[axes]) + 0.1, rtol=1e-4, atol=1e-5)
    if (
        axes < 4
        and "Flatten" not in repr(make(nn))
        and "Unflatten" not in repr(make(nn))
        and "Up" not in repr(make(nn))
    ):
        compare(make(nn), make(T), X[axes][0] ** 2, rtol=1e-4, atol=1e-5)


def test_unpooling_layers() -> None:
    x, i = T.MaxPool2d(2, return_indices=True)(torch.tensor(X[2]))
    mine = nn.MaxUnpool2d(2)(pg.tensor(x.numpy()), pg.tensor(i.numpy()))
    agree(mine, T.MaxUnpool2d(2)(x, i))
    pooled, where = nn.MaxPool2d(2, return_indices=True)(pg.tensor(X[2]))
    agree(where, i)
    agree(pooled, x)


def test_not_a_number_is_the_largest() -> None:
    x = X[2].copy()
    x[0, 0, 2, 3] = x[1, 2, 6, 9] = np.nan
    agree(F.max_pool2d(pg.tensor(x), 3, 2, 1), TF.max_pool2d(torch.tensor(x), 3, 2, 1))
    with pg.kernels("off"):
        agree(F.max_pool2d(pg.tensor(x), 3, 2, 1), TF.max_pool2d(torch.tensor(x), 3, 2, 1))
