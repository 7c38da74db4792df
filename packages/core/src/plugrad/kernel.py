"""A fused kernel: one op on one backend, held to `op.forward` by the conformance suite."""

from __future__ import annotations

from .call import wrap
from .context import recorded, switch
from .errors import PluginLoadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .node import KernelNode


class Kernel:
    """What a plugin's `load` returns, where a bare function is not enough.

    forward(op, *arrays)               the output, or NotImplemented to decline; with `backward`, (output, kept)
    backward(op, kept, g, wanted)      arrays ∂L/∂input, one for each input (None where `wanted` is False): all at once,
                                       from what the forward kept; asked for higher order, core uses the formula
    supports(op, *arrays)              True, or in words why not; asked before `forward`
    """

    __slots__ = ("backward", "forward", "origin", "supports")

    def __init__(
        self,
        forward: Callable[..., Any],
        backward: Callable[..., Any] | None = None,
        supports: Callable[..., bool | str] | None = None,
    ) -> None:
        self.forward, self.backward, self.supports = forward, backward, supports
        self.origin = ""

    def run(self, op: Any, arrays: list[Any]) -> Any:
        """What `forward` gives, or NotImplemented."""
        if self.supports is not None and self.supports(op, *arrays) is not True:
            return NotImplemented
        return self.forward(op, *arrays)

    def reason(self, op: Any, arrays: list[Any]) -> str:
        """Why the kernel declines these arrays, in words; "" where it accepts."""
        why = True if self.supports is None else self.supports(op, *arrays)
        if why is not True:
            return str(why)
        return "it returned NotImplemented" if self.forward(op, *arrays) is NotImplemented else ""

    def gradients(self, n: KernelNode, g: Any, again: bool) -> list[Any] | None:
        """The kernel's own first-order gradients, as tensors; None where they are to be differentiated or run again."""
        if again or recorded():
            return None
        wanted = [p is not None for p in n.parents]
        some = g if not isinstance(g, tuple) else next(t for t in g if t is not None)
        arrays = g.data if some is g else tuple([t.data for t in g])
        found = self.backward(n.op, n.kept, arrays, wanted)  # type: ignore[misc]
        return [None if a is None else wrap(a, some.device) for a in found]


def kernels(mode: str, *ops: str) -> switch:
    """Whether fused kernels run: "prefer" (as they come), "off", or "force" (raise, and say why, where one declines).

    With names of ops ("softmax") only these are meant. `with pg.kernels("off"): ...`, or as a decorator.
    """
    if mode not in ("prefer", "off", "force"):
        raise ValueError(f"kernels: {mode!r} is none of 'prefer', 'off', 'force'")
    return switch(kernels=mode, forced=frozenset(ops))


def as_kernel(found: Any, origin: str) -> Kernel:
    """What `load` returned, as a Kernel."""
    kernel = found if isinstance(found, Kernel) else Kernel(found)
    if not callable(kernel.forward):
        raise PluginLoadError(f"kernel {origin}: load() returned {found!r}, not a function or a Kernel")
    kernel.origin = origin
    return kernel
