"""Windows drawn at random, against PyTorch: odd sizes, strides beyond the kernel, padding, dilation, groups."""

from __future__ import annotations

import random
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import agree, compare
from torch.nn import functional as TF

import plugrad as pg
from plugrad_nn import functional as F


class Draw(random.Random):
    """Sizes from a seed."""

    def sizes(self, n: int, low: int, high: int) -> tuple[int, ...]:
        return tuple(self.randint(low, high) for _ in range(n))

    def array(self, *shape: int) -> np.ndarray:
        return np.random.default_rng(self.randrange(10**6)).standard_normal(shape)


def accepted(f: Any, *arrays: np.ndarray) -> bool:
    """Does PyTorch take these? What it refuses we may refuse as well."""
    try:
        y = f(*map(torch.tensor, arrays))
    except RuntimeError:
        return False
    return 0 not in y.shape[2:]


def check(ours: Any, theirs: Any, *arrays: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if accepted(theirs, *arrays):
            compare(ours, theirs, *arrays, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_convolutions(axes: int, seed: int) -> None:
    d = Draw(seed)
    groups = d.choice([1, 1, 2, 3])
    c, o, most = groups * d.randint(1, 2), groups * d.randint(1, 2), 9 if axes < 3 else 5
    kernel, strides, gaps, pads = (d.sizes(axes, low, high) for low, high in ((1, 4), (1, 4), (1, 3), (0, 4)))
    x, b = d.array(d.randint(0, 2), c, *d.sizes(axes, 1, most)), d.array(o)
    how: dict[str, Any] = {"stride": strides, "padding": pads, "dilation": gaps, "groups": groups}
    f, t = (getattr(lib, f"conv{axes}d") for lib in (F, TF))
    check(partial(f, **how), partial(t, **how), x, d.array(o, c // groups, *kernel), b)
    how["output_padding"] = tuple(d.randrange(max(s, g)) for s, g in zip(strides, gaps, strict=True))
    f, t = (getattr(lib, f"conv_transpose{axes}d") for lib in (F, TF))
    check(partial(f, **how), partial(t, **how), x, d.array(c, o // groups, *kernel), b)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_pools(axes: int, seed: int) -> None:
    d = Draw(seed + 100)
    kernel = d.sizes(axes, 1, 4)
    x = d.array(d.randint(0, 2), 2, *d.sizes(axes, 4, 9 if axes < 3 else 6))
    how: dict[str, Any] = {"kernel_size": kernel, "stride": d.sizes(axes, 1, 4), "ceil_mode": d.random() < 0.5}
    how["padding"] = tuple(d.randint(0, k // 2) for k in kernel)
    f, t = (getattr(lib, f"max_pool{axes}d") for lib in (F, TF))
    more = {**how, "dilation": d.sizes(axes, 1, 3)}
    check(partial(f, **more), partial(t, **more), x)
    check(partial(f, **how), partial(t, **how), np.where(np.abs(x) < 1, -np.inf, x))
    f, t = (getattr(lib, f"avg_pool{axes}d") for lib in (F, TF))
    one = {name: v[0] if isinstance(v, tuple) and axes == 1 else v for name, v in how.items()}
    check(partial(f, **one, count_include_pad=False), partial(t, **one, count_include_pad=False), x)


@pytest.mark.parametrize("seed", range(20))
def test_padding(seed: int) -> None:
    """Widths below 0 only where PyTorch's gradient is that of its output."""
    d = Draw(seed + 200)
    x = d.array(1, 2, 5, 6)
    for mode in ("constant", "reflect", "replicate", "circular"):
        widths = (
            d.sizes(4, 0, 4)
            if mode in ("reflect", "replicate")
            else (d.randint(-2, 4), d.randint(0, 4), *d.sizes(2, 0, 4))
        )
        check(partial(F.pad, pad=widths, mode=mode), partial(TF.pad, pad=widths, mode=mode), x)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialiasing_leaves_an_axis_whose_size_stays(mode: str) -> None:
    """Values only: PyTorch's gradient is that of an axis that does not stay."""
    how: dict[str, Any] = {"scale_factor": (2.0, 1.07), "mode": mode, "antialias": True}
    x = Draw(1).array(1, 2, 3, 5)
    agree(F.interpolate(pg.tensor(x), **how), TF.interpolate(torch.tensor(x), **how), 1e-9, 1e-9)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_lengths_of_one_and_of_all(kind: str) -> None:
    d, name = Draw(7), {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}[kind]
    theirs = getattr(torch.nn, name)(3, 4, 2, bidirectional=True, batch_first=True).double()
    ours = getattr(pg.nn, name)(3, 4, 2, bidirectional=True, batch_first=True).double()
    ours.load_state_dict({key: pg.tensor(t.detach().numpy()) for key, t in theirs.state_dict().items()})
    lengths = [1, 5, 3, 1]

    def padded(lib: Any, model: Any, x: Any) -> Any:
        pack = lib.nn.utils.rnn.pack_padded_sequence(x, lib.tensor(lengths), True, False)
        return lib.nn.utils.rnn.pad_packed_sequence(model(pack)[0], True)[0]

    check(partial(padded, pg, ours), partial(padded, torch, theirs), d.array(4, 5, 3))
    check(lambda x: ours(x, lengths=lengths)[0], partial(padded, torch, theirs), d.array(4, 5, 3))
