"""Masters: parameters in half precision with a copy in float32, so that small updates are not lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import plugrad as pg

if TYPE_CHECKING:
    from plugrad import Tensor

    from .optimizer import Optimizer

    Kind = TypeVar("Kind", bound=Optimizer)

__all__ = ["keep_master_weights"]


def keep_master_weights(optimizer: Kind) -> Kind:
    """Let `optimizer` add up its steps in float32 for parameters in half precision, and return it.

    Near 1 a bfloat16 number has no neighbour closer than 1/256: steps smaller than half of that are rounded away, all
    of them. The master, in float32, takes every step, and the parameter is the master rounded. State and moments are
    float32 as well, and part of `state_dict`. Parameters in float32 and float64 have no master.

        optimizer = optim.keep_master_weights(optim.AdamW(model.parameters(), lr=1e-4))

    One group alone: {"params": [...], "master_weights": True}.
    """
    if not optimizer.masters:
        raise ValueError(f"{type(optimizer).__name__} keeps no master weights; cast the parameters to float32 instead")
    optimizer.defaults["master_weights"] = True
    for group in optimizer.param_groups:
        group["master_weights"] = True
    return optimizer


def master_of(p: Tensor, state: dict[str, Any]) -> Tensor:
    """The master of `p`, kept in `state`; what somebody else wrote into `p` since the last step counts."""
    if p.dtype.bits != 16:
        return p
    now, master = p.detach(), state.get("master")
    if master is None:
        return now.astype("float32")
    return pg.where(  # type: ignore[no-any-return]
        master.astype(p.dtype) == now, master, now.astype("float32")
    )
