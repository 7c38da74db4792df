"""What every optimizer does: hold the parameters in groups, keep a state for each, save and load it."""

from __future__ import annotations

from collections import defaultdict
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from plugrad import Tensor, enable_grad, no_grad
from plugrad.errors import DTypeError, ShapeError

from .groups import as_group, limits, settings
from .master import master_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .groups import Group

    Params = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
    State = dict[str, Any]

__all__ = ["Optimizer"]

COUNTS = {"step": int, "mu_product": float, "eta": float, "mu": float}  # of a state: plain numbers, not tensors


class Optimizer:
    """Subclass this and write `update(p, g, state, group)`, which returns the new value of p.

    param_groups   list of dicts: "params" and the settings that hold for them (lr, ...), to be read and changed
    state          parameter → dict of what is remembered about it

    Parameters without a gradient, and frozen ones, are left alone. A parameter given twice in one group is one; in two
    groups it is an error.
    """

    grad_scale = 1.0  # gradients are this much too large: see GradScaler
    masters = True  # it can move masters in float32: see keep_master_weights

    def __init__(self, params: Params, defaults: Group) -> None:
        self.defaults = defaults
        self.state: dict[Tensor, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        if isinstance(params, Tensor):
            raise DTypeError(f"{type(self).__name__}: parameters come in a list, this is one tensor; write [x]")
        if hasattr(params, "parameters"):
            raise DTypeError(f"{type(self).__name__}: {type(params).__name__} is a model; write model.parameters()")
        given: list[Any] = list(params)
        if not given:
            raise ValueError(f"{type(self).__name__}: there are no parameters; was a generator used up before?")
        for group in given if all(isinstance(g, dict) for g in given) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """One more group; settings that it leaves out are the optimizer's defaults."""
        group = as_group(type(self).__name__, param_group, self.defaults)
        taken = {id(p) for other in self.param_groups for p in other["params"]}
        for p in group["params"]:
            if id(p) in taken:
                raise ValueError(
                    f"{type(self).__name__}: a parameter of shape {p.shape} is in two groups; each belongs to one"
                )
        self.check(group)
        self.param_groups.append(group)

    def check(self, group: Group) -> None:
        """Raise ValueError where a setting makes no sense."""
        limits(type(self).__name__, group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients (or fill them with zeros)."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = None if set_to_none else p.new_zeros(p.shape)

    # -- the step -----------------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient. `closure`, if given, computes it, and returns the loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                self.advance([p for p in group["params"] if p.requires_grad and p.grad is not None], group)
        return loss

    def advance(self, params: list[Tensor], group: Group) -> None:
        """One step of these parameters of a group."""
        for p in params:
            value = self.value(p, group)
            new = self.update(value, self.gradient(p, group), self.state[p], group)
            if new.shape != p.shape:
                raise ShapeError(
                    f"{type(self).__name__}.update returned shape {new.shape} for a parameter of shape {p.shape}"
                )
            self.put(p, value, new)

    def update(self, p: Tensor, g: Tensor, state: State, group: Group) -> Tensor:
        """The new value of `p`, whose gradient is `g`."""
        raise NotImplementedError(f"{type(self).__name__}.update(self, p, g, state, group) is not written")

    def value(self, p: Tensor, group: Group) -> Tensor:
        """What is moved: `p`, or where the group keeps one, its master in float32."""
        return master_of(p, self.state[p]) if group.get("master_weights") else p

    def gradient(self, p: Tensor, group: Group) -> Tensor:
        """The gradient to go down along: scaled back where it had been scaled, turned round to maximize."""
        g: Tensor = p.grad  # type: ignore[assignment]
        if self.grad_scale != 1.0:
            g = (g.astype("float32") if g.dtype.bits == 16 else g) / self.grad_scale
        return -g if group.get("maximize") else g

    def put(self, p: Tensor, value: Tensor, new: Tensor) -> None:
        """Give `p` its new value; `value` is what `self.value` gave."""
        if value is not p:
            self.state[p]["master"] = new
        p.data = like(new, p).data

    # -- its state ----------------------------------------------------------------------------------------------

    def shape_of(self, name: str, p: Tensor) -> tuple[int, ...] | None:
        """The shape that the entry `name` in the state of `p` must have; None: any."""
        return p.shape if name == "master" else None

    def state_dict(self) -> dict[str, Any]:
        """All that `load_state_dict` needs to go on exactly as if nothing had happened; parameters stand as numbers."""
        params = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): i for i, p in enumerate(params)}
        groups = [{**settings(g), "params": [number[id(p)] for p in g["params"]]} for g in self.param_groups]
        state = {number[id(p)]: _entries(s) for p, s in self.state.items() if id(p) in number}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state, PyTorch's too (with plugrad tensors in it); nothing has been changed when it raises."""
        groups, given, name = state_dict["param_groups"], state_dict["state"], type(self).__name__
        here, there = ([len(g["params"]) for g in gs] for gs in (self.param_groups, groups))
        if here != there:
            raise ValueError(f"{name}: groups of {there} parameters in the state dict, of {here} here")
        numbers = [i for group in groups for i in group["params"]]
        params = [p for group in self.param_groups for p in group["params"]]
        state = {p: _entries(given[i], p) for i, p in zip(numbers, params, strict=True) if i in given}
        for i, (p, entries) in enumerate(state.items()):
            self._fits(f"of parameter {i}", p, entries)
        loaded = [as_group(name, {**settings(g), "params": []}, {**mine, "params": []}) for g, mine in
                  zip(groups, self.param_groups, strict=True)]  # fmt: skip
        for group in loaded:
            self.check(group)
        self.state = defaultdict(dict, state)
        for mine, group in zip(self.param_groups, loaded, strict=True):
            mine.update(settings(group))

    def _fits(self, whose: str, p: Tensor, entries: State) -> None:
        for name, t in entries.items():
            want = self.shape_of(name, p) if isinstance(t, Tensor) else None
            if want is not None and t.shape != want:
                raise ValueError(
                    f"{type(self).__name__}: {name} {whose} has shape {t.shape}, the parameter {p.shape} needs {want}"
                )

    def __repr__(self) -> str:
        groups = (", ".join(f"{k}={v}" for k, v in g.items() if k != "params") for g in self.param_groups)
        return "\n".join(f"{type(self).__name__}({g})" for g in groups)


def like(new: Tensor, old: Tensor) -> Tensor:
    """`new` in the dtype of `old`: another one only where half precision, or a wider state, took part."""
    return new if new.data.dtype == old.data.dtype else new.astype(old.dtype)


def _entries(state: State, p: Tensor | None = None) -> State:
    """`state` in objects of its own, on the device of `p`; plain numbers where PyTorch has 0-d tensors."""
    own = {k: _own(v, p) for k, v in state.items() if v is not None}
    return {k: COUNTS[k](v) if k in COUNTS and isinstance(v, Tensor) and not v.ndim else v for k, v in own.items()}


def _own(value: Any, p: Tensor | None) -> Any:
    if isinstance(value, Tensor):
        return value.detach() if p is None else value.detach().to(device=p.device)
    return [_own(v, p) for v in value] if isinstance(value, list) else deepcopy(value)
