"""The one table of dtype rules, exhaustively."""

import copy
import pickle

import pytest

import plugrad as pg
from plugrad.dtypes import ALL, BY_NAME, dtype, promote, with_scalar
from plugrad.errors import DTypeError

# rows and columns in the order of NAMES; "!" has no common dtype. Written down from PyTorch's promotion tables
# (unsigned 16 to 64: NumPy's, without its step to float64).
NAMES = [
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16", "float32",
    "float64",
]  # fmt: skip
TABLE = """
bool     bool    uint8   int8    uint16  int16   uint32  int32   uint64  int64   float16  bfloat16 float32 float64
uint8    uint8   uint8   int16   uint16  int16   uint32  int32   uint64  int64   float16  bfloat16 float32 float64
int8     int8    int16   int8    int32   int16   int64   int32   !       int64   float16  bfloat16 float32 float64
uint16   uint16  uint16  int32   uint16  int32   uint32  int32   uint64  int64   float16  bfloat16 float32 float64
int16    int16   int16   int16   int32   int16   int64   int32   !       int64   float16  bfloat16 float32 float64
uint32   uint32  uint32  int64   uint32  int64   uint32  int64   uint64  int64   float16  bfloat16 float32 float64
int32    int32   int32   int32   int32   int32   int64   int32   !       int64   float16  bfloat16 float32 float64
uint64   uint64  uint64  !       uint64  !       uint64  !       uint64  !       float16  bfloat16 float32 float64
int64    int64   int64   int64   int64   int64   int64   int64   !       int64   float16  bfloat16 float32 float64
float16  float16 float16 float16 float16 float16 float16 float16 float16 float16 float16  float32  float32 float64
bf bf bf bf bf bf bf bf bf bf float32 bf float32 float64
float32  float32 float32 float32 float32 float32 float32 float32 float32 float32 float32  float32  float32 float64
float64  float64 float64 float64 float64 float64 float64 float64 float64 float64 float64  float64  float64 float64
"""
PAIRS = [
    (row.split()[0], column, result)
    for row in TABLE.replace("bf ", "bfloat16 ").strip().splitlines()
    for column, result in zip(NAMES, row.split()[1:], strict=True)
]
SCALARS = [(t, v) for t in NAMES for v in (True, 3, 2.5)]


def supported(*names):
    return all(n in pg.device().xp.dtypes for n in names)


def test_the_table_is_whole():
    assert len(PAIRS) == len(ALL) ** 2
    assert {t.name for t in ALL} == set(NAMES)


@pytest.mark.parametrize(("a", "b", "want"), PAIRS)
def test_two_dtypes(a, b, want):
    if want == "!":
        with pytest.raises(DTypeError, match=r"astype\('int"):
            promote(BY_NAME[a], BY_NAME[b])
        return
    assert promote(BY_NAME[a], BY_NAME[b]) == want
    if supported(a, b, want):
        x, y = pg.tensor([1, 0], dtype=a), pg.tensor([1, 1], dtype=b)
        assert pg.multiply(x, y).dtype == want
        assert pg.multiply(y, x).dtype == want
        assert pg.where(x == 1, x, y).dtype == want
        assert pg.concat([x, y]).dtype == want
        quotient = pg.divide(x, y).dtype
        assert quotient == (want if BY_NAME[want].kind == "float" else "float32")


def weak(t, value):
    """What a plain number makes of a dtype: only its kind counts."""
    if isinstance(value, bool) or BY_NAME[t].kind == "float":
        return t
    if isinstance(value, int):
        return "int64" if t == "bool" else t
    return "float32"


@pytest.mark.parametrize(("t", "value"), SCALARS)
def test_plain_numbers_are_weak(t, value):
    want = weak(t, value)
    assert with_scalar(BY_NAME[t], value) == want
    if supported(t, want):
        x = pg.tensor([1, 0], dtype=t)
        assert (x * value).dtype == want
        assert (value * x).dtype == want
        assert pg.where(x == 1, x, value).dtype == want


def test_a_number_that_does_not_fit_is_refused():
    x = pg.tensor([1, 2], dtype="uint8")
    assert (x + 253).tolist() == [254, 255]
    for value in (256, -1):
        with pytest.raises(DTypeError, match=f"{value} does not fit uint8"):
            x + value


def test_what_is_no_number_is_refused():
    x = pg.tensor([1.0])
    for other in ("a", None, [1.0], object(), 1j):
        with pytest.raises(DTypeError, match="expected tensors or plain numbers"):
            x + other
    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711


def test_integers_are_cast_before_exp_and_division():
    for t in ("int64", "bool", "uint8"):
        x = pg.tensor([1, 0], dtype=t)
        assert x.exp().dtype == "float32"
        assert (x / 2).dtype == "float32"
        assert x.mean().dtype == "float32"


def test_names_and_objects():
    assert pg.float32 == "float32"
    assert dtype("float32") is dtype(pg.float32) is pg.float32
    assert dtype(float) is pg.float32
    assert dtype(int) is pg.int64
    assert dtype(bool) is pg.bool
    assert repr(pg.int8) == "plugrad.int8"
    assert copy.deepcopy(pg.int8) is pickle.loads(pickle.dumps(pg.int8)) is pg.int8
    for wrong in ("float", "complex64", str, None, 3):
        with pytest.raises(DTypeError, match="no dtype is called"):
            dtype(wrong)


def test_half_precision_is_rounded_once():
    if not supported("float16"):
        return
    x = pg.tensor([2048.0, 1.0, 1.0, 1.0, 1.0], dtype="float16")
    assert x.sum().item() == 2052.0  # adding ones to 2048 in float16 stays at 2048
    assert x.mean().dtype == "float16"
    y = pg.tensor([[60000.0, 60000.0, -60000.0]], dtype="float16")
    assert (y @ pg.ones(3, 1, dtype="float16")).tolist() == [[60000.0]]
