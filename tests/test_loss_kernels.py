"""The NumPy kernels of losses and tables beside the formulas: odd numbers, large sizes, rows that occur often."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

import plugrad as pg
from plugrad_nn import functional as F

device = pg.device("numpy")
RNG = np.random.default_rng(11)


def both(f: Any, *arrays: Any) -> list[list[np.ndarray]]:
    """Value and gradients with kernels, and by the formulas alone."""
    found = []
    for mode in ("prefer", "off"):
        xs = [pg.tensor(a, device=device, requires_grad=a.dtype.kind == "f") for a in map(np.asarray, arrays)]
        with pg.kernels(mode), device.backend.quiet():
            z = f(*xs)
            z.backward(z.new_ones(z.shape))
        found.append([z.detach().numpy(), *[x.grad.numpy() for x in xs if x.grad is not None]])
    return found


def same(f: Any, *arrays: Any, rtol: float = 1e-12, atol: float = 1e-13) -> list[np.ndarray]:
    fused, plain = both(f, *arrays)
    for a, b in zip(fused, plain, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
    return fused


ODD = [[-inf, 1.0, 2.0], [-inf, -inf, -inf], [inf, 0.0, 1.0], [nan, 0.0, 1.0], [inf, inf, 0.0], [300.0, -300.0, 0.0]]


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("y", [[0] * 6, [1] * 6, [2, 0, 1, 0, 2, 1]])
def test_odd_rows_of_classes(y: list[int], smoothing: float) -> None:
    same(lambda x, y: F.cross_entropy(x, y, reduction="none", label_smoothing=smoothing), ODD, y)


def test_odd_rows_that_do_not_count() -> None:
    f = lambda x, y: F.cross_entropy(x, y, reduction="sum")  # noqa: E731
    value, gradient = same(f, ODD, [-100, -100, -100, -100, -100, 0])
    assert value == 0.0
    assert np.isfinite(gradient).all()
    assert not gradient[:5].any()


@pytest.mark.parametrize("shape", [(7, 5), (7, 5, 3), (2, 5, 3, 4), (5,)])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_places(shape: tuple[int, ...], smoothing: float, dtype: str) -> None:
    x = (RNG.standard_normal(shape) * 20).astype(dtype)
    y = np.asarray(RNG.integers(0, 5, shape[:1] + shape[2:] if len(shape) > 1 else ()))
    tol = {} if dtype == "float64" else {"rtol": 2e-5, "atol": 2e-6}
    same(lambda x, y: F.cross_entropy(x, y, ignore_index=1, label_smoothing=smoothing, reduction="sum"), x, y, **tol)
    same(lambda x, y: F.nll_loss(x, y, reduction="sum"), x, y, **tol)
    q = RNG.random(shape).astype(dtype)
    same(F.cross_entropy, x, q, **tol)


def test_masked_probabilities() -> None:
    q = [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    same(lambda x, q: F.cross_entropy(x, q.detach(), reduction="none"), ODD, q)
    same(lambda x, q: F.cross_entropy(x[5:].detach(), q[5:], reduction="none"), ODD, q)


FAR = [[1e-8, -1e-8, 30.0, -30.0, 800.0, -800.0, 0.0, -0.0]]


@pytest.mark.parametrize("t", [0.0, 1.0, 0.25, 1 - 1e-9])
@pytest.mark.parametrize("p", [None, 3.0])
def test_logits_far_out(t: float, p: float | None) -> None:
    weight = None if p is None else pg.tensor([p] * 8, dtype="float64", device=device)
    f = lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=weight, reduction="sum")  # noqa: E731
    same(f, FAR, np.full((1, 8), t), rtol=1e-12, atol=0.0)
    each = lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=weight, reduction="none")  # noqa: E731
    same(each, FAR, np.full((1, 8), t), rtol=1e-12, atol=0.0)


def test_infinite_logits() -> None:
    value, gradient, _ = same(
        lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction="none"), [inf, -inf, inf], [1.0, 0.0, 0.0]
    )
    assert value.tolist() == [0.0, 0.0, inf]
    assert gradient.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 5), (0, 3)])
@pytest.mark.parametrize("name", ["mse_loss", "huber_loss", "smooth_l1_loss"])
def test_differences(name: str, shape: tuple[int, ...]) -> None:
    x, t = RNG.standard_normal(shape) * 2, RNG.standard_normal(shape)
    for reduction in ("sum", "none"):
        same(lambda x, t, r=reduction: getattr(F, name)(x, t, reduction=r), x, t)


@pytest.mark.parametrize("repeats", [1, 7, 8, 9, 600])
@pytest.mark.parametrize("padding", [None, 3])
def test_rows_that_occur_often(repeats: int, padding: int | None) -> None:
    ids = RNG.permutation(np.concatenate([np.full(repeats, 3), RNG.integers(0, 20, 30), np.full(4, 11)]))
    g = RNG.standard_normal((len(ids), 5))
    w = pg.tensor(RNG.standard_normal((20, 5)), device=device, requires_grad=True)
    with pg.kernels("force", "embedding"):
        F.embedding(pg.tensor(ids, device=device), w, padding).backward(pg.tensor(g, device=device))
    want = np.zeros((20, 5))
    np.add.at(want, ids, g)
    if padding is not None:
        want[padding] = 0
    np.testing.assert_allclose(w.grad.numpy(), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("even", [False, True])
def test_bags(mode: str, even: bool) -> None:
    ids, offsets = RNG.integers(0, 6, 40), np.array([0, 0, 3, 30, 30])
    at = pg.tensor(offsets, device=device)
    same(lambda i, w: F.embedding_bag(i, w, at, mode=mode, scale_grad_by_freq=even), ids, RNG.standard_normal((6, 3)))


def test_bags_in_any_order() -> None:
    op = pg.Op.catalogue["plugrad_nn.EmbeddingBag"](4, 3, False)
    f = lambda w, i, bag, s: pg.apply(op, w, i, bag, s)  # noqa: E731
    same(f, RNG.standard_normal((4, 2)), [3, 1, 3, 0], [2, 0, 2, 0], RNG.standard_normal(4))


@pytest.mark.parametrize("seed", range(4))
def test_ctc(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((25, 6, 9)) * 10, rng.integers(1, 9, (6, 10))
    y[0], x[3, 2, 4] = 5, -inf
    m, n = (12, 25, 20, 3, 0, 25), (10, 10, 4, 2, 0, 0)
    f = lambda x, y: F.ctc_loss(x.log_softmax(axis=-1), y, m, n, reduction="none", zero_infinity=True)  # noqa: E731
    same(f, x, y, rtol=1e-10, atol=1e-11)
    plain = lambda x, y: F.ctc_loss(x, y, m, n, reduction="none")  # noqa: E731
    same(plain, x, y, rtol=1e-10, atol=1e-11)


def test_kernels_say_why_they_decline() -> None:
    x = pg.tensor([[inf, 0.0]], device=device)
    with pg.kernels("force", "ctc_loss"), pytest.raises(pg.errors.KernelError, match="infinite or NaN"):
        F.ctc_loss(x, pg.tensor([1], device=device), 1, 1)
    with pg.kernels("force", "nll_loss"), pytest.raises(pg.errors.KernelError, match="float16"):
        F.nll_loss(x.half(), pg.tensor([0], device=device))
    with pg.kernels("force", "mse_loss"), pytest.raises(pg.errors.KernelError, match=r"\(1, 2\) and \(2,\)"):
        pg.apply(pg.Op.catalogue["plugrad_nn.SquaredError"](), x, x[0])
