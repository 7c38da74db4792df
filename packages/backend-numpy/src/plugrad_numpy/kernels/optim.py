"""Update rules over all parameters in one call: block by block, so that what a rule puts aside stays in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plugrad.kernel import Kernel

from .common import quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 32768  # numbers at a time


def decayed(op: Any, t: Any, p: Any, g: Any) -> Any:
    """d = g + λ p, in t; g itself where λ is 0"""
    if not op.weight_decay:
        return g
    np.multiply(p, op.weight_decay, out=t)
    return np.add(t, g, out=t)


def descend(op: Any, t: Any, z: Any, p: Any, g: Any, eta: float) -> None:
    np.multiply(decayed(op, t, p, g), eta, out=t)
    np.subtract(p, t, out=z)


def momentum(op: Any, t: Any, z: Any, c: Any, p: Any, g: Any, b: Any, eta: float) -> None:
    d = decayed(op, t, p, g)
    np.multiply(b, op.momentum, out=c)
    c += d if not op.dampening else np.multiply(d, 1 - op.dampening, out=z)
    u = np.add(d, np.multiply(c, op.momentum, out=z), out=z) if op.nesterov else c
    np.subtract(p, np.multiply(u, eta, out=z), out=z)


def adam(op: Any, t: Any, z: Any, n: Any, w: Any, p: Any, g: Any, m: Any, v: Any, *numbers: float) -> None:
    moments(op, t, z, n, w, p, g, m, v)
    moved(op, t, z, p, n, w, *numbers)


def amsgrad(
    op: Any, t: Any, z: Any, n: Any, w: Any, y: Any, p: Any, g: Any, m: Any, v: Any, u: Any, *numbers: float
) -> None:
    moments(op, t, z, n, w, p, g, m, v)
    moved(op, t, z, p, n, np.maximum(u, w, out=y), *numbers)


def moments(op: Any, t: Any, z: Any, n: Any, w: Any, p: Any, g: Any, m: Any, v: Any) -> None:
    """n = m + (1 - β₁) (d - m), w = β₂ v + (1 - β₂) d²"""
    d = decayed(op, t, p, g)
    np.subtract(d, m, out=n)
    n *= 1 - op.beta1
    n += m
    np.multiply(d, 1 - op.beta2, out=z)
    z *= d
    np.multiply(v, op.beta2, out=w)
    w += z


def moved(op: Any, t: Any, z: Any, p: Any, n: Any, w: Any, alpha: float, c: float, kappa: float) -> None:
    """z = κ p - α n / (√w / c + ε)"""
    np.sqrt(w, out=t)
    t *= 1 / c
    t += op.eps
    np.divide(n, t, out=t)
    t *= alpha
    np.subtract(p if kappa == 1 else np.multiply(p, kappa, out=z), t, out=z)


def lion(op: Any, t: Any, z: Any, n: Any, p: Any, g: Any, m: Any, eta: float, kappa: float) -> None:
    np.multiply(m, op.beta1, out=t)
    t += np.multiply(g, 1 - op.beta1, out=z)
    np.multiply(np.sign(t, out=t), eta, out=t)
    np.multiply(m, op.beta2, out=n)
    n += np.multiply(g, 1 - op.beta2, out=z)
    np.subtract(np.multiply(p, kappa, out=z), t, out=z)


#: Rule → what computes it on one block, and how many outputs it has.
RULES: dict[str, tuple[Callable[..., None], int]] = {
    "plugrad_optim.Descend": (descend, 1),
    "plugrad_optim.Momentum": (momentum, 2),
    "plugrad_optim.Adam": (adam, 3),
    "plugrad_optim.AMSGrad": (amsgrad, 4),
    "plugrad_optim.Lion": (lion, 2),
}


def supports(op: Any, *xs: Any) -> bool | str:
    if op.rule.key not in RULES:
        return f"there is no kernel for {op.rule.key}, which runs as its formula"
    kinds = {x.dtype for x in xs}
    plain = len(kinds) == 1 and kinds <= {np.dtype(np.float32), np.dtype(np.float64)}
    return True if plain else f"{', '.join(map(str, kinds))} is not float32 or float64 alone"


@quiet
def forward(op: Any, *xs: Any) -> tuple[Any, ...]:
    """The new values, in arrays of their own."""
    run, n = RULES[op.rule.key]
    width, aside, made = len(xs) // op.count, np.empty(BLOCK, xs[0].dtype), []
    for i in range(0, len(xs), width):
        outputs = [np.empty(xs[i].shape, xs[i].dtype) for _ in range(n)]
        for t, *block in blocks(aside, *outputs, *xs[i : i + width]):
            run(op.rule, t, *block, *op.nu)
        made += outputs
    return tuple(made)


def blocks(aside: Any, *arrays: Any) -> Iterator[Any]:
    """A place to put something aside, and the same part of each array, for one part after another."""
    size = arrays[0].size
    if size <= BLOCK:
        yield aside[:size].reshape(arrays[0].shape), *arrays
        return
    flat = [x.reshape(-1) for x in arrays]
    for j in range(0, size, BLOCK):
        yield aside[: min(BLOCK, size - j)], *[x[j : j + BLOCK] for x in flat]


each = Kernel(forward, supports=supports)
