"""Rows chosen by integers: taken in one pass; on the way back those of one number are added up next to each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up
from .common import no_float

OFTEN = 8  # occurrences from which a number has a sum of its own


def supports(op: Any, w: Any, i: Any, *others: Any) -> bool | str:
    if odd := no_float(w):
        return odd
    if i.size and not 0 <= i.min() <= i.max() < op.rows:
        return "an index is out of range: the formula says which"
    return True


def added(rows: int, i: Any, g: Any) -> Any:
    """z[k] = Σ g[j] over the j with i[j] = k, always in the same order.

    Equal numbers are brought together. Those that occur often are summed one number after the other, the rest all at
    once: what occurs first, what occurs second, ...
    """
    z = np.zeros((rows, *g.shape[1:]), g.dtype)
    if not i.size:
        return z
    if (i[1:] < i[:-1]).any():
        order = np.argsort(i, kind="stable")
        i, g = i[order], g[order]
    first = np.flatnonzero(np.concatenate([[True], i[1:] != i[:-1]]))
    count = np.diff(first, append=i.size)
    many = count >= OFTEN
    for start, n in zip(first[many].tolist(), count[many].tolist(), strict=True):
        z[i[start]] = add_up(g[start : start + n], axis=0)
    first, count = first[~many], count[~many]
    z[i[first]] = g[first]
    for k in range(1, OFTEN):
        first, count = first[count > k], count[count > k]
        if not first.size:
            break
        z[i[first]] += g[first + k]
    return z


def often(rows: int, i: Any) -> Any:
    """How often each of i occurs, as a column."""
    return np.bincount(i, minlength=rows)[i][:, None]


def embedding_forward(op: Any, w: Any, i: Any) -> tuple[Any, Any]:
    return np.take(w, i, axis=0), i


def embedding_backward(op: Any, i: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂w[k] = Σ_{i = k} g, without the row of the padding"""
    i, g = i.reshape(-1), g.reshape(-1, g.shape[-1])
    if op.even:
        g = (g / often(op.rows, i)).astype(g.dtype)
    dw = added(op.rows, i, g)
    if op.padding is not None:
        dw[op.padding] = 0
    return [dw, None]


def bag_forward(op: Any, w: Any, i: Any, bag: Any, s: Any) -> tuple[Any, Any]:
    """z_b = Σ_{bag = b} s w[i]"""
    rows = np.take(w, i, axis=0)
    return added(op.bags, bag, rows * s[:, None]), (w, i, bag, s)


def bag_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂w[i] += s g[bag]        ∂L/∂s = g[bag] · w[i]"""
    w, i, bag, s = kept
    each, dw = g[bag], None
    if wanted[0]:
        share = s[:, None] / often(op.rows, i).astype(s.dtype) if op.even else s[:, None]
        dw = added(op.rows, i, each * share)
    return [dw, None, None, np.einsum("kd,kd->k", each, w[i]) if wanted[3] else None]


embedding = Kernel(embedding_forward, embedding_backward, supports)
embedding_bag = Kernel(bag_forward, bag_backward, supports)
