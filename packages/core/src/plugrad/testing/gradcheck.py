"""Gradients against slopes, along one random line."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from ..errors import ConformanceError
from ..grad import grad
from ..ops import creation
from .draw import nest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def gradcheck(
    f: Callable[..., Any], inputs: Sequence[Any], order: int = 1, eps: float = 1e-5, tol: float = 1e-5, seed: int = 0
) -> bool:
    """Check  vᵀ J u  against a central difference along one random line u through the floating `inputs`.

        |vᵀ J u - vᵀ (f(x + εu) - f(x - εu)) / 2ε|  ≤  tol · (1 + |slope|)

    Two extra calls of `f`, whatever its size. `order=2` checks the gradient of the gradient as well, and so on. `f` may
    return a tuple; what is not floating in it is left out. Raises ConformanceError with both numbers; returns True.
    """
    rng = Random(seed)
    xs = [_leaf(x) if x.dtype.kind == "float" else x for x in inputs]
    live = [i for i, x in enumerate(xs) if x.requires_grad]
    us = {i: _like(xs[i], rng) for i in live}
    ys = _floating(f(*xs))
    vs = [_like(y, rng) for y in ys]
    gs = grad(ys, [xs[i] for i in live], vs, allow_unused=True)
    exact = sum(_dot(g, us[i]) for g, i in zip(gs, live, strict=True) if g is not None)
    ahead, behind = (
        [_dot(y, v) for y, v in zip(_floating(f(*_moved(xs, us, s))), vs, strict=True)] for s in (eps, -eps)
    )
    slope = sum(a - b for a, b in zip(ahead, behind, strict=True)) / (2 * eps)
    if not abs(exact - slope) <= tol * (1 + abs(slope)):
        raise ConformanceError(f"the gradient says {exact:.9g}, the slope says {slope:.9g}")
    if order > 1:
        _again(f, xs, live, vs, us, order, eps, tol, seed)
    return True


def gradgradcheck(f: Callable[..., Any], inputs: Sequence[Any], **options: Any) -> bool:
    """`gradcheck` of order 2."""
    return gradcheck(f, inputs, order=2, **options)


def _again(
    f: Callable[..., Any],
    xs: list[Any],
    live: list[int],
    vs: list[Any],
    us: dict[int, Any],
    order: int,
    eps: float,
    tol: float,
    seed: int,
) -> None:
    """Check the directional derivative  (x, v) ↦ vᵀ J(x) u  in the same way."""

    def directional(*args: Any) -> Any:
        points, seeds = list(args[: len(xs)]), list(args[len(xs) :])
        gs = grad(_floating(f(*points)), [points[i] for i in live], seeds, create_graph=True, allow_unused=True)
        terms = [(g * us[i]).sum() for g, i in zip(gs, live, strict=True) if g is not None]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    points = [x.detach() for x in xs]
    if directional(
        *[_leaf(x) if i in live else x for i, x in enumerate(points)], *[_leaf(v) for v in vs]
    ).requires_grad:
        gradcheck(directional, [*points, *[v.detach() for v in vs]], order - 1, eps, tol, seed + 1)


def _leaf(x: Any) -> Any:
    return x.detach().clone().requires_grad_()


def _floating(y: Any) -> list[Any]:
    return [t for t in (y if isinstance(y, (tuple, list)) else [y]) if t.dtype.kind == "float"]


def _like(x: Any, rng: Random) -> Any:
    flat = [rng.gauss(0, 1) for _ in range(x.size)]
    host = nest(flat, x.shape) if x.size else []
    return creation.tensor(host, dtype=x.dtype, device=x.device).reshape(x.shape)


def _moved(xs: list[Any], us: dict[int, Any], step: float) -> list[Any]:
    return [(x.detach() + us[i] * step).requires_grad_() if i in us else x for i, x in enumerate(xs)]


def _dot(x: Any, y: Any) -> float:
    return float((x.detach() * y).sum().item()) if x.size else 0.0
