"""Connectionist temporal classification against PyTorch, behind a log-softmax, in float32 and float64.

PyTorch's gradient by the log-probabilities themselves has e^log_probs added to it, which the log-softmax takes out.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import against, agree, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F


def every_path(blank: int) -> Any:
    """The definition, in PyTorch: the loss is a sum over all paths that are the labels once merged."""

    def of(path: tuple[int, ...]) -> list[int]:
        return [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]

    def loss(x: torch.Tensor, y: torch.Tensor, m: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        found = []
        for i, (steps, labels) in enumerate(zip(m.tolist(), n.tolist(), strict=True)):
            paths = [p for p in product(range(x.shape[2]), repeat=steps) if of(p) == y[i, :labels].tolist()]
            sums = x[torch.arange(steps), i, torch.tensor(paths)].sum(1)
            found.append(-sums.logsumexp(0))
        return torch.stack(found)

    return loss


#: name of the case → the same by the definition: PyTorch's own gradient by log-probabilities is another one
ROWS = {
    "plugrad_nn.CTC": every_path(0),
    "plugrad_nn.CTC/another blank": every_path(2),
    "plugrad_nn.CTC/far out": every_path(0),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_op_is_its_definition(name: str) -> None:
    against(name, ROWS[name])


TIGHT = {"float32": {"rtol": 2e-5, "atol": 2e-6}, "float64": {"rtol": 1e-11, "atol": 1e-12}}


def both_ways(logits: np.ndarray, targets: np.ndarray, m: Any, n: Any, dtype: str = "float32", **how: Any) -> None:
    compare(
        lambda x: F.ctc_loss(x.log_softmax(axis=-1), pg.tensor(targets), m, n, **how),
        lambda x: TF.ctc_loss(x.log_softmax(-1), torch.tensor(targets), m, n, **how),
        logits.astype(dtype),
        **TIGHT[dtype],
    )


def drawn(seed: int, blank: int) -> tuple[np.ndarray, np.ndarray, tuple[int, ...], tuple[int, ...]]:
    """Logits, padded labels with repeats, lengths that leave a path for each sample."""
    rng = np.random.default_rng(seed)
    t, samples, classes, s = 13, 4, 5, 6
    letters = [c for c in range(classes) if c != blank]
    y = rng.choice(letters, (samples, s))
    y[0, 1] = y[0, 0]
    n = tuple(int(k) for k in rng.integers(0, s + 1, samples))
    repeats = [int((y[i, 1 : n[i]] == y[i, : n[i] - 1]).sum()) if n[i] > 1 else 0 for i in range(samples)]
    m = tuple(int(rng.integers(n[i] + repeats[i], t + 1)) for i in range(samples))
    return rng.standard_normal((t, samples, classes)) * 3, y, m, n


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_padded_labels(seed: int, dtype: str, reduction: str) -> None:
    blank = seed % 5
    both_ways(*drawn(seed, blank), dtype, blank=blank, reduction=reduction)


@pytest.mark.parametrize("seed", range(4))
def test_labels_one_after_the_other(seed: int) -> None:
    logits, y, m, n = drawn(seed, 0)
    flat = np.concatenate([row[:k] for row, k in zip(y, n, strict=True)])
    both_ways(logits, flat, m, n)
    both_ways(logits, flat.astype("int32"), m, n)


def test_lengths_as_tensors_and_one_sample() -> None:
    logits, y, m, n = drawn(3, 0)
    compare(
        lambda x: F.ctc_loss(x.log_softmax(axis=-1), pg.tensor(y), pg.tensor(m), pg.tensor(n)),
        lambda x: TF.ctc_loss(x.log_softmax(-1), torch.tensor(y), torch.tensor(m), torch.tensor(n)),
        logits.astype("float32"),
    )
    for reduction in ("mean", "sum", "none"):
        both_ways(logits[:, 0], y[0, :2], (12,), (2,), reduction=reduction)
    compare(
        lambda x: F.ctc_loss(
            x.log_softmax(axis=-1), pg.tensor(y[0, :3]), pg.tensor(11), pg.tensor(3), reduction="none"
        ),
        lambda x: TF.ctc_loss(
            x.log_softmax(-1), torch.tensor(y[0, :3]), torch.tensor(11), torch.tensor(3), reduction="none"
        ),
        logits[:, 0].astype("float32"),
    )


def test_labels_that_do_not_fit() -> None:
    logits, y = drawn(5, 0)[:2]
    y[0] = 2
    m, n = (8, 13, 0, 0), (6, 4, 2, 0)
    for reduction in ("mean", "sum", "none"):
        both_ways(logits, y, m, n, reduction=reduction, zero_infinity=True)
    got = F.ctc_loss(pg.tensor(logits).log_softmax(axis=-1), pg.tensor(y), m, n, reduction="none")
    want = TF.ctc_loss(torch.tensor(logits).log_softmax(-1), torch.tensor(y), m, n, reduction="none")
    agree(got, want, 1e-11, 1e-12)
    assert got.tolist()[0] == got.tolist()[2] == float("inf")


@pytest.mark.parametrize("scale", [30.0, 300.0])
def test_far_out(scale: float) -> None:
    logits, y, m, n = drawn(1, 0)
    both_ways(logits * scale, y, m, n, "float64")


def test_layer() -> None:
    logits, y, m, n = drawn(2, 4)
    how: dict[str, Any] = {"blank": 4, "reduction": "sum", "zero_infinity": True}
    compare(
        lambda x: nn.CTCLoss(**how)(x.log_softmax(axis=-1), pg.tensor(y), m, n),
        lambda x: torch.nn.CTCLoss(**how)(x.log_softmax(-1), torch.tensor(y), m, n),
        logits.astype("float32"),
    )


def test_empty_batch() -> None:
    got = F.ctc_loss(pg.zeros(4, 0, 3), pg.zeros(0, 2, dtype="int64"), (), (), reduction="sum")
    assert got.item() == 0.0
