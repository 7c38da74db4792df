"""NumPy as a backend: the reference."""

from __future__ import annotations

import numpy as np
from plugrad.backend import Backend


class NumPyBackend(Backend):
    name = "numpy"
    api = (1, 0)
    xp = np

    def __init__(self):
        self._dtypes = {n: np.dtype(n) for n in "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()}

    @property
    def dtypes(self):
        return self._dtypes

    def asarray(self, data, dtype, index):
        return np.array(data, dtype=dtype)

    def to_host(self, array):
        return np.array(array)

    def quiet(self):
        return np.errstate(all="ignore")
