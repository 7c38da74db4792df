"""Elementwise ops and softmax beside PyTorch: values and gradients in float32, on the case rows and on every kink."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.nn import functional as F

import plugrad as pg
from plugrad.testing.cases import rows
from plugrad.testing.draw import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy tells of infinities and NaNs, as it should

INF, NAN = math.inf, math.nan

#: case row → the same in PyTorch
ROWS: dict[str, Callable[..., Any]] = {
    "Reciprocal": torch.reciprocal,
    "Lerp": torch.lerp,
    "Rsqrt": torch.rsqrt,
    "Power/square at 0": lambda x: x**2,
    "Power/nothing": lambda x: x**0,
    "Pow": torch.pow,
    "Pow/reflected": lambda y: 2**y,
    "Pow/negative base": lambda x: x ** torch.full_like(x, 3),
    "Hypot": torch.hypot,
    "Remainder": torch.remainder,
    "Remainder/below 0": torch.remainder,
    "Remainder/reflected": lambda y: torch.remainder(torch.full_like(y, 7), y),
    "Copysign": torch.copysign,
    "Maximum/ties": torch.maximum,
    "Minimum/ties": torch.minimum,
    "Clip": lambda x: torch.clamp(x, -0.5, 1),
    "Clip/bounds": lambda x: torch.clamp(x, -2, 1),
    "ClipLow": lambda x, low: torch.clamp(x, min=low),
    "ClipLow/ties": lambda x, low: torch.clamp(x, min=low),
    "ClipHigh": lambda x, high: torch.clamp(x, max=high),
    "ClipHigh/ties": lambda x, high: torch.clamp(x, max=high),
    "Exp2": torch.exp2,
    "Logaddexp": torch.logaddexp,
    "Sigmoid/far out": torch.sigmoid,
    "LogSigmoid/far out": F.logsigmoid,
    "Softplus/far out": F.softplus,
    "Softplus/settings": lambda x: F.softplus(x, 2.5, 1.0),
    "Xlogy": torch.xlogy,
    "Atan2": torch.atan2,
    "Atan2/behind": torch.atan2,
    "Atan2/signed zeros": torch.atan2,
    "Erf/range": torch.erf,
    "Erfc": torch.erfc,
    "Erfinv": torch.erfinv,
    "Relu/kinks": F.relu,
    "LeakyRelu": F.leaky_relu,
    "LeakyRelu/kinks": lambda x: F.leaky_relu(x, -0.5),
    "Threshold/kinks": lambda x: F.threshold(x, 3, 20),
    "Elu": lambda x: F.elu(x, 1.3),
    "Elu/selu": F.selu,
    "Elu/celu": lambda x: F.celu(x, 2.0),
    "Elu/far out": F.elu,
    "Hardtanh": F.hardtanh,
    "Hardtanh/relu6": F.relu6,
    "Hardsigmoid/kinks": F.hardsigmoid,
    "Hardswish/kinks": F.hardswish,
    "Gelu": F.gelu,
    "GeluTanh": lambda x: F.gelu(x, approximate="tanh"),
    "Silu": F.silu,
    "Silu/tails": F.silu,
    "Mish": F.mish,
    "Mish/tails": F.mish,
    "Softsign": F.softsign,
    "Softmax": lambda x: F.softmax(x, -1),
    "Softmax/axis": lambda x: F.softmax(x, 0),
    "Softmax/negative axis": lambda x: F.softmax(x, -2),
    "Softmax/far out": lambda x: F.softmax(x, -1),
    "Softmax/masked": lambda x: F.softmax(x, -1),
    "Softmax/softmin": lambda x: F.softmin(x, -1),
    "Softmax/empty rows": lambda x: F.softmax(x, -1),
    "LogSoftmax": lambda x: F.log_softmax(x, -1),
    "LogSoftmax/axis": lambda x: F.log_softmax(x, 0),
    "LogSoftmax/negative axis": lambda x: F.log_softmax(x, -2),
    "LogSoftmax/far out": lambda x: F.log_softmax(x, -1),
    "LogSoftmax/masked": lambda x: F.log_softmax(x, -1),
    "LogSoftmax/empty rows": lambda x: F.log_softmax(x, -1),
    "Where/number on the left": lambda c, x: torch.where(c, 2.0, x),
    "Where/broadcast": torch.where,
    "Where/masked_fill": lambda x, c: x.masked_fill(c, -3.0),
    "NanToNum": lambda x: torch.nan_to_num(x, 7, 9, -9),
}
CASES = {row.name.removeprefix("plugrad."): row for row in rows()}
POINTS = [-INF, -1e30, -200.0, -40.0, -6.0, -3.0, -2.5, -1.0, -0.5, -1e-8, -0.0]
POINTS += [0.0, 1e-8, 0.5, 1.0, 2.5, 3.0, 6.0, 7.0, 25.0, 200.0, 1e30, INF]
PAIRS = [(x, y) for x in [*POINTS, NAN] for y in [*POINTS, NAN]]
UNARY = "exp exp2 expm1 log log2 log10 log1p sigmoid sin cos tan asin acos atan sinh cosh tanh asinh atanh erf erfc"
UNARY += " erfinv abs sign floor ceil round trunc reciprocal sqrt rsqrt square negative nan_to_num"
ACTIVATIONS = "relu relu6 leaky_relu elu selu celu silu mish softplus hardtanh hardsigmoid hardswish logsigmoid"
GATED = "silu mish hardswish"  # x times something that is 0 far below
BINARY = "add sub mul div remainder maximum minimum atan2 copysign"


def leaves(values, make):
    return [make(v) for v in values]


def ours(v):
    x = pg.tensor(v)
    return x.astype("float32").requires_grad_() if x.dtype.kind == "float" else x


def theirs(v):
    x = torch.tensor(v)
    return x.float().requires_grad_() if x.is_floating_point() else x


def beside(f, g, values, rel=1e-5, tiny=1e-7):
    """The same values and the same gradients of Σ (1 + i/4) zᵢ."""
    xs, ys = leaves(values, ours), leaves(values, theirs)
    z, w = f(*xs), g(*ys)
    assert z.shape == tuple(w.shape)
    near(z.detach(), w.detach(), rel, tiny)
    if z.requires_grad and z.size:
        seed = [1 + i % 5 / 4 for i in range(z.size)]
        (z * pg.tensor(seed).reshape(z.shape)).sum().backward()
        (w * torch.tensor(seed).reshape(w.shape)).sum().backward()
        for x, y in zip(xs, ys, strict=True):
            if x.requires_grad:
                near(x.grad, y.grad, rel, tiny)


def near(z, w, rel, tiny):
    assert str(w.dtype).removeprefix("torch.") == str(z.dtype)
    assert z.reshape(-1).tolist() == pytest.approx(w.reshape(-1).tolist(), rel=rel, abs=tiny, nan_ok=True)


@pytest.mark.parametrize("name", ROWS)
def test_row(name):
    row = CASES[name]
    beside(row.f, ROWS[name], [numbers(spec, i) for i, spec in enumerate(row.inputs)])


@pytest.mark.parametrize("name", UNARY.split())
def test_everywhere(name):
    beside(getattr(pg, name), getattr(torch, name), [POINTS])


@pytest.mark.parametrize("name", ACTIVATIONS.split())
def test_activation_everywhere(name):
    points = POINTS[1:-1] if name in GATED else POINTS  # ±∞: PyTorch's values or gradients are NaN, ours are not
    beside(getattr(pg, name), getattr(F, name), [points])


@pytest.mark.parametrize("name", BINARY.split())
def test_pairs_everywhere(name):
    pairs = PAIRS if name != "copysign" else [(x, y) for x, y in PAIRS if math.isfinite(x) and not math.isnan(y)]
    beside(getattr(pg, name), getattr(torch, name), [[x for x, _ in pairs], [y for _, y in pairs]])


def test_pow_everywhere():
    pairs = [(x, y) for x, y in PAIRS if not (math.isnan(x) and y == 0)]  # ours is NaN there, PyTorch's 0
    beside(pg.pow, torch.pow, [[x for x, _ in pairs], [y for _, y in pairs]])


def test_softsign_inside():
    finite = [x for x in POINTS if math.isfinite(x)]  # at the ends PyTorch's gradient is NaN, ours 0
    beside(pg.softsign, F.softsign, [finite])


def test_acosh_inside():
    inside = [x for x in POINTS if x >= 1]  # outside the value is NaN; PyTorch still gives a gradient there
    beside(pg.acosh, torch.acosh, [inside])


def test_prelu():
    beside(pg.prelu, F.prelu, [[POINTS[2:8], POINTS[8:14]], [0.25] * 6])
    beside(pg.prelu, F.prelu, [[[[-1.0, 2.0, 0.0], [3.0, -4.0, -5.0]]], [0.25, -0.5]])


def test_glu():
    x = [[0.5, -1.0, 2.0, 3.0], [-0.5, 1.5, 0.0, -2.0]]
    beside(lambda x: pg.glu(x, axis=0), lambda x: F.glu(x, dim=0), [x])
    beside(pg.glu, F.glu, [x])


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_derivatives_of_powers(n):
    for at in (0.0, -2.0, 1.5):
        x, y = pg.tensor(at, requires_grad=True), torch.tensor(at, requires_grad=True)
        z, w = x**n, y**n
        for _ in range(n):
            (z,) = pg.grad(z, [x], create_graph=True)
            (w,) = torch.autograd.grad(w, [y], create_graph=True)
            assert z.item() == pytest.approx(w.item())


def test_second_derivatives():
    values = [-3.0, -0.5, 0.0, 0.7, 2.0]
    for name in ["sigmoid", "silu", "mish", "softplus", "gelu", "logsigmoid", "tanh", "elu", "softsign"]:
        x, y = ours(values), theirs(values)
        f = getattr(torch, name) if name in ("sigmoid", "tanh") else getattr(F, name)
        (g,) = pg.grad((getattr(pg, name)(x) ** 2).sum(), [x], create_graph=True)
        (h,) = torch.autograd.grad((f(y) ** 2).sum(), [y], create_graph=True)
        (g,) = pg.grad((g**2).sum(), [x])
        (h,) = torch.autograd.grad((h**2).sum(), [y])
        assert g.tolist() == pytest.approx(h.tolist(), rel=1e-4, abs=1e-6), name
