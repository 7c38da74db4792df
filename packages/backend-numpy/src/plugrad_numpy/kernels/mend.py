"""z = x, but 0 where x is NaN and u is 0. Nearly always x has no NaN: one pass finds that out, and z is x itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugrad.kernel import Kernel


def forward(op: Any, u: Any, x: Any) -> Any:
    if not has_nan(x):
        return x
    return np.where((u == 0) & np.isnan(x), x.dtype.type(0), x)


def supports(op: Any, u: Any, x: Any) -> bool | str:
    if x.dtype.kind != "f":
        return f"{x.dtype} is not one of NumPy's own floats"
    return u.shape == x.shape or f"shapes {u.shape} and {x.shape} differ"


def has_nan(x: Any) -> bool:
    """Is there a NaN in x? Σ x² is NaN just then: squares are never negative, so no two infinities cancel."""
    if x.size == 0:
        return False
    if x.dtype.itemsize > 2 and x.flags.c_contiguous:
        flat = x.reshape(-1)
        return bool(np.isnan(np.dot(flat, flat)))
    return bool(np.isnan(np.max(x)))


mend = Kernel(forward, supports=supports)
