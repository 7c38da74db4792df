"""What a worker that is not forked gets of the program: pickled, with the name of what cannot be."""

from __future__ import annotations

import pickle
from functools import partial
from multiprocessing.reduction import ForkingPickler
from types import FunctionType, MethodType
from typing import Any

__all__ = ["Shipped", "culprit"]


class Shipped:
    """Objects for a worker by name. They are pickled when the process starts, and loaded when asked for there.

    An object that cannot be loaded (its class is not found there, say) is then an error like any other.
    """

    def __init__(self, **objects: Any) -> None:
        self.objects: dict[str, Any] = objects

    def __getstate__(self) -> bytes:
        try:
            return bytes(ForkingPickler.dumps(self.objects))
        except Exception as error:
            place, reason = culprit(self.objects, "", error)
            raise pickle.PicklingError(
                f"DataLoader: its worker processes need copies, but {place.removeprefix('maker.')} {reason}; "
                "or pass multiprocessing_context='fork', where the system has that"
            ) from error

    def __setstate__(self, state: bytes) -> None:
        self.pickled = state

    def load(self) -> dict[str, Any]:
        if not hasattr(self, "objects"):
            self.objects = pickle.loads(self.pickled)
            del self.pickled
        return self.objects


def culprit(x: Any, place: str, error: Exception, seen: frozenset[int] = frozenset()) -> tuple[str, str]:
    """The innermost part of `x` that cannot be pickled: where it is, and why."""
    for name, part in [] if id(x) in seen else _parts(x, place):
        try:
            ForkingPickler.dumps(part)
        except Exception as deeper:
            return culprit(part, name, deeper, seen | {id(x)})
    return place, _reason(x, error)


def _parts(x: Any, place: str) -> list[tuple[str, Any]]:
    """What pickling `x` goes into."""
    if isinstance(x, dict):
        return [(f"{place}[{key!r}]" if place else str(key), v) for key, v in x.items()]
    if isinstance(x, (list, tuple, set, frozenset)):
        return [(f"{place}[{i}]", v) for i, v in enumerate(x)]
    if isinstance(x, partial):
        return [(f"{place}.func", x.func), (f"{place}.args", x.args), (f"{place}.keywords", x.keywords)]
    if isinstance(x, MethodType):
        return [(f"{place}.__self__", x.__self__)]
    if isinstance(x, (FunctionType, type)):
        return []
    return [(f"{place}.{name}", v) for name, v in getattr(x, "__dict__", {}).items()]


def _reason(x: Any, error: Exception) -> str:
    if isinstance(x, FunctionType):
        what = "a lambda" if x.__name__ == "<lambda>" else f"the function {x.__qualname__}"
        return f"is {what} defined at {x.__code__.co_filename}:{x.__code__.co_firstlineno}; define it at module level"
    cls = x if isinstance(x, type) else type(x)
    if "<locals>" in cls.__qualname__:
        return f"is of the class {cls.__qualname__}, defined inside a function; define it at module level"
    return f"is of type {cls.__qualname__}, which cannot be pickled ({error})"
