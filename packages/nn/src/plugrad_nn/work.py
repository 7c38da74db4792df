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
    """Each entry of the product takes one row of the left side."""
    return prod(z) * xs[0][-1]


#: key of an op → its count, from the op, the shapes of its inputs and of its (first) output
COUNTS: dict[str, Count] = {
    "plugrad.MatMul": _product,
    "plugrad_nn.Linear": _product,
}


def multiply_adds(op: Op, inputs: list[Tensor], outputs: Any) -> int:
    """Of one call; 0 for ops that work entry by entry."""
    count = COUNTS.get(op.key)
    if count is None:
        return 0
    first = outputs[0] if isinstance(outputs, tuple) else outputs
    return count(op, [x.shape for x in inputs], first.shape)
