"""From samples to a batch."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError
from plugrad_data import PadCollate, default_collate, default_convert

Point = namedtuple("Point", "x y")


def test_tensors_arrays_and_numbers_become_tensors() -> None:
    assert default_collate([pg.tensor([1.0, 2.0]), pg.tensor([3.0, 4.0])]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    arrays = default_collate([np.array([1, 2], dtype=np.uint8)] * 2)
    assert (arrays.tolist(), arrays.dtype) == ([[1, 2], [1, 2]], pg.uint8)
    kinds = [default_collate([v, v]).dtype for v in (1, 1.0, True, np.float64(1), np.int32(1))]
    assert kinds == [pg.int64, pg.float32, pg.bool, pg.float64, pg.int32]
    assert default_collate([1, 2.5]).tolist() == [1.0, 2.5]


def test_gradients_flow_through_a_batch() -> None:
    x = pg.tensor([1.0], requires_grad=True)
    (default_collate([x, x * 2]) * pg.tensor([[1.0], [10.0]])).sum().backward()
    assert x.grad.tolist() == [21.0]


def test_containers_keep_their_type() -> None:
    batch = default_collate([{"a": 1, "b": ("s", [1.0])}, {"b": ("t", [2.0]), "a": 2}])
    assert batch["a"].tolist() == [1, 2]
    assert batch["b"][0] == ["s", "t"]
    assert isinstance(batch["b"], tuple)
    assert isinstance(batch["b"][1], list)
    assert batch["b"][1][0].tolist() == [1.0, 2.0]
    point = default_collate([Point(1, 2), Point(3, 4)])
    assert isinstance(point, Point)
    assert point.y.tolist() == [2, 4]
    assert isinstance(default_collate([OrderedDict(a=1)]), OrderedDict)
    assert dict(default_collate([defaultdict(int, a=1)]))["a"].tolist() == [1]


@pytest.mark.parametrize(
    ("batch", "error", "words"),
    [
        ([pg.ones(2), pg.ones(3)], ShapeError, r"sample differs: shape \(2,\) of sample 0, \(3,\) of sample 1"),
        ([{"k": (1, np.ones(2))}, {"k": (1, np.ones(3))}], ShapeError, r"sample\['k'\]\[1\] differs: shape"),
        ([Point(1, [1]), Point(1, [1, 2])], ShapeError, r"sample\.y differs: length 1 of sample 0, 2 of sample 1"),
        ([{"a": 1}, {"b": 1}], ShapeError, r"keys \['a'\] of sample 0, \['b'\] of sample 1"),
        ([{"a": 1}, 1], DTypeError, "of sample 0 it is a dict, of sample 1 a int"),
        ([1, "a"], DTypeError, "int, of sample 1 a str"),
        ([pg.ones(1), np.ones(1)], DTypeError, "Tensor of float32, ndarray of float64"),
        ([np.array(["a"])] * 2, DTypeError, "cannot be stacked"),
        ([None], DTypeError, "NoneType; tensors, arrays"),
        ([[object()]], DTypeError, r"sample\[0\] is a object"),
    ],
)
def test_the_rest_is_refused_with_its_place(batch: list, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        default_collate(batch)


def test_one_sample_is_only_converted() -> None:
    sample: Any = default_convert({"a": np.ones(2, dtype=np.float32), "b": (1, Point(np.int64(3), "s"))})
    assert sample["a"].tolist() == [1.0, 1.0]
    assert sample["b"][0] == 1
    assert isinstance(sample["b"][1], Point)
    assert sample["b"][1].x.tolist() == 3


def test_padding_to_the_longest() -> None:
    samples = [{"x": np.arange(n, dtype=np.float32), "n": n} for n in (3, 1, 2)]
    batch = PadCollate(value=-1)(samples)
    assert batch["x"].tolist() == [[0, 1, 2], [0, -1, -1], [0, 1, -1]]
    assert batch["n"].tolist() == [3, 1, 2]
    left = PadCollate(side="left", multiple_of=4)(samples)["x"]
    assert left.tolist() == [[0, 0, 1, 2], [0, 0, 0, 0], [0, 0, 0, 1]]


def test_padding_several_axes_of_tensors_and_leaving_equal_ones() -> None:
    a, b = pg.ones((2, 3)), pg.ones((4, 1))
    both = PadCollate(multiple_of=3)([(a, pg.zeros(2)), (b, pg.ones(2))])
    assert both[0].shape == (2, 6, 3)
    assert float(both[0].sum()) == 10
    assert both[1].shape == (2, 2)
    with pytest.raises(ShapeError, match=r"number of axes 2 of sample 0, 1 of sample 1"):
        PadCollate()([a, pg.ones(3)])
    with pytest.raises(ValueError, match="'right' or 'left'"):
        PadCollate(side="up")
