"""What SciPy and scikit-learn are held to: on tensors they give what they give on NumPy arrays, and gradients flow."""

from __future__ import annotations

import os

import numpy as np
import pytest

import plugrad as pg
from plugrad.testing.gradcheck import gradcheck

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads this once, when it is first imported


@pytest.fixture
def agree():
    """agree(f, *arrays): f has NumPy's value on tensors, is a tensor, and its gradient is the slope."""
    return _agree


def _agree(f, *arrays):
    xs = [pg.tensor(a, device="numpy", requires_grad=True) for a in arrays]
    got, want = f(*xs), f(*arrays)
    assert isinstance(got, pg.Tensor)
    assert got.dtype is pg.float64
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12, atol=1e-14)
    assert all(g.shape == x.shape for g, x in zip(pg.grad(got.sum(), xs), xs, strict=True))
    gradcheck(f, [x.detach() for x in xs])
