"""Pooling, resampling, padding: what is refused, and how."""

from __future__ import annotations

from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import ShapeError
from plugrad_nn import functional as F

X = pg.arange(24, dtype="float32").reshape(1, 2, 3, 4)


def test_largest_and_mean() -> None:
    assert F.max_pool2d(X, 2).tolist() == [[[[5.0, 7.0]], [[17.0, 19.0]]]]
    assert F.avg_pool2d(X, (3, 2)).tolist() == [[[[4.5, 6.5]], [[16.5, 18.5]]]]
    assert F.adaptive_avg_pool2d(X, 1).tolist() == [[[[5.5]], [[17.5]]]]
    assert F.max_pool2d(X[0], 3).shape == (2, 1, 1)
    assert F.max_pool1d(pg.tensor([[5, -7, 2]]), 2, 1).tolist() == [[5, 2]]


def test_minus_infinity_is_not_padding() -> None:
    x = pg.tensor([[[-pg.inf, -pg.inf, -pg.inf]]])
    z, i = F.max_pool1d(x, 3, 1, 1, return_indices=True)
    assert z.tolist() == [[[-pg.inf] * 3]]
    assert i.tolist() == [[[0, 0, 1]]]


def test_shuffling_there_and_back() -> None:
    x = pg.arange(2 * 8 * 3 * 5).reshape(2, 8, 3, 5)
    assert F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2).tolist() == x.tolist()
    assert F.channel_shuffle(F.channel_shuffle(x, 2), 4).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("f", "match"),
    [
        (lambda: F.max_pool2d(X, 4), r"windows of \(4, 4\) .* do not fit an input of \(3, 4\)"),
        (lambda: F.max_pool2d(X, 2, padding=2), "padding 2 is more than half of kernel_size 2"),
        (lambda: F.avg_pool1d(X, 2), r"max|avg_pool1d: input of shape \(1, 2, 3, 4\) has 4 axes; 2 or 3 fit"),
        (lambda: F.max_pool2d(X, (2, 2, 2)), r"kernel_size \(2, 2, 2\) does not fit"),
        (lambda: F.max_pool2d(X, 0), "kernel_size 0 does not fit"),
        (lambda: F.adaptive_avg_pool2d(X, (1, 2, 3)), r"output_size \(1, 2, 3\) does not fit"),
        (lambda: F.adaptive_avg_pool2d(X[:, :, :0], 1), "nothing to pool"),
        (lambda: F.max_unpool2d(X, X[:, :1].astype("int64"), 2), "they must be equal"),
        (lambda: F.max_unpool2d(X, X.astype("int64") + 99, 2), "indices reach to 122, the output of"),
        (lambda: F.max_unpool2d(X, X.astype("int64"), 2, output_size=(9, 9)), "not within a stride"),
        (lambda: F.interpolate(X, 5, mode="linear"), r"mode 'linear' takes inputs of 3 axes, .* not \(1, 2, 3, 4\)"),
        (lambda: F.interpolate(X, scale_factor=0.1), r"makes sizes \(0, 0\) of \(3, 4\)"),
        (lambda: F.pixel_shuffle(X, 2), r"shape \(1, 2, 3, 4\) has not a multiple of 2² channels"),
        (lambda: F.pixel_unshuffle(X, 2), "has not multiples of 2"),
        (lambda: F.channel_shuffle(X, 3), "has not a multiple of 3 channels"),
        (lambda: nn.ZeroPad2d((1, 2, 3)), "is not one number, nor 4 of them"),
        (lambda: nn.ReflectionPad1d(1)(X), r"input of shape \(1, 2, 3, 4\) has 4 axes; 2 or 3 fit"),
        (lambda: nn.Unflatten(4, (2, 2))(X), "has no axis 4"),
    ],
)
def test_what_does_not_fit_is_told(f: Any, match: str) -> None:
    with pytest.raises(ShapeError, match=match):
        f()


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({}, "either size or scale_factor"),
        ({"size": 2, "scale_factor": 2.0}, "either size or scale_factor"),
        ({"size": 2, "mode": "best"}, "mode 'best' is none of"),
        ({"size": 2, "align_corners": True}, "align_corners means nothing to mode 'nearest'"),
        ({"size": 2, "antialias": True}, "antialias is for modes"),
        ({"size": 2, "mode": "bilinear", "antialias": True, "align_corners": True}, "leave align_corners out"),
        ({"size": 2, "recompute_scale_factor": True}, "goes with scale_factor"),
    ],
)
def test_settings_that_exclude_each_other(how: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        F.interpolate(X, **how)
    with pytest.raises(ValueError, match="divisor_override is 0"):
        F.avg_pool2d(X, 2, divisor_override=0)


def test_how_layers_look() -> None:
    assert repr(nn.MaxPool2d(2)) == "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"
    assert repr(nn.AdaptiveAvgPool2d((1, None))) == "AdaptiveAvgPool2d(output_size=(1, None))"
    assert repr(nn.Upsample(scale_factor=2)) == "Upsample(scale_factor=2, mode='nearest')"
    assert repr(nn.ConstantPad1d(2, 3.5)) == "ConstantPad1d(padding=(2, 2), value=3.5)"
