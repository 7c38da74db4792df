"""What is being checked: one device of one backend, with what it can do."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

from .. import plugins
from ..backend import REQUIRED, Backend, Device
from ..dtypes import BY_NAME
from . import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FLOATS = ("float64", "float32", "bfloat16", "float16")


class Excused(SkipTest):
    """The check does not apply to this backend; the reason is shown in the report."""


class Subject:
    """A device, its backend, and short ways to make and read its raw arrays."""

    def __init__(self, backend: str | Backend | Device | Callable[[], Backend]) -> None:
        if callable(backend):
            backend = backend()
        if isinstance(backend, Backend):
            backend = Device(backend, 0, plugins.find_kernel)
        self.device = plugins.device(backend)
        self.backend, self.xp, self.name = self.device.backend, self.device.xp, self.device.backend.name
        self.dtypes = [name for name in BY_NAME if name in self.backend.dtypes]
        self.floats = [name for name in FLOATS if name in self.dtypes]
        self.widest = next((name for name in ("float64", "float32") if name in self.dtypes), "")

    def need(self, *dtypes: str) -> None:
        """Excuse this check where the backend lacks one of `dtypes`."""
        for name in dtypes:
            if name not in self.dtypes:
                raise Excused(f"the backend has no {name}")

    def can(self, *words: str) -> None:
        """Excuse this check where the backend lacks one of these capabilities."""
        for word in words:
            if word not in self.backend.capabilities:
                raise Excused(f"the backend does not declare the capability {word!r}")

    def type(self, dtype: str) -> Any:
        """The library's own dtype object."""
        return self.xp.dtype(BY_NAME[dtype])

    def array(self, data: Any, dtype: str = "float32") -> Any:
        """A raw array."""
        return self.backend.asarray(data, self.type(dtype), self.device.index)

    def read(self, array: Any) -> Any:
        """Nested lists of a raw array."""
        return self.backend.tolist(array)

    def quiet(self) -> ExitStack:
        """The backend's own guard, without its warnings about infinities and NaNs."""
        stack = ExitStack()
        for context in (self.backend.guard(self.device.index), self.backend.quiet()):
            if context is not None:
                stack.enter_context(context)
        return stack

    def gives(self, array: Any, want: Any, what: str, dtype: str | None = None, rel: float = 0.0) -> None:
        """`array` has the shape and the numbers of nested lists `want`, and a dtype."""
        if dtype is not None:
            compare.same(str(self.backend.dtype_of(array)), dtype, f"{what}: dtype")
        got = self.read(array)
        compare.same(tuple(array.shape), compare.shape_of(want), f"{what}: shape")
        compare.same(compare.shape_of(got), compare.shape_of(want), f"{what}: nesting of tolist")
        compare.close(compare.flatten(got), compare.flatten(want), what, rel, 0.0)

    def second(self) -> Device | None:
        """Another way to run the same op: NumPy's device; for NumPy itself, only the required functions of it."""
        if self.name == "numpy":
            return Device(Lean(self.backend), self.device.index, lambda backend, op: None)
        return plugins.device("numpy") if installed("numpy") else None


def installed(name: str) -> bool:
    return name in plugins.scan(plugins.BACKENDS) and plugins.unavailable(name) is None


class Required:
    """The required functions of a namespace, and nothing else."""

    def __init__(self, xp: Any) -> None:
        self.__dict__.update({name: getattr(xp, name) for name in REQUIRED})


class Lean(Backend):
    """Another backend cut down to the required functions: all else is composed from them."""

    def __init__(self, whole: Backend) -> None:
        self.whole, self.name, self.xp = whole, whole.name, Required(whole.namespace(0))
        self.asarray, self.tolist, self.to_host = whole.asarray, whole.tolist, whole.to_host  # type: ignore[method-assign]
        self.guard, self.quiet = whole.guard, whole.quiet  # type: ignore[method-assign]

    @property
    def dtypes(self) -> Any:
        return self.whole.dtypes


def each(names: Iterable[str], subject: Subject) -> Iterator[str]:
    """Those of `names` that are dtypes of the subject."""
    return (name for name in names if name in subject.dtypes)
