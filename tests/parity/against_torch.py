"""What the comparisons with PyTorch share: the same numbers on both sides, values and gradients side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import plugrad as pg
from plugrad.testing.cases import every
from plugrad.testing.draw import numbers

CASES = {c.name: c for c in every()}


def both(array: np.ndarray) -> tuple[pg.Tensor, torch.Tensor]:
    """One array as a tensor of each; floating ones want a gradient."""
    floating = array.dtype.kind == "f"
    return pg.tensor(array, requires_grad=floating), torch.tensor(array, requires_grad=floating)


def agree(ours: Any, theirs: Any, rtol: float = 2e-5, atol: float = 2e-6) -> None:
    """Shapes, dtypes and values are the same; tuples entry by entry."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            agree(a, b, rtol, atol)
        return
    assert ours.shape == tuple(theirs.shape)
    assert str(ours.dtype).rpartition(".")[2] == str(theirs.dtype).rpartition(".")[2]
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=rtol, atol=atol)


def compare(f: Any, g: Any, *arrays: np.ndarray, rtol: float = 2e-5, atol: float = 2e-6) -> None:
    """f (plugrad's) and g (PyTorch's) of the same arrays: values, and gradients of a random weighting of the outputs.

    Gradients may differ five times as much: they are sums of rounded products.
    """
    ours, theirs = zip(*map(both, arrays), strict=True)
    y, t = f(*ours), g(*theirs)
    agree(y, t, rtol, atol)
    ys, ts = (v if isinstance(v, (tuple, list)) else (v,) for v in (y, t))
    random = np.random.default_rng(0)
    weights = [random.standard_normal(v.shape).astype(str(v.dtype).rpartition(".")[2]) for v in ts]
    pairs = [(a, b, w) for a, b, w in zip(ys, ts, weights, strict=True) if b.requires_grad]
    if not pairs:
        return
    sum((a * pg.tensor(w)).sum() for a, _, w in pairs).backward()
    sum((b * torch.tensor(w)).sum() for _, b, w in pairs).backward()
    for a, b in zip(ours, theirs, strict=True):
        if b.grad is not None:
            agree(a.grad, b.grad, 5 * rtol, 5 * atol)


def against(name: str, theirs: Any, rtol: float = 2e-5, atol: float = 2e-6) -> None:
    """One case row, by name, in float32 against the same in PyTorch."""
    c, arrays = CASES[name], []
    for i, s in enumerate(c.inputs):
        a = np.asarray(numbers(s, i), {"float": "float32", "int": "int64"}.get(s.kind, s.kind))
        arrays.append(a if s.values is not None else a.reshape(s.shape))
    compare(c.f, theirs, *arrays, rtol=rtol, atol=atol)
