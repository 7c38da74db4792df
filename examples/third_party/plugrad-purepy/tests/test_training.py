"""A small network learns XOR on lists of Python numbers, and no array library is needed for it."""

from __future__ import annotations

import subprocess
import sys

import plugrad as pg

INPUTS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
TARGETS = [[0.0], [1.0], [1.0], [0.0]]


def train(steps, rate):
    """The losses along the way, and the last outputs."""
    device = pg.device("purepy")
    x, t = pg.tensor(INPUTS, device=device), pg.tensor(TARGETS, device=device)
    g = pg.Generator(3)
    shapes = [(2, 6), (6,), (6, 1), (1,)]
    params = [pg.randn(s, generator=g, device=device, requires_grad=True) for s in shapes]
    losses = []
    for _ in range(steps):
        w1, b1, w2, b2 = params
        y = (x @ w1 + b1).tanh() @ w2 + b2
        loss = ((y - t) * (y - t)).mean()
        loss.backward()
        losses.append(loss.item())
        with pg.no_grad():
            for p in params:
                p -= rate * p.grad
                p.grad = None
    return losses, y.tolist()


def test_xor_is_learned():
    losses, outputs = train(steps=150, rate=0.3)
    assert losses[-1] < losses[0] / 20
    assert [[float(row[0] > 0.5)] for row in outputs] == TARGETS


def test_training_is_repeatable():
    assert train(steps=3, rate=0.3) == train(steps=3, rate=0.3)


def test_no_array_library_is_needed():
    code = (
        "import sys; sys.modules['numpy'] = None  # any import of it fails\n"
        "import plugrad as pg; x = pg.ones(2, 3, device='purepy', requires_grad=True)\n"
        "(x @ x.mT).sum().backward(); print(x.grad.tolist())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[[4.0, 4.0, 4.0], [4.0, 4.0, 4.0]]\n"
