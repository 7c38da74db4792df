"""Losses that ask for a margin: PyTorch's names and arguments. Nothing is broadcast in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.apply import apply
from plugrad.context import recorded
from plugrad.errors import AxisError, DTypeError, ShapeError

from .. import ops
from .check import checked
from .loss import classes, fits, reduce, same_shape, weighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import Tensor

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip

TINY = 1e-12  # added to squared lengths: the cosine with a vector of zeros is 0


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """x where the target is 1 (alike), max(0, margin - x) where it is -1, for distances x"""
    same_shape("hinge_embedding_loss", input, target)
    return reduce(apply(ops.HingeEmbedding(float(margin)), input, target), reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean"
) -> Tensor:
    """max(0, margin - t (x₁ - x₂)), where t = 1 says that x₁ is to be the larger, t = -1 that x₂ is"""
    _alike("margin_ranking_loss", input1=input1, input2=input2, target=target)
    return reduce(apply(ops.MarginRanking(float(margin)), input1, input2, target), reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + e⁻ᵗˣ), where the target t is 1 or -1; exact far out"""
    same_shape("soft_margin_loss", input, target)
    return reduce(apply(ops.SoftMargin(), input, target), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean"
) -> Tensor:
    """1 - cos(x₁, x₂) where the target is 1, max(0, cos(x₁, x₂) - margin) where it is -1        x: (N, D) or (D,)"""
    name = "cosine_embedding_loss"
    _alike(name, input1=input1, input2=input2)
    if input1.ndim not in (1, 2) or target.shape != input1.shape[:-1]:
        raise ShapeError(
            f"{name}: inputs have shape {input1.shape}, target {target.shape}; (N, D) wants (N,), and (D,) wants ()"
        )
    squares = ((input1 * input1).sum(axis=-1) + TINY) * ((input2 * input2).sum(axis=-1) + TINY)
    cosine = (input1 * input2).sum(axis=-1) / squares.sqrt()
    return reduce(apply(ops.CosineEmbedding(float(margin)), cosine, target), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + d(a, p) - d(a, n)), with d(x, y) = ‖x - y + ε‖ₚ along the last axis

    swap    d(p, n) instead of d(a, n) where that is smaller
    """

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return (x - y + eps).norm(p, axis=-1)

    return _triplet("triplet_margin_loss", (anchor, positive, negative), distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own (default: ‖x - y + 10⁻⁶‖ along the last axis)"""
    name, three = "triplet_margin_with_distance_loss", (anchor, positive, negative)
    return _triplet(name, three, distance_function or _euclidean, margin, swap, reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """w_y / C Σ_{i ≠ y} max(0, margin - x_y + x_i)ᵖ        x: (N, C) or (C,)    y: right classes, (N,) or ()

    p    1 or 2
    """
    name = "multi_margin_loss"
    if p not in (1, 2):
        raise ValueError(f"{name}: p is 1 or 2, not {p}")
    _rows(name, input)
    fits(name, weight, input.shape[-1])
    y, _ = classes(name, input, target, None, input.ndim - 1)
    loss = apply(ops.MultiMargin(int(p), float(margin)), input, y)
    return reduce(loss if weight is None else loss * weight[y], reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """1 / C Σ_j Σ_i max(0, 1 - x_{y_j} + x_i), j over the labels, i over the classes that are none

    input     x: (N, C) or (C,)
    target    y: integers of the same shape; the labels of a sample come first, -1 ends them
    """
    name = "multilabel_margin_loss"
    _rows(name, input)
    if target.dtype.kind != "int":
        raise DTypeError(f"{name}: target is {target.dtype}; labels are integers, ended by -1: target.astype('int64')")
    same_shape(name, input, target)
    last = input.shape[-1] - 1
    range_of = f"labels are 0 to {last}, and -1 where they end"
    if recorded():
        wrong = (target < -1) | (target > last)
        target = checked(target, wrong, AxisError, f"{name}: a target is out of range: {range_of}")
    elif target.size and not -1 <= (low := int(target.min())) <= (high := int(target.max())) <= last:
        raise AxisError(f"{name}: target {low if low < -1 else high} is out of range: {range_of}")
    return reduce(apply(ops.MultiLabelMargin(), input, target), reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-1 / C Σ_c w_c (t_c log σ(x_c) + (1 - t_c) log σ(-x_c)) along the last axis"""
    name = "multilabel_soft_margin_loss"
    same_shape(name, input, target)
    if not input.ndim:
        raise ShapeError(f"{name}: input of shape () has no axis for the classes; pass (N, C) or (C,)")
    loss = weighted(name, apply(ops.BCEWithLogits(), input, target, 1.0), weight, "none")
    return reduce(loss.mean(axis=-1), reduction)


def _alike(name: str, **inputs: Tensor) -> None:
    """Refuse shapes that differ."""
    (_, first), *others = inputs.items()
    if any(t.shape != first.shape for _, t in others):
        shapes = ", ".join(f"{what} {t.shape}" for what, t in inputs.items())
        raise ShapeError(f"{name}: shapes must be equal: {shapes}")


def _rows(name: str, x: Tensor) -> None:
    if x.ndim not in (1, 2) or not x.shape[-1]:
        raise ShapeError(f"{name}: input has shape {x.shape}; pass (N, C) or (C,), with at least one class")


def _euclidean(x: Tensor, y: Tensor) -> Tensor:
    return (x - y + 1e-6).norm(axis=-1)


def _triplet(
    name: str,
    three: tuple[Tensor, Tensor, Tensor],
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    anchor, positive, negative = three
    _alike(name, anchor=anchor, positive=positive, negative=negative)
    if not margin > 0:
        raise ValueError(f"{name}: margin {margin} is not positive; distances within it would cost nothing")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = pg.minimum(far, distance(positive, negative))
    return reduce(apply(ops.TripletMargin(float(margin)), near, far), reduction)
