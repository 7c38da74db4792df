"""Resampling of pictures against PyTorch's interpolation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as TF

import plugrad as pg
from plugrad_data import transforms

X = np.random.default_rng(0).random((3, 13, 17)).astype("float32")


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(5, 6), (13, 40), (31, 3), (1, 1), (13, 17)])
def test_resize(size: tuple[int, int], antialias: bool) -> None:
    want = TF.interpolate(torch.tensor(X[None]), size, mode="bilinear", antialias=antialias)[0].numpy()
    for x in (X, pg.tensor(X)):
        np.testing.assert_allclose(np.asarray(transforms.Resize(size, antialias)(x)), want, rtol=1e-5, atol=1e-6)
