"""A weight that is made of other parameters each time its module is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..parameter import Parameter

if TYPE_CHECKING:
    from plugrad import Tensor

    from ..module import Module

M = TypeVar("M", bound="Module")
R = TypeVar("R", bound="Rewrite")


class Rewrite:
    """A hook before `forward` that sets the attribute `name`. Subclasses write `weight(module)`."""

    name: str

    def weight(self, module: Module) -> Tensor:
        """The weight as it should be now."""
        raise NotImplementedError

    def __call__(self, module: Module, args: tuple[Any, ...]) -> None:
        setattr(module, self.name, self.weight(module))

    def leave(self, module: M, w: Tensor) -> M:
        """Give the module a plain parameter again."""
        module._pre_hooks = [h for h in module._pre_hooks if h is not self]
        delattr(module, self.name)
        setattr(module, self.name, Parameter(w))
        return module


def rewritten(module: M, rule: Rewrite) -> M:
    """`module`, whose weight is made by `rule` from now on."""
    if any(isinstance(h, type(rule)) and h.name == rule.name for h in module._pre_hooks):
        raise ValueError(f"{type(rule).__name__}: {type(module).__name__}.{rule.name} is made by one already")
    delattr(module, rule.name)
    setattr(module, rule.name, rule.weight(module))
    module.register_forward_pre_hook(rule)
    return module


def weight_of(module: Module, name: str, who: str) -> Parameter:
    """The parameter `name` of `module`."""
    w = getattr(module, name, None)
    if not isinstance(w, Parameter):
        raise ValueError(f"{who}: {type(module).__name__}.{name} is {type(w).__name__}, not a parameter")
    return w


def rule_of(module: Module, name: str, kind: type[R], who: str) -> R:
    """The rule by which the weight `name` of `module` is made."""
    for hook in module._pre_hooks:
        if isinstance(hook, kind) and hook.name == name:
            return hook
    raise ValueError(f"{who}: {type(module).__name__}.{name} is not made by {kind.__name__}")
