"""Value semantics: a new value for one object, never for what others see."""

import pytest

import plugrad as pg
from plugrad.errors import DTypeError, InPlaceError, ShapeError


def leaf(data):
    return pg.tensor(data, requires_grad=True)


def test_inplace_operators_keep_the_object_and_spare_others():
    x = pg.tensor([1.0, 2.0])
    alias, same, row = x.detach(), x, x[:1]
    x += 1.0
    x *= 2.0
    x -= pg.tensor([1.0, 1.0])
    x /= 1.0
    x **= 2
    assert x is same
    assert x.tolist() == [9.0, 25.0]
    assert alias.tolist() == [1.0, 2.0]
    assert row.tolist() == [1.0]


def test_integer_operators():
    x = pg.tensor([7, 12])
    x //= 2
    x %= 4
    assert x.tolist() == [3, 2]
    x <<= 2
    x >>= 1
    assert x.tolist() == [6, 4]
    x &= 6
    x |= 1
    x ^= 3
    assert x.tolist() == [4, 6]


def test_old_and_new_value_both_get_their_gradients():
    x = leaf([1.0, 2.0])
    h = x * 3.0
    before = (h * h).sum()
    h += x
    h[0] = 10.0
    (before + (h * h).sum()).backward()
    assert x.grad.tolist() == [18.0, 2 * 18.0 + 2 * 4 * 8.0]


def test_what_a_gradient_saved_is_a_snapshot():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    with pg.no_grad():
        x -= 0.5
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    h = leaf([1.0, 2.0]) * 1.0
    y = (h * h).sum()
    d = h.detach()
    d[0] = 50.0
    assert h.tolist() == [1.0, 2.0]
    y.backward()


def test_leaves_are_protected():
    x = leaf([1.0, 2.0])
    for change in (lambda: x.__iadd__(1.0), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(InPlaceError, match="no_grad"):
            change()
    with pg.no_grad():
        x += 1.0
        x[0] = 7.0
    assert x.tolist() == [7.0, 3.0]
    assert x.is_leaf
    assert x.requires_grad


def test_a_constant_becomes_part_of_the_graph():
    w, buffer = leaf([2.0]), pg.zeros(3)
    buffer[1] = w[0] * 3.0
    assert buffer.requires_grad
    (buffer * buffer).sum().backward()
    assert w.grad.tolist() == [36.0]


def test_shape_and_dtype_stay():
    x = pg.tensor([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"\(2, 2\)"):
        x += pg.ones(2, 2)
    n = pg.tensor([1, 2])
    with pytest.raises(DTypeError, match="float32"):
        n += 0.5
    assert x.tolist() == [1.0, 2.0]
    assert n.tolist() == [1, 2]


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[0],
        lambda x: x[:, 1:],
        lambda x: x.reshape(-1),
        lambda x: x.T,
        lambda x: x.permute(1, 0),
        lambda x: x.flatten(),
        lambda x: x.squeeze(),
        lambda x: x.expand(2, 2),
        lambda x: x[0].detach(),
    ],
)
def test_assignment_to_a_temporary_view_is_refused_with_the_fix(view):
    x = pg.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(InPlaceError, match=r"x\[0, 1\] = v, not x\[0\]\[1\] = v"):
        view(x)[0] = 9.0
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_what_to_write_instead_works():
    x = pg.tensor([[1.0, 2.0], [3.0, 4.0]])
    x[0, 1] = 9.0
    y = x[1].clone()
    y[0] = 7.0
    row = x[0]
    row += 1.0
    row[0] = 5.0  # row has a value of its own by now
    assert x.tolist() == [[1.0, 9.0], [3.0, 4.0]]
    assert y.tolist() == [7.0, 4.0]
    assert row.tolist() == [5.0, 10.0]


def test_advanced_indexing_makes_copies():
    x = pg.tensor([1.0, 2.0, 3.0])
    y = x[pg.tensor([0, 2])]
    y[0] = 9.0
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert y.tolist() == [9.0, 3.0]
