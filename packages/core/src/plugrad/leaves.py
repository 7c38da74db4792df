"""Asking for gradients: leaves, hooks, kept gradients."""

from __future__ import annotations

from .call import wrap
from .errors import DTypeError, GraphError
from .grad import like
from .node import RETAIN, leaf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .node import Node
    from .tensor import Tensor


class Hook:
    """What `register_hook` returns: `remove()` takes the hook off again."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self.hooks, self.hook = hooks, hook

    def remove(self) -> None:
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


def requires_grad_(x: Tensor, on: bool = True) -> Tensor:
    """Ask for a gradient (or stop asking), and return `x`."""
    on = bool(on)
    if not x.is_leaf:
        if not on:
            raise GraphError("requires_grad: this tensor was made by an op; x.detach() gives one without a gradient")
        return x
    if on and x.dtype.kind != "float":
        raise DTypeError(f"only floating tensors can require gradients, not {x.dtype}; x.astype('float32') first")
    if on is (x.node is None):
        x.node = leaf(x.shape, x.device) if on else None
    return x


def _node(x: Tensor, what: str) -> Node:
    if x.node is None:
        raise GraphError(f"{what}: this tensor does not require a gradient; x.requires_grad_() first")
    return x.node


def retain_grad(x: Tensor) -> None:
    """Keep the gradient of a tensor that an op made, in `.grad`."""
    node = _node(x, "retain_grad")
    if node.op is not None and RETAIN not in (node.hooks or ()):
        node.grad = None
        node.hooks = [*(node.hooks or ()), RETAIN]


def register_hook(x: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Hook:
    """Call `hook(gradient)` once the complete gradient is known; what it returns, if anything, goes on instead."""
    node = _node(x, "register_hook")
    if node.hooks is None:
        node.hooks = []
    node.hooks.append(hook)
    return Hook(node.hooks, hook)


def set_grad(x: Tensor, value: Tensor | None) -> None:
    """`x.grad = value`: of the same shape and dtype, on the same device."""
    if value is None:
        if x.node is not None:
            x.node.grad = None
        return
    _node(x, "grad").grad = like("grad", x, value)


def detach(x: Tensor) -> Tensor:
    """The same value without the way back."""
    t: Tensor = wrap(x.data, x.device)
    if hasattr(x, "origin"):
        t.origin = x.origin
    return t
