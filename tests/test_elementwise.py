"""Elementwise ops beside NumPy: every dtype, numbers that hypothesis draws, and what core composes from others."""

from __future__ import annotations

import math
import types
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plugrad as pg
from plugrad.backend import REQUIRED, Backend, Device
from plugrad.testing.compare import EPS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy tells of infinities and NaNs, as it should

UNARY = {
    "abs": "abs", "sign": "sign", "square": "square", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log",
    "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "sqrt": "sqrt", "reciprocal": "reciprocal", "floor": "floor",
    "ceil": "ceil", "round": "round", "trunc": "trunc", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite",
    "signbit": "signbit",
}  # fmt: skip
BINARY = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "floor_divide": "floor_divide",
    "remainder": "remainder", "maximum": "maximum", "minimum": "minimum", "hypot": "hypot", "copysign": "copysign",
    "atan2": "arctan2", "logaddexp": "logaddexp", "nextafter": "nextafter", "pow": "power",
}  # fmt: skip
WHOLE = ["floor_divide", "remainder"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
LAST_DIGITS = 8  # EPS that a composed function may be off, beside the library's own


class Bare(Backend):
    """NumPy with nothing but what a backend must have: all else is composed."""

    name = "bare"
    xp = types.SimpleNamespace(**{name: getattr(np, name) for name in REQUIRED})

    def __init__(self):
        self.types = {name: np.dtype(name) for name in ["bool", *INTEGERS, "float16", "float32", "float64"]}

    @property
    def dtypes(self):
        return self.types

    def asarray(self, data, dtype, index):
        return np.array(data, dtype=dtype)

    def to_host(self, array):
        return np.array(array)


bare = Device(Bare(), 0, lambda backend, op: None)
numbers = st.one_of(
    st.floats(-30, 30, width=32),
    st.floats(width=32),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 8.0, 1000.0, math.inf, -math.inf, math.nan, 1e-45, 3e38]),
)


def tensor(values, dtype, device="numpy"):
    return pg.tensor(np.asarray(values, dtype=dtype), device=device)


def signed(values):
    """NaN has a sign that only its bits show."""
    return [1.0 if math.isnan(v) else v for v in values]


def agree(got, want, eps):
    """Equal but for a few units in the last place, signs of zeros included."""
    got, want = np.asarray(got.tolist(), dtype=want.dtype), np.asarray(want)
    near = np.isclose(got, want, rtol=eps, atol=0, equal_nan=True) | (np.abs(got - want) <= 1e-44)
    assert near.all(), (got[~near], want[~near])
    exact = (want == 0) & (got == 0)
    assert (np.signbit(got) == np.signbit(want))[exact].all()


@pytest.mark.parametrize("device", ["numpy", bare], ids=str)
@pytest.mark.parametrize("name", UNARY)
@given(st.lists(numbers, min_size=1, max_size=6))
@settings(max_examples=12, deadline=None)
def test_one_number(name, device, values):
    values = signed(values) if name == "signbit" else values
    for dtype in ("float32", "float64"):
        want = getattr(np, UNARY[name])(np.asarray(values, dtype))
        eps = LAST_DIGITS * EPS[dtype] * (20 if name in ("tan", "atanh") and device is bare else 1)
        if want.dtype == bool:
            assert getattr(pg, name)(tensor(values, dtype, device)).tolist() == want.tolist()
        else:
            agree(getattr(pg, name)(tensor(values, dtype, device)), want, eps)


@pytest.mark.parametrize("device", ["numpy", bare], ids=str)
@pytest.mark.parametrize("name", BINARY)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6))
@settings(max_examples=12, deadline=None)
def test_two_numbers(name, device, values):
    x, y = zip(*values, strict=True)
    y = signed(y) if name == "copysign" else y
    if name in WHOLE:  # composed, they are exact only while the quotient has no more bits than the dtype
        y = tuple(v if abs(u) < 1e5 * abs(v) and abs(v) > 1e-30 else 1.5 for u, v in values)
        x = tuple(u if abs(u) < 1e5 or not math.isfinite(u) else 3.25 for u in x)
    for dtype in ("float32", "float64"):
        want = getattr(np, BINARY[name])(np.asarray(x, dtype), np.asarray(y, dtype))
        agree(getattr(pg, name)(tensor(x, dtype, device), tensor(y, dtype, device)), want, LAST_DIGITS * EPS[dtype])


@pytest.mark.parametrize("dtype", INTEGERS)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_integer_division_bit_by_bit(dtype, data):
    info = np.iinfo(dtype)
    whole = st.integers(int(info.min), int(info.max)) | st.sampled_from([int(info.min), int(info.max), 0, 1])
    x = data.draw(whole)
    y = data.draw(whole.filter(lambda v: v != 0 and not (x == info.min < 0 and v == -1)))
    a, b = (pg.tensor(np.asarray([v], dtype=dtype), device=bare) for v in (x, y))
    assert (a // b).tolist() == [x // y]
    assert (a % b).tolist() == [x % y]
    assert str((a // b).dtype) == dtype


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, "float16", "float32", "float64"])
def test_dtypes(dtype):
    x = tensor([1, 0, 1], dtype)
    floating = dtype if "float" in dtype else "float32"
    for name in ("exp", "log1p", "sqrt", "sin", "erf", "sigmoid", "reciprocal", "gelu", "softplus", "softmax"):
        assert getattr(pg, name)(x).dtype == floating, name
    for name in ("abs", "sign", "floor", "ceil", "round", "trunc", "positive", "relu"):
        assert getattr(pg, name)(x).dtype == dtype, name
    for name in ("maximum", "minimum", "add", "multiply"):
        assert getattr(pg, name)(x, x).dtype == dtype, name
    for name in ("less", "equal", "logical_and", "isclose"):
        assert getattr(pg, name)(x, x).dtype == "bool", name
    assert (x / x.astype("int32") if dtype in ("int8", "int16") else x / x).dtype == floating


@pytest.mark.parametrize("width", ["float32", "float64"])
@given(st.lists(st.floats(-27, 27), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_error_functions(width, values):
    values = np.asarray(values, width)
    close = 8 * EPS[width]
    for device in ("numpy", bare):
        x = tensor(values, width, device)
        agree(pg.erf(x), np.asarray([math.erf(v) for v in values.tolist()], width), close)
        agree(pg.erfc(x), np.asarray([math.erfc(v) for v in values.tolist()], width), 2 * close)


@given(st.floats(-1, 1, exclude_min=True, exclude_max=True))
@settings(max_examples=100, deadline=None)
def test_inverse_error_function(y):
    z = pg.erfinv(tensor([y], "float64")).item()
    slope = 2 / math.sqrt(math.pi) * math.exp(-z * z)
    assert abs(math.erf(z) - y) <= 4 * EPS["float64"] * max(abs(y), abs(z) * slope) + 1e-320


def test_what_is_handled_on_purpose_does_not_warn():
    x = pg.tensor([-math.inf, -1000.0, -0.0, 1000.0, math.inf, math.nan], device="numpy")
    dead = pg.tensor([[-math.inf, -math.inf], [0.0, 1.0]], device="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f in (pg.sigmoid, pg.softplus, pg.logsigmoid, pg.tanh, pg.erf, pg.erfc, pg.elu, pg.relu, pg.nan_to_num):
            f(x)
        pg.erfinv(pg.tensor([-1.0, 1.0, 2.0, math.nan], device="numpy"))
        pg.softmax(dead), pg.log_softmax(dead), pg.isclose(x, x), pg.hypot(x, x), pg.xlogy(pg.zeros_like(x), x)
        pg.logaddexp(dead[0], dead[0])


def test_zero_times_infinity_far_out():
    """exp(-exp x) is flat where exp x overflows."""
    x = pg.tensor([1000.0, 0.0], device="numpy", requires_grad=True)
    pg.exp(-pg.exp(x)).sum().backward()
    assert x.grad.tolist() == pytest.approx([0, -math.exp(-1)])


BAD = [-math.inf, -1e30, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, 1e30, math.inf, math.nan]
MASKED = [name for name in UNARY if not name.startswith(("is", "sign"))]
MASKED += [
    "rsqrt", "sigmoid", "logsigmoid", "softplus", "erf", "erfc", "erfinv", "relu", "relu6", "leaky_relu", "elu", "selu",
    "celu", "gelu", "silu", "mish", "softsign", "hardtanh", "hardsigmoid", "hardswish", "nan_to_num",
]  # fmt: skip


def masked(f):
    """What comes back, to first and second order, to places that a mask hides."""
    x = pg.tensor([*BAD, 0.5], device="numpy", requires_grad=True)
    hidden = pg.tensor([False] * len(BAD) + [True], device="numpy")
    (g,) = pg.grad(pg.where(hidden, f(x), 0.0).sum(), [x], create_graph=True)
    if not g.requires_grad:
        return g.tolist()[:-1]
    (h,) = pg.grad((g * g).sum(), [x], allow_unused=True)
    return g.tolist()[:-1] + (h.tolist()[:-1] if h is not None else [])


@pytest.mark.parametrize("name", MASKED)
def test_nothing_leaks_out_of_a_mask(name):
    assert set(masked(getattr(pg, name))) == {0}


@pytest.mark.parametrize("other", [0.0, 2.0, -1.0, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("name", [*[n for n in BINARY if n not in ("floor_divide", "nextafter")], "xlogy"])
def test_nothing_leaks_out_of_a_mask_from_two(name, other):
    f = getattr(pg, name)
    assert set(masked(lambda x: f(x, pg.full_like(x, other)))) == {0}
    assert set(masked(lambda x: f(pg.full_like(x, other), x))) == {0}
