"""scikit-learn functions that dispatch on the array API run on tensors, and gradients flow through them."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.metrics import pairwise


def draw(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, shape)


def positive(*shape, seed=0):
    return draw(*shape, low=0.5, high=2.5, seed=seed)


ROWS = {
    "cosine_similarity": (pairwise.cosine_similarity, draw(3, 4), draw(2, 4, seed=1)),
    "rbf_kernel": (lambda x, y: pairwise.rbf_kernel(x, y, gamma=0.3), draw(3, 4), draw(2, 4, seed=1)),
    "rbf_kernel, one": (lambda x: pairwise.rbf_kernel(x, x + 0.5), draw(3, 4)),
    "euclidean_distances": (pairwise.euclidean_distances, draw(3, 4), draw(2, 4, seed=1)),
    "polynomial_kernel": (pairwise.polynomial_kernel, draw(3, 4), draw(2, 4, seed=1)),
    "additive_chi2_kernel": (pairwise.additive_chi2_kernel, positive(3, 4), positive(2, 4, seed=1)),
}


@pytest.mark.parametrize("name", ROWS)
def test_sklearn_takes_tensors(name, agree):
    with sklearn.config_context(array_api_dispatch=True):
        agree(*ROWS[name])
