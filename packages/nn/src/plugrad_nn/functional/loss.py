"""Losses of classes and probabilities: PyTorch's names and arguments. Nothing is broadcast in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.apply import apply
from plugrad.context import recorded
from plugrad.errors import AxisError, DTypeError, ShapeError

from .. import ops
from .check import checked

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "kl_div", "nll_loss"]


def reduce(loss: Tensor, reduction: str) -> Tensor:
    """The loss of a batch from those of its samples: "mean", "sum", or "none" to leave it."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction {reduction!r} is none of 'mean', 'sum', 'none'")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def same_shape(name: str, input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        hint = "" if input.size != target.size else f"; target.reshape({', '.join(map(str, input.shape))}) fits"
        raise ShapeError(f"{name}: input has shape {input.shape}, target {target.shape}; they must be equal{hint}")


def weighted(name: str, loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """The reduced loss, times a weight that broadcasts to it."""
    if weight is None:
        return reduce(loss, reduction)
    scaled = loss * weight
    if scaled.shape != loss.shape:
        raise ShapeError(f"{name}: weight has shape {weight.shape}, the loss {loss.shape}; it must broadcast to that")
    return reduce(scaled, reduction)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-t · log x - (1 - t) · log(1 - x) for probabilities x; logarithms are cut off at -100, as in PyTorch.

    From logits, `binary_cross_entropy_with_logits` is exact where this one is cut off.
    """
    same_shape("binary_cross_entropy", input, target)
    told = "binary_cross_entropy: input has entries outside [0, 1]; for logits use binary_cross_entropy_with_logits"
    wrong = (input < 0) | (input > 1)
    if recorded():
        input = checked(input, wrong, ValueError, told)
    elif bool(wrong.any()):
        raise ValueError(told)
    return weighted("binary_cross_entropy", apply(ops.BinaryCrossEntropy(), input, target), weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """-p · t · log σ(x) - (1 - t) · log σ(-x) for logits x, exact to the last digit far out on both sides.

    pos_weight    p, one for each class (the last axes); default 1
    """
    same_shape("binary_cross_entropy_with_logits", input, target)
    loss = apply(ops.BCEWithLogits(), input, target, 1.0 if pos_weight is None else pos_weight)
    if loss.shape != input.shape:
        raise ShapeError(f"binary_cross_entropy_with_logits: pos_weight makes {loss.shape} of an input {input.shape}")
    return weighted("binary_cross_entropy_with_logits", loss, weight, reduction)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-Σ_c q_c · log softmax(x)_c        input x: (N, C, ...) or (C,)

    target             the right classes: integers of shape (N, ...) or (); or q itself: floats of the shape of x
    weight             of each class, (C,); "mean" then divides by the weights of the targets
    ignore_index       targets that do not count
    label_smoothing    ε: q becomes (1 - ε) q + ε / C
    """
    axis = class_axis("cross_entropy", input)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"cross_entropy: label_smoothing is from 0 to 1, not {label_smoothing}")
    fits("cross_entropy", weight, input.shape[axis])
    if target.dtype.is_floating_point:
        if ignore_index >= 0:
            raise ValueError(
                f"cross_entropy: ignore_index {ignore_index} says nothing to targets that are probabilities"
            )
        return _soft(input, target, weight, reduction, label_smoothing, axis)
    y, counts = classes("cross_entropy", input, target, ignore_index, axis)
    smoothing = float(label_smoothing)
    if weight is None:
        return _counted(apply(ops.CrossEntropy(axis, smoothing), input, y), None, counts, reduction)
    loss, share = _shared(apply(ops.CrossEntropy(axis, 0.0), input, y), y, weight)
    if smoothing:
        even = apply(ops.SoftCrossEntropy(axis), input, _even(input, weight, axis))
        loss = loss * (1 - smoothing) + even * smoothing
    return _counted(loss, share, counts, reduction)


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """-w_y · x_y        input x: log-probabilities, (N, C, ...) or (C,)    target y: right classes, (N, ...) or ()"""
    axis = class_axis("nll_loss", input)
    fits("nll_loss", weight, input.shape[axis])
    y, counts = classes("nll_loss", input, target, ignore_index, axis)
    loss = apply(ops.NLL(axis, input.shape), input, y)
    return _counted(*_shared(loss, y, weight), counts, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """t (log t - x), for log-probabilities x; 0 where t is 0. The divergence of a batch is its "batchmean".

    log_target    the target is log t
    reduction     also "batchmean": the sum, divided by the size of the first axis
    """
    same_shape("kl_div", input, target)
    loss = apply(ops.KLDiv(bool(log_target)), input, target)
    if reduction != "batchmean":
        return reduce(loss, reduction)
    return loss.sum() / float(input.shape[0]) if input.ndim else loss  # type: ignore[no-any-return]


def class_axis(name: str, x: Tensor) -> int:
    if not x.ndim:
        raise ShapeError(f"{name}: input of shape () has no axis for the classes; pass (N, C, ...) or (C,)")
    return 1 if x.ndim > 1 else 0


def fits(name: str, weight: Tensor | None, classes: int) -> None:
    if weight is not None and weight.shape != (classes,):
        raise ShapeError(f"{name}: weight has shape {weight.shape}; {classes} classes want ({classes},)")


def classes(name: str, x: Tensor, y: Tensor, ignore: int | None, axis: int) -> tuple[Tensor, Tensor | None]:
    """(the classes, 0 where ignored; which of them count, None: all)."""
    if y.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{name}: target is {y.dtype}; classes are integers: target.astype('int64')")
    want = x.shape[:axis] + x.shape[axis + 1 :]
    if y.shape != want:
        raise ShapeError(f"{name}: input has shape {x.shape}, target {y.shape}; integer targets want {want}")
    n = x.shape[axis]
    if recorded():
        return _classes_later(name, y, n, ignore)
    low, high = (int(y.min()), int(y.max())) if y.size else (0, 0)
    if low >= 0 and high < n and (ignore is None or not low <= ignore <= high):
        return y, None
    counts = y == y if ignore is None else y != ignore
    wrong = ((y < 0) | (y >= n)) & counts
    if bool(wrong.any()):
        told = "" if ignore is None else f" (ignore_index is {ignore})"
        raise AxisError(f"{name}: target {y[wrong].tolist()[0]} is out of range for {n} classes{told}")
    return pg.where(counts, y, 0), counts


def _classes_later(name: str, y: Tensor, n: int, ignore: int | None) -> tuple[Tensor, Tensor | None]:
    """As `classes`, of targets that are not known yet."""
    counts = None if ignore is None else y != ignore
    y = y if counts is None else pg.where(counts, y, 0)
    return checked(y, (y < 0) | (y >= n), AxisError, f"{name}: a target is out of range for {n} classes"), counts


def _shared(loss: Tensor, y: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """(the loss times the weights of its classes, these weights); 0 where that is 0, however infinite the loss."""
    if weight is None:
        return loss, None
    share = weight[y]
    return pg.where((share == 0) & pg.isinf(loss), 0.0, loss) * share, share


def _counted(loss: Tensor, weight: Tensor | None, counts: Tensor | None, reduction: str) -> Tensor:
    """Reduce the losses of those that count; "mean" divides by their weights."""
    if counts is not None:
        loss = pg.where(counts, loss, 0.0)
    if reduction != "mean" or (weight is None and counts is None):
        return reduce(loss, reduction)
    if weight is None:
        return loss.sum() / counts.astype(loss.dtype).sum()  # type: ignore[union-attr]
    return loss.sum() / (weight if counts is None else pg.where(counts, weight, 0.0)).sum()


def _even(x: Tensor, weight: Tensor, axis: int) -> Tensor:
    """1 / C for every class, times its weight, in the shape of `x`."""
    return pg.broadcast_to(_along(weight, x, axis) / x.shape[axis], x.shape)


def _along(weight: Tensor, x: Tensor, axis: int) -> Tensor:
    return weight.reshape(-1, *[1] * (x.ndim - 1 - axis))


def _soft(x: Tensor, q: Tensor, weight: Tensor | None, reduction: str, smoothing: float, axis: int) -> Tensor:
    if q.shape != x.shape:
        raise ShapeError(
            f"cross_entropy: input has shape {x.shape}, target {q.shape}; probabilities want the shape of the input, "
            "classes are integers: target.astype('int64')"
        )
    if smoothing:
        q = q * (1 - smoothing) + smoothing / x.shape[axis]
    loss = apply(ops.SoftCrossEntropy(axis), x, q if weight is None else q * _along(weight, x, axis))
    return reduce(loss, reduction)
