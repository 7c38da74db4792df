"""Indexing and assignment: places, gradients, refusals, value semantics."""

from __future__ import annotations

import pytest

import plugrad as pg
from plugrad.errors import AxisError, DTypeError, InPlaceError, ShapeError

INF, NAN = float("inf"), float("nan")


def leaf(data):
    return pg.tensor(data, requires_grad=True)


def counted(*shape):
    n = 1
    for k in shape:
        n *= k
    return pg.arange(n).reshape(shape).clone()


def test_repeated_indices_accumulate():
    x = leaf([1.0, 2.0, 3.0])
    (x[pg.tensor([0, 0, 2])] * pg.tensor([10.0, 20.0, 30.0])).sum().backward()
    assert x.grad.tolist() == [30.0, 0.0, 30.0]
    y = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    (y[[-1, 2, 0]] * pg.tensor([[1.0], [10.0], [100.0]])).sum().backward()
    assert y.grad.tolist() == [[100.0, 100.0], [0.0, 0.0], [11.0, 11.0]]
    z = leaf([[1.0, 2.0], [3.0, 4.0]])
    (z[pg.tensor([0, 0, 1]), pg.tensor([1, 1, 0])] * pg.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert z.grad.tolist() == [[0.0, 3.0], [4.0, 0.0]]
    m = leaf([1.0, 2.0, 3.0])
    (m[pg.tensor([True, False, True])] * pg.tensor([5.0, 7.0])).sum().backward()
    assert m.grad.tolist() == [5.0, 0.0, 7.0]


def test_slices_of_every_step():
    x = leaf([1.0, 2.0, 3.0, 4.0, 5.0])
    assert x[::-1].tolist() == [5.0, 4.0, 3.0, 2.0, 1.0]
    (x[::-2] * pg.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100.0, 0.0, 10.0, 0.0, 1.0]
    x.grad = None
    (x[1:][::2] * pg.tensor([10.0, 20.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 10.0, 0.0, 20.0, 0.0]
    x.grad = None
    (x[2:2:2].sum() + x[-1] * 4.0).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 0.0, 4.0]
    n = leaf([[1.0, 2.0], [3.0, 4.0]])
    (n[..., None, -1] * pg.tensor([[5.0], [7.0]])).sum().backward()
    assert n.grad.tolist() == [[0.0, 5.0], [0.0, 7.0]]
    assert counted(5)[10:1:-3].tolist() == [4]
    assert counted(5)[-100:100].tolist() == [0, 1, 2, 3, 4]


def test_axes_of_advanced_indices_stand_where_numpy_puts_them():
    x, i = counted(2, 3, 4, 5), pg.tensor([0, 1, 1, 0, 1, 0])
    assert x[:, i, i].shape == (2, 6, 5)
    assert x[i, :, i].shape == (6, 3, 5)
    assert x[0, :, i].shape == (6, 3, 5)
    assert x[:, None, i].shape == (2, 1, 6, 4, 5)
    assert x[i, ..., None].shape == (6, 3, 4, 5, 1)
    assert x[i.reshape(2, 3), [[0]]].shape == (2, 3, 4, 5)
    assert x[:, pg.ones(3, 4, dtype="bool")].shape == (2, 12, 5)


def test_masks():
    x = counted(2, 3)
    assert x[x > 2].tolist() == [3, 4, 5]
    assert x[[True, False]].tolist() == [[0, 1, 2]]
    assert x[x > 9].shape == (0,)
    assert x[True].shape == (1, 2, 3)
    assert x[False].shape == (0, 2, 3)
    assert pg.tensor(3.0)[pg.tensor(True)].tolist() == [3.0]
    assert pg.masked_select(x, pg.tensor([True, False, True])).tolist() == [0, 2, 3, 5]


def test_a_number_in_a_tensor_is_a_number():
    x = counted(2, 3)
    assert x[pg.tensor(1)].tolist() == x[1].tolist() == [3, 4, 5]
    assert x[pg.tensor(-1), pg.tensor(0)].item() == 3
    assert x[pg.tensor(1) :].tolist() == [[3, 4, 5]]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (2, r"index 2 is out of range for axis 0 of size 2"),
        ((0, -4), r"index -4 is out of range for axis 1 of size 3"),
        ([0, 2], r"index 2 is out of range for axis 0 of size 2; use -2 to 1"),
        ((slice(None), [[-4]]), r"index -4 is out of range for axis 1 of size 3"),
        (([0, 1], [0, 3]), r"index 3 is out of range for axis 1 of size 3"),
        ((0, [5]), r"index 5 is out of range for axis 1 of size 3"),
        ((0, 0, 0), r"3 indices for 2 dimensions"),
        ((..., ...), r"2 ellipses"),
        ([True, False, True], r"a mask of shape \(3,\) does not fit axes of sizes \(2,\)"),
    ],
)
def test_what_is_outside_is_an_index_error(key, words):
    x = counted(2, 3)
    with pytest.raises(AxisError, match=words):
        x[key]
    with pytest.raises(IndexError, match=words):
        x[key] = 0


def test_index_shapes_must_broadcast():
    with pytest.raises(ShapeError, match=r"index shapes \(2,\) and \(3,\) do not fit together"):
        counted(2, 3)[[0, 1], [0, 1, 2]]


@pytest.mark.parametrize("key", [1.0, "0", [0.5], slice(0, 1.5), object(), {0}, {0: 1}])
def test_what_is_no_index_is_a_type_error(key):
    with pytest.raises(DTypeError):
        counted(3)[key]


def test_a_step_of_zero_is_refused():
    with pytest.raises(ShapeError, match="step other than 0"):
        counted(3)[::0]


def test_assignment():
    x = counted(2, 3)
    x[0, 1] = 9
    x[1] = [6, 7, 8]
    assert x.tolist() == [[0, 9, 2], [6, 7, 8]]
    x[:, ::-2] = pg.tensor([[1], [2]])
    assert x.tolist() == [[1, 9, 1], [2, 7, 2]]
    x[x > 5] = 0
    assert x.tolist() == [[1, 0, 1], [2, 0, 2]]
    x[[1, 1], [0, 0]] = [3, 4]
    assert x[1, 0].item() == 4
    x[x == 1] = [5, 6]
    assert x.tolist() == [[5, 0, 6], [4, 0, 2]]
    x[...] = 1
    assert x.tolist() == [[1] * 3] * 2
    x[:, None, 0] = [[7], [8]]
    assert x.tolist() == [[7, 1, 1], [8, 1, 1]]
    y = pg.tensor(1.0)
    y[()] = 2.0
    assert y.item() == 2.0


def test_gradients_of_the_old_and_of_the_new_value():
    x, v = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    y = x * 1.0
    y[0] = v * 2.0
    (y * pg.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [100.0, 1000.0]]
    assert v.grad.tolist() == [2.0, 20.0]


def test_of_equal_places_only_the_last_value_has_a_gradient():
    x, v = leaf([1.0, 2.0]), leaf([3.0, 4.0, 5.0])
    y = x * 1.0
    y[[0, 1, -2]] = v
    assert y.tolist() == [5.0, 4.0]
    (y * pg.tensor([1.0, 10.0])).sum().backward()
    assert (x.grad.tolist(), v.grad.tolist()) == ([0.0, 0.0], [0.0, 10.0, 1.0])


def test_a_mask_with_a_scalar_leaves_no_nan_behind():
    x, v = leaf([1.0, 4.0]), leaf(7.0)
    y = x * pg.tensor([NAN, 2.0])
    y[y != y] = v
    y.sum().backward()
    assert (x.grad.tolist(), v.grad.item()) == ([0.0, 2.0], 1.0)


@pytest.mark.parametrize("pick", [lambda x: x[1:], lambda x: x[[1]], lambda x: x[pg.tensor([False, True])]])
@pytest.mark.parametrize("bad", [INF, NAN])
def test_what_was_not_picked_has_gradient_zero_whatever_it_was(pick, bad):
    x = leaf([2.0, 3.0])
    pick(x * pg.tensor([bad, 5.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 5.0]


def test_values_that_do_not_fit_are_refused():
    x = counted(2, 3)
    with pytest.raises(ShapeError, match=r"setitem: a value of shape \(2,\) does not fit x\[key\] of shape \(3,\)"):
        x[0] = pg.tensor([1, 2])
    with pytest.raises(ShapeError, match="setitem"):
        x[[0, 1]] = counted(2, 2, 3)
    with pytest.raises(DTypeError, match=r"setitem: a value of float does not fit a tensor of int64"):
        x[0] = 1.5
    with pytest.raises(DTypeError, match=r"setitem: a value of float32 does not fit a tensor of int64"):
        x[0] = pg.tensor(1.5)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_value_semantics():
    x = pg.zeros(2, 2)
    with pytest.raises(InPlaceError, match=r"x\[0, 1\] = v"):
        x[0][1] = 5.0
    x[0, 1] = 5.0
    row = x[0]
    row += 1.0
    assert (row.tolist(), x.tolist()) == ([1.0, 6.0], [[0.0, 5.0], [0.0, 0.0]])
    row[0] = 9.0  # a value of its own since the +=
    assert x[0, 0].item() == 0.0


def test_augmented_assignment_writes_the_parts_back():
    x = counted(2, 3)
    x[0] += 10
    x[x > 10] *= 2
    x[[1, 1], [0, 0]] += 1
    x[:, -1] -= pg.tensor([1, 2])
    assert x.tolist() == [[10, 22, 23], [4, 4, 3]]
    w = leaf([1.0, 2.0, 3.0])
    h = w * 1.0
    h[1:] *= w[:2]
    h.sum().backward()
    assert w.grad.tolist() == [1.0 + 2.0, 1.0 + 3.0, 2.0]


def test_what_the_graph_saved_is_not_reached_by_assignment():
    x = leaf([1.0, 2.0])
    h = x * 1.0
    y = (h * h).sum()
    d = h.detach()
    d[0] = 50.0
    h[1] = 60.0
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_gradients_own_their_memory():
    x, y = leaf([1.0, 1.0]), leaf([1.0, 1.0])
    (x + y).sum().backward()
    with pg.no_grad():
        x.grad *= 0.0
        x.grad[0] = 9.0
    assert (x.grad.tolist(), y.grad.tolist()) == ([9.0, 0.0], [1.0, 1.0])
