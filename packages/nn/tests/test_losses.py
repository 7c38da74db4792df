"""Losses: values by hand, reductions, and what is refused."""

from __future__ import annotations

from math import exp, inf, log, pi
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad_nn import functional as F

X = [[1.0, 2.0, 0.5], [0.0, 0.0, 0.0], [3.0, 1.0, -1.0]]


def log_softmax(row: list[float]) -> list[float]:
    total = log(sum(exp(v) for v in row))
    return [v - total for v in row]


LOGP = [log_softmax(row) for row in X]


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, -(LOGP[0][1] + LOGP[2][0]) / 2),
        ({"reduction": "sum"}, -(LOGP[0][1] + LOGP[2][0])),
        ({"weight": [1.0, 3.0, 5.0]}, -(3 * LOGP[0][1] + LOGP[2][0]) / 4),
        ({"label_smoothing": 0.3}, -(0.7 * (LOGP[0][1] + LOGP[2][0]) + 0.1 * (sum(LOGP[0]) + sum(LOGP[2]))) / 2),
        (
            {"weight": [1.0, 3.0, 5.0], "label_smoothing": 0.3},
            -(
                0.7 * (3 * LOGP[0][1] + LOGP[2][0])
                + 0.1 * sum(w * (LOGP[0][c] + LOGP[2][c]) for c, w in enumerate([1.0, 3.0, 5.0]))
            )
            / 4,
        ),
    ],
)
def test_cross_entropy_of_classes(options: dict, want: float) -> None:
    how = {k: pg.tensor(v) if k == "weight" else v for k, v in options.items()}
    loss = F.cross_entropy(pg.tensor(X), pg.tensor([1, -100, 0]), **how)
    assert loss.item() == pytest.approx(want, rel=1e-5)
    assert nn.CrossEntropyLoss(**how)(pg.tensor(X), pg.tensor([1, -100, 0])).item() == loss.item()


def test_cross_entropy_leaves_the_batch_alone() -> None:
    loss = F.cross_entropy(pg.tensor(X), pg.tensor([1, -100, 0]), reduction="none")
    assert loss.tolist() == pytest.approx([-LOGP[0][1], 0.0, -LOGP[2][0]], rel=1e-5)
    assert F.cross_entropy(pg.tensor(X[0]), pg.tensor(2)).item() == pytest.approx(-LOGP[0][2], rel=1e-5)
    assert F.cross_entropy(pg.zeros(2, 3, 4), pg.zeros(2, 4, dtype="int64"), reduction="none").shape == (2, 4)


def test_ignored_samples_send_no_gradient() -> None:
    x = pg.tensor([[-inf, -inf], [1.0, 1.0], [inf, 0.0]], requires_grad=True)
    F.cross_entropy(x, pg.tensor([7, 0, 7]), ignore_index=7).backward()
    assert x.grad.tolist() == [[0.0, 0.0], [-0.5, 0.5], [0.0, 0.0]]
    x = x.detach()[:2]
    assert F.cross_entropy(x, pg.tensor([7, 7]), ignore_index=7, reduction="sum").item() == 0.0
    assert F.cross_entropy(x, pg.tensor([1, 0]), ignore_index=1).item() == pytest.approx(log(2), rel=1e-6)


def test_cross_entropy_of_probabilities() -> None:
    q = [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    want = -(LOGP[0][1] + 0.5 * (LOGP[1][0] + LOGP[1][1]) + LOGP[2][0]) / 3
    assert F.cross_entropy(pg.tensor(X), pg.tensor(q)).item() == pytest.approx(want, rel=1e-5)
    w = [1.0, 2.0, 4.0]
    terms = [w[c] * (0.7 * q[i][c] + 0.1) * LOGP[i][c] for i in range(3) for c in range(3)]
    loss = F.cross_entropy(pg.tensor(X), pg.tensor(q), weight=pg.tensor(w), label_smoothing=0.3)
    assert loss.item() == pytest.approx(-sum(terms) / 3, rel=1e-5)
    impossible = F.cross_entropy(pg.tensor([[0.0, -inf]]), pg.tensor([[1.0, 0.0]]))
    assert impossible.item() == 0.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: F.cross_entropy(x, pg.tensor([0, 1, 3])), AxisError, "target 3 is out of range for 3 classes"),
        (lambda x: F.cross_entropy(x, pg.tensor([0, -1, 0])), AxisError, "target -1"),
        (lambda x: F.nll_loss(x, pg.tensor([0, 1, 3])), AxisError, "target 3"),
        (lambda x: F.cross_entropy(x, pg.tensor([0, 1])), ShapeError, r"want \(3,\)"),
        (lambda x: F.cross_entropy(x, pg.tensor([0.0, 1.0, 2.0])), ShapeError, "astype"),
        (lambda x: F.nll_loss(x, pg.tensor([0.0, 1.0, 2.0])), DTypeError, "astype"),
        (lambda x: F.cross_entropy(x, pg.tensor([0, 1, 2]), weight=pg.ones(2)), ShapeError, "weight"),
        (lambda x: F.cross_entropy(x[0, 0], pg.tensor(0)), ShapeError, "no axis for the classes"),
        (lambda x: F.cross_entropy(x, pg.tensor([0, 1, 2]), label_smoothing=2.0), ValueError, "label_smoothing"),
        (lambda x: F.cross_entropy(x, pg.tensor([0, 1, 2]), reduction="avg"), ValueError, "avg"),
        (lambda x: F.mse_loss(x[0], x[0].reshape(3, 1)), ShapeError, r"reshape\(3\)"),
        (lambda x: F.l1_loss(x, x[:2]), ShapeError, "l1_loss"),
        (lambda x: F.binary_cross_entropy(x[:1] * 0, x * 0), ShapeError, "must be equal"),
        (lambda x: F.binary_cross_entropy(x, x), ValueError, "with_logits"),
        (lambda x: F.binary_cross_entropy_with_logits(x[0], x[0], pos_weight=pg.ones(2, 1)), ShapeError, "pos_weight"),
        (lambda x: F.binary_cross_entropy_with_logits(x, x, weight=pg.ones(2, 3, 3)), ShapeError, r"\(2, 3, 3\)"),
        (lambda x: F.cross_entropy(x, x.softmax(axis=1), ignore_index=2), ValueError, "ignore_index 2"),
        (lambda x: F.mse_loss(x, x, weight=pg.ones(3)), ShapeError, r"mse_loss: weight has shape \(3,\)"),
        (lambda x: F.huber_loss(x, x, delta=0.0), ValueError, "delta 0.0"),
        (lambda x: F.smooth_l1_loss(x, x, beta=-1.0), ValueError, "beta -1.0"),
        (lambda x: F.kl_div(x, x[:2]), ShapeError, "kl_div"),
        (lambda x: F.gaussian_nll_loss(x, x, -1.0), ValueError, "negative entry -1.0"),
        (lambda x: F.gaussian_nll_loss(x, x, pg.tensor([[1.0, -2.0, 1.0]])), ValueError, "negative entry -2.0"),
        (lambda x: F.gaussian_nll_loss(x, x, pg.ones(2)), ShapeError, r"var has shape \(2,\)"),
        (lambda x: F.gaussian_nll_loss(x[:1], x, 1.0), ShapeError, "target has shape"),
        (lambda x: F.poisson_nll_loss(x, x[0]), ShapeError, "poisson_nll_loss"),
        (lambda x: F.hinge_embedding_loss(x, x[0]), ShapeError, "hinge_embedding_loss"),
        (lambda x: F.margin_ranking_loss(x, x, x[0]), ShapeError, r"target \(3,\)"),
        (lambda x: F.cosine_embedding_loss(x, x, x), ShapeError, r"\(N, D\) wants \(N,\)"),
        (lambda x: F.cosine_embedding_loss(x, x[:2], x[0]), ShapeError, r"input2 \(2, 3\)"),
        (lambda x: F.triplet_margin_loss(x, x, x, margin=0.0), ValueError, "margin 0.0"),
        (lambda x: F.triplet_margin_loss(x, x, x[:2]), ShapeError, r"negative \(2, 3\)"),
        (lambda x: F.multi_margin_loss(x, pg.tensor([0, 1, 3])), AxisError, "target 3 is out of range for 3 classes$"),
        (lambda x: F.multi_margin_loss(x, pg.tensor([0, -100, 2])), AxisError, "target -100"),
        (lambda x: F.multi_margin_loss(x, pg.tensor([0, 1, 2]), p=3), ValueError, "p is 1 or 2, not 3"),
        (lambda x: F.multi_margin_loss(pg.zeros(2, 0), pg.tensor([0, 1])), ShapeError, "at least one class"),
        (lambda x: F.multilabel_margin_loss(x, pg.tensor([[0, 3, -1]] * 3)), AxisError, "target 3"),
        (lambda x: F.multilabel_margin_loss(x, pg.tensor([[0, -2, -1]] * 3)), AxisError, "target -2"),
        (lambda x: F.multilabel_margin_loss(x, x), DTypeError, "astype"),
        (lambda x: F.multilabel_soft_margin_loss(x[0, 0], x[0, 0]), ShapeError, "no axis for the classes"),
    ],
)
def test_refusals(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(pg.tensor(X))


def test_nll_is_cross_entropy_of_logs() -> None:
    w, y = pg.tensor([1.0, 3.0, 5.0]), pg.tensor([1, -100, 0])
    a = nn.NLLLoss(weight=w)(pg.log_softmax(pg.tensor(X), axis=1), y)
    assert a.item() == pytest.approx(F.cross_entropy(pg.tensor(X), y, weight=w).item(), rel=1e-6)


def test_squared_absolute_and_binary() -> None:
    x, t = pg.tensor([1.0, 2.0, 4.0]), pg.tensor([1.0, 0.0, 1.0])
    assert nn.MSELoss()(x, t).item() == pytest.approx(13 / 3, rel=1e-6)
    assert nn.MSELoss(reduction="sum")(x, t).item() == 13.0
    assert nn.L1Loss(reduction="none")(x, t).tolist() == [0.0, 2.0, 3.0]
    p = pg.tensor([0.5, 0.25, 0.0])
    assert nn.BCELoss(reduction="none")(p, t).tolist() == pytest.approx([log(2), -log(0.75), 100.0], rel=1e-6)
    assert nn.BCELoss(weight=pg.tensor([1.0, 0.0, 0.0]))(p, t).item() == pytest.approx(log(2) / 3, rel=1e-6)
    logits = nn.BCEWithLogitsLoss(pos_weight=pg.tensor([2.0, 1.0, 1.0]), reduction="sum")(pg.zeros(3), t)
    assert logits.item() == pytest.approx(4 * log(2), rel=1e-6)


def test_class_weights_are_part_of_the_state() -> None:
    assert list(nn.CrossEntropyLoss(weight=pg.ones(2)).state_dict()) == ["weight"]
    assert nn.CrossEntropyLoss().state_dict() == {}


def test_impossible_classes_that_do_not_count_leave_no_nan() -> None:
    x = pg.tensor([[-inf, 2.0], [1.0, 2.0]], requires_grad=True)
    for f in (F.cross_entropy, F.nll_loss):
        x.grad = None
        f(x, pg.tensor([0, 1]), weight=pg.tensor([0.0, 1.0])).backward()
        assert all(v == v for row in x.grad.tolist() for v in row)
        assert x.grad.tolist()[0] == [0.0, 0.0]


def test_divergence_of_what_cannot_be() -> None:
    x, t = pg.tensor([-inf, -1.0], requires_grad=True), pg.tensor([0.0, 1.0])
    assert F.kl_div(x, t, reduction="none").tolist() == [0.0, 1.0]
    assert F.kl_div(x, pg.tensor([-inf, 0.0]), reduction="sum", log_target=True).item() == 1.0
    F.kl_div(x, t, reduction="batchmean").backward()
    assert x.grad.tolist() == [0.0, -0.5]
    assert F.kl_div(pg.tensor(-2.0), pg.tensor(1.0), reduction="batchmean").item() == 2.0


def test_weighted_means() -> None:
    x, t, w = pg.tensor([1.0, 4.0]), pg.zeros(2), pg.tensor([3.0, 1.0])
    assert F.mse_loss(x, t, weight=w).item() == (3 + 16) / 4
    assert F.l1_loss(x, t, weight=w).item() == (3 + 4) / 4
    assert F.huber_loss(x, t, weight=w).item() == (1.5 + 3.5) / 2
    assert F.mse_loss(x, t, "sum", w).item() == 19.0


def test_square_near_zero_and_straight_farther_out() -> None:
    x, t = pg.tensor([0.5, 3.0, -inf]), pg.zeros(3)
    assert nn.HuberLoss("none", 2.0)(x, t).tolist() == [0.125, 4.0, inf]
    assert nn.SmoothL1Loss("none", 2.0)(x, t).tolist() == [0.0625, 2.0, inf]
    assert nn.SmoothL1Loss("none", 0.0)(x, t).tolist() == [0.5, 3.0, inf]


def test_margins() -> None:
    a, b, t = pg.tensor([1.0, 3.0]), pg.tensor([2.0, 1.0]), pg.tensor([1, -1])
    assert nn.MarginRankingLoss(0.5, "none")(a, b, t).tolist() == [1.5, 2.5]
    assert nn.HingeEmbeddingLoss(4.0, "none")(a, t).tolist() == [1.0, 1.0]
    assert nn.SoftMarginLoss("none")(pg.tensor([1000.0, 1000.0]), t).tolist() == [0.0, 1000.0]
    assert nn.CosineEmbeddingLoss(reduction="none")(pg.eye(2), pg.eye(2), t).tolist() == [0.0, 1.0]
    assert nn.MultiMarginLoss(reduction="none")(pg.tensor([[1.0, 0.5]]), pg.tensor([0])).tolist() == [0.25]
    assert nn.MultiLabelMarginLoss("sum")(pg.tensor([1.0, 0.5, 0.0]), pg.tensor([1, -1, 0])).item() == pytest.approx(
        2.0 / 3
    )
    far = nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(axis=-1), margin=2.0)
    assert far(pg.tensor([[0.0]]), pg.tensor([[1.0]]), pg.tensor([[2.5]])).item() == 0.5


def test_counts_and_variances() -> None:
    x = pg.tensor([0.0, 1.0])
    assert F.poisson_nll_loss(x, pg.tensor([1.0, 0.0]), reduction="none").tolist() == pytest.approx([1.0, exp(1)])
    loss = F.gaussian_nll_loss(x, pg.zeros(2), 0.5, full=True, reduction="none").tolist()
    assert loss == pytest.approx([(log(0.5) + 2 * v + log(2 * pi)) / 2 for v in (0.0, 1.0)], rel=1e-6)
    v = pg.tensor([0.0, 1.0], requires_grad=True)
    F.gaussian_nll_loss(x, pg.zeros(2), v, eps=0.25, reduction="sum").backward()
    assert v.grad.tolist() == [2.0, 0.0]


def test_empty_batches() -> None:
    none = pg.zeros(0, 3)
    for f in (F.mse_loss, F.huber_loss, F.kl_div, F.soft_margin_loss, F.multilabel_soft_margin_loss):
        assert f(none, none, reduction="sum").item() == 0.0
        assert f(none, none).item() != f(none, none).item()  # NaN
    assert F.cross_entropy(none, pg.zeros(0, dtype="int64"), reduction="sum").item() == 0.0
    assert F.multi_margin_loss(none, pg.zeros(0, dtype="int64"), reduction="none").tolist() == []
