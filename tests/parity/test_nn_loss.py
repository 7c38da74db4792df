"""Losses against PyTorch: values and gradients, every reduction and option, kinks, empty batches, layers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import agree, both, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F

RNG = np.random.default_rng(7)
X = RNG.standard_normal((5, 3, 4)).astype("float32")
Q = RNG.random((5, 3, 4)).astype("float32")
Q /= Q.sum(1, keepdims=True)
Y = RNG.integers(0, 3, (5, 4))
W = np.array([0.2, 1.0, 3.0], "float32")
A, B, C = (RNG.standard_normal((6, 5)).astype("float32") for _ in range(3))
SIGNS = np.where(RNG.random((6, 5)) < 0.5, -1, 1).astype("float32")
COUNTS = RNG.integers(0, 6, (6, 5)).astype("float32")
V = RNG.uniform(0.1, 2.0, (6, 5)).astype("float32")
P = RNG.uniform(0.0, 1.0, (6, 5)).astype("float32")
LABELS = np.array([[0, 2, -1, 0, 0], [4, 3, 2, 1, 0], [-1, 0, 1, 2, 3], [1, 1, -1, -1, -1], [2, 0, 4, -1, 0], [3] * 5])
CLASS = RNG.integers(0, 5, 6)
REDUCTIONS = ["mean", "sum", "none"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_cross_entropy(reduction: str, smoothing: float, weighted: bool, soft: bool) -> None:
    how: dict[str, Any] = {"reduction": reduction, "label_smoothing": smoothing}
    if not soft:
        how["ignore_index"] = 1
    w = {"weight": W} if weighted else {}
    compare(
        lambda x, y: F.cross_entropy(x, y, **how, **{k: pg.tensor(v) for k, v in w.items()}),
        lambda x, y: TF.cross_entropy(x, y, **how, **{k: torch.tensor(v) for k, v in w.items()}),
        X,
        Q if soft else Y,
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(3,), (5, 3), (5, 3, 4), (2, 3, 4, 5)])
def test_nll(reduction: str, weighted: bool, shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape).astype("float32")
    y = np.asarray(RNG.integers(0, 3, shape[:1] + shape[2:] if len(shape) > 1 else ()))
    mine, its = ({"weight": make(W)} if weighted else {} for make in (pg.tensor, torch.tensor))
    how: dict[str, Any] = {"reduction": reduction, "ignore_index": 2 if shape != (3,) else -100}
    compare(partial(F.nll_loss, **how, **mine), partial(TF.nll_loss, **how, **its), x, y)
    compare(partial(F.cross_entropy, **how, **mine), partial(TF.cross_entropy, **how, **its), x, y)


#: (the function's name, its options, its inputs)
PLAIN: list[tuple[str, dict[str, Any], tuple[np.ndarray, ...]]] = [
    ("mse_loss", {}, (A, B)),
    ("l1_loss", {}, (A, B)),
    ("smooth_l1_loss", {}, (A, B)),
    ("smooth_l1_loss", {"beta": 0.3}, (A, B)),
    ("smooth_l1_loss", {"beta": 0.0}, (A, B)),
    ("huber_loss", {}, (A, B)),
    ("huber_loss", {"delta": 0.4}, (A, B)),
    ("binary_cross_entropy", {}, (P, V / 2)),
    ("binary_cross_entropy_with_logits", {}, (A, P)),
    ("kl_div", {}, (A, P)),
    ("kl_div", {"log_target": True}, (A, B)),
    ("hinge_embedding_loss", {"margin": 0.6}, (V, SIGNS)),
    ("margin_ranking_loss", {}, (A, B, SIGNS)),
    ("margin_ranking_loss", {"margin": 0.6}, (A, B, SIGNS)),
    ("triplet_margin_loss", {}, (A, B, C)),
    ("triplet_margin_loss", {"margin": 0.4, "p": 1, "swap": True}, (A, B, C)),
    ("triplet_margin_loss", {"p": 3.5, "eps": 1e-2}, (A, B, C)),
    ("triplet_margin_loss", {"margin": 2.0}, (A[0], B[0], C[0])),
    ("triplet_margin_with_distance_loss", {"swap": True}, (A, B, C)),
    ("cosine_embedding_loss", {}, (A, B, SIGNS[:, 0])),
    ("cosine_embedding_loss", {"margin": -0.4}, (A, B, SIGNS[:, 1])),
    ("cosine_embedding_loss", {"margin": -0.9}, (A[0], B[0], np.float32([-1])[0])),
    ("soft_margin_loss", {}, (A, SIGNS)),
    ("multilabel_margin_loss", {}, (A, LABELS)),
    ("multilabel_margin_loss", {}, (A[0], LABELS[0])),
    ("multilabel_soft_margin_loss", {}, (A, P)),
    ("multi_margin_loss", {}, (A, CLASS)),
    ("multi_margin_loss", {"p": 2, "margin": 0.7}, (A, CLASS)),
    ("multi_margin_loss", {}, (A[0], CLASS[0])),
    ("poisson_nll_loss", {}, (A, COUNTS)),
    ("poisson_nll_loss", {"full": True}, (A, COUNTS)),
    ("poisson_nll_loss", {"log_input": False, "eps": 1e-2, "full": True}, (V, COUNTS)),
    ("gaussian_nll_loss", {"full": True, "eps": 0.5}, (A, B, V)),
    ("gaussian_nll_loss", {}, (A, B, V[:, :1])),
    ("gaussian_nll_loss", {}, (A, B, V[:, 0])),
    ("gaussian_nll_loss", {}, (A, B[:, :1], V)),
    ("gaussian_nll_loss", {"var": 0.3}, (A, B)),
]
GRADLESS = {  # PyTorch has no gradient for the second input, or one that is NaN at 0 (Stirling's formula)
    "soft_margin_loss", "hinge_embedding_loss", "cosine_embedding_loss", "poisson_nll_loss",
}  # fmt: skip


def held(f: Any, name: str, options: dict[str, Any]) -> Any:
    """`f` of the last input as a constant, where PyTorch has no gradient for it."""
    if name not in GRADLESS:
        return partial(f, **options)
    return lambda *xs: f(*xs[:-1], xs[-1].detach(), **options)


@pytest.mark.filterwarnings("ignore:reduction")  # PyTorch would rather have "batchmean"
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("name", "options", "inputs"), PLAIN)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(name: str, options: dict[str, Any], inputs: Any, reduction: str, dtype: str) -> None:
    how = {**options, "reduction": reduction}
    arrays = [np.asarray(a, dtype) if np.asarray(a).dtype.kind == "f" else np.asarray(a) for a in inputs]
    rounded = name == "multi_margin_loss"  # PyTorch divides its gradient by C in float32
    tight = {} if dtype == "float32" or rounded else {"rtol": 1e-12, "atol": 1e-13}
    compare(held(getattr(F, name), name, how), held(getattr(TF, name), name, how), *arrays, **tight)


#: (the function's name, the weight, its inputs)
WEIGHTS: list[tuple[str, str, np.ndarray, tuple[np.ndarray, ...]]] = [
    ("mse_loss", "weight", V, (A, B)),
    ("l1_loss", "weight", V, (A, B)),
    ("huber_loss", "weight", V, (A, B)),
    ("binary_cross_entropy", "weight", V, (P, P[::-1])),
    ("binary_cross_entropy", "weight", V[0], (P, P[::-1])),
    ("binary_cross_entropy_with_logits", "weight", V[:, :1], (A, P)),
    ("binary_cross_entropy_with_logits", "pos_weight", V[0], (A, P)),
    ("binary_cross_entropy_with_logits", "pos_weight", V[0, 0], (A, P)),
    ("multilabel_soft_margin_loss", "weight", V[0], (A, P)),
    ("multi_margin_loss", "weight", V[0], (A, CLASS)),
]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("name", "which", "weight", "inputs"), WEIGHTS)
def test_weights(name: str, which: str, weight: np.ndarray, inputs: Any, reduction: str) -> None:
    mine, its = (
        partial(getattr(f, name), reduction=reduction, **{which: make(weight)})
        for f, make in ((F, pg.tensor), (TF, torch.tensor))
    )
    compare(mine, its, *[np.ascontiguousarray(a) for a in inputs])


def test_batchmean() -> None:
    for x, t in ((A, P), (A[0], P[0])):
        compare(partial(F.kl_div, reduction="batchmean"), partial(TF.kl_div, reduction="batchmean"), x, t)


def test_distances_of_ones_own() -> None:
    how = {"margin": 0.3, "swap": True}
    compare(
        partial(F.triplet_margin_with_distance_loss, distance_function=lambda a, b: (a - b).abs().sum(axis=1), **how),
        partial(TF.triplet_margin_with_distance_loss, distance_function=lambda a, b: (a - b).abs().sum(1), **how),
        A,
        B,
        C,
    )


KINKS: list[tuple[str, dict[str, Any], list[list[float]]]] = [
    ("l1_loss", {}, [[0.0, 1.0], [0.0, 2.0]]),
    ("smooth_l1_loss", {}, [[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]]),
    ("huber_loss", {"delta": 0.5}, [[0.5, -0.5, 0.0], [0.0, 0.0, 0.0]]),
    ("hinge_embedding_loss", {}, [[1.0, 1.0, 0.5, 2.0], [-1.0, 0.0, -1.0, 1.0]]),
    ("margin_ranking_loss", {"margin": 1.0}, [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]),
    ("multi_margin_loss", {}, [[1.0, 0.0, 0.5]]),
    ("multilabel_margin_loss", {}, [[1.0, 0.0, 0.5]]),
    ("cosine_embedding_loss", {}, [[[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]], [1.0, -1.0]]),
]


@pytest.mark.parametrize(("name", "options", "inputs"), KINKS)
def test_kinks(name: str, options: dict[str, Any], inputs: Any) -> None:
    classes = {"multi_margin_loss": 0, "multilabel_margin_loss": [0, 2, -1]}.get(name)
    arrays = [np.array(v, "float32") for v in inputs] + ([] if classes is None else [np.array(classes)])
    how = {**options, "reduction": "sum"}
    compare(held(getattr(F, name), name, how), held(getattr(TF, name), name, how), *arrays)


EMPTY = np.zeros((0, 3), "float32")
NO = np.zeros(0, "int64")
#: name → inputs; PyTorch's multi_margin_loss and multilabel_margin_loss read memory that nobody wrote
EMPTIES: dict[str, tuple[np.ndarray, ...]] = {
    "cross_entropy": (EMPTY, NO), "nll_loss": (EMPTY, NO), "mse_loss": (EMPTY, EMPTY), "l1_loss": (EMPTY, EMPTY),
    "huber_loss": (EMPTY, EMPTY), "binary_cross_entropy": (EMPTY, EMPTY), "kl_div": (EMPTY, EMPTY),
    "binary_cross_entropy_with_logits": (EMPTY, EMPTY), "multilabel_soft_margin_loss": (EMPTY, EMPTY),
    "soft_margin_loss": (EMPTY, EMPTY), "cosine_embedding_loss": (EMPTY, EMPTY, np.zeros(0, "float32")),
    "triplet_margin_loss": (EMPTY, EMPTY, EMPTY), "poisson_nll_loss": (EMPTY, EMPTY),
    "gaussian_nll_loss": (EMPTY, EMPTY, EMPTY),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", EMPTIES)
def test_empty_batches(name: str, reduction: str) -> None:
    ours, theirs = zip(*map(both, EMPTIES[name]), strict=True)
    how = {"reduction": reduction}
    got, want = held(getattr(F, name), name, how)(*ours), held(getattr(TF, name), name, how)(*theirs)
    agree(got, want)
    got.sum().backward()
    assert ours[0].grad.shape == (0, 3)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_everything_ignored(smoothing: float, weighted: bool) -> None:
    y = np.full(6, 3)
    for reduction in REDUCTIONS:
        how: dict[str, Any] = {"ignore_index": 3, "label_smoothing": smoothing, "reduction": reduction}
        mine, its = ({"weight": make(V[0])} if weighted else {} for make in (pg.tensor, torch.tensor))
        got = F.cross_entropy(pg.tensor(A), pg.tensor(y), **how, **mine)
        agree(got, TF.cross_entropy(torch.tensor(A), torch.tensor(y), **how, **its))


LAYERS: list[tuple[str, dict[str, Any], tuple[np.ndarray, ...]]] = [
    ("MSELoss", {"reduction": "sum"}, (A, B)),
    ("L1Loss", {"reduction": "none"}, (A, B)),
    ("SmoothL1Loss", {"beta": 0.3}, (A, B)),
    ("HuberLoss", {"delta": 0.3, "reduction": "sum"}, (A, B)),
    ("BCELoss", {"weight": V[0]}, (P, P)),
    ("BCEWithLogitsLoss", {"weight": V[0], "pos_weight": V[1]}, (A, P)),
    ("KLDivLoss", {"reduction": "batchmean", "log_target": True}, (A, B)),
    ("CrossEntropyLoss", {"weight": V[0], "ignore_index": 1, "label_smoothing": 0.1}, (A, CLASS)),
    ("NLLLoss", {"weight": V[0], "ignore_index": 1, "reduction": "sum"}, (A, CLASS)),
    ("HingeEmbeddingLoss", {"margin": 0.5}, (V, SIGNS)),
    ("MarginRankingLoss", {"margin": 0.5}, (A, B, SIGNS)),
    ("SoftMarginLoss", {"reduction": "sum"}, (A, SIGNS)),
    ("CosineEmbeddingLoss", {"margin": -0.5}, (A, B, SIGNS[:, 0])),
    ("TripletMarginLoss", {"margin": 0.5, "p": 1.0, "eps": 1e-3, "swap": True}, (A, B, C)),
    ("TripletMarginWithDistanceLoss", {"margin": 0.5, "swap": True, "reduction": "none"}, (A, B, C)),
    ("MultiMarginLoss", {"p": 2, "margin": 0.5, "weight": V[0]}, (A, CLASS)),
    ("MultiLabelMarginLoss", {"reduction": "none"}, (A, LABELS)),
    ("MultiLabelSoftMarginLoss", {"weight": V[0]}, (A, P)),
    ("PoissonNLLLoss", {"log_input": False, "full": True, "eps": 1e-2}, (V, COUNTS)),
    ("GaussianNLLLoss", {"full": True, "eps": 0.5}, (A, B, V)),
]


@pytest.mark.parametrize(("name", "options", "inputs"), LAYERS)
def test_layers(name: str, options: dict[str, Any], inputs: Any) -> None:
    mine, its = (
        getattr(module, name)(**{k: make(v) if isinstance(v, np.ndarray) else v for k, v in options.items()})
        for module, make in ((nn, pg.tensor), (torch.nn, torch.tensor))
    )
    keys = list(mine.state_dict())
    assert keys == list(its.state_dict())
    mine.load_state_dict({n: v.numpy() for n, v in its.state_dict().items()})
    its.load_state_dict({n: torch.tensor(v.numpy()) for n, v in mine.state_dict().items()})
    ours, theirs = zip(*map(both, inputs), strict=True)
    got, want = mine(*ours), its(theirs[0], *[t.detach() for t in theirs[1:]])
    agree(got, want)
    got.sum().backward()
    want.sum().backward()
    agree(ours[0].grad, theirs[0].grad, 1e-4, 1e-5)
