"""How many multiply-adds an op takes, from the shapes of what goes in and comes out."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import Op, Tensor

    Shape = tuple[int, ...]
    Count = Callable[[Op, list[Shape], Shape], int]


def _product(op: Op, xs: list[Shape], z: Shape) -> int:
    """Each entry of the product takes a row of the left side."""
    return prod(z) * xs[0][-1]


def _conv(op: Op, xs: list[Shape], z: Shape) -> int:
    """Each entry of the output takes one filter."""
    return prod(z) * prod(xs[1][1:])


def _conv_transpose(op: Op, xs: list[Shape], z: Shape) -> int:
    """Each entry of the input is spread over one filter."""
    return prod(xs[0]) * prod(xs[1][1:])


def _attention(op: Op, xs: list[Shape], z: Shape) -> int:
    """Each query meets every key, and takes from every value."""
    q, k, v = xs[:3]
    return prod(z[:-1]) * k[-2] * (q[-1] + v[-1])


def _recurrent(op: Op, xs: list[Shape], z: Shape) -> int:
    """Each step multiplies the state by the weights; the inputs are projected outside."""
    matrices = [x for name, x in zip(op.inputs, xs, strict=True) if name in ("w", "p")]
    return prod(xs[0][:2]) * sum(map(prod, matrices))


#: key of an op → its count, from the op, the shapes of its inputs and of its (first) output
COUNTS: dict[str, Count] = {
    "plugrad.MatMul": _product,
    "plugrad.MatMulShared": _product,
    "plugrad.Spared": _product,
    "plugrad_nn.Linear": _product,
    "plugrad_nn.Conv": _conv,
    "plugrad_nn.BiasedConv": _conv,
    "plugrad_nn.ConvTranspose": _conv_transpose,
    "plugrad_nn.BiasedConvTranspose": _conv_transpose,
    "plugrad_nn.Attention": _attention,
    "plugrad_nn.AttentionWeights": _product,
    "plugrad_nn.RNN": _recurrent,
    "plugrad_nn.GRU": _recurrent,
    "plugrad_nn.LSTM": _recurrent,
    "plugrad_nn.ProjectedLSTM": _recurrent,
}


def multiply_adds(op: Op, inputs: list[Tensor], outputs: Any) -> int:
    """Of one call; 0 for ops that work entry by entry."""
    count = COUNTS.get(op.key)
    if count is None:
        return 0
    first = outputs[0] if isinstance(outputs, tuple) else outputs
    return count(op, [x.shape for x in inputs], first.shape)
