"""The tensors that a model learns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg
from plugrad import Tensor

if TYPE_CHECKING:
    from typing import Any


class Parameter(Tensor):
    """A tensor that a module finds among its attributes, and an optimizer changes: `Parameter(pg.zeros(3))`.

    Optimizers and `load_state_dict` give a parameter a new value; the object stays the same.
    """

    __slots__ = ()

    def __new__(cls, data: Any, requires_grad: bool = True) -> Parameter:
        value = data.detach() if isinstance(data, Tensor) else pg.tensor(data)
        p: Parameter = object.__new__(cls)
        p.data, p.device, p.node = value.data, value.device, None
        p.requires_grad_(requires_grad)
        return p

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


def give(t: Tensor, value: Tensor) -> Tensor:
    """Give `t` the value, dtype and device of `value`: the same object, the same wish for a gradient."""
    learns, gradient = t.requires_grad, t.grad
    t.requires_grad_(False)
    t.data, t.device = value.data, value.device
    t.requires_grad_(learns)
    if gradient is not None:
        t.grad = gradient.to(value)
    return t
