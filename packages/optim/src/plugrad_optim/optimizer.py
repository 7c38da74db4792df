"""What every optimizer does: hold the parameters in groups, keep a state for each, save and load it."""

from __future__ import annotations

from collections import defaultdict
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from plugrad import Tensor, enable_grad, no_grad
from plugrad.errors import DTypeError, GraphError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Params = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

Group = dict[str, Any]


class Optimizer:
    """Subclass this and write `update(p, g, state, group)`, which returns the new value of p.

    param_groups   list of dicts: "params" and the settings that hold for them (lr, ...)
    state          parameter → dict of what is remembered about it

    Parameters without a gradient, and frozen ones, are left alone. A parameter given twice in one group is one; in two
    groups it is an error.
    """

    def __init__(self, params: Params, defaults: Group) -> None:
        self.defaults = defaults
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        if isinstance(params, Tensor):
            raise DTypeError(f"{type(self).__name__}: parameters come in a list, this is one tensor; write [x]")
        given: list[Any] = list(params)
        if not given:
            raise ValueError(f"{type(self).__name__}: there are no parameters; was a generator used up before?")
        for group in given if all(isinstance(g, dict) for g in given) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """One more group; settings that it leaves out are the optimizer's defaults."""
        name = type(self).__name__
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else [p[1] if isinstance(p, tuple) else p for p in params]
        for i, p in enumerate(params):
            if not isinstance(p, Tensor):
                raise DTypeError(f"{name}: parameter {i} is a {type(p).__name__}, not a tensor")
            if not p.is_leaf:
                raise GraphError(
                    f"{name}: parameter {i}, shape {p.shape}, was made by an op; hand over the leaf itself"
                )
        params = list({id(p): p for p in params}.values())
        taken = {id(p) for group in self.param_groups for p in group["params"]}
        for p in params:
            if id(p) in taken:
                raise ValueError(f"{name}: a parameter of shape {p.shape} is in two groups; each belongs to one")
        unknown = param_group.keys() - self.defaults.keys() - {"params", "initial_lr", "name"}
        if unknown:
            raise ValueError(f"{name} has no setting {', '.join(sorted(unknown))}; it has {', '.join(self.defaults)}")
        group = {**self.defaults, **param_group, "params": params}
        self.check(group)
        self.param_groups.append(group)

    def check(self, group: Group) -> None:
        """Raise ValueError where a setting makes no sense."""
        for name in ("lr", "eps", "weight_decay", "momentum"):
            if not float(group.get(name, 0.0)) >= 0:
                raise ValueError(f"{type(self).__name__}: {name} is {group[name]}; it cannot be negative")
        for beta in group.get("betas", ()):
            if not 0 <= beta < 1:
                raise ValueError(f"{type(self).__name__}: betas are {group['betas']}; each is from 0 to below 1")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients (or fill them with zeros)."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = None if set_to_none else p.new_zeros(p.shape)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient. `closure`, if given, computes it, and returns the loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.requires_grad and p.grad is not None:
                        g = -p.grad if group.get("maximize") else p.grad
                        p.data = self.update(p, g, self.state[p], group).astype(p.dtype).data
        return loss

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: Group) -> Tensor:
        """The new value of `p`, whose gradient is `g`."""
        raise NotImplementedError(f"{type(self).__name__}.update(self, p, g, state, group) is not written")

    # -- its state ----------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """All that `load_state_dict` needs to go on exactly as if nothing had happened; parameters stand as numbers."""
        params = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): i for i, p in enumerate(params)}
        groups = [{**_settings(g), "params": [number[id(p)] for p in g["params"]]} for g in self.param_groups]
        state = {number[id(p)]: _copy(s) for p, s in self.state.items() if id(p) in number}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state; nothing has been changed when it raises."""
        groups, given, name = state_dict["param_groups"], state_dict["state"], type(self).__name__
        here, there = ([len(g["params"]) for g in gs] for gs in (self.param_groups, groups))
        if here != there:
            raise ValueError(f"{name}: groups of {there} parameters in the state dict, of {here} here")
        numbers = [i for group in groups for i in group["params"]]
        params = [p for group in self.param_groups for p in group["params"]]
        state = {p: _copy(given[i], p) for i, p in zip(numbers, params, strict=True) if i in given}
        for i, (p, entries) in enumerate(state.items()):
            for key, t in entries.items():
                if isinstance(t, Tensor) and t.ndim and t.shape != p.shape:
                    raise ValueError(f"{name}: {key} of parameter {i} has shape {t.shape}, the parameter {p.shape}")
        self.state = defaultdict(dict, state)
        for mine, loaded in zip(self.param_groups, groups, strict=True):
            mine.update(_settings(loaded))

    def __repr__(self) -> str:
        groups = (", ".join(f"{k}={v}" for k, v in g.items() if k != "params") for g in self.param_groups)
        return "\n".join(f"{type(self).__name__}({g})" for g in groups)


def _settings(group: Group) -> Group:
    """A copy of a group without its parameters."""
    return deepcopy({k: v for k, v in group.items() if k != "params"})


def _copy(state: dict[str, Any], p: Tensor | None = None) -> dict[str, Any]:
    """`state` in objects of its own, on the device of `p`."""
    return {k: _moved(v, p) if isinstance(v, Tensor) else deepcopy(v) for k, v in state.items()}


def _moved(t: Tensor, p: Tensor | None) -> Tensor:
    return t.detach() if p is None else t.detach().to(device=p.device)
