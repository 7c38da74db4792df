"""The state of a module by name: taken out, checked, put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import plugrad as pg
from plugrad import Tensor

from .errors import StateDictError
from .parameter import Parameter, give

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .module import Module


class Keys(NamedTuple):
    """What `load_state_dict` returns: names that the state dict lacked, and names that the module has not."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def state_of(module: Module, prefix: str = "") -> dict[str, Tensor]:
    """The tensors themselves by name: parameters and persistent buffers, shared ones under each of their names."""
    everything = module._tensors(prefix)
    return {name: t for name, t, persistent in everything if persistent or isinstance(t, Parameter)}


def load(module: Module, given: Mapping[str, Any], strict: bool) -> Keys:
    """Check everything, then write: a state dict that does not fit leaves the module as it was."""
    own = state_of(module)
    covered = {id(t) for name, t in own.items() if name in given}
    missing = [name for name, t in own.items() if name not in given and id(t) not in covered]
    unexpected = [name for name in given if name not in own]
    values = {name: _tensor(name, given[name]) for name in own if name in given}
    faults = [
        f"{name}: shape {values[name].shape} given, {own[name].shape} wanted"
        for name in values
        if values[name].shape != own[name].shape
    ]
    faults += _torn(own, values)
    if strict:
        faults += [f"{name}: missing" for name in missing]
        faults += [f"{name}: {type(module).__name__} has no such entry" for name in unexpected]
    if faults:
        only_names = strict and len(faults) == len(missing) + len(unexpected) < len(own)
        hint = "; strict=False takes the names that are there" if only_names else ""
        raise StateDictError(f"load_state_dict of {type(module).__name__}{hint}\n    " + "\n    ".join(faults))
    for name, value in values.items():
        give(own[name], value.to(own[name]))
    return Keys(missing, unexpected)


def _torn(own: dict[str, Tensor], values: dict[str, Tensor]) -> list[str]:
    """Names of one and the same tensor that are given different values."""
    first: dict[int, str] = {}
    faults = []
    for name, value in values.items():
        other = first.setdefault(id(own[name]), name)
        if other != name and value.shape == values[other].shape and not _equal(value, values[other]):
            faults.append(f"{name}: it is tied to {other}, but given other values")
    return faults


def _equal(a: Tensor, b: Tensor) -> bool:
    """The same values, NaN where the other has NaN."""
    return a is b or a.data is b.data or bool(((a == b) | ((a != a) & (b != b))).all())


def _tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach()
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return pg.tensor(value)
    raise StateDictError(f"load_state_dict: {name} is a {type(value).__name__}, not a tensor or an array")
