"""L-BFGS: a quasi-Newton method that asks for the loss as often as it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import enable_grad, no_grad

from .line_search import Point, strong_wolfe
from .optimizer import Optimizer, like

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import Tensor

    from .groups import Group
    from .optimizer import Params, State

__all__ = ["LBFGS"]

CURVED = 1e-10  # y·s above which a pair tells of curvature


class LBFGS(Optimizer):
    """p ← p - t H g, H the inverse Hessian as the last `history_size` steps show it        Liu & Nocedal 1989

    From s = the step and y = the change of g it caused, H = (1 - ρ s yᵀ) H (1 - ρ y sᵀ) + ρ s sᵀ with ρ = 1 / y·s, for
    each pair in turn, from H = (s·y / y·y) 1. One call of `step` makes up to `max_iter` steps, with up to `max_eval`
    (1.25 max_iter) losses. t is lr, in the very first step min(1, 1 / Σ|g|) lr; with line_search_fn="strong_wolfe" it
    is searched for. It ends when no |g| is above tolerance_grad, or no change of p or of the loss above
    tolerance_change.

    `step` needs a closure that clears the gradients, computes the loss, calls backward and returns the loss. There is
    one group of parameters, and the state belongs to the first of them.
    """

    masters = False

    def __init__(
        self,
        params: Params,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        })  # fmt: skip

    def add_param_group(self, param_group: Group) -> None:
        if self.param_groups:
            raise ValueError("LBFGS: it takes one group, as all parameters make one step together")
        super().add_param_group(param_group)

    def check(self, group: Group) -> None:
        super().check(group)
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise ValueError(f"LBFGS: line_search_fn is {group['line_search_fn']!r}; it is None or 'strong_wolfe'")
        for name in ("max_iter", "max_eval", "history_size"):
            if group[name] < 1:
                raise ValueError(f"LBFGS: {name} is {group[name]}; it counts from 1")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to `max_iter` steps; returns the loss before the first."""
        if closure is None:
            raise TypeError("LBFGS: step needs a closure: clear the gradients, compute the loss, backward, return it")
        with no_grad():
            return _Run(self.param_groups[0], self.state[self.param_groups[0]["params"][0]], closure).run()


class _Run:
    """One call of `step`: what it works with, and how many losses it has computed."""

    def __init__(self, group: Group, state: State, closure: Callable[[], Any]) -> None:
        self.group, self.state, self.closure = group, state, closure
        self.params: list[Tensor] = group["params"]
        self.evals = 0

    def run(self) -> Any:
        first, loss, g = self.evaluate()
        if not self.flat(g):
            for i in range(1, self.group["max_iter"] + 1):
                before, d = loss, self.direction(g)
                self.state.update(d=d, prev_flat_grad=g, prev_loss=loss, t=self.length(g))
                slope = _dot(g, d)
                if slope > -self.group["tolerance_change"]:
                    break
                loss, g = self.move(Point(0.0, loss, g, slope), d, last=i == self.group["max_iter"])
                if self.evals >= self.group["max_eval"] or self.flat(g) or self.stands(loss - before, d):
                    break
        return first

    def evaluate(self) -> tuple[Any, float, Tensor]:
        """The loss as the closure gave it, as a number, and the gradient in one row."""
        with enable_grad():
            given = self.closure()
        self.evals += 1
        self.state["func_evals"] = self.state.get("func_evals", 0) + 1
        rows = [p.new_zeros((p.size,)) if p.grad is None else p.grad.reshape(-1) for p in self.params]
        return given, float(given), pg.concat(rows)

    def flat(self, g: Tensor) -> bool:
        return _largest(g) <= float(self.group["tolerance_grad"])

    def stands(self, change: float, d: Tensor) -> bool:
        """Is there no progress, in p or in the loss?"""
        least = float(self.group["tolerance_change"])
        return _largest(d) * abs(self.state["t"]) <= least or abs(change) < least

    def length(self, g: Tensor) -> float:
        """The step to try first."""
        lr = float(self.group["lr"])
        return min(1.0, 1.0 / float(g.abs().sum())) * lr if self.state["n_iter"] == 1 else lr

    def direction(self, g: Tensor) -> Tensor:
        """-H g, after the last step has been added to the history."""
        state = self.state
        state["n_iter"] = state.get("n_iter", 0) + 1
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -g
        self.remember(g - state["prev_flat_grad"], state["d"] * float(state["t"]))
        return _two_loops(g, state["old_dirs"], state["old_stps"], state["ro"], float(state["H_diag"]))

    def remember(self, y: Tensor, s: Tensor) -> None:
        curvature = _dot(y, s)
        if curvature > CURVED:
            for name, value in (("old_dirs", y), ("old_stps", s), ("ro", 1 / curvature)):
                self.state[name] = [*self.state[name], value][-self.group["history_size"] :]
            self.state["H_diag"] = curvature / _dot(y, y)

    def move(self, here: Point, d: Tensor, last: bool) -> tuple[float, Tensor]:
        """Go along d; the loss and the gradient there. Without a search, the last of all moves needs neither."""
        start = [p.detach() for p in self.params]
        if self.group["line_search_fn"] is None:
            self.place(start, self.state["t"], d)
            return (here.f, here.g) if last else self.evaluate()[1:]

        def at(t: float) -> Point:
            self.place(start, t, d)
            _, loss, g = self.evaluate()
            return Point(t, loss, g, _dot(g, d))

        most = self.group["max_eval"] - self.evals
        least = float(self.group["tolerance_change"])
        best, _ = strong_wolfe(at, here, self.state["t"], _largest(d), most, least)
        self.state["t"] = best.t
        self.place(start, best.t, d)
        return best.f, best.g

    def place(self, start: list[Tensor], t: float, d: Tensor) -> None:
        """p ← start + t d"""
        i = 0
        for p, x in zip(self.params, start, strict=True):
            p.data = like(x + t * d[i : i + p.size].reshape(p.shape), p).data
            i += p.size


def _two_loops(g: Tensor, ys: list[Tensor], ss: list[Tensor], rho: list[Any], scale: float) -> Tensor:
    """-H g without H: back through the pairs, then forth again."""
    q, shares = -g, []
    for y, s, r in zip(reversed(ys), reversed(ss), reversed(rho), strict=True):
        shares.append(_dot(s, q) * float(r))
        q = q - shares[-1] * y
    q = q * scale
    for y, s, r, share in zip(ys, ss, rho, reversed(shares), strict=True):
        q = q + (share - _dot(y, q) * float(r)) * s
    return q


def _dot(x: Tensor, y: Tensor) -> float:
    return float(pg.dot(x, y)) if x.size else 0.0


def _largest(x: Tensor) -> float:
    return float(x.abs().max()) if x.size else 0.0
