"""SciPy functions that take any array-API object run on tensors, and gradients flow through them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats
from scipy.cluster import vq


def draw(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, shape)


def positive(*shape, seed=0):
    return draw(*shape, low=0.5, high=2.5, seed=seed)


ROWS = {
    "special.logsumexp": (lambda x: special.logsumexp(x, axis=1), draw(3, 4)),
    "special.logsumexp, b": (lambda x, b: special.logsumexp(x, axis=0, b=b), draw(3, 4), positive(3, 4, seed=1)),
    "special.softmax": (lambda x: special.softmax(x, axis=1), draw(3, 4)),
    "special.log_softmax": (lambda x: special.log_softmax(x, axis=1), draw(3, 4)),
    "special.xlogy": (special.xlogy, draw(3, 4), positive(3, 4, seed=1)),
    "special.rel_entr": (special.rel_entr, positive(3, 4), positive(3, 4, seed=1)),
    "stats.zscore": (stats.zscore, draw(5, 2)),
    "stats.gmean": (stats.gmean, positive(5, 2)),
    "stats.hmean": (lambda x: stats.hmean(x, axis=1), positive(2, 5)),
    "stats.pmean": (lambda x: stats.pmean(x, 3), positive(5, 2)),
    "stats.skew": (stats.skew, draw(6, 2)),
    "stats.skew, unbiased": (lambda x: stats.skew(x, bias=False), draw(6, 2)),
    "stats.kurtosis": (stats.kurtosis, draw(6, 2)),
    "stats.variation": (lambda x: stats.variation(x, ddof=1), positive(5, 2)),
    "stats.moment": (lambda x: stats.moment(x, 3), draw(5, 2)),
    "stats.sem": (stats.sem, draw(5, 2)),
    "stats.circmean": (lambda x: stats.circmean(x, high=2, low=-2), draw(5, low=-0.9, high=0.9)),
    "stats.boxcox_llf": (lambda x: stats.boxcox_llf(0.5, x), positive(6)),
    "integrate.trapezoid": (lambda y, x: integrate.trapezoid(y, x=x), draw(2, 5), positive(5, seed=1).cumsum()),
    "integrate.cumulative_trapezoid": (lambda y: integrate.cumulative_trapezoid(y, dx=0.5, axis=0), draw(5, 2)),
    "integrate.cumulative_trapezoid, initial": (lambda y: integrate.cumulative_trapezoid(y, initial=0), draw(2, 5)),
    "cluster.vq.whiten": (vq.whiten, draw(5, 3)),
    "optimize.rosen": (optimize.rosen, draw(5)),
}


@pytest.mark.parametrize("name", ROWS)
def test_scipy_takes_tensors(name, agree):
    agree(*ROWS[name])
