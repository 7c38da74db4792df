"""Recurrent layers as functions: one layer, one direction, from a sequence of inputs to the sequence of its states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.apply import apply
from plugrad.errors import DTypeError, ShapeError

from .. import ops
from .linear import linear

if TYPE_CHECKING:
    from typing import Any

    from plugrad import Op, Tensor

__all__ = ["gru", "lstm", "rnn"]


def rnn(
    input: Tensor,
    hx: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor | None = None,
    bias_hh: Tensor | None = None,
    nonlinearity: str = "tanh",
    *,
    mask: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """hₜ = φ(W xₜ + b + U hₜ₋₁ + d): every hₜ, and the last        x: (t, b, i)   h: (b, n)   W: (n, i)   U: (n, n)

    nonlinearity    φ: "tanh" or "relu"
    mask            (t, b): where it is False there is no step, and the state stays as it was
    reverse         the last step first; hₜ still stands beside xₜ, and the last state is that of the first step
    """
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"rnn: nonlinearity {nonlinearity!r} is none of 'tanh', 'relu'")
    x = _projected("rnn", input, weight_ih, _sum(bias_ih, bias_hh))
    z = _run(ops.RNN(nonlinearity), x, (hx, weight_hh), mask, reverse)
    return _turned(z, reverse), z[-1]


def gru(
    input: Tensor,
    hx: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor | None = None,
    bias_hh: Tensor | None = None,
    *,
    mask: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """hₜ = (1 - v) c + v hₜ₋₁: every hₜ, and the last        x: (t, b, i)   h: (b, n)   W: (3n, i)   U: (3n, n)

    r, v = σ(W xₜ + b + U hₜ₋₁ + d)   c = tanh(W xₜ + b + r (U hₜ₋₁ + d)), in the order r, v, c
    `mask` and `reverse` are those of `rnn`.
    """
    x = _projected("gru", input, weight_ih, bias_ih)
    z = _run(ops.GRU(), x, (hx, weight_hh, 0.0 if bias_hh is None else bias_hh), mask, reverse)
    return _turned(z, reverse), z[-1]


def lstm(
    input: Tensor,
    hx: tuple[Tensor, Tensor],
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor | None = None,
    bias_hh: Tensor | None = None,
    weight_hr: Tensor | None = None,
    *,
    mask: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """hₜ = o tanh cₜ, cₜ = f cₜ₋₁ + i u: every hₜ, and the last (h, c)        x: (t, b, k)   W: (4n, k)   U: (4n, n)

    i, f, o = σ(W xₜ + b + U hₜ₋₁ + d)   u = tanh(W xₜ + b + U hₜ₋₁ + d), in the order i, f, u, o
    `hx` is (h, c). With a projection P = `weight_hr`, (k, n), hₜ = P (o tanh cₜ). `mask` and `reverse` as in `rnn`.
    """
    x = _projected("lstm", input, weight_ih, _sum(bias_ih, bias_hh))
    op, more = (ops.LSTM(), ()) if weight_hr is None else (ops.ProjectedLSTM(), (weight_hr,))
    z, c = _run(op, x, (*hx, weight_hh, *more), mask, reverse)
    return _turned(z, reverse), (z[-1], c[-1])


def _projected(name: str, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The inputs of all steps by one matrix product."""
    if input.ndim != 3:
        raise ShapeError(f"{name}: input of shape {input.shape}; it takes (steps, batch, input)")
    return linear(input.flatten(0, 1), weight, bias).reshape(*input.shape[:2], weight.shape[0])


def _run(op: Op, x: Tensor, others: tuple[Any, ...], mask: Tensor | None, reverse: bool) -> Any:
    if mask is not None and mask.dtype.kind != "bool":
        raise DTypeError(f"{op.name}: the mask is {mask.dtype}; it says True or False: mask.astype('bool')")
    m: Any = True if mask is None else _turned(mask, reverse)
    inputs = (_turned(x, reverse), *others, m)
    why = op.misfit(*[getattr(t, "shape", ()) for t in inputs])
    if why is not None:
        raise ShapeError(f"{op.name}: {why}")
    return apply(op, *inputs)


def _turned(x: Tensor, reverse: bool) -> Tensor:
    return pg.flip(x, 0) if reverse else x


def _sum(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    return b if a is None else a if b is None else a + b
