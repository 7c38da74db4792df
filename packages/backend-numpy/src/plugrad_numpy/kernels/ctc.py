"""CTC with all samples and places of a step at once; what a place comes from lies beside it, in a window of three."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from plugrad.kernel import Kernel

from .common import no_float, quiet
from .embedding import added


def supports(op: Any, x: Any, *others: Any) -> bool | str:
    if odd := no_float(x):
        return odd
    if not x.size:
        return f"shape {x.shape} has no numbers"
    return True if x.max() < np.inf else "a log-probability is infinite or NaN"


def labelled(op: Any, y: Any, dtype: Any) -> tuple[Any, Any]:
    """(labels with blanks around each, 0 where a path may leave out the blank before a label, else -∞)."""
    labels = np.full((len(y), 2 * y.shape[1] + 1), op.blank, np.intp)
    labels[:, 1::2] = y
    skips = labels != op.blank
    skips[:, 2:] &= labels[:, 2:] != labels[:, :-2]
    return labels, np.where(skips, dtype.type(0), -np.inf)


def windows(a: Any) -> Any:
    """a: (..., S + 2) as (..., 3, S): each place with the two that follow it. No copy."""
    *lead, step = a.strides
    return as_strided(a, (*a.shape[:-1], 3, a.shape[-1] - 2), (*lead, step, step), writeable=False)


def joined(window: Any, walls: Any, buffer: Any) -> Any:
    """log Σ e^(what the window shows + walls)"""
    np.add(window, walls, out=buffer)
    top = np.maximum(buffer.max(axis=1), np.finfo(buffer.dtype).min)
    buffer -= top[:, None]
    np.exp(buffer, out=buffer)
    z = np.log(buffer.sum(axis=1))
    z += top
    return z


def last(n: Any, like: Any) -> Any:
    """0 at the places where a path may end, else -∞."""
    place, end = np.arange(like.shape[1]), 2 * n[:, None]
    return np.where((place == end) | (place == end - 1), 0.0, -np.inf).astype(like.dtype)


@quiet
def forward(op: Any, x: Any, y: Any, m: Any, n: Any) -> tuple[Any, Any]:
    """α after each step, with two places of -∞ in front; keeps it"""
    labels, wall = labelled(op, y, x.dtype)
    samples, places = labels.shape
    emitted = np.take_along_axis(x, labels[None], axis=2)
    a = np.full((len(x) + 1, samples, places + 2), -np.inf, x.dtype)
    a[0, :, 2] = 0
    walls = np.zeros((samples, 3, places), x.dtype)
    walls[:, 0] = wall
    shown, buffer, alive = windows(a), np.empty_like(walls), np.arange(len(x))[:, None, None] < m[:, None]
    for t in range(len(x)):
        z = joined(shown[t], walls, buffer)
        z += emitted[t]
        a[t + 1, :, 2:] = z if alive[t].all() else np.where(alive[t], z, a[t, :, 2:])
    total = np.logaddexp.reduce(a[-1, :, 2:] + last(n, wall), axis=1)
    return -total, (a, emitted, labels, wall, alive, n, total, x.shape)


@quiet
def backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x(t, c) = -g Σ_{s: l_s = c} e^(α + β - total)"""
    a, emitted, labels, wall, alive, n, total, shape = kept
    ends, walls = last(n, wall), np.zeros((len(labels), 3, labels.shape[1]), a.dtype)
    walls[:, 2] = -np.inf
    walls[:, 2, :-2] = wall[:, 2:]
    b = np.empty_like(emitted)
    b[-1] = ends
    z = np.full((len(ends), labels.shape[1] + 2), -np.inf, a.dtype)
    shown, buffer = windows(z), np.empty_like(walls)
    for t in range(len(b) - 1, 0, -1):
        np.add(b[t], emitted[t], out=z[:, :-2])
        c = joined(shown, walls, buffer)
        b[t - 1] = c if alive[t].all() else np.where(alive[t], c, ends)
    b += a[1:, :, 2:]
    b -= np.where(total == -np.inf, 0, total)[:, None]
    np.exp(b, out=b)
    b *= alive * -g[:, None]
    return [gathered(b, labels, shape), None, None, None]


def gathered(b: Any, labels: Any, shape: tuple[int, ...]) -> Any:
    """b: (T, N, S) added up at the class of each place, (T, N, C)."""
    steps, samples, classes = shape
    place = labels + classes * np.arange(samples)[:, None]
    dx = added(samples * classes, place.reshape(-1), b.reshape(steps, -1).T)
    return np.ascontiguousarray(dx.T).reshape(shape)


ctc = Kernel(forward, backward, supports)
