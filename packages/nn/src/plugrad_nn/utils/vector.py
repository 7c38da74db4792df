"""All parameters as one vector."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.errors import ShapeError

from ..parameter import give

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plugrad import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters, one after another, as a tensor of one axis."""
    return pg.concat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the values in `vec`, one after another."""
    params = list(parameters)
    sizes = [prod(p.shape) for p in params]
    if vec.shape != (sum(sizes),):
        raise ShapeError(f"vector_to_parameters: vec has shape {vec.shape}, the parameters have {sum(sizes)} entries")
    start = 0
    for p, n in zip(params, sizes, strict=True):
        give(p, vec.detach()[start : start + n].reshape(p.shape).to(p))
        start += n
