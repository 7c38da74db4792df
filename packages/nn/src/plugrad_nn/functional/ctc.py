"""The loss of a sequence of labels whose places are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.apply import apply
from plugrad.context import recorded
from plugrad.errors import AxisError, DTypeError, ShapeError

from .. import ops
from .check import checked
from .loss import reduce

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

    Lengths = Tensor | Sequence[int] | int

__all__ = ["ctc_loss"]


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of the labels, however they are spread over the steps (A. Graves and others, 2006)

    log_probs         (T, N, C) or (T, C), as `log_softmax` gives them
    targets           labels, padded: (N, S) or (S,); or those of all samples one after the other: (sum of lengths,)
    input_lengths     steps of each sample, and target_lengths its labels: tensors or sequences (N,), or one number
    reduction         "mean" divides each loss by its number of labels (at least 1) before it takes the mean
    zero_infinity     0 instead of ∞ where the labels do not fit into the steps; the gradient is 0 either way

    The gradient is that of the loss by `log_probs`. PyTorch adds e^log_probs to it, which a `log_softmax` before takes
    out again: behind one, both are the same.
    """
    if log_probs.ndim not in (2, 3):
        raise ShapeError(f"ctc_loss: log_probs has shape {log_probs.shape}; pass (T, N, C) or (T, C)")
    x = log_probs if log_probs.ndim == 3 else log_probs.expand_dims(1)
    steps, samples, classes = x.shape
    if not 0 <= blank < classes:
        raise AxisError(f"ctc_loss: blank {blank} is out of range for {classes} classes")
    m = _lengths("input_lengths", input_lengths, samples, steps)
    n = _lengths("target_lengths", target_lengths, samples, targets.shape[-1] if targets.ndim else 0)
    count = pg.tensor(n, dtype="int64", device=x.device)
    y = _padded(targets, n, count, log_probs.ndim == 2, blank, classes)
    loss = apply(ops.CTC(int(blank)), x, y, pg.tensor(m, dtype="int64", device=x.device), count)
    if zero_infinity:
        loss = pg.where(loss == pg.inf, 0.0, loss)
    if reduction == "mean":
        loss = loss / pg.maximum(count, 1).astype(loss.dtype)
    return reduce(loss if log_probs.ndim == 3 else loss.squeeze(0), reduction)


def _lengths(what: str, given: Lengths, samples: int, most: int) -> list[int]:
    """One whole number for each sample, from 0 to `most`."""
    found: Any = given.tolist() if hasattr(given, "tolist") else given
    found = [found] if not isinstance(found, (list, tuple)) else list(found)
    if len(found) != samples:
        raise ShapeError(f"ctc_loss: {what} has {len(found)} entries for {samples} samples")
    if any(isinstance(k, float) for k in found):
        raise DTypeError(f"ctc_loss: {what} {found} are no whole numbers")
    numbers = [int(k) for k in found]
    bad = [k for k in numbers if not 0 <= k <= most]
    if bad:
        raise ShapeError(f"ctc_loss: {what} has the entry {bad[0]}; there are {most} places at most, and 0 at least")
    return numbers


def _padded(targets: Tensor, n: list[int], count: Tensor, single: bool, blank: int, classes: int) -> Tensor:
    """Labels as (N, S), S the most of any sample, with blanks in the places that do not count."""
    if targets.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"ctc_loss: targets are {targets.dtype}; labels are integers: targets.astype('int64')")
    place = pg.arange(max(n, default=0), dtype="int64", device=count.device)
    counts = place < count.expand_dims(1)
    y = _rows(targets.astype("int64"), n, count, place, counts, single)
    wrong = counts & ((y < 0) | (y >= classes) | (y == blank))
    labels, within = pg.where(counts, y, blank), f"labels are 0 to {classes - 1} without the blank {blank}"
    if recorded():
        return checked(labels, wrong, AxisError, f"ctc_loss: a target is out of range; {within}")
    if bool(wrong.any()):
        bad = y[wrong].tolist()[0]
        why = "is the blank" if bad == blank else f"is out of range for {classes} classes"
        raise AxisError(f"ctc_loss: target {bad} {why}; {within}")
    return labels  # type: ignore[no-any-return]


def _rows(y: Tensor, n: list[int], count: Tensor, place: Tensor, counts: Tensor, single: bool) -> Tensor:
    if single and y.ndim == 1:
        y = y.expand_dims(0)
    if y.ndim == 2 and y.shape[0] == len(n):
        return y[:, : place.size]
    if y.ndim == 1 and y.size == sum(n):
        starts = (count.cumsum(0) - count).expand_dims(1)
        places: Tensor = pg.where(counts, starts + place, 0)
        return y[places] if y.size else places
    raise ShapeError(
        f"ctc_loss: targets have shape {y.shape}; {len(n)} samples of {n} labels want ({len(n)}, S) or ({sum(n)},)"
    )
