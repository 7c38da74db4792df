"""NumPy as a backend: the reference that others are measured against."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from plugrad.backend import Backend

from ._functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

# NumPy warns where a number becomes infinite or NaN. Here such a number is a value like any other, which
# `pg.nan_tracer()` finds with its op and line; code that is not plugrad's still warns. The filter goes by the file that
# a warning comes from, so it covers operators and ufuncs; what NumPy has written in Python is made quiet one by one
# (`FUNCTIONS`), and a program that replaces all filters hears the rest.
warnings.filterwarnings("ignore", category=RuntimeWarning, module="plugrad")

NATIVE = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
]  # fmt: skip


class NumPyBackend(Backend):
    """Arrays are `numpy.ndarray`s (or NumPy's scalars, which its reductions return) in native byte order."""

    name = "numpy"
    api = (1, 0)
    xp = np
    functions = FUNCTIONS

    def __init__(self) -> None:
        self._dtypes: dict[str, Any] = {name: np.dtype(name) for name in NATIVE}
        if find_spec("ml_dtypes"):
            import ml_dtypes

            self._dtypes["bfloat16"] = np.dtype(ml_dtypes.bfloat16)

    @property
    def dtypes(self) -> Mapping[str, Any]:
        return self._dtypes

    def asarray(self, data: Any, dtype: Any, index: int) -> Any:
        _refuse_mask(data)
        with np.errstate(all="ignore"):  # 1e300 is inf in float32, without a word
            return np.array(data, dtype=dtype, order="C")

    def to_host(self, array: Any) -> Any:
        return np.array(array, order="C")

    def share(self, data: Any, index: int) -> Any:
        _refuse_mask(data)
        foreign = hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray)
        array: Any = np.from_dlpack(data) if foreign else np.asarray(data, copy=False)
        if not array.dtype.isnative:
            raise ValueError(f"{array.dtype.str} has not this machine's byte order: it cannot be shared without a copy")
        self.dtype_of(array)  # refuses dtypes that plugrad does not have
        return array

    def dlpack(self, array: Any, *, copy: bool | None = None, max_version: Any = None, **how: Any) -> Any:
        """A DLPack capsule; without a copy, but where `copy` asks for one or the reader may not be told "read only"."""
        host = np.asarray(array)
        if host.dtype.kind not in "biuf":
            raise BufferError(f"dlpack: NumPy does not export {host.dtype}; cast it first: x.astype('float32')")
        told = max_version is not None and tuple(max_version) >= (1, 0)  # a reader that can be told "read only"
        locked = not host.flags.writeable and not told
        if locked and copy is False:
            raise BufferError("dlpack: this array is read only, which DLPack before 1.0 cannot say; allow a copy")
        host = host.copy() if copy or locked else host.view()
        host.flags.writeable = bool(copy or not told)  # values do not change, but a copy is the reader's
        if max_version is not None and np.lib.NumpyVersion(np.__version__) >= "2.1.0":
            how["max_version"] = max_version
        return host.__dlpack__(**how)

    def dlpack_device(self, array: Any) -> tuple[int, int]:
        return np.asarray(array).__dlpack_device__()

    def quiet(self) -> AbstractContextManager[Any]:
        return np.errstate(all="ignore")


def _refuse_mask(data: Any) -> None:
    if isinstance(data, np.ndarray) and type(data) is not np.ndarray and hasattr(data, "mask"):
        raise TypeError("a masked array would lose its mask; fill it first: array.filled(value)")
