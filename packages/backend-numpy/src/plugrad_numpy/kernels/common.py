"""What kernels share: which dtypes they take, and that infinities and NaNs are handled on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np

quiet = np.errstate(all="ignore")  # a NaN or an infinity is a number like any other, and is handled
FLOATS = (np.float32, np.float64)


def no_float(x: Any) -> str:
    """Why the dtype of `x` is none that kernels take, in words; "" where it is one."""
    return "" if x.dtype in FLOATS else f"{x.dtype} is not float32 or float64"
