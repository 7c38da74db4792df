"""`array_api_strict` as a backend: what runs on it uses nothing but the array API standard."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from plugrad.backend import Backend, Unavailable
from plugrad.hookspecs import hookimpl


@hookimpl
def plugrad_available() -> Unavailable | None:
    return None if find_spec("array_api_strict") else Unavailable("no array library", "pip install array-api-strict")


@hookimpl
def plugrad_backend() -> Backend:
    import array_api_strict as xp
    import numpy as np

    class Strict(Backend):
        name = "strict"
        api = (1, 0)

        def tolist(self, array: Any) -> Any:
            return np.asarray(array).tolist()

        def quiet(self) -> Any:
            return np.errstate(all="ignore")

    Strict.xp = xp
    return Strict()
