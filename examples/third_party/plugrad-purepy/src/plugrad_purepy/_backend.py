"""The backend: a name, a namespace, dtypes. Everything that is not said here, plugrad's `Backend` already knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.backend import Backend
from plugrad.errors import UnsupportedError

from ._namespace import Namespace
from ._numbers import DTYPES

if TYPE_CHECKING:
    from collections.abc import Mapping


class PurePyBackend(Backend):
    """One device, `purepy`; arrays are `Array`s, and a dtype is its name."""

    name = "purepy"
    api = (1, 0)  # the interface this was written for: numbers, never `plugrad.backend.API`, which moves on
    xp = Namespace

    @property
    def dtypes(self) -> Mapping[str, Any]:
        return {name: name for name in DTYPES}

    def share(self, data: Any, index: int) -> Any:
        raise UnsupportedError("purepy: lists of Python numbers share no memory with other arrays; allow a copy")
