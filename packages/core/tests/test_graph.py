"""The way back: accumulation, freeing, retaining, depth, hooks, what is kept."""

import gc
import weakref

import pytest

import plugrad as pg
from plugrad.errors import DTypeError, GraphError, ShapeError


def leaf(data, **options):
    return pg.tensor(data, requires_grad=True, **options)


def test_gradients_add_up_over_uses_and_over_walks():
    x = leaf([1.0, 2.0])
    (x * x + x).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]
    (x * 10.0).sum().backward()
    assert x.grad.tolist() == [13.0, 15.0]


def test_broadcasting_is_undone():
    x, b, s = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), leaf([[1.0], [2.0]]), leaf(3.0)
    (x * b * s).sum().backward()
    assert b.grad.tolist() == [[18.0], [45.0]]
    assert s.grad.tolist() == 36.0
    assert x.grad.shape == (2, 3)


def test_second_walk_raises_unless_retained():
    x = leaf(2.0)
    y = x.exp()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == pytest.approx(2 * 7.38905609893065)
    with pytest.raises(GraphError, match=r"retain_graph=True"):
        y.backward()


def test_even_an_op_that_keeps_nothing_is_walked_once():
    y = leaf(2.0) + 1.0
    y.backward()
    with pytest.raises(GraphError, match="freed"):
        y.backward()


def test_shared_part_freed_by_another_walk_is_noticed():
    x = leaf([1.0, 2.0])
    h = x.exp()
    a, b = h.sum(), (h * 2.0).sum()
    a.backward()
    with pytest.raises(GraphError, match="freed"):
        b.backward()


def test_only_scalars_start_without_a_seed():
    x = leaf([1.0, 2.0])
    with pytest.raises(GraphError, match=r"shape \(2,\) is not a scalar"):
        (x * 2.0).backward()
    (x * x).backward(pg.tensor([10.0, 1.0]))
    assert x.grad.tolist() == [20.0, 4.0]
    with pytest.raises(ShapeError, match=r"\(3,\).*\(2,\)"):
        (x * x).backward(pg.tensor([1.0, 1.0, 1.0]))
    z = leaf([[3.0]])
    (z * z).backward()  # one element is scalar enough
    assert z.grad.tolist() == [[6.0]]


def test_no_way_back_is_an_error():
    for y in (pg.tensor(1.0) * 2.0, leaf(1.0).detach(), leaf(2.5).floor().detach()):
        with pytest.raises(GraphError, match="no way back"):
            y.backward()


def test_the_seed_is_not_shared_with_the_gradient():
    x, seed = leaf([1.0, 2.0]), pg.tensor([1.0, 1.0])
    y = x + 0.0
    y.backward(seed)
    with pg.no_grad():
        x.grad *= 100.0
    assert seed.tolist() == [1.0, 1.0]


def test_two_leaves_never_share_a_gradient():
    x, y = leaf([1.0, 1.0]), leaf([1.0, 1.0])
    (x + y).sum().backward()
    with pg.no_grad():
        x.grad[0] = 9.0
        x.grad *= 2.0
    assert y.grad.tolist() == [1.0, 1.0]


def test_grad_returns_and_touches_nothing():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    gx, gy = pg.grad((x * y).sum(), [x, y])
    assert gx.tolist() == [3.0, 4.0]
    assert gy.tolist() == [1.0, 2.0]
    assert x.grad is None
    assert y.grad is None


def test_grad_of_an_inner_tensor_and_of_the_output_itself():
    x = leaf([1.0, 2.0])
    h = x * 3.0
    y = (h * h).sum()
    gh, gx, gy = pg.grad(y, [h, x, y])
    assert gh.tolist() == [6.0, 12.0]
    assert gx.tolist() == [18.0, 36.0]
    assert gy.tolist() == 1.0


def test_grad_of_what_is_not_behind_the_output():
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(GraphError, match="input 1"):
        pg.grad(x * 2.0, [x, y])
    assert pg.grad(x * 2.0, [x, y], allow_unused=True)[1] is None
    assert pg.grad(x * 2.0, [x, y], materialize_grads=True)[1].tolist() == 0.0
    with pytest.raises(GraphError, match="input 0 of shape"):
        pg.grad(x * 2.0, [pg.tensor(1.0)])


def test_grad_of_several_outputs_with_seeds():
    x = leaf([1.0, 2.0])
    a, b = x * 2.0, x * x
    (g,) = pg.grad([a, b], x, [pg.tensor([1.0, 10.0]), pg.tensor([1.0, 1.0])])
    assert g.tolist() == [4.0, 24.0]
    (g,) = pg.grad([(x * 2.0).sum()] * 2, x)
    assert g.tolist() == [4.0, 4.0]


def test_grad_computes_only_what_leads_to_the_inputs():
    calls = []
    x, w = leaf([1.0]), leaf([2.0])
    h = w * w
    h.register_hook(lambda g: calls.append(1))
    pg.grad((x * h).sum(), x)
    assert calls == []


def test_fourth_derivatives():
    x = leaf(0.5)
    y, found = (x * 3.0).exp(), []
    for _ in range(4):
        (y,) = pg.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == pytest.approx([3**n * 4.4816890703 for n in (1, 2, 3, 4)], rel=1e-5)


def test_backward_with_create_graph():
    x = leaf(2.0)
    (x * x * x).backward(create_graph=True)
    g, x.grad = x.grad, None
    g.backward()
    assert x.grad.item() == pytest.approx(12.0)


def test_chain_of_100000_ops():
    x = leaf([1.0])
    y = x
    for _ in range(50_000):
        y = (y + 1e-6) * 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]
    del y  # freed without recursion


def test_deep_graph_dies_without_having_been_walked():
    y = leaf([1.0])
    for _ in range(100_000):
        y = -y
    node = weakref.ref(y.node)
    del y
    assert node() is None


def test_thousandfold_diamond():
    x = leaf([1.0, 2.0])
    y = x
    for _ in range(1000):
        y = (y + y) * 0.5
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_no_garbage_for_the_cycle_collector():
    w, b = leaf([[0.1, 0.2], [0.3, 0.4]]), leaf([0.0, 0.0])
    x = pg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def step():
        w.grad = b.grad = None
        loss = ((x @ w + b).relu() ** 2).mean()
        loss.backward()
        with pg.no_grad():
            w.__isub__(w.grad * 0.01)
            b.__isub__(b.grad * 0.01)

    step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            step()
        assert gc.collect() == 0
    finally:
        gc.enable()


def saved_arrays(y):
    return [a for a in y.node.saved if a is not None]


def test_what_no_gradient_names_is_not_kept():
    a, b = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([[5.0, 6.0], [7.0, 8.0]])
    assert saved_arrays(a + b) == []
    assert saved_arrays(-a) == []
    relu = a.relu()
    (kept,) = saved_arrays(relu)
    assert kept is relu.data  # the output, not the input
    c = a.detach()
    (kept,) = saved_arrays(c @ b)
    assert kept is c.data  # c wants no gradient, so b is not kept
    assert [x is y for x, y in zip(saved_arrays(a @ b), (b.data, a.data), strict=True)] == [True, True]
    (kept,) = saved_arrays(a * 2.0)
    assert kept is not a.data


def test_saved_arrays_are_let_go_as_the_walk_passes():
    x = leaf([1.0, 2.0])
    y = (x * x).exp()
    node = y.node
    y.sum().backward()
    assert node.saved is None
    assert node.parents == ()


def test_hooks_see_and_replace_the_complete_gradient():
    x = leaf([1.0, 2.0])
    seen = []
    h = x * 1.0
    h.register_hook(lambda g: seen.append(g.tolist()))
    handle = h.register_hook(lambda g: g * 10.0)
    (h + h).sum().backward()
    assert seen == [[2.0, 2.0]]
    assert x.grad.tolist() == [20.0, 20.0]
    handle.remove()
    x.grad = None
    x.register_hook(lambda g: g + 1.0)
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_retain_grad():
    x = leaf([1.0, 2.0])
    h = x * 3.0
    h.retain_grad()
    (h * h).sum().backward()
    assert h.grad.tolist() == [6.0, 12.0]
    assert (x * 3.0).grad is None


def test_grad_can_be_set_and_is_checked():
    x = leaf([1.0, 2.0])
    x.grad = pg.tensor([5.0, 6.0])
    assert x.grad.tolist() == [5.0, 6.0]
    with pytest.raises(ShapeError):
        x.grad = pg.tensor([1.0])
    with pytest.raises(GraphError):
        pg.tensor(1.0).grad = pg.tensor(1.0)


def test_integers_cannot_require_gradients():
    for dtype in ("int64", "bool", "uint8"):
        with pytest.raises(DTypeError, match="floating"):
            pg.tensor([1, 0], dtype=dtype, requires_grad=True)
        with pytest.raises(DTypeError, match="floating"):
            pg.tensor([1, 0], dtype=dtype).requires_grad_()
    x = leaf([1.0, 2.0])
    assert not x.argmax().requires_grad
    assert not (x > 1.0).requires_grad
    assert not x.astype("int64").requires_grad


def test_gradients_come_back_in_the_dtype_of_the_value():
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0], dtype="float64")
    (x * y).sum().backward()
    assert x.grad.dtype == "float32"
    assert y.grad.dtype == "float64"


def test_requires_grad_can_be_switched_on_leaves_only():
    x = pg.tensor([1.0]).requires_grad_()
    assert x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad
    with pytest.raises(GraphError, match="detach"):
        (leaf([1.0]) * 2.0).requires_grad_(False)


# -- zero times infinity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "at", "want"),
    [
        (lambda x: pg.where(x > 0, x.log(), 0.0), [0.0, 2.0], [0.0, 0.5]),
        (lambda x: pg.where(x > 0, x.sqrt(), 0.0), [-1.0, 4.0], [0.0, 0.25]),
        (lambda x: pg.where(x < 80, x.exp(), x), [1000.0, 0.0], [1.0, 1.0]),
        (lambda x: pg.where(x != 0, 1.0 / x, 0.0), [0.0, 2.0], [0.0, -0.25]),
        (lambda x: pg.where(x > 0, x * x.log(), 0.0), [0.0, 1.0], [0.0, 1.0]),
        (lambda x: pg.where(x > 0, x**0.5 * x.log(), 0.0), [-1.0, 1.0], [0.0, 1.0]),
        (lambda x: x.sqrt() * pg.tensor([0.0, 1.0]), [0.0, 4.0], [0.0, 0.25]),
        (lambda x: pg.where(x > 0, (x * x).log().sqrt(), 0.0), [-0.0, 2.718281828], [0.0, 0.26013]),
    ],
)
def test_zero_times_infinity_is_zero(f, at, want):
    x = leaf(at)
    (g,) = pg.grad(f(x).sum(), x, create_graph=True)
    assert g.tolist() == pytest.approx(want, rel=1e-4)
    (h,) = pg.grad(g.sum(), x)
    assert all(v == v for v in h.tolist())


def test_a_zero_gradient_still_has_a_slope():
    x = leaf(1.0)
    y = x.log() * x.log()  # the gradient that reaches log is 0 at 1, its derivative is not
    (g,) = pg.grad(y, x, create_graph=True)
    assert g.item() == 0.0
    assert pg.grad(g, x)[0].item() == pytest.approx(2.0)


def test_a_true_nan_is_not_hidden():
    x = leaf([-1.0])
    (g,) = pg.grad(x.sqrt().sum(), x)
    assert [v != v for v in g.tolist()] == [True]


def test_care_reaches_behind_an_op_with_several_outputs():
    x = leaf([0.0, 2.0])
    low, high = (x * x.log()).split(1)
    y = pg.where(pg.tensor([False, True]), pg.concat([low, high]), 0.0).sum()
    assert pg.grad(y, x)[0].tolist() == pytest.approx([0.0, 1.0 + 0.6931472])
    values, _ = pg.topk(x * x.log(), 2)
    masked = pg.where(values > 0, values, 0.0).sum()
    assert pg.grad(masked, x)[0].tolist() == pytest.approx([0.0, 1.0 + 0.6931472])
