"""Optimizers: formulas by hand, groups, state, and what is refused."""

from __future__ import annotations

import copy
import pickle
from math import sqrt
from typing import Any

import pytest

import plugrad as pg
import plugrad_optim as optim
from plugrad.errors import DTypeError, GraphError, ShapeError
from plugrad_optim import ruled

MAKERS = {
    "sgd": lambda ps: optim.SGD(ps, lr=0.1),
    "momentum": lambda ps: optim.SGD(ps, lr=0.02, momentum=0.9, dampening=0.1, weight_decay=1e-3),
    "nesterov": lambda ps: optim.SGD(ps, lr=0.02, momentum=0.9, nesterov=True),
    "asgd": lambda ps: optim.ASGD(ps, lr=0.1),
    "adam": lambda ps: optim.Adam(ps, lr=0.1, weight_decay=1e-3),
    "amsgrad": lambda ps: optim.Adam(ps, lr=0.1, amsgrad=True),
    "adamw": lambda ps: optim.AdamW(ps, lr=0.1, weight_decay=1e-3),
    "nadam": lambda ps: optim.NAdam(ps, lr=0.1),
    "radam": lambda ps: optim.RAdam(ps, lr=0.2),
    "adamax": lambda ps: optim.Adamax(ps, lr=0.2),
    "rmsprop": lambda ps: optim.RMSprop(ps, lr=0.1),
    "centered": lambda ps: optim.RMSprop(ps, lr=0.03, centered=True, momentum=0.5),
    "adagrad": lambda ps: optim.Adagrad(ps, lr=1.0),
    "adadelta": lambda ps: optim.Adadelta(ps, lr=30.0),
    "adafactor": lambda ps: optim.Adafactor(ps, lr=0.1),
    "lion": lambda ps: optim.Lion(ps, lr=0.1),
    "rprop": lambda ps: optim.Rprop(ps, lr=0.1),
}
maker = pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in MAKERS.items()])


def leaf(*values: float) -> pg.Tensor:
    return pg.tensor(list(values), requires_grad=True)


def steps(optimizer: optim.Optimizer, p: pg.Tensor, n: int, target: float = 3.0) -> None:
    for _ in range(n):
        optimizer.zero_grad()
        ((p - target) ** 2).sum().backward()
        optimizer.step()


@maker
def test_a_parabola_is_descended(make: Any) -> None:
    p = leaf(0.0, 10.0)
    steps(make([p]), p, 150)
    assert p.tolist() == pytest.approx([3.0, 3.0], abs=0.25)
    assert p.is_leaf
    assert p.requires_grad


@maker
def test_loading_goes_on_as_if_nothing_had_happened(make: Any) -> None:
    a, b = leaf(0.0, 10.0), leaf(0.0, 10.0)
    never = make([a])
    steps(never, a, 6)
    first = make([b])
    steps(first, b, 3)
    saved, kept = first.state_dict(), b.tolist()
    frozen = copy.deepcopy(saved)
    steps(first, b, 2)
    c = leaf(*kept)
    second = make([c])
    second.load_state_dict(saved)
    steps(second, c, 3)
    assert c.tolist() == a.tolist()
    assert str(saved) == str(frozen)  # neither optimizer wrote into it


@maker
def test_what_has_no_gradient_or_is_frozen_stays(make: Any) -> None:
    p, still, frozen = leaf(1.0), leaf(1.0), leaf(1.0)
    frozen.grad = pg.tensor([1.0])
    frozen.requires_grad_(False)
    optimizer = make([p, still, frozen])
    p.grad = pg.tensor([1.0])
    optimizer.step()
    assert p.tolist() != [1.0]
    assert (still.tolist(), frozen.tolist()) == ([1.0], [1.0])
    assert len(optimizer.state_dict()["state"]) <= 1


@maker
def test_empty_and_0d_parameters(make: Any) -> None:
    empty, one = pg.zeros((0, 3)).requires_grad_(), pg.tensor(2.0, requires_grad=True)
    optimizer = make([empty, one])
    for _ in range(2):
        empty.grad, one.grad = pg.zeros((0, 3)), pg.tensor(1.0)
        optimizer.step()
    assert empty.shape == (0, 3)
    assert one.shape == ()
    assert one.item() < 2.0


@maker
def test_no_value_is_shared(make: Any) -> None:
    """Neither the old value nor the gradient nor the state is the array that the parameter has now."""
    p = leaf(1.0, 2.0)
    optimizer = make([p])
    for _ in range(3):
        before = p.detach()
        p.grad = pg.tensor([0.5, -0.5])
        kept, held = before.tolist(), [t for t in optimizer.state[p].values() if isinstance(t, pg.Tensor)]
        values = [t.tolist() for t in held]
        optimizer.step()
        assert before.tolist() == kept
        assert p.grad.tolist() == [0.5, -0.5]
        assert [t.tolist() for t in held] == values
        arrays = [p.data, p.grad.data, *[t.data for t in optimizer.state[p].values() if isinstance(t, pg.Tensor)]]
        assert len({id(a) for a in arrays}) == len(arrays)


@maker
def test_an_optimizer_is_copied_and_pickled_with_its_parameters(make: Any) -> None:
    p = leaf(0.0, 10.0)
    optimizer = make([p])
    steps(optimizer, p, 3)
    twins = [copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))]
    steps(optimizer, p, 3)
    for twin in twins:
        q = twin.param_groups[0]["params"][0]
        steps(twin, q, 3)
        assert q.tolist() == p.tolist()


@maker
def test_a_pickled_state_goes_on(make: Any) -> None:
    p = leaf(0.0, 10.0)
    optimizer = make([p])
    steps(optimizer, p, 3)
    q = leaf(*p.tolist())
    fresh = make([q])
    fresh.load_state_dict(pickle.loads(pickle.dumps(optimizer.state_dict())))
    steps(optimizer, p, 4)
    steps(fresh, q, 4)
    assert p.tolist() == q.tolist()


@maker
def test_portions_change_nothing(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters in one call, or each in its own."""
    paths = []
    for size in (1 << 17, 1):
        monkeypatch.setattr(ruled, "PORTION", size)
        ps = [leaf(*map(float, range(i))) for i in range(1, 7)]
        optimizer = make(ps)
        for _ in range(3):
            for p in ps:
                p.grad = p.detach() * 2 - 1
            optimizer.step()
        paths.append([p.tolist() for p in ps])
    assert paths[0] == paths[1]


@maker
def test_dtypes_stay(make: Any) -> None:
    for dtype in ("float16", "float32", "float64"):
        p = pg.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
        optimizer = make([p])
        steps(optimizer, p, 2)
        assert p.dtype == dtype
        tensors = [t for s in optimizer.state.values() for t in s.values() if isinstance(t, pg.Tensor)]
        assert {t.dtype.name for t in tensors} <= {dtype}


def test_adam_by_hand() -> None:
    p = leaf(1.0)
    optimizer = optim.Adam([p], lr=0.1, betas=(0.8, 0.9), eps=0.01)
    x, m, v = 1.0, 0.0, 0.0
    for t, g in enumerate((0.5, -0.2, 0.3), 1):
        p.grad = pg.tensor([g])
        optimizer.step()
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        x -= 0.1 * (m / (1 - 0.8**t)) / (sqrt(v / (1 - 0.9**t)) + 0.01)
        assert p.tolist() == pytest.approx([x], rel=1e-6)
    assert optimizer.state[p]["step"] == 3
    assert set(optimizer.state[p]) == {"step", "exp_avg", "exp_avg_sq"}


def test_lion_by_hand() -> None:
    """The paper's algorithm 2."""
    p = leaf(1.0)
    optimizer = optim.Lion([p], lr=0.1, betas=(0.8, 0.9), weight_decay=0.5)
    x, m = 1.0, 0.0
    for g in (0.5, -0.2, -0.05, 0.0, 3.0):
        p.grad = pg.tensor([g])
        optimizer.step()
        c = 0.8 * m + 0.2 * g
        x -= 0.1 * ((c > 0) - (c < 0) + 0.5 * x)
        m = 0.9 * m + 0.1 * g
        assert p.tolist() == pytest.approx([x], rel=1e-5)
        assert optimizer.state[p]["exp_avg"].tolist() == pytest.approx([m], rel=1e-5)


def test_muon_makes_singular_values_alike() -> None:
    """Of g with singular values 8, 1 and 0.5 the step has three of about the learning rate."""
    p = pg.zeros((3, 4)).requires_grad_()
    p.grad = pg.tensor([[8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.5, 0.0, 0.0]])
    optim.Muon([p], lr=1.0).step()
    entries = [-p.tolist()[i][j] for i, j in ((0, 0), (1, 2), (2, 1))]
    assert all(0.6 < e < 1.3 for e in entries)
    assert pg.count_nonzero(p.detach().abs() > 1e-5).item() == 3


def test_centered_rmsprop_has_no_root_of_a_negative_number() -> None:
    """v - a² of a constant gradient is 0 but for rounding."""
    p = leaf(0.0)
    optimizer = optim.RMSprop([p], lr=1e-4, alpha=0.1, eps=1e-3, centered=True)
    for _ in range(200):
        p.grad = pg.tensor([1.1])
        optimizer.step()
    assert -1e5 < p.item() < 0


def test_decay_is_apart_in_adamw() -> None:
    values = []
    for kind in (optim.Adam, optim.AdamW):
        p = leaf(1.0)
        optimizer = kind([p], lr=0.1, weight_decay=0.1)
        for g in (0.5, -0.2, 0.3):
            p.grad = pg.tensor([g])
            optimizer.step()
        values += p.tolist()
    assert values == pytest.approx([0.7791122, 0.78363], rel=1e-6)


UPHILL = ("SGD", "ASGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "Adagrad", "Adadelta", "Adafactor",
          "Lion", "Rprop")  # fmt: skip


def test_maximize_goes_uphill_and_leaves_the_gradient() -> None:
    for name in UPHILL:
        p = leaf(1.0)
        p.grad = pg.tensor([2.0])
        getattr(optim, name)([p], lr=0.1, maximize=True).step()
        assert p.tolist()[0] > 1.0
        assert p.grad.tolist() == [2.0]


def test_groups_have_their_own_settings() -> None:
    a, b = leaf(1.0), leaf(1.0)
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5, "name": "head"}], lr=0.1)
    a.grad = b.grad = pg.tensor([1.0])
    optimizer.step()
    assert (a.tolist(), b.tolist()) == (pytest.approx([0.9]), [0.5])
    optimizer.add_param_group({"params": [leaf(2.0)]})
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.5, 0.1]
    assert "lr=0.5" in repr(optimizer)


def test_a_parameter_given_twice_is_one() -> None:
    p = leaf(0.0)
    optimizer = optim.SGD([p, p], lr=0.1)
    p.grad = pg.tensor([1.0])
    optimizer.step()
    assert p.tolist() == pytest.approx([-0.1])
    with pytest.raises(ValueError, match="two groups"):
        optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)


def test_named_parameters_are_taken() -> None:
    p, q = leaf(0.0), leaf(1.0)
    group = optim.SGD([("weight", p), ("bias", q), ("tied", p)]).param_groups[0]
    assert [x is y for x, y in zip(group["params"], [p, q], strict=True)] == [True, True]
    assert group["param_names"] == ["weight", "bias"]


def test_a_closure_is_run_with_gradients_on() -> None:
    p = leaf(1.0)
    optimizer = optim.SGD([p], lr=0.1)

    def closure() -> pg.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with pg.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert p.tolist() == pytest.approx([0.8])


def test_a_step_reaches_no_value_taken_before() -> None:
    p = leaf(1.0, 2.0)
    before, loss = p.detach(), (p * p).sum()
    p.grad = pg.tensor([1.0, 1.0])
    optim.SGD([p], lr=1.0).step()
    assert (before.tolist(), p.tolist()) == ([1.0, 2.0], [0.0, 1.0])
    p.grad = None
    loss.backward()
    assert p.grad.tolist() == [2.0, 4.0]  # at the values of the forward


def test_zero_grad() -> None:
    p = leaf(1.0)
    p.grad = pg.tensor([5.0])
    optimizer = optim.SGD([p])
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert p.grad is None


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda p: optim.SGD([]), ValueError, "no parameters"),
        (lambda p: optim.SGD(p), DTypeError, "one tensor"),
        (lambda p: optim.SGD([p], lr=-1.0), ValueError, "lr is -1.0"),
        (lambda p: optim.SGD([p], lr=float("nan")), ValueError, "lr is nan"),
        (lambda p: optim.Adam([p], betas=(1.0, 0.9)), ValueError, "betas"),
        (lambda p: optim.Adam([p], eps=-1.0), ValueError, "eps"),
        (lambda p: optim.SGD([p], nesterov=True), ValueError, "nesterov"),
        (lambda p: optim.SGD([{"params": [p], "rate": 1.0}]), ValueError, "no setting rate"),
        (lambda p: optim.SGD([p * 2]), GraphError, "made by an op"),
        (lambda p: optim.SGD([1.0]), DTypeError, "float, not a tensor"),
        (lambda p: optim.NAdam([p], momentum_decay=-1.0), ValueError, "NAdam: momentum_decay is -1.0"),
        (lambda p: optim.RMSprop([p], alpha=-1.0), ValueError, "RMSprop: alpha is -1.0"),
        (lambda p: optim.Adagrad([p], lr_decay=-1.0), ValueError, "Adagrad: lr_decay is -1.0"),
        (lambda p: optim.Adadelta([p], rho=1.5), ValueError, "Adadelta: rho is 1.5"),
        (lambda p: optim.Adadelta([p], rho=-0.5), ValueError, "Adadelta: rho is -0.5"),
        (lambda p: optim.Adafactor([p], d=0.5), ValueError, "Adafactor: d is 0.5; it cannot be below 1"),
        (lambda p: optim.Adafactor([p], beta2_decay=0.5), ValueError, "beta2_decay is 0.5"),
        (lambda p: optim.Adafactor([p], eps=(None, -1.0)), ValueError, "eps is"),
        (lambda p: optim.Rprop([p], etas=(0.5, 0.9)), ValueError, "etas"),
        (lambda p: optim.Rprop([p], step_sizes=(1.0, 0.5)), ValueError, "step_sizes"),
        (lambda p: optim.ASGD([p], lambd=-1.0), ValueError, "lambd is -1.0"),
        (lambda p: optim.Muon([p]), ValueError, r"Muon: a parameter has shape \(1,\).*AdamW"),
        (lambda p: optim.Muon([pg.ones((2, 2)).requires_grad_()], adjust_lr_fn="x"), ValueError, "adjust_lr_fn is 'x'"),
        (lambda p: optim.Muon([pg.ones((2, 2)).requires_grad_()], ns_steps=100), ValueError, "ns_steps is 100"),
        (lambda p: optim.Muon([pg.ones((2, 2)).requires_grad_()], ns_coefficients=(1.0,)), ValueError, "three numbers"),
        (lambda p: optim.SGD([("w", p), leaf(1.0)]), ValueError, "1 of 2 parameters have a name"),
        (lambda p: optim.SGD([p]).load_state_dict(optim.SGD([p, leaf(1.0)]).state_dict()), ValueError, r"\[2\].*\[1\]"),
    ],
)
def test_refusals(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make(leaf(1.0))


def test_a_state_of_another_optimizer_is_refused_and_changes_nothing() -> None:
    p = leaf(1.0)
    momentum, adam = optim.SGD([p], lr=0.5, momentum=0.9), optim.Adam([p])
    steps(momentum, p, 1)
    with pytest.raises(ValueError, match="Adam has no setting dampening, momentum, nesterov"):
        adam.load_state_dict(momentum.state_dict())
    with pytest.raises(ValueError, match="AdamW: decoupled_weight_decay is False"):
        optim.AdamW([p]).load_state_dict(adam.state_dict())
    broken = adam.state_dict()
    broken["param_groups"][0]["lr"] = -1.0
    with pytest.raises(ValueError, match="lr is -1"):
        adam.load_state_dict(broken)
    assert (adam.param_groups[0]["lr"], dict(adam.state)) == (1e-3, {})


def test_a_state_of_other_shapes_is_refused_and_changes_nothing() -> None:
    p, q = leaf(1.0), leaf(1.0, 2.0)
    one, two = optim.Adam([p], lr=0.5), optim.Adam([q])
    steps(one, p, 1)
    with pytest.raises(ValueError, match="exp_avg of parameter 0"):
        two.load_state_dict(one.state_dict())
    assert (two.param_groups[0]["lr"], dict(two.state)) == (1e-3, {})


def test_a_wider_state_does_not_widen_the_parameter() -> None:
    p = pg.tensor([1.0], dtype="float16", requires_grad=True)
    optimizer = optim.Adam([p])
    optimizer.state[p] = {"step": 1, "exp_avg": pg.ones(1), "exp_avg_sq": pg.ones(1)}
    steps(optimizer, p, 1)
    assert p.dtype is pg.float16


def test_an_optimizer_of_ones_own_is_an_update() -> None:
    class Signs(optim.Optimizer):
        def update(self, p: pg.Tensor, g: pg.Tensor, state: dict, group: dict) -> pg.Tensor:
            return p - group["lr"] * pg.sign(g)

    p = leaf(0.0)
    steps(Signs([p], {"lr": 0.5}), p, 4)
    assert p.tolist() == [2.0]
    with pytest.raises(NotImplementedError, match="update"):
        steps(optim.Optimizer([p], {}), p, 1)
    with pytest.raises(NotImplementedError, match="rule"):
        steps(optim.Ruled([p], {}), p, 1)


def test_an_update_of_another_shape_is_refused() -> None:
    class Broken(optim.Optimizer):
        def update(self, p: pg.Tensor, g: pg.Tensor, state: dict, group: dict) -> pg.Tensor:
            return p.reshape(-1)[:1]

    p = leaf(0.0, 1.0)
    with pytest.raises(ShapeError, match=r"Broken.update returned shape \(1,\) for a parameter of shape \(2,\)"):
        steps(Broken([p], {}), p, 1)
