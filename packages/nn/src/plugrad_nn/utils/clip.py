"""Gradients of a whole model held within bounds."""

from __future__ import annotations

from contextlib import nullcontext
from math import inf, isfinite
from typing import TYPE_CHECKING

import plugrad as pg
from plugrad import Tensor
from plugrad.errors import NonFiniteError

from ..parameter import give

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["clip_grad_norm_", "clip_grad_value_"]

LARGEST = 3.4e38  # of float32


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in {id(p): p for p in params}.values() if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """g ← g · min(1, max_norm / (‖g‖ + 10⁻⁶)), with the norm of all gradients together; returns that norm.

    Squares are taken of g divided by its largest entry, so they do not overflow, however large the gradients.
    """
    grads = [g for g in _gradients(parameters) if g.size]
    if not grads:
        return pg.tensor(0.0)
    total = _norm(grads, float(norm_type))
    if error_if_nonfinite and not isfinite(total):
        raise NonFiniteError(f"clip_grad_norm_: the norm of the gradients is {total}, so they cannot be clipped")
    scale = max_norm / (total + 1e-6)
    if not scale >= 1:
        with grads[0].device.backend.quiet() or nullcontext():
            for g in {id(g): g for g in grads}.values():  # parameters may share one
                give(g, (_wide(g) * scale).to(g))
    return pg.tensor(total if total < LARGEST else total * inf, device=grads[0].device)


def _norm(grads: list[Tensor], p: float) -> float:
    """‖g‖ₚ of all entries together, as a Python number."""
    top = max(float(g.abs().max().item()) for g in grads)
    if p == inf or not top or not isfinite(top):
        return top
    relative = [float(((_wide(g) / top).abs() ** p).sum().item()) for g in grads]
    return top * float(sum(relative) ** (1 / p))


def _wide(g: Tensor) -> Tensor:
    """`g` without its way back, in float32 at least: sums and small factors are lost in half precision."""
    return g.detach().astype("float32") if g.dtype.bits == 16 else g.detach()


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """g ← g cut off at ±clip_value"""
    for g in _gradients(parameters):
        give(g, g.detach().clip(-clip_value, clip_value))
