"""Convolutions against PyTorch: values, gradients, second derivatives, layers, state, starting values."""

from __future__ import annotations

from functools import partial as so
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import against, agree, both, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch pads a copy

C1, C2, C3 = TF.conv1d, TF.conv2d, TF.conv3d
T1, T2, T3 = TF.conv_transpose1d, TF.conv_transpose2d, TF.conv_transpose3d


def weight(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The gradient of a grouped, strided and dilated convolution for its weight."""
    w = torch.ones(4, 1, 3, 3, requires_grad=True)
    z = C2(TF.pad(x, (0, 2, 1, 0)), w, stride=(2, 1), dilation=(1, 2), groups=2)
    return torch.autograd.grad(z, w, y, create_graph=True)[0]


#: name of the case → the same in PyTorch
ROWS = {
    "plugrad_nn.Conv": C1,
    "plugrad_nn.Conv/stride beyond the kernel": so(C1, stride=3),
    "plugrad_nn.Conv/same": so(C1, padding="same"),
    "plugrad_nn.Conv/wide padding": so(C1, padding=4, stride=2),
    "plugrad_nn.Conv/padding alone": so(C1, padding=2, stride=3),
    "plugrad_nn.Conv/remainder": so(C2, stride=2),
    "plugrad_nn.Conv/axes": so(C2, stride=(1, 2), padding=(2, 0), dilation=(1, 2)),
    "plugrad_nn.Conv/groups": so(C2, groups=2),
    "plugrad_nn.Conv/depthwise": so(C2, padding=1, groups=3),
    "plugrad_nn.Conv/two from each": so(C2, stride=2, padding=1, groups=2),
    "plugrad_nn.Conv/pointwise": C2,
    "plugrad_nn.Conv/pointwise, strided": so(C2, stride=(2, 3)),
    "plugrad_nn.Conv/one place": C2,
    "plugrad_nn.Conv/one column": C2,
    "plugrad_nn.Conv/3d": so(C3, stride=(1, 2, 1), padding=(1, 0, 1)),
    "plugrad_nn.Conv/no batch": C2,
    "plugrad_nn.BiasedConv": C1,
    "plugrad_nn.BiasedConv/groups": so(C2, stride=2, padding=1, groups=2),
    "plugrad_nn.BiasedConv/padding": so(C2, padding=1),
    "plugrad_nn.BiasedConv/pointwise": C2,
    "plugrad_nn.ConvTranspose": T1,
    "plugrad_nn.ConvTranspose/stride beyond the kernel": so(T1, stride=2),
    "plugrad_nn.ConvTranspose/longer": so(T1, stride=2, padding=1, output_padding=1),
    "plugrad_nn.ConvTranspose/axes": so(
        T2, stride=(3, 1), padding=(1, 2), output_padding=(2, 1), groups=2, dilation=(1, 2)
    ),
    "plugrad_nn.ConvTranspose/depthwise": so(T2, stride=2, padding=1, groups=3),
    "plugrad_nn.ConvTranspose/pointwise": T2,
    "plugrad_nn.ConvTranspose/3d": so(T3, stride=2, output_padding=(0, 1, 0)),
    "plugrad_nn.ConvTranspose/no batch": T1,
    "plugrad_nn.BiasedConvTranspose": so(T1, stride=2, output_padding=1),
    "plugrad_nn.BiasedConvTranspose/groups": so(T2, stride=2, groups=2),
    "plugrad_nn.ConvWeight": weight,
    "plugrad_nn.Patches": so(TF.unfold, kernel_size=(2, 3), dilation=(1, 2), padding=(1, 2), stride=(2, 1)),
    "plugrad_nn.Patches/remainder": so(TF.unfold, kernel_size=2, stride=2),
    "plugrad_nn.AddPatches": so(TF.fold, output_size=(3, 4), kernel_size=2, padding=1),
    "plugrad_nn.AddPatches/axes": so(TF.fold, output_size=(5, 4), kernel_size=(2, 3), stride=(3, 1)),
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])


RNG = np.random.default_rng(5)


def draw(*shape: int, dtype: str = "float64") -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


HOW = [
    {},
    {"stride": 2, "padding": 1},
    {"stride": (3, 1), "padding": (0, 2), "dilation": (1, 2)},
    {"padding": 4, "dilation": 3},
    {"groups": 2, "stride": 5, "padding": 2},
    {"groups": 4, "padding": 1},
    {"padding": "same", "dilation": (3, 2)},
    {"padding": "valid", "groups": 2},
]


@pytest.mark.parametrize("kernel", [(3, 3), (1, 1), (2, 4), (5, 1)])
@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conv2d_at_working_sizes(how: Any, kernel: tuple[int, int], dtype: str) -> None:
    groups = how.get("groups", 1)
    arrays = draw(3, 4, 13, 14, dtype=dtype), draw(8, 4 // groups, *kernel, dtype=dtype), draw(8, dtype=dtype)
    rtol, atol = (2e-5, 2e-5) if dtype == "float32" else (1e-11, 1e-11)
    compare(so(F.conv2d, **how), so(C2, **how), *arrays, rtol=rtol, atol=atol)


@pytest.mark.parametrize("kernel", [(3, 3), (1, 1), (2, 4), (5, 1)])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"stride": (1, 3), "dilation": (3, 1), "output_padding": (2, 1), "groups": 2},
        {"stride": 4, "groups": 4, "output_padding": 3},
    ],
    ids=str,
)
def test_conv_transpose2d_at_working_sizes(how: Any, kernel: tuple[int, int]) -> None:
    groups = how.get("groups", 1)
    arrays = draw(3, 8, 6, 7), draw(8, 8 // groups, *kernel), draw(8)
    compare(so(F.conv_transpose2d, **how), so(T2, **how), *arrays, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("ours", "theirs", "shapes"),
    [
        (so(F.conv1d, padding=3, stride=2, dilation=2), so(C1, padding=3, stride=2, dilation=2), [(4, 11), (6, 4, 3)]),
        (so(F.conv2d, padding="same"), so(C2, padding="same"), [(4, 6, 5), (2, 4, 2, 3)]),
        (so(F.conv3d, padding=1, groups=2), so(C3, padding=1, groups=2), [(2, 4, 5, 6, 3), (6, 2, 3, 2, 1), (6,)]),
        (so(F.conv3d, stride=2), so(C3, stride=2), [(2, 5, 5, 6), (3, 2, 3, 2, 3)]),
        (so(F.conv_transpose1d, stride=3), so(T1, stride=3), [(4, 5), (4, 3, 4), (3,)]),
        (so(F.conv_transpose2d, padding=1), so(T2, padding=1), [(4, 5, 3), (4, 3, 4, 3)]),
        (so(F.conv_transpose3d, stride=2, groups=2), so(T3, stride=2, groups=2), [(2, 4, 2, 3, 2), (4, 3, 2, 1, 3)]),
        (so(F.unfold, kernel_size=3, padding=1), so(TF.unfold, kernel_size=3, padding=1), [(2, 4, 5)]),
        (so(F.fold, output_size=6, kernel_size=3), so(TF.fold, output_size=(6, 6), kernel_size=(3, 3)), [(18, 16)]),
    ],
)
def test_other_ranks_and_inputs_without_a_batch(ours: Any, theirs: Any, shapes: Any) -> None:
    compare(ours, theirs, *[draw(*s) for s in shapes], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("ours", "theirs", "shape"),
    [(F.conv2d, C2, (4, 2, 3, 2)), (F.conv_transpose2d, T2, (4, 2, 3, 2))],
)
def test_second_derivatives(ours: Any, theirs: Any, shape: tuple[int, ...]) -> None:
    how = {"stride": 2, "padding": 1, "groups": 2}
    (x, tx), (w, tw) = both(draw(2, 4, 6, 7)), both(draw(*shape))
    z, tz = (ours(x, w, **how) ** 3).sum(), (theirs(tx, tw, **how) ** 3).sum()
    gs, tgs = pg.grad(z, [x, w], create_graph=True), torch.autograd.grad(tz, [tx, tw], create_graph=True)
    again = pg.grad(sum((g**2).sum() for g in gs), [x, w])
    agree(again, torch.autograd.grad(sum((g**2).sum() for g in tgs), [tx, tw]), 1e-9, 1e-6)


LAYERS = [
    ("Conv1d", (4, 6, 3), {"padding": 2, "padding_mode": "circular", "stride": 2}, (2, 4, 9)),
    ("Conv1d", (4, 6, 4), {"padding": "same", "padding_mode": "reflect", "bias": False}, (4, 9)),
    ("Conv2d", (4, 6, (3, 2)), {"padding": (2, 1), "padding_mode": "replicate", "groups": 2}, (2, 4, 5, 6)),
    ("Conv2d", (3, 6, 3), {"stride": 2, "dilation": (2, 1), "padding": "valid"}, (2, 3, 8, 9)),
    ("Conv3d", (2, 3, 2), {"padding": (1, 0, 1), "padding_mode": "reflect"}, (2, 2, 3, 4, 3)),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 3, "output_padding": 2, "groups": 2}, (2, 4, 5)),
    ("ConvTranspose2d", (4, 6, (3, 2), 2, 1, 1), {"bias": False}, (2, 4, 5, 3)),
    ("ConvTranspose3d", (2, 3, 2), {"dilation": (1, 2, 1)}, (2, 3, 2, 4)),
    ("Unfold", ((2, 3),), {"stride": 2}, (2, 3, 5, 6)),
    ("Fold", ((4, 5), (2, 2)), {"padding": 1}, (2, 12, 30)),
]


@pytest.mark.parametrize(("name", "args", "how", "shape"), LAYERS)
def test_layers(name: str, args: Any, how: Any, shape: tuple[int, ...]) -> None:
    mine, its = getattr(nn, name)(*args, **how), getattr(torch.nn, name)(*args, **how)
    assert repr(mine) == repr(its)
    state = its.state_dict()
    assert [(n, v.shape) for n, v in mine.state_dict().items()] == [(n, tuple(v.shape)) for n, v in state.items()]
    mine.load_state_dict({n: v.numpy() for n, v in state.items()})
    compare(mine, its, draw(*shape, dtype="float32"), rtol=2e-5, atol=5e-6)
    for p, t in zip(mine.parameters(), its.parameters(), strict=True):
        agree(p.grad, t.grad, 1e-4, 1e-4)
    its.load_state_dict({n: torch.tensor(v.numpy()) for n, v in mine.state_dict().items()})


@pytest.mark.parametrize("size", [(9, 9), (10, 9), (9, 10), (2, 5, 10, 10)])
def test_output_size(size: tuple[int, ...]) -> None:
    mine, its = nn.ConvTranspose2d(3, 5, 3, 2, (1, 2)), torch.nn.ConvTranspose2d(3, 5, 3, 2, (1, 2))
    mine.load_state_dict({n: v.numpy() for n, v in its.state_dict().items()})
    x = draw(2, 3, 5, 6, dtype="float32")
    compare(so(mine, output_size=size), so(its, output_size=list(size)), x, atol=5e-6)


@pytest.mark.parametrize("name", ["Conv2d", "ConvTranspose2d"])
def test_starting_values(name: str) -> None:
    mine, its = (getattr(n, name)(8, 12, (3, 5), groups=4) for n in (nn, torch.nn))
    for a, b in zip(mine.parameters(), its.parameters(), strict=True):
        assert float(a.abs().max()) == pytest.approx(float(b.detach().abs().max()), rel=0.3)
        bound = 1 / np.sqrt(mine.weight.shape[1] * 15)
        assert float(a.abs().max()) <= bound
        assert float(b.detach().abs().max()) <= bound + 1e-7
    big, its = (getattr(n, name)(40, 50, 3) for n in (nn, torch.nn))
    assert float(big.weight.std()) == pytest.approx(float(its.weight.detach().std()), rel=0.03)
