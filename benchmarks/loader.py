"""Samples a second of the DataLoader beside PyTorch's, in turns in one run.

    python benchmarks/loader.py
    python benchmarks/loader.py --rounds 9

digits    1,797 images (8, 8) and labels in memory, TensorDataset, batches of 64, 0 workers
images    8,192 images (28, 28) and labels in memory, TensorDataset, batches of 128, 0 and 2 workers
python    4,096 images (28, 28), a transform in Python on each (flip, shift, noise by NumPy), batches of 128,
          0 and 2 workers, and 2 that persist; samples are arrays
tensors   the same, but each sample is made a tensor
pictures  512 images (3, 160, 160), batches of 32, 2 workers that persist

One epoch, shuffled, the first number of each batch read; start and end of the workers count. Medians of all rounds.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils import data as theirs

import plugrad as pg
import plugrad_data as ours

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES: dict[bool, tuple[Any, ...]] = {
    True: (ours.DataLoader, ours.TensorDataset, pg.tensor),
    False: (theirs.DataLoader, theirs.TensorDataset, torch.tensor),
}


class Transformed:
    """Images with a transform in Python: the same code for both."""

    def __init__(self, x: Any, y: Any, made: Callable[[Any], Any]) -> None:
        self.x, self.y, self.made = x, y, made

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i: int) -> tuple[Any, int]:
        x = self.x[i]
        if np.random.random() < 0.5:
            x = x[:, ::-1]
        x = np.roll(x, np.random.randint(-2, 3), axis=1)
        return self.made(x + 0.1 * np.random.standard_normal(x.shape).astype("f")), int(self.y[i])


def epoch(loader: Any) -> int:
    n = 0
    for x, _ in loader:
        n += len(x)
        float(x.reshape(-1)[0])
    return n


def rate(loader: Any) -> float:
    start = time.perf_counter()
    return epoch(loader) / (time.perf_counter() - start)


def arrays(n: int, *shape: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.random((n, *shape), "f"), rng.integers(0, 10, n)


def plain(mine: bool, n: int, shape: tuple[int, ...], **options: Any) -> Any:
    loader, dataset, tensor = SOURCES[mine]
    return loader(dataset(*map(tensor, arrays(n, *shape))), shuffle=True, **options)


def transformed(mine: bool, tensors: bool, **options: Any) -> Any:
    loader, _, tensor = SOURCES[mine]
    dataset = Transformed(*arrays(4096, 28, 28), tensor if tensors else np.asarray)
    return loader(dataset, shuffle=True, batch_size=128, **options)


def rows() -> dict[str, Callable[[bool], Any]]:
    small, image, picture = (8, 8), (28, 28), (3, 160, 160)
    return {
        "digits, 0 workers": lambda m: plain(m, 1797, small, batch_size=64),
        "images, 0 workers": lambda m: plain(m, 8192, image, batch_size=128),
        "images, 2 workers": lambda m: plain(m, 8192, image, batch_size=128, num_workers=2),
        "python, 0 workers": lambda m: transformed(m, False),
        "python, 2 workers": lambda m: transformed(m, False, num_workers=2),
        "python, 2 that persist": lambda m: transformed(m, False, num_workers=2, persistent_workers=True),
        "tensors, 0 workers": lambda m: transformed(m, True),
        "tensors, 2 that persist": lambda m: transformed(m, True, num_workers=2, persistent_workers=True),
        "pictures, 2 that persist": lambda m: plain(
            m, 512, picture, batch_size=32, num_workers=2, persistent_workers=True
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{'samples a second':28}{'plugrad':>12}{'torch':>12}{'ratio':>8}")
    for name, make in rows().items():
        loaders = {mine: make(mine) for mine in (True, False)}
        for loader in loaders.values():
            epoch(loader)
        found: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(rounds):
            for mine, loader in loaders.items():
                found[mine].append(rate(loader))
        a, b = median(found[True]), median(found[False])
        print(f"{name:28}{a:12,.0f}{b:12,.0f}{a / b:8.2f}", flush=True)


if __name__ == "__main__":
    main()
