"""What is switched on right now: recording, watchers, kernels, module path. Thread- and async-safe."""

from __future__ import annotations

from _contextvars import ContextVar  # what `contextvars` is, without another file to import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .backend import Device

    F = TypeVar("F", bound=Callable[..., Any])


class State:
    """One setting of every switch; never changed, only replaced.

    recording   is the way back remembered?
    walking     is it being walked?
    watchers    what sees every op go by
    kernels     "prefer", "off" or "force"
    forced      names of the ops that "off" and "force" speak of; empty: all
    path        names of the modules that are running, outermost first
    devices     default devices for new tensors, innermost last
    entered     the managers that are entered, each with what it is to put back
    """

    __slots__ = ("devices", "entered", "forced", "kernels", "path", "recording", "walking", "watchers")

    def __init__(
        self,
        recording: bool = True,
        watchers: tuple[Any, ...] = (),
        kernels: str = "prefer",
        forced: frozenset[str] = frozenset(),
        path: tuple[str, ...] = (),
        devices: tuple[Device, ...] = (),
        walking: bool = False,
        entered: tuple[tuple[switch, dict[str, Any]], ...] = (),
    ) -> None:
        self.recording, self.walking, self.watchers, self.kernels = recording, walking, watchers, kernels
        self.forced, self.path, self.devices, self.entered = forced, path, devices, entered

    def change(self, **changes: Any) -> State:
        return State(**{name: changes.get(name, getattr(self, name)) for name in State.__slots__})


current: ContextVar[State] = ContextVar("plugrad", default=State())


class _Null:
    """A context that does nothing (contextlib's costs 1.5 ms to import)."""

    def __enter__(self) -> None: ...

    def __exit__(self, *exc: object) -> None: ...


nullcontext = _Null()


class switch:
    """Change switches for a while: `with switch(recording=False): ...`, or as a decorator.

    Works with functions, generators (only while they run), coroutines and asynchronous generators, nests, and
    restores what was there whatever happens.
    """

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def __enter__(self) -> None:
        now = current.get()
        before = {name: getattr(now, name) for name in self.changes}
        current.set(now.change(**self.changes, entered=(*now.entered, (self, before))))

    def __exit__(self, *exc: object) -> None:
        """Put back what this manager changed, and only that, whatever was entered or left in between."""
        now = current.get()
        at = max(i for i, (how, _) in enumerate(now.entered) if how is self)
        current.set(now.change(**now.entered[at][1], entered=now.entered[:at] + now.entered[at + 1 :]))

    def again(self) -> switch:
        """A fresh manager with the same changes: each call of a decorated function has its own."""
        return switch(**self.changes)

    def __call__(self, f: F) -> F:
        from .tools.decorate import decorated

        return decorated(self, f)  # type: ignore[no-any-return]


def no_grad() -> switch:
    """Do not remember the way back. `with no_grad(): ...` or `@no_grad()`."""
    return switch(recording=False)


def enable_grad() -> switch:
    """Remember the way back, inside a `no_grad` too. `with enable_grad(): ...` or `@enable_grad()`."""
    return switch(recording=True)


def set_grad_enabled(on: bool) -> switch:
    """`enable_grad()` or `no_grad()`, as `on` says."""
    return switch(recording=bool(on))


def recorded() -> bool:
    """Is a function being recorded, to be run again on other numbers? Then all must be ops, and no number be read."""
    return any([w.records for w in current.get().watchers])


def is_grad_enabled() -> bool:
    """Is the way back being remembered?"""
    return current.get().recording
