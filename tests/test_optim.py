"""Optimizers on NumPy: memory that nobody shares, and kernels beside the formula on shapes and layouts of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_optim as optim
from plugrad_numpy.kernels import optim as kernels

MAKERS = {
    "sgd": lambda ps: optim.SGD(ps, lr=0.1),
    "decay": lambda ps: optim.SGD(ps, lr=0.1, weight_decay=0.1),
    "momentum": lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.1),
    "nesterov": lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda ps: optim.Adam(ps, lr=0.1, weight_decay=0.1),
    "adamw": lambda ps: optim.AdamW(ps, lr=0.1, maximize=True),
    "amsgrad": lambda ps: optim.AdamW(ps, lr=0.1, amsgrad=True),
    "lion": lambda ps: optim.Lion(ps, lr=0.1, weight_decay=0.1),
    "rmsprop": lambda ps: optim.RMSprop(ps, lr=0.1, centered=True, momentum=0.9),
    "adafactor": lambda ps: optim.Adafactor(ps, lr=0.1),
    "rprop": lambda ps: optim.Rprop(ps, lr=0.1),
    "asgd": lambda ps: optim.ASGD(ps, lr=0.1),
    "lbfgs": lambda ps: optim.LBFGS(ps, max_iter=2),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
SHAPES = [(3, 5), (), (0, 2), (7,), (2, 3, 4)]


def random(step: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return np.random.default_rng([step, *shape]).standard_normal(shape).astype(dtype)


def turned(a: np.ndarray) -> pg.Tensor:
    """The same numbers in memory that is not contiguous."""
    t = pg.tensor(np.repeat(a.T, 2, axis=0)) if a.ndim else pg.tensor(a)
    return t[::2].permute(*reversed(range(a.ndim))) if a.ndim else t


def step(optimizer: optim.Optimizer, ps: list[pg.Tensor], n: int, layout: Any = pg.tensor) -> None:
    for p in ps:
        p.grad = layout(random(n, p.shape, str(p.dtype)))
    optimizer.step(lambda: pg.tensor(1.0) if isinstance(optimizer, optim.LBFGS) else None)


@makers
def test_no_memory_is_shared(make: Any) -> None:
    ps = [pg.tensor(random(9, s, "float32"), requires_grad=True) for s in SHAPES]
    optimizer, held = make(ps), []
    for n in range(4):
        step(optimizer, ps, n)
        state = [t for s in optimizer.state_dict()["state"].values() for v in s.values() for t in in_lists(v)]
        arrays = [*[p.data for p in ps], *[p.grad.data for p in ps], *[t.data for t in state]]
        assert not [(i, j) for i, a in enumerate(arrays) for j in range(i) if np.shares_memory(a, arrays[j])]
        for array, numbers in held:
            np.testing.assert_array_equal(array, numbers)
        held += [(a, a.copy()) for a in arrays]


def in_lists(value: Any) -> list[pg.Tensor]:
    values = value if isinstance(value, list) else [value]
    return [v for v in values if isinstance(v, pg.Tensor)]


@makers
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kernels_beside_formulas(make: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "BLOCK", 5)
    ends = []
    for mode, layout in (("off", pg.tensor), ("prefer", pg.tensor), ("prefer", turned)):
        ps = [layout(random(9, s, dtype)).detach().requires_grad_() for s in SHAPES]
        optimizer = make(ps)
        with pg.kernels(mode):
            for n in range(4):
                step(optimizer, ps, n, layout)
        ends.append([p.detach().numpy() for p in ps])
    for other in ends[1:]:
        for a, b in zip(ends[0], other, strict=True):
            assert a.dtype == b.dtype == dtype
            np.testing.assert_allclose(a, b, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-6)


def test_infinite_gradients_arrive_without_a_warning() -> None:
    for name in ("sgd", "momentum", "adam", "lion"):
        p = pg.tensor([1.0, 1.0, 1.0], requires_grad=True)
        p.grad = pg.tensor([np.inf, np.nan, 1.0])
        MAKERS[name]([p]).step()
        assert np.isfinite(p.detach().numpy()).tolist()[1:] == [False, True]
