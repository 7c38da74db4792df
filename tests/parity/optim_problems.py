"""What the comparisons of optimizers with PyTorch share: three problems, and the same parameters on both sides."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Iterator

CURVES = [0.1, 1.0, 5.0, 0.5, 2.0]


def tensors(arrays: list[np.ndarray]) -> tuple[list[pg.Tensor], list[torch.Tensor]]:
    """The arrays as parameters of each."""
    return [pg.tensor(a, requires_grad=True) for a in arrays], [torch.tensor(a, requires_grad=True) for a in arrays]


def random(*shapes: tuple[int, ...], seed: int = 0, dtype: str = "float32") -> list[np.ndarray]:
    source = np.random.default_rng(seed)
    return [source.standard_normal(s).astype(dtype) for s in shapes]


def quadratic(ps: Any, of: Any) -> Any:
    """½ Σ k (p - 1)², curvatures k from 0.1 to 5"""
    return sum((of(CURVES) * (p - 1.0) ** 2).sum() / 2 for p in ps)


def rosenbrock(ps: Any, of: Any) -> Any:
    """Σ 100 (y - x²)² + (1 - x)²"""
    x, y = ps[0][:, :2], ps[0][:, 2:]
    return (100.0 * (y - x**2) ** 2 + (1.0 - x) ** 2).sum()


INPUTS, TARGETS = random((16, 6), (16, 3), seed=1)


def network(ps: Any, of: Any) -> Any:
    """The mean squared error of two layers."""
    w, b, v, c = ps if len(ps) == 4 else (ps[0], 0.0, ps[1], 0.0)
    z = (of(INPUTS) @ w + b).tanh() @ v + c
    return ((z - of(TARGETS)) ** 2).mean()


STARTS = {
    "quadratic": lambda dtype: [np.full((3, 5), -0.5, dtype), *random((1, 5), (5,), dtype=dtype)],
    "rosenbrock": lambda dtype: [np.array([[-1.2, 0.5, 1.0, 0.1]], dtype)],
    "network": lambda dtype: [a / 2 for a in random((6, 8), (8,), (8, 3), (3,), dtype=dtype)],
}
PROBLEMS = {"quadratic": quadratic, "rosenbrock": rosenbrock, "network": network}


class Pair:
    """One problem for an optimizer of each, from the same start."""

    def __init__(self, problem: str, dtype: str = "float32", matrices: bool = False) -> None:
        self.loss, starts = PROBLEMS[problem], STARTS[problem](dtype)
        self.mine, self.its = tensors([a for a in starts if a.ndim == 2] if matrices else starts)
        self.dtype = dtype
        self.ours: Any = None
        self.theirs: Any = None
        self.sign = 1.0

    def with_(self, ours: Any, theirs: Any, **options: Any) -> Pair:
        self.ours, self.theirs = ours(self.mine, **options), theirs(self.its, **options)
        self.sign = -1.0 if options.get("maximize") else 1.0  # then the loss is turned round as well
        return self

    def closures(self) -> tuple[Any, Any]:
        def of_mine(a: Any) -> pg.Tensor:
            return pg.tensor(np.asarray(a, self.dtype))

        def of_its(a: Any) -> torch.Tensor:
            return torch.tensor(np.asarray(a, self.dtype))

        def closure(optimizer: Any, ps: Any, of: Any) -> Any:
            def run() -> Any:
                optimizer.zero_grad()
                loss = self.sign * self.loss(ps, of)
                loss.backward()
                return loss

            return run

        return closure(self.ours, self.mine, of_mine), closure(self.theirs, self.its, of_its)

    def step(self) -> None:
        ours, theirs = self.closures()
        self.ours.step(ours)
        self.theirs.step(theirs)

    def error(self) -> float:
        """The largest difference, beside the size of what differs (1 at least)."""
        pairs = [(p.detach().numpy(), t.detach().numpy()) for p, t in zip(self.mine, self.its, strict=True)]
        assert all(np.isfinite(b).all() for _, b in pairs)
        return max(float(np.max(np.abs(a - b) / np.maximum(np.abs(b), 1.0))) for a, b in pairs)


@contextmanager
def wide() -> Iterator[None]:
    """PyTorch keeps numbers like `step` in its default dtype."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)
