"""Master weights, loss scaling, accumulation, averages."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import plugrad as pg
import plugrad_optim as optim
from plugrad.errors import DTypeError, ShapeError
from plugrad_optim import swa_utils


def leaf(*values: float, dtype: str = "float32") -> pg.Tensor:
    return pg.tensor(list(values), dtype=dtype, requires_grad=True)


def halves() -> list[str]:
    names = []
    for name in ("float16", "bfloat16"):
        try:
            pg.ones(1, dtype=name)
        except DTypeError:
            continue
        names.append(name)
    return names


# -- master weights -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [optim.SGD, optim.AdamW, optim.Lion], ids=lambda v: v.__name__)
def test_small_steps_add_up(make: Any) -> None:
    """Each is less than half the distance to the next number in half precision."""
    for dtype in halves():
        ends = []
        for keep in (lambda o: o, optim.keep_master_weights):
            p = leaf(1.0, dtype=dtype)
            optimizer = keep(make([p], lr=1e-4, weight_decay=0.0))
            for _ in range(300):
                p.grad = pg.tensor([1.0], dtype=dtype)
                optimizer.step()
            ends.append(p.item())
            assert p.dtype == dtype
        assert ends == [1.0, pytest.approx(0.97, abs=5e-3)]


def test_the_master_is_what_float32_would_be() -> None:
    for dtype in halves():
        half, whole = leaf(1.0, -0.5, dtype=dtype), leaf(1.0, -0.5)
        first, second = optim.keep_master_weights(optim.Adam([half], lr=3e-4)), optim.Adam([whole], lr=3e-4)
        for k in range(20):
            half.grad = pg.tensor([0.5, -2.0 + k], dtype=dtype)
            whole.grad = half.grad.astype("float32")
            first.step()
            second.step()
        assert first.state[half]["master"].tolist() == whole.tolist()
        assert half.tolist() == whole.astype(dtype).tolist()
        assert {str(t.dtype) for t in first.state[half].values() if isinstance(t, pg.Tensor)} == {"float32"}


def test_masters_are_saved_and_loaded() -> None:
    dtype = halves()[0]
    p = leaf(1.0, dtype=dtype)
    optimizer = optim.keep_master_weights(optim.SGD([p], lr=1e-4, momentum=0.9))

    def steps(optimizer: optim.Optimizer, p: pg.Tensor, n: int) -> None:
        for _ in range(n):
            p.grad = pg.tensor([1.0], dtype=dtype)
            optimizer.step()

    steps(optimizer, p, 7)
    q = leaf(p.item(), dtype=dtype)
    fresh = optim.SGD([q], lr=1.0)
    fresh.load_state_dict(pickle.loads(pickle.dumps(optimizer.state_dict())))
    steps(optimizer, p, 60)
    steps(fresh, q, 60)
    assert fresh.state[q]["master"].tolist() == optimizer.state[p]["master"].tolist()
    assert q.item() == p.item() < 1.0


def test_a_value_that_somebody_else_wrote_counts() -> None:
    dtype = halves()[0]
    p = leaf(1.0, 2.0, dtype=dtype)
    optimizer = optim.keep_master_weights(optim.SGD([p], lr=1e-4))
    for value in ([1.0, 2.0], [5.0, 2.0]):
        p.data = pg.tensor(value, dtype=dtype).data
        p.grad = pg.tensor([1.0, 1.0], dtype=dtype)
        optimizer.step()
    assert optimizer.state[p]["master"].tolist() == pytest.approx([5.0 - 1e-4, 2.0 - 2e-4], rel=1e-7)


def test_one_group_alone_and_float32_without_a_master() -> None:
    dtype = halves()[0]
    a, b, c = leaf(1.0, dtype=dtype), leaf(1.0, dtype=dtype), leaf(1.0)
    optimizer = optim.SGD([{"params": [a, c], "master_weights": True}, {"params": [b]}], lr=0.1)
    for p in (a, b, c):
        p.grad = pg.ones(1, dtype=p.dtype)
    optimizer.step()
    assert [set(optimizer.state[p]) for p in (a, b, c)] == [{"master"}, set(), set()]


def test_an_optimizer_of_ones_own_gets_the_master() -> None:
    class Plain(optim.Optimizer):
        def update(self, p: pg.Tensor, g: pg.Tensor, state: dict, group: dict) -> pg.Tensor:
            return p - 1e-4 * g

    p = leaf(1.0, dtype=halves()[0])
    optimizer = optim.keep_master_weights(Plain([p], {}))
    for _ in range(20):
        p.grad = pg.ones(1, dtype=p.dtype)
        optimizer.step()
    assert optimizer.state[p]["master"].tolist() == pytest.approx([1.0 - 20e-4])


# -- loss scaling ---------------------------------------------------------------------------------------------------


def test_gradients_too_small_for_half_precision_arrive() -> None:
    """2⁻³⁰ is 0 in float16, and 2⁻³⁰ · 2¹⁴ is not."""
    if "float16" not in halves():
        pytest.skip("the device has no float16")
    moved = []
    for scaler in (optim.GradScaler(enabled=False), optim.GradScaler(init_scale=2.0**14)):
        p = leaf(0.0, dtype="float16")
        optimizer = optim.keep_master_weights(optim.SGD([p], lr=1e6))
        scaler.scale(p * 2.0**-15).sum().backward(pg.tensor(2.0**-15, dtype="float16"))
        scaler.step(optimizer)
        scaler.update()
        moved.append(p.item())
    assert moved == [0.0, pytest.approx(-(2.0**-30) * 1e6, rel=1e-3)]


def test_steps_without_finite_gradients_are_left_out_and_named() -> None:
    p, q = leaf(1.0), leaf(2.0, 3.0)
    optimizer, scaler = optim.SGD([("w", p), ("head.bias", q)], lr=0.1), optim.GradScaler(init_scale=4.0)
    p.grad, q.grad = pg.tensor([4.0]), pg.tensor([0.0, float("inf")])
    with pytest.warns(optim.SkippedStepWarning, match=r"head\.bias of group 0, shape \(2,\).*scale 4.*SGD is left out"):
        assert scaler.step(optimizer) is None
    scaler.update()
    assert (p.tolist(), scaler.skipped, scaler.get_scale()) == ([1.0], 1, 2.0)
    p.grad, q.grad = pg.tensor([4.0]), None
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == pytest.approx([0.8])
    assert p.grad.tolist() == [4.0]
    assert optimizer.grad_scale == 1.0


def test_unscaled_gradients_can_be_clipped() -> None:
    p = leaf(1.0)
    optimizer, scaler = optim.SGD([p], lr=0.1), optim.GradScaler(init_scale=4.0)
    p.grad = pg.tensor([400.0])
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [100.0]
    p.grad = p.grad.clip(-1.0, 1.0)
    scaler.step(optimizer)
    assert p.tolist() == pytest.approx([0.9])


def test_a_scaler_that_is_not_enabled_does_nothing() -> None:
    p, scaler = leaf(1.0), optim.GradScaler(enabled=False)
    optimizer = optim.SGD([p], lr=0.1)
    assert scaler.scale(p) is p
    p.grad = pg.tensor([1.0])
    scaler.unscale_(optimizer)
    assert scaler.step(optimizer, lambda: 5.0) == 5.0
    scaler.update()
    assert (scaler.get_scale(), scaler.state_dict(), scaler.is_enabled()) == (1.0, {}, False)


def test_losses_in_lists_are_scaled() -> None:
    a, (b, c) = optim.GradScaler(init_scale=2.0).scale([pg.tensor(1.0), (pg.tensor(2.0), pg.tensor(3.0))])
    assert [t.item() for t in (a, b, c)] == [2.0, 4.0, 6.0]


def test_the_scale_ends_where_float32_does() -> None:
    p, scaler = leaf(1.0), optim.GradScaler(init_scale=2.0**127, growth_interval=1)
    optimizer = optim.SGD([p], lr=0.0)
    p.grad = pg.tensor([1.0])
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**127
    scaler.update(8.0)
    assert scaler.get_scale() == 8.0


def scaled(p: pg.Tensor) -> tuple[optim.GradScaler, optim.SGD]:
    p.grad = pg.ones(p.shape, dtype=p.dtype)
    return optim.GradScaler(), optim.SGD([p])


def twice(p: pg.Tensor, *names: str) -> None:
    scaler, optimizer = scaled(p)
    for name in names:
        getattr(scaler, name)(optimizer)


@pytest.mark.parametrize(
    ("run", "error", "words"),
    [
        (lambda p: optim.GradScaler(growth_factor=1.0), ValueError, "growth_factor is 1.0"),
        (lambda p: optim.GradScaler(backoff_factor=1.0), ValueError, "backoff_factor is 1.0"),
        (lambda p: optim.GradScaler(init_scale=0.0), ValueError, "init_scale is 0.0"),
        (lambda p: twice(p, "step", "step"), RuntimeError, r"call update\(\)"),
        (lambda p: twice(p, "unscale_", "unscale_"), RuntimeError, r"unscale_: it was called"),
        (lambda p: twice(p, "step", "unscale_"), RuntimeError, r"unscale_: it was called"),
        (lambda p: optim.GradScaler().update(), RuntimeError, r"call step\(\) first"),
        (lambda p: optim.GradScaler().step(scaled(p)[1], lambda: 1.0), ValueError, "closure"),
        (lambda p: optim.GradScaler().scale(3), DTypeError, "got int"),
        (lambda p: optim.GradScaler().load_state_dict({}), ValueError, "empty"),
    ],
)
def test_scaler_refusals(run: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        run(leaf(1.0))


def test_float16_gradients_are_not_unscaled_in_place() -> None:
    if "float16" not in halves():
        pytest.skip("the device has no float16")
    with pytest.raises(DTypeError, match=r"parameter 0 of group 0.*float16"):
        twice(leaf(1.0, dtype="float16"), "unscale_")


# -- accumulation ---------------------------------------------------------------------------------------------------


def losses(p: pg.Tensor, batches: list[list[float]]) -> list[pg.Tensor]:
    return [((p - pg.tensor(batch)) ** 2).mean() for batch in batches]


BATCHES = [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0], [2.0, 2.0]]


@pytest.mark.parametrize("scaler", [None, optim.GradScaler(init_scale=8.0)], ids=["plain", "scaled"])
def test_small_batches_are_one_large_batch(scaler: Any) -> None:
    p, q = leaf(0.0), leaf(0.0)
    whole, parts = optim.SGD([q], lr=0.1), optim.accumulate(optim.SGD([p], lr=0.1), every=4, scaler=scaler)
    losses(q, [[x for batch in BATCHES for x in batch]])[0].backward()
    whole.step()
    assert [parts.backward(loss) for loss in losses(p, BATCHES)] == [False, False, False, True]
    assert p.tolist() == pytest.approx(q.tolist())
    assert p.grad is None


def test_what_is_left_is_weighed_by_its_number() -> None:
    p, q = leaf(0.0), leaf(0.0)
    whole, parts = optim.SGD([q], lr=0.1), optim.accumulate(optim.SGD([p], lr=0.1), every=5)
    losses(q, [[x for batch in BATCHES for x in batch]])[0].backward()
    whole.step()
    assert not any(parts.backward(loss) for loss in losses(p, BATCHES))
    assert p.tolist() == [0.0]
    assert (parts.flush(), parts.flush()) == (True, False)
    assert p.tolist() == pytest.approx(q.tolist())


def test_a_state_in_the_middle_goes_on() -> None:
    p, q = leaf(0.0), leaf(0.0)
    first, second = (optim.accumulate(optim.SGD([x], lr=0.1), every=4) for x in (p, q))
    for loss in losses(p, BATCHES[:3]):
        first.backward(loss)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    assert first.backward(losses(p, BATCHES[3:])[0])
    assert second.backward(losses(q, BATCHES[3:])[0])
    assert q.tolist() == p.tolist()
    assert first.state_dict() == {"gathered": 0, "gradients": []}
    with pytest.raises(ValueError, match="2 gradients for 1 parameters"):
        first.load_state_dict({"gathered": 1, "gradients": [None, None]})
    with pytest.raises(ValueError, match="every is 0"):
        optim.accumulate(optim.SGD([p]), 0)


# -- averages -------------------------------------------------------------------------------------------------------


class Model:
    """What a model needs to have."""

    def __init__(self, *values: float) -> None:
        self.w, self.seen, self.training = leaf(*values), pg.tensor([0]), True

    def __call__(self, x: pg.Tensor) -> pg.Tensor:
        return (self.w * x).sum()

    def parameters(self) -> list[pg.Tensor]:
        return [self.w]

    def buffers(self) -> list[pg.Tensor]:
        return [self.seen]

    def modules(self) -> list[Any]:
        return [self]

    def train(self, mode: bool = True) -> None:
        self.training = mode

    def state_dict(self) -> dict[str, Any]:
        return {"w": self.w.detach(), "seen": self.seen}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.w.data, self.seen = state["w"].data, state["seen"]


def move(model: Model, *values: float) -> Model:
    model.w.data, model.seen.data = pg.tensor(list(values)).data, (model.seen + 1).data
    return model


def test_the_mean_of_all_models() -> None:
    model = Model(9.0)
    average = swa_utils.AveragedModel(model)
    for value in (1.0, 2.0, 6.0):
        average.update_parameters(move(model, value))
    assert average.module.w.tolist() == [3.0]
    assert (average.n_averaged, average.module.seen.tolist(), model.w.tolist()) == (3, [3], [6.0])
    assert average(pg.tensor([2.0])).item() == 6.0
    assert set(average.state_dict()) == {"n_averaged", "module.w", "module.seen"}


def test_a_mean_that_forgets_and_one_of_ones_own() -> None:
    model = Model(1.0)

    def largest(mine: list[pg.Tensor], its: list[pg.Tensor], n: int) -> None:
        for a, p in zip(mine, its, strict=True):
            a += pg.maximum(p - a, 0.0)

    ema = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.75))
    top = swa_utils.AveragedModel(model, multi_avg_fn=largest)
    for value in (1.0, 5.0, 3.0):
        move(model, value)
        ema.update_parameters(model)
        top.update_parameters(model)
    assert ema.module.w.tolist() == pytest.approx([0.75 * (0.75 + 0.25 * 5) + 0.25 * 3])
    assert top.module.w.tolist() == [5.0]


def test_averages_are_saved_and_loaded() -> None:
    model = Model(1.0)
    average, fresh = swa_utils.AveragedModel(model), swa_utils.AveragedModel(Model(7.0))
    for value in (1.0, 2.0):
        average.update_parameters(move(model, value))
    fresh.load_state_dict(average.state_dict())
    for a in (average, fresh):
        a.update_parameters(move(model, 6.0))
    assert average.module.w.tolist() == fresh.module.w.tolist() == [3.0]


def test_average_refusals() -> None:
    with pytest.raises(ShapeError, match=r"parameters 0 has shape \(2,\) here and \(1,\) in the model"):
        swa_utils.AveragedModel(Model(1.0, 2.0)).update_parameters(Model(1.0))
    with pytest.raises(ValueError, match="not both"):
        swa_utils.AveragedModel(Model(1.0), avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=lambda a, b, n: None)
    with pytest.raises(ValueError, match="decay is 2"):
        swa_utils.get_ema_avg_fn(2.0)
    optimizer = optim.SGD([leaf(1.0)])
    with pytest.raises(ValueError, match="anneal_strategy is 'x'"):
        swa_utils.SWALR(optimizer, 0.1, anneal_strategy="x")
    with pytest.raises(ValueError, match="anneal_epochs is -1"):
        swa_utils.SWALR(optimizer, 0.1, anneal_epochs=-1)


def test_statistics_are_computed_anew() -> None:
    class Norm(Model):
        momentum: float | None = 0.1

        def reset_running_stats(self) -> None:
            self.total: list[float] = []

        def __call__(self, x: pg.Tensor) -> pg.Tensor:
            assert self.momentum is None and self.training
            self.total.append(x.sum().item())
            return x

    norm = Norm(1.0)
    norm.train(False)
    swa_utils.update_bn([[pg.tensor([1.0]), 5], pg.tensor([2.0])], norm, pg.device())
    assert (norm.total, norm.momentum, norm.training) == ([1.0, 2.0], 0.1, False)
    swa_utils.update_bn([pg.tensor([1.0])], Model(1.0))
