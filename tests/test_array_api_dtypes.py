"""Dtypes by the tables of the array API standard, and what the namespace says of itself."""

from __future__ import annotations

import pytest

import plugrad as pg
from plugrad import array_api as xp
from plugrad.errors import DTypeError

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]

# What two dtypes give together, from the standard's tables; mixed kinds are plugrad's own: integers follow floats.
TABLE = {
    **{(t, t): t for t in DTYPES},
    **{(f"int{m}", f"int{n}"): f"int{max(m, n)}" for m in (8, 16, 32, 64) for n in (8, 16, 32, 64)},
    **{(f"uint{m}", f"uint{n}"): f"uint{max(m, n)}" for m in (8, 16, 32, 64) for n in (8, 16, 32, 64)},
    **{(f"uint{m}", f"int{n}"): f"int{max(2 * m, n)}" for m in (8, 16, 32) for n in (8, 16, 32, 64)},
    ("float32", "float64"): "float64",
    **{("bool", t): t for t in DTYPES},
    **{(i, f): f for i in DTYPES if "int" in i for f in ("float32", "float64")},
}
TABLE |= {(b, a): t for (a, b), t in TABLE.items()}


@pytest.mark.parametrize(("a", "b"), [(a, b) for a in DTYPES for b in DTYPES])
def test_result_type_by_the_tables(a, b):
    one, two = pg.ones(2, dtype=a), pg.ones(2, dtype=b)
    if (a, b) not in TABLE:
        with pytest.raises(DTypeError, match="no integer dtype holds both"):
            xp.result_type(a, b)
        assert not xp.can_cast(a, b)
        return
    want = TABLE[a, b]
    assert xp.result_type(a, b) == xp.result_type(one, getattr(xp, b)) == xp.result_type(one, two) == want
    assert xp.can_cast(a, b) is (want == b)
    assert xp.can_cast(one, b) is (want == b)
    if a != "bool":
        assert (one * two).dtype == want


@pytest.mark.parametrize(("number", "weak"), [(True, "bool"), (1, "int64"), (1.0, "float32")])
@pytest.mark.parametrize("t", DTYPES)
def test_plain_numbers_follow(t, number, weak):
    rank = lambda name: 0 if name == "bool" else 2 if "float" in name else 1  # noqa: E731
    want = weak if rank(weak) > rank(t) else t
    assert xp.result_type(t, number) == xp.result_type(number, pg.ones(1, dtype=t)) == want


def test_result_type_takes_any_number_of_things():
    assert xp.result_type("uint8", "int8", 1, "int32") == "int32"
    assert xp.result_type(1.0, "uint8", "float64") == "float64"
    assert xp.result_type(1, 2.0) == "float32"
    with pytest.raises(DTypeError, match="nothing was given"):
        xp.result_type()


def test_can_cast_refuses_what_is_no_dtype():
    with pytest.raises(DTypeError, match="no dtype is called"):
        xp.can_cast("float33", "float32")


@pytest.mark.parametrize(
    ("kind", "have"),
    [
        ("bool", ["bool"]),
        ("signed integer", DTYPES[1:5]),
        ("unsigned integer", DTYPES[5:9]),
        ("integral", DTYPES[1:9]),
        ("real floating", DTYPES[9:]),
        ("complex floating", []),
        ("numeric", DTYPES[1:]),
        (("bool", "real floating"), ["bool", *DTYPES[9:]]),
    ],
)
def test_isdtype_and_the_dtypes_of_a_kind(kind, have):
    assert [t for t in DTYPES if xp.isdtype(t, kind)] == have
    assert sorted(xp.__array_namespace_info__().dtypes(device="numpy", kind=kind)) == sorted(have)


def test_isdtype_of_a_dtype():
    assert xp.isdtype(pg.float32, pg.float32)
    assert xp.isdtype(pg.float32, ("integral", "float32"))
    assert not xp.isdtype(pg.float32, pg.float64)
    with pytest.raises(ValueError, match="'real' is no kind of dtype; the kinds are bool, signed integer"):
        xp.isdtype(pg.float32, "real")


def test_limits_are_those_of_numpy():
    import numpy as np

    for name in ("float16", "float32", "float64"):
        ours, theirs = xp.finfo(getattr(pg, name)), np.finfo(name)
        assert ours.dtype == name
        for key in ("bits", "eps", "max", "min", "smallest_normal"):
            assert float(getattr(ours, key)) == float(getattr(theirs, key)), (name, key)
    for name in DTYPES[1:9]:
        ours, theirs = xp.iinfo(name), np.iinfo(name)
        assert (ours.bits, ours.min, ours.max, ours.dtype) == (theirs.bits, theirs.min, theirs.max, name)
    assert xp.finfo(pg.ones(2)).bits == xp.iinfo(pg.arange(2)).bits // 2 == 32
    assert xp.finfo("bfloat16").eps == 2**-7
    with pytest.raises(DTypeError, match="finfo: int32 is not a floating dtype; use iinfo"):
        xp.finfo(pg.int32)
    with pytest.raises(DTypeError, match="iinfo: float32 is not an integer dtype; use finfo"):
        xp.iinfo(pg.float32)


def test_the_namespace_says_what_it_can_do():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() is pg.ones(1).device
    assert info.default_device() in info.devices()
    defaults = info.default_dtypes()
    assert defaults["real floating"] is pg.ones(1).dtype
    assert defaults["integral"] is pg.arange(2).dtype
    assert defaults["indexing"] is xp.argsort(pg.ones(2)).dtype
    assert sorted(info.dtypes(device="numpy")) == sorted(DTYPES)
    with pytest.raises(ValueError, match="'real' is no kind"):
        info.dtypes(kind="real")
    x = pg.arange(6).reshape(2, 3)
    assert x[x > 3].tolist() == [4, 5]
    assert pg.zeros((1,) * 64).ndim == 64
