"""Joining, taking apart, copies, padding, windows."""

from __future__ import annotations

import pytest

import plugrad as pg
from plugrad.errors import AxisError, DTypeError, ShapeError

I = pg.tensor  # noqa: E741


def counted(*shape):
    n = 1
    for k in shape:
        n *= k
    return pg.arange(n).reshape(shape).clone()


def lists(parts):
    return [p.tolist() for p in parts]


def test_concat_and_stack():
    x, y = counted(1, 2), counted(2, 2)
    assert pg.concat((x, y)).tolist() == [[0, 1], [0, 1], [2, 3]]
    assert pg.concat((x, counted(1, 1)), axis=-1).tolist() == [[0, 1, 0]]
    assert pg.concat((x, y), axis=None).tolist() == [0, 1, 0, 1, 2, 3]
    assert pg.cat([pg.zeros(0, 2), pg.tensor([[1.0, 2.0]])]).tolist() == [[1.0, 2.0]]
    assert pg.concat([x, x.astype("float32")]).dtype is pg.float32
    assert pg.stack([y, y], axis=-1).shape == (2, 2, 2)
    assert pg.stack([y, y + 1], axis=1).tolist() == [[[0, 1], [1, 2]], [[2, 3], [3, 4]]]


def test_split_chunk_and_unstack():
    x = counted(5)
    assert lists(x.split(2)) == [[0, 1], [2, 3], [4]]
    assert lists(x.split([1, 0, 4])) == [[0], [], [1, 2, 3, 4]]
    assert lists(x.chunk(3)) == [[0, 1], [2, 3], [4]]
    assert lists(x.chunk(4)) == [[0, 1], [2, 3], [4]]
    assert [p.shape for p in pg.zeros(0, 2).chunk(3)] == [(0, 2)] * 3
    assert [p.shape for p in pg.zeros(0).split(2)] == [(0,)]
    assert lists(counted(2, 3).unstack(axis=1)) == [[0, 3], [1, 4], [2, 5]]
    assert pg.zeros(0, 2).unbind() == ()


def test_parts_that_are_not_used_have_gradient_zero():
    x = pg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x.split([1, 2])[1].sum().backward()
    x.unstack()[0].backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_copies():
    x = counted(2, 2)
    assert x.tile(1, 2).tolist() == [[0, 1, 0, 1], [2, 3, 2, 3]]
    assert pg.tile(x, (2, 1, 1)).shape == (2, 2, 2)
    assert x.repeat(2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert pg.repeat(x, 2, axis=1).tolist() == [[0, 0, 1, 1], [2, 2, 3, 3]]
    assert pg.repeat(x, pg.tensor([0, 3]), axis=0).tolist() == [[2, 3]] * 3
    assert pg.repeat_interleave(x, 2, 0).shape == (4, 2)
    assert pg.tensor(3).repeat(2).tolist() == [3, 3]
    with pytest.raises(DTypeError, match=r"x\.tile\(2, 1\)"):
        x.repeat(2, 1)


def test_roll_and_flip():
    x = counted(2, 3)
    assert x.roll(1).tolist() == [[5, 0, 1], [2, 3, 4]]
    assert x.roll((1, -1), axis=(0, 1)).tolist() == [[4, 5, 3], [1, 2, 0]]
    assert x.roll(-7, axis=1).tolist() == [[1, 2, 0], [4, 5, 3]]
    assert x.flip(-1).tolist() == [[2, 1, 0], [5, 4, 3]]
    assert x.flip().tolist() == [[5, 4, 3], [2, 1, 0]]


def test_pad():
    x = counted(3)
    assert x.pad((1, 2)).tolist() == [0, 0, 1, 2, 0, 0]
    assert x.pad(1, value=7).tolist() == [7, 0, 1, 2, 7]
    assert x.pad((2, 3), "reflect").tolist() == [2, 1, 0, 1, 2, 1, 0, 1]
    assert x.pad((1, 2), "replicate").tolist() == [0, 0, 1, 2, 2, 2]
    assert x.pad((2, 4), "circular").tolist() == [1, 2, 0, 1, 2, 0, 1, 2, 0]
    assert x.pad((-1, 1)).tolist() == [1, 2, 0]
    assert x.pad((-1, 1), "replicate").tolist() == [1, 2, 2]
    assert x.pad(1, value=0.5).dtype is pg.float32
    assert (x > 1).pad(1).tolist() == [False, False, False, True, False]
    assert pg.tensor([1.0]).pad(1, value=-float("inf")).tolist() == [-float("inf"), 1.0, -float("inf")]
    assert counted(2, 2).pad(((1, 0), (0, 1))).tolist() == [[0, 0, 0], [0, 1, 0], [2, 3, 0]]


def test_windows():
    x = counted(5)
    assert x.unfold(0, 3, 2).tolist() == [[0, 1, 2], [2, 3, 4]]
    assert counted(2, 3).unfold(-1, 2).shape == (2, 2, 2)
    assert x.as_strided((2, 2), (1, 3)).tolist() == [[0, 3], [1, 4]]
    assert pg.dilate(counted(2, 3), 1, 2).tolist() == [[0, 0, 1, 0, 2], [3, 0, 4, 0, 5]]
    assert counted(3, 3).diagonal(1).tolist() == [1, 5]
    assert counted(3, 3).tril(-1).tolist() == [[0, 0, 0], [3, 0, 0], [6, 7, 0]]
    assert counted(2, 3).triu(1).tolist() == [[0, 1, 2], [0, 0, 5]]


def test_meshgrid():
    a, b = counted(2), counted(3)
    assert [g.shape for g in pg.meshgrid(a, b)] == [(3, 2)] * 2
    first, second = pg.meshgrid(a, b, indexing="ij")
    assert (first.tolist(), second.tolist()) == ([[0] * 3, [1] * 3], [[0, 1, 2]] * 2)
    assert pg.meshgrid() == []


def test_taking_and_scattering():
    x = counted(2, 3)
    assert x.take(I([2, -3]), axis=1).tolist() == [[2, 0], [5, 3]]
    assert x.take(I([[5, -1]])).tolist() == [[5, 5]]
    assert x.gather(1, I([[0, 0], [2, 1]])).tolist() == [[0, 0], [5, 4]]
    assert pg.take_along_axis(x, I([[2], [0]]), axis=1).tolist() == [[2], [3]]
    assert x.scatter(1, I([[0, 2]]), I([[7, 8]])).tolist() == [[7, 1, 8], [3, 4, 5]]
    assert x.scatter(1, I([[1, 1]]), I([[7, 8]])).tolist() == [[0, 8, 2], [3, 4, 5]]
    assert x.scatter_add(1, I([[1, 1]]), I([[7, 8]])).tolist() == [[0, 16, 2], [3, 4, 5]]
    assert x.index_add(0, I([1, 1]), counted(2, 3)).tolist() == [[0, 1, 2], [6, 9, 12]]
    assert pg.one_hot(I([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert pg.one_hot(I([], dtype="int64"), 3).shape == (0, 3)
    assert lists(pg.nonzero(I([[0, 3], [4, 0]]))) == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: pg.concat([]), "concat: no tensors"),
        (lambda x: pg.concat([x, x.mT]), r"concat: shape \(3, 2\) of tensor 1 does not fit shape \(2, 3\)"),
        (lambda x: pg.concat([x, x[0]]), r"concat: shape \(3,\) of tensor 1"),
        (lambda x: pg.stack([x, x.mT]), r"stack: shape \(3, 2\) of tensor 1"),
        (lambda x: x.split([1, 2], axis=0), r"split: sizes \(1, 2\) do not add up to 2"),
        (lambda x: x.split(0), "split: parts of size 0"),
        (lambda x: x.chunk(0), "chunk: 0 parts"),
        (lambda x: x.pad((1, 2, 3)), r"pad: widths \(1, 2, 3\) do not fit shape \(2, 3\)"),
        (lambda x: x.pad(((-2, -1), (0, 0))), "take more than the 2 numbers of axis 0"),
        (lambda x: x.pad(1, "mirror"), "pad: mode 'mirror' is none of"),
        (lambda x: x[:0].pad(((1, 0), (0, 0)), "circular"), "there is nothing to circular"),
        (lambda x: x.unfold(1, 4), r"unfold: windows of 4 every 1 do not fit axis 1 of shape \(2, 3\)"),
        (lambda x: x.as_strided((2, 2), (4, 2)), "reach places 0 to 6 of the 6 elements"),
        (lambda x: x.as_strided((2,), (-1,)), "reach places -1 to 0"),
        (lambda x: pg.dilate(x, 0, 0), "dilate: step 0"),
        (lambda x: x.diagonal(0, 1, 1), "diagonal: axis1 and axis2 are both 1"),
        (lambda x: x[0].tril(), r"tril: shape \(3,\)"),
        (lambda x: x.tile(-1), "tile: repetitions"),
        (lambda x: x.repeat([1, 2, 3], axis=0), "repeat: repeats"),
        (lambda x: x.roll((1, 2), axis=0), "roll: 2 shifts for 1 axes"),
        (lambda x: pg.meshgrid(x), "meshgrid: indexing 'xy' with shapes"),
        (lambda x: x.gather(1, I([[0], [0], [0]])), "gather: index shape"),
        (lambda x: x.scatter(1, I([[0, 1]]), I([[5]])), "scatter: source shape"),
        (lambda x: x.index_add(0, I([0]), x), "index_add: index shape"),
        (lambda x: pg.take_along_axis(x, I([0])), "take_along_axis: index shape"),
        (lambda x: pg.nonzero(x[0, 0]), "nonzero: a 0-d tensor"),
    ],
)
def test_what_does_not_fit_is_said(f, words):
    with pytest.raises(ShapeError, match=words):
        f(counted(2, 3))


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: x.take(I([3]), axis=1), "take: index 3 is out of range for axis 1 of size 3"),
        (lambda x: x.gather(0, I([[-3]])), "gather: index -3 is out of range for axis 0 of size 2"),
        (lambda x: x.scatter_add(1, I([[9]]), 1), "index 9 is out of range for axis 1 of size 3"),
        (lambda x: x.index_add(0, I([2]), x[:1]), "index_add: index 2 is out of range for axis 0 of size 2"),
        (lambda x: x[:0].take(I([0]), axis=0), "there is nothing to index"),
        (lambda x: pg.one_hot(x, 3), "one_hot: 5 is none of the 3 classes"),
        (lambda x: pg.one_hot(-x), "one_hot: -5 is none of the 1 classes"),
        (lambda x: pg.concat([x], axis=2), "concat: axis 2 is out of range"),
    ],
)
def test_what_is_outside_is_an_index_error(f, words):
    with pytest.raises(AxisError, match=words):
        f(counted(2, 3))


def test_indices_are_integers():
    x = counted(2, 3)
    for index in (I([0.0]), I([True, False])):
        with pytest.raises(DTypeError, match="take: an index of"):
            x.take(index, axis=0)
    with pytest.raises(DTypeError, match="concat: item 1 is list, not a tensor"):
        pg.concat([x, [1, 2]])


def test_two_tensors_are_no_list():
    for f in (pg.concat, pg.stack):
        with pytest.raises(DTypeError, match=rf"{f.__name__}: .* give a list: pg\.{f.__name__}\(\[a, b\]\)"):
            f(pg.ones(2), pg.ones(2))
