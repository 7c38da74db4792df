"""Numbers for tests, the same on every backend and without any array library."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Any

from ..ops import creation

if TYPE_CHECKING:
    from .case import Spec

FLOAT = {"float": None, "int": "int64", "bool": "bool"}


def numbers(spec: Spec, seed: int) -> Any:
    """Nested lists of what `spec` asks for."""
    if spec.values is not None:
        return spec.values
    rng = Random(seed)
    n, low, high = math.prod(spec.shape), spec.low, spec.high
    flat: list[Any] = (
        [rng.uniform(low, high) for _ in range(n)]
        if spec.kind == "float"
        else [rng.randrange(int(low), int(high)) for _ in range(n)]
        if spec.kind == "int"
        else [rng.random() < 0.5 for _ in range(n)]
    )
    return nest(flat, spec.shape)


def nest(flat: list[Any], shape: tuple[int, ...]) -> Any:
    """A flat list as nested lists of a shape."""
    if not shape:
        return flat[0]
    step = len(flat) // shape[0] if shape[0] else 0
    return [nest(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def tensor(spec: Spec, device: Any, dtype: str = "float64", seed: int = 0) -> Any:
    """The tensor that `spec` asks for; `dtype` is that of floating ones."""
    made = creation.tensor(numbers(spec, seed), dtype=FLOAT[spec.kind] or dtype, device=device)
    return made if spec.values is not None else made.reshape(spec.shape)
