"""Groups of parameters: a dict of "params" and the settings that hold for them."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from plugrad import Tensor
from plugrad.errors import DTypeError, GraphError

if TYPE_CHECKING:
    from collections.abc import Iterable

Group = dict[str, Any]

#: What a group may hold beside the optimizer's settings: names, and what schedules and wrappers write into it.
EXTRA = {
    "params", "name", "param_names", "initial_lr", "max_lr", "min_lr", "swa_lr", "base_momentum", "max_momentum",
    "master_weights",
}  # fmt: skip
IGNORED = {"foreach", "capturable", "differentiable", "fused"}  # how PyTorch computes, not what
NOT_NEGATIVE = (
    "lr", "eps", "weight_decay", "momentum", "alpha", "lr_decay", "initial_accumulator_value", "momentum_decay",
    "tolerance_grad", "tolerance_change",
)  # fmt: skip


def as_group(optimizer: str, given: Group, defaults: Group) -> Group:
    """`given` as a complete group: leaves in a list, each once, and every setting."""
    pairs = _pairs(given["params"])
    for i, (_, p) in enumerate(pairs):
        _leaf(optimizer, i, p)
    unknown = given.keys() - defaults.keys() - EXTRA - IGNORED
    if unknown:
        has = ", ".join(k for k in defaults if k not in EXTRA)
        raise ValueError(f"{optimizer} has no setting {', '.join(sorted(unknown))}; it has {has}")
    once: dict[int, tuple[str | None, Any]] = {}
    for name, p in pairs:
        once.setdefault(id(p), (name, p))
    group = {**defaults, **{k: v for k, v in given.items() if k not in IGNORED}}
    group["params"] = [p for _, p in once.values()]
    if any(name is not None for name, _ in pairs):
        group["param_names"] = [name for name, _ in once.values()]
    return group


def _pairs(params: Any) -> list[tuple[str | None, Any]]:
    """(name, parameter); the name is None where parameters came without."""
    entries: Iterable[Any] = [params] if isinstance(params, Tensor) else params
    pairs = [p if isinstance(p, tuple) else (None, p) for p in entries]
    named = sum(name is not None for name, _ in pairs)
    if 0 < named < len(pairs):
        raise ValueError(f"{named} of {len(pairs)} parameters have a name; give all of them one, or none")
    return pairs


def _leaf(optimizer: str, i: int, p: Any) -> None:
    if not isinstance(p, Tensor):
        raise DTypeError(f"{optimizer}: parameter {i} is a {type(p).__name__}, not a tensor")
    if not p.is_leaf:
        raise GraphError(f"{optimizer}: parameter {i}, shape {p.shape}, was made by an op; hand over the leaf itself")


def limits(optimizer: str, group: Group) -> None:
    """Raise ValueError where a setting that many optimizers have is out of bounds."""
    for name in NOT_NEGATIVE:
        not_below(optimizer, name, group.get(name, 0.0))
    for beta in group.get("betas", ()):
        if not 0 <= float(beta) < 1:
            raise ValueError(f"{optimizer}: betas are {group['betas']}; each is from 0 to below 1")


def not_below(optimizer: str, name: str, value: Any, least: float = 0.0) -> None:
    for number in value if isinstance(value, tuple) else (value,):
        if number is not None and not float(number) >= least:
            bound = f"below {least:g}" if least else "negative"
            raise ValueError(f"{optimizer}: {name} is {value}; it cannot be {bound}")


def settings(group: Group) -> Group:
    """A copy of a group without its parameters."""
    return deepcopy({k: v for k, v in group.items() if k != "params"})
