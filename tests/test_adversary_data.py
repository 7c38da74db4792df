"""Batches on their way to another device: every tensor in every container goes there."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data

Point = collections.namedtuple("Point", "x y")


class Mine(collections.UserDict[str, Any]):
    """A mapping that is no dict."""


SAMPLE = {
    "ordered": collections.OrderedDict(a=1.5),
    "mine": Mine(a=np.ones(2)),
    "point": Point(1, (2.0, [3])),
    "word": "w",
    "array": np.zeros((2, 2))[::-1],
}


def leaves(x: Any) -> list[Any]:
    if isinstance(x, (dict, collections.UserDict)):
        return [leaf for v in x.values() for leaf in leaves(v)]
    return [leaf for v in x for leaf in leaves(v)] if isinstance(x, (list, tuple)) else [x]


@pytest.mark.parametrize("workers", [0, 1])
def test_everything_goes_to_the_device(workers: int) -> None:
    batch = next(iter(data.DataLoader([SAMPLE] * 2, 2, num_workers=workers, device="strict")))
    assert [type(v) for v in list(batch.values())[:3]] == [collections.OrderedDict, Mine, Point]
    tensors = [leaf for leaf in leaves(batch) if not isinstance(leaf, str)]
    assert {str(t.device) for t in tensors} == {"strict"}
    assert [tuple(t.shape) for t in tensors] == [(2,), (2, 2), (2,), (2,), (2,), (2, 2, 2)]
    assert all(isinstance(t, pg.Tensor) for t in tensors)
