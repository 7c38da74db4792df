"""The names that a case may use, bound to plugrad. A table of the same form for another library runs the same cases."""

from __future__ import annotations

import copy
import gc
import math
import os
import warnings
import weakref
from typing import Any

import numpy as np

import plugrad as pg
import plugrad_data
import plugrad_nn
import plugrad_optim


def _sort(x: pg.Tensor, axis: int = -1, descending: bool = False) -> tuple[pg.Tensor, pg.Tensor]:
    """PyTorch's sort also gives the order; the array API's gives the values alone."""
    order = pg.argsort(x, axis=axis, descending=descending)
    return pg.take_along_axis(x, order, axis=axis), order


#: Where a name means something else in PyTorch (in whose terms the cases were written) than in the array API, or where
#: PyTorch has one name more for the same.
OTHER = {
    "autograd": pg,
    "bmm": pg.matmul,
    "bool": pg.bool,
    "cat": pg.concat,
    "clamp": pg.clip,
    "eq": pg.equal,
    "equal": pg.array_equal,
    "from_numpy": pg.tensor,
    "gather": lambda x, axis, index: x.gather(axis, index),
    "ge": pg.greater_equal,
    "gt": pg.greater,
    "index_select": lambda x, axis, index: pg.take(x, index, axis=axis),
    "is_tensor": lambda x: isinstance(x, pg.Tensor),
    "le": pg.less_equal,
    "lt": pg.less,
    "mm": pg.matmul,
    "mv": pg.matmul,
    "ne": pg.not_equal,
    "numel": lambda x: x.numel(),
    "scatter_add": lambda x, axis, index, src: x.scatter_add(axis, index, src),
    "sort": _sort,
    "transpose": lambda x, a, b: x.transpose(a, b),
}


class Top:
    """The library's top level: plugrad's, but for the names in OTHER."""

    def __getattr__(self, name: str) -> Any:
        return OTHER[name] if name in OTHER else getattr(pg, name)


def _of(dtype: pg.DType) -> Any:
    return lambda data, **options: pg.tensor(data, dtype=dtype, **options)


def namespace() -> dict[str, Any]:
    return {
        "T": _of(pg.float32), "I": _of(pg.int64), "U8": _of(pg.uint8), "Bool": _of(pg.bool),
        "P": Top(), "nn": plugrad_nn, "F": plugrad_nn.functional, "optim": plugrad_optim,
        "sched": plugrad_optim.lr_scheduler, "data": plugrad_data, "grad": pg.grad, "no_grad": pg.no_grad,
        "clip_grad_norm_": plugrad_nn.utils.clip_grad_norm_,
        "np": np, "math": math, "gc": gc, "weakref": weakref, "copy": copy, "warnings": warnings, "os": os,
        "inf": math.inf, "nan": math.nan,
    }  # fmt: skip


def to_list(value: Any) -> Any:
    return value.tolist() if isinstance(value, pg.Tensor) else value
