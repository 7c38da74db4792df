"""What a plugin may implement. Imported only when a plugin is being loaded.

Each hook has three readers: a look-up, the listing of `python -m plugrad`, and a conformance suite.

group `plugrad.backends`      plugrad_available, plugrad_backend, plugrad_kernels
group `plugrad.extensions`    plugrad_namespace, plugrad_cases, plugrad_kernels
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from .backend import Backend, Unavailable

hookspec = pluggy.HookspecMarker("plugrad")
hookimpl = pluggy.HookimplMarker("plugrad")


@hookspec(firstresult=True)
def plugrad_available() -> Unavailable | None:
    """Return None when the backend can run here, else `Unavailable(reason, fix)`.

    Must be cheap and must not import the array library.
    """


@hookspec(firstresult=True)
def plugrad_backend() -> Backend:  # type: ignore[empty-body]
    """Import what the backend needs and return it. Called once, when one of its devices is first asked for."""


@hookspec
def plugrad_kernels(register: Callable[..., None]) -> None:
    """Call `register(backend, op, load)` once per fused kernel.

    backend   name of the backend it runs on, "numpy"
    op        name of the op, "plugrad.Softmax" (package and class)
    load      function without arguments that returns the kernel; called at its first use
    """


@hookspec(firstresult=True)
def plugrad_namespace() -> ModuleType:  # type: ignore[empty-body]
    """Return the module that `pg.<name of the entry point>` gives."""


@hookspec(firstresult=True)
def plugrad_cases() -> list[Any]:  # type: ignore[empty-body]
    """Return the case rows (`plugrad.testing.Case`) of the ops that this extension defines."""
