"""What an op's `forward` gets as `xp`: a backend's functions, and in place of those it lacks what they compose to."""

from __future__ import annotations

from . import dtypes
from .errors import DTypeError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .backend import Backend
    from .dtypes import DType

_composed: dict[str, Callable[..., Any]] = {}
COMPOSED = "plugrad.ops.composed"  # where core's own are; imported when a backend first lacks something


def composed(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: `f(xp, ...)` stands in for `xp.<name of f>` where a backend has no such function."""
    _composed[f.__name__] = f
    return f


def _composition(name: str) -> Callable[..., Any] | None:
    if name not in _composed:
        from importlib import import_module

        import_module(COMPOSED)
    return _composed.get(name)


class Namespace:
    """The functions an op may call as `xp`: the backend's own, or composed from them on the same device."""

    def __init__(self, backend: Backend, index: int) -> None:
        self.backend, self.index = backend, index
        self.dtypes = dict(backend.dtypes)

    def __getattr__(self, name: str) -> Any:
        """Find a function once; from then on it is an ordinary attribute."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name in dtypes.BY_NAME:
            return self.dtype(dtypes.BY_NAME[name])
        own = self.backend.functions.get(name)
        found = own if own is not None else getattr(self.backend.xp, name, None)
        if found is None and (f := _composition(name)) is not None:
            found = _bound(f, self)
        if found is None:
            raise UnsupportedError(
                f"backend {self.backend.name!r} has no function {name!r}, and it is not composed from others; "
                f"give it in `Backend.functions`, or move the tensors: x.to('cpu')"
            )
        self.__dict__[name] = found
        return found

    def dtype(self, t: DType) -> Any:
        """The library's own object for a dtype."""
        try:
            return self.dtypes[t.name]
        except KeyError:
            raise DTypeError(
                f"backend {self.backend.name!r} has no {t}; it has {', '.join(self.dtypes)}. "
                f"Cast to one of these first: x.astype('float32')"
            ) from None


def _bound(f: Callable[..., Any], xp: Namespace) -> Callable[..., Any]:
    return lambda *args, **kwargs: f(xp, *args, **kwargs)
