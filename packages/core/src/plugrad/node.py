"""What the graph is made of: a value (what ops see of a tensor) and a node (how it was made)."""

from __future__ import annotations

from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .backend import Device
    from .op import Op

new = object.__new__
number = count(1).__next__  # nodes are numbered as they are made: inputs before outputs
RETAIN = "retain"  # in place of a hook: keep the gradient in `node.grad`


class Value:
    """What ops need of a tensor: an array, the device it lives on, and its node (None: no gradient asked for).

    `origin` is set, to the name of the op, on what came out of indexing or a movement op.
    """

    __slots__ = ("__weakref__", "data", "device", "node", "origin")

    data: Any
    device: Device
    node: Node | None
    origin: str


class Node:
    """How a value was made. Nodes know nodes, never tensors: no cycles, so a graph dies with its last reference.

    op        the op; None for a leaf
    parents   nodes of its inputs, None where no gradient is wanted
    saved     what the gradients name, as arrays; None once freed
    seq       creation number
    shape     of the value
    device    where it was made
    hooks     called with the complete gradient; None when there are none
    grad      of a leaf, or of an inner node that was told to retain it; otherwise unset
    """

    __slots__ = ("__weakref__", "device", "grad", "hooks", "op", "parents", "saved", "seq", "shape")

    op: Op | None
    parents: tuple[Node | None, ...]
    saved: tuple[Any, ...] | None
    seq: int
    shape: tuple[int, ...]
    device: Device
    hooks: list[Callable[[Any], Any] | str] | None
    grad: Any

    def __repr__(self) -> str:
        return f"<{self.op or 'leaf'} of shape {self.shape}>"


class KernelNode(Node):
    """A node whose kernel brought its own first-order backward, with what that one saved."""

    __slots__ = ("kept", "kernel")

    kernel: Any
    kept: Any


class Pick(Node):
    """One of several outputs of the node before it."""

    __slots__ = ("place",)

    place: int


def link(n: Any, op: Op | None, parents: tuple[Node | None, ...], saved: Any, shape: Any, device: Device) -> Any:
    """Fill in a new node."""
    n.op, n.parents, n.saved, n.seq, n.shape, n.device, n.hooks = op, parents, saved, number(), shape, device, None
    return n


def leaf(shape: tuple[int, ...], device: Device) -> Node:
    """The node of a tensor that a gradient is asked for and that nothing made."""
    n = link(new(Node), None, (), (), shape, device)
    n.grad = None
    return n  # type: ignore[no-any-return]


def pick(node: Node, place: int, data: Any) -> Pick | None:
    """The node of one of several outputs; integers have none."""
    if node.device.backend.dtype_of(data).kind != "float":
        return None
    n = link(new(Pick), node.op, (node,), (), data.shape, node.device)
    n.place = place
    return n  # type: ignore[no-any-return]
