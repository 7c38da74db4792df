"""Losses of numbers: PyTorch's names and arguments. Shapes must agree; nothing is broadcast in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.apply import apply
from plugrad.context import recorded
from plugrad.errors import ShapeError

from .. import ops
from .check import checked
from .loss import reduce, same_shape

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["gaussian_nll_loss", "huber_loss", "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss"]


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """(input - target)², over all entries. The shapes must be equal: (n,) against (n, 1) is a mistake, and raises.

    weight    of each entry; "mean" then divides by their sum
    """
    same_shape("mse_loss", input, target)
    return _mean_of_weights("mse_loss", apply(ops.SquaredError(), input, target), weight, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """|input - target|, over all entries; the shapes must be equal.

    weight    of each entry; "mean" then divides by their sum
    """
    same_shape("l1_loss", input, target)
    return _mean_of_weights("l1_loss", apply(ops.AbsoluteError(), input, target), weight, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """d² / 2β where d = |input - target| < β, else d - β / 2; β = 0 is `l1_loss`"""
    same_shape("smooth_l1_loss", input, target)
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta {beta} is negative; it is where the square begins, 0 or more")
    op = ops.Huber(float(beta), 1 / beta) if beta else ops.AbsoluteError()
    return reduce(apply(op, input, target), reduction)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """d² / 2 where d = |input - target| < δ, else δ (d - δ / 2)

    weight    of each entry; "mean" divides by the number of entries all the same
    """
    same_shape("huber_loss", input, target)
    if not delta > 0:
        raise ValueError(f"huber_loss: delta {delta} is not positive; for |input - target| use l1_loss")
    loss = apply(ops.Huber(float(delta), 1.0), input, target)
    return reduce(_times("huber_loss", loss, weight), reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """r - t · log r for counts t and rates r

    log_input    the input is log r; else it is r, and ε is added to it under the logarithm
    full         add Stirling's t log t - t + ½ log 2πt, for t above 1
    """
    same_shape("poisson_nll_loss", input, target)
    return reduce(apply(ops.PoissonNLL(bool(log_input), bool(full), float(eps)), input, target), reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """½ (log v + (input - target)² / v), with v = max(var, ε), which lets the gradient pass as if it were var

    var     a number, or a tensor of the input's shape, of that without the last axis, or with axes of size 1
    full    add ½ log 2π
    """
    name = "gaussian_nll_loss"
    var = _not_negative(name, var)
    v = var if isinstance(var, (int, float)) or var.ndim == input.ndim else var.expand_dims(-1)
    for what, t, fits in (("target", target, target), ("var", var, v)):
        if not isinstance(fits, (int, float)) and not _broadcasts(fits.shape, input.shape):
            shape = t.shape  # type: ignore[union-attr]
            raise ShapeError(
                f"{name}: {what} has shape {shape}, input {input.shape}; it must be equal, or 1 along axes"
            )
    return reduce(apply(ops.GaussianNLL(bool(full), float(eps)), input, target, v), reduction)


def _not_negative(name: str, var: Tensor | float) -> Tensor | float:
    if recorded() and not isinstance(var, (int, float)):
        return checked(var, var < 0, ValueError, f"{name}: var has a negative entry; a variance is 0 or more")
    smallest = var if isinstance(var, (int, float)) else float(var.min()) if var.size else 0.0
    if smallest < 0:
        raise ValueError(f"{name}: var has the negative entry {smallest}; a variance is 0 or more")
    return var


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    return len(shape) == len(to) and all(n in (1, m) for n, m in zip(shape, to, strict=True))


def _times(name: str, loss: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return loss
    if weight.shape != loss.shape:
        raise ShapeError(f"{name}: weight has shape {weight.shape}, input {loss.shape}; they must be equal")
    return loss * weight


def _mean_of_weights(name: str, loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    scaled = _times(name, loss, weight)
    if weight is None or reduction != "mean":
        return reduce(scaled, reduction)
    return scaled.sum() / weight.sum()
