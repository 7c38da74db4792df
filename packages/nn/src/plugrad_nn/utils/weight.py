"""Weights as length times direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import plugrad as pg

from ..parameter import Parameter
from .rewrite import Rewrite, rewritten, rule_of, weight_of

if TYPE_CHECKING:
    from plugrad import Tensor

    from ..module import Module

__all__ = ["remove_weight_norm", "weight_norm"]

TINY = 1e-30  # a direction of length 0 gives the weight 0, not NaN
M = TypeVar("M", bound="Module")


class WeightNorm(Rewrite):
    """w = g · v / ‖v‖, the length over all axes but `axis` (None: over all)."""

    def __init__(self, name: str, axis: int | None) -> None:
        self.name, self.axis = name, axis

    def length(self, v: Tensor) -> Tensor:
        if self.axis is None:
            return v.norm()
        rest = tuple([a for a in range(v.ndim) if a != self.axis % v.ndim])
        return v.norm(axis=rest, keepdims=True) if rest else v.abs()

    def weight(self, module: Module) -> Tensor:
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        made: Tensor = v * (g / pg.maximum(self.length(v), TINY))
        return made


def weight_norm(module: M, name: str = "weight", axis: int | None = 0) -> M:
    """Learn the length g and the direction v of a weight: w = g · v / ‖v‖. Returns the module.

    The parameter `name` becomes two, `name`_g and `name`_v; the weight is made of them anew in each call.
    Salimans and Kingma, Weight normalization, 2016.
    """
    rule, w = WeightNorm(name, None if axis == -1 else axis), weight_of(module, name, "weight_norm")
    module.register_parameter(f"{name}_g", Parameter(rule.length(w.detach())))
    module.register_parameter(f"{name}_v", Parameter(w))
    return rewritten(module, rule)


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make the weight a parameter again, of the value that it has."""
    rule = rule_of(module, name, WeightNorm, "remove_weight_norm")
    w = rule.weight(module)
    delattr(module, f"{name}_g")
    delattr(module, f"{name}_v")
    return rule.leave(module, w)
