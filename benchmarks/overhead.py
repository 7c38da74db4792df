"""Microseconds an op for a chain of 1,000 small elementwise ops: NumPy by hand, plugrad, PyTorch, in one run.

    python benchmarks/overhead.py             16 and 1024 elements
    python benchmarks/overhead.py 16 --rounds 40

CPU time of one thread, the best of all rounds; PyTorch where it is installed. Unset OPENBLAS_CORETYPE first.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from typing import TYPE_CHECKING

import numpy as np

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Callable

N = 1000  # ops in the chain: y ← y · a, y ← y + b, in turns


def chain(y, a, b):
    for _ in range(N // 2):
        y = y * a
        y = y + b
    return y


def by_hand(size: int) -> dict[str, Callable[[], object]]:
    x, a, b = np.ones(size, "f"), np.full(size, 0.999, "f"), np.full(size, 0.001, "f")

    def both() -> None:
        y, tape = x, []
        for _ in range(N // 2):
            tape.append(y)
            y = y * a
            y = y + b
        g = np.ones_like(y)
        ga = gb = None
        for kept in reversed(tape):
            gb = g if gb is None else gb + g
            h = g * kept
            ga = h if ga is None else ga + h
            g = g * a

    return {"forward": lambda: chain(x, a, b), "forward+backward": both}


def ours(size: int) -> dict[str, Callable[[], object]]:
    x = pg.ones(size)
    a, b = pg.full(size, 0.999, requires_grad=True), pg.full(size, 0.001, requires_grad=True)
    fixed, seed = (a.detach(), b.detach()), pg.ones(size)

    def both() -> None:
        a.grad = b.grad = None
        chain(x, a, b).backward(seed)

    return {"forward": lambda: chain(x, *fixed), "forward+backward": both}


def torchs(size: int) -> dict[str, Callable[[], object]]:
    import torch

    torch.set_num_threads(1)
    x = torch.ones(size)
    a, b = torch.full((size,), 0.999, requires_grad=True), torch.full((size,), 0.001, requires_grad=True)
    fixed, seed = (a.detach(), b.detach()), torch.ones(size)

    def both() -> None:
        a.grad = b.grad = None
        chain(x, a, b).backward(seed)

    return {"forward": lambda: chain(x, *fixed), "forward+backward": both}


def measure(size: int, rounds: int) -> dict[str, dict[str, float]]:
    """Kind → what → best µs an op."""
    sides = {"NumPy by hand": by_hand(size), "plugrad": ours(size)}
    with contextlib.suppress(ImportError):
        sides["PyTorch"] = torchs(size)
    best = {name: dict.fromkeys(fs, float("inf")) for name, fs in sides.items()}
    for _ in range(rounds):
        for what in ("forward", "forward+backward"):
            for name, fs in sides.items():
                start = time.process_time()
                fs[what]()
                best[name][what] = min(best[name][what], (time.process_time() - start) / N * 1e6)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[16, 1024])
    parser.add_argument("--rounds", type=int, default=25)
    args = parser.parse_args()
    for size in args.sizes:
        found = measure(size, args.rounds)
        print(f"\n{size} elements, µs an op{'':<6}{'forward':>10}{'forward+backward':>20}")
        for name, times in found.items():
            print(f"    {name:<24}{times['forward']:>10.2f}{times['forward+backward']:>20.2f}")


if __name__ == "__main__":
    main()
