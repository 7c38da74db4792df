"""Each check of the conformance suite can fail: a fault in a backend, an op or a kernel is found."""

from __future__ import annotations

import math

import pytest

import plugrad as pg
from plugrad import ops
from plugrad.apply import apply
from plugrad.errors import ConformanceError
from plugrad.op import Op
from plugrad.testing import (
    bools,
    case,
    check_backend,
    compare,
    elementary,
    exactly,
    interface,
    real,
    rows,
    structure,
)
from plugrad.testing.subject import Excused, Subject

WHOLE = pg.device().backend
XP = WHOLE.namespace(0)
EXP = Op.catalogue["plugrad.Exp"]


def off(f):
    return lambda *args, **kwargs: f(*args, **kwargs) + 1


def without(name):
    return property(lambda self: {k: v for k, v in WHOLE.dtypes.items() if k != name})


def subject():
    return Subject(WHOLE)


def outcomes(backend, only):
    return {r.check.name: (r.outcome, r.why) for r in check_backend(backend, only=only).results}


# -- each check can fail ----------------------------------------------------------------------------------------------


def ignoring_nan(x, y):
    return XP.where(XP.isnan(x), y, XP.where(XP.isnan(y), x, XP.maximum(x, y)))


def writing(x):
    z = XP.exp(x)
    x[...] = z
    return z


def wide(x):
    return XP.astype(XP.exp(x), XP.float64)


def unsorted(x, **how):
    return XP.argsort(XP.abs(x), **how)


def aliasing(self, data, dtype, index):
    return data if hasattr(data, "shape") and not isinstance(data, list) else WHOLE.asarray(data, dtype, index)


FAULTS = {
    "functions/exp": {"functions": {"exp": off(XP.exp)}},
    "functions/maximum": {"functions": {"maximum": ignoring_nan}},
    "functions/round": {"functions": {"round": lambda x: XP.floor(x + 0.5)}},
    "functions/sum": {"functions": {"sum": lambda x, axis=None, keepdims=False: XP.sum(x, axis=axis)}},
    "functions/argsort": {"functions": {"argsort": unsorted}},
    "functions/where": {"functions": {"where": lambda c, x, y: XP.where(c, y, x)}},
    "functions/expm1": {"functions": {"expm1": lambda x: XP.exp(x) - 1.0}},
    "functions/zeros": {"functions": {"zeros": lambda shape, dtype: XP.zeros(shape, dtype=XP.float32)}},
    "arrays/round_trip": {"tolist": lambda self, x: [WHOLE.tolist(x)]},
    "arrays/a_copy": {"asarray": aliasing, "to_host": lambda self, x: x},
    "dtypes/names": {"dtypes": without("int64")},
    "dtypes/promotion": {"dtype_of": lambda self, x: pg.float32},
    "devices/declared": {"api": (1, 99)},
    "devices/contexts": {"quiet": lambda self: 5},
    "random/random_words": {
        "random_bits": lambda self, key, offset, n, index: WHOLE.random_bits(key, offset + 1, n, index)
    },
    "errors/misfits": {"functions": {"matmul": lambda x, y: x}},
    "value/plugrad.Exp": {"functions": {"exp": off(XP.exp)}},
    "untouched/plugrad.Exp": {"functions": {"exp": writing}},
    "float32/plugrad.Exp": {"functions": {"exp": wide}},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(faulty, name):
    assert outcomes(WHOLE, name) == {name: ("passed", "")}
    assert outcomes(faulty(**FAULTS[name]), name)[name][0] == "failed"


def wrong(z):
    return not z if isinstance(z, bool) else z + 1 if math.isfinite(z) else 0.0


@pytest.mark.parametrize("table", ["OPERATORS", "INTEGER", "BINARY"])
def test_every_row_of_a_table_counts(monkeypatch, table):
    """A row that asks for another result fails, whichever it is."""
    rows_of = getattr(elementary, table)
    make = {"OPERATORS": elementary.operator, "INTEGER": elementary.integer, "BINARY": elementary.binary}[table]
    for name, found in rows_of.items():
        for i, (x, y, z) in enumerate(found):
            make(name)(subject())
            monkeypatch.setitem(rows_of, name, [*found[:i], (x, y, wrong(z)), *found[i + 1 :]])
            with pytest.raises(ConformanceError, match=name):
                make(name)(subject())
            monkeypatch.undo()


@pytest.mark.parametrize("name", elementary.UNARY)
def test_every_function_of_one_number_counts(monkeypatch, name):
    f, extra = elementary.UNARY[name]
    monkeypatch.setitem(elementary.UNARY, name, (lambda x: wrong(f(x)) if x == 0.5 else f(x), extra))
    with pytest.raises(ConformanceError, match=name):
        elementary.unary(name)(subject())


@pytest.mark.parametrize("i", range(len(structure.KEYS)))
def test_every_key_counts(monkeypatch, i):
    key, _ = structure.KEYS[i]
    monkeypatch.setattr(structure, "KEYS", [(key, [[99]])])
    with pytest.raises(ConformanceError, match="x\\["):
        structure.getitem(subject())


@pytest.mark.parametrize("i", range(len(structure.WRITES)))
def test_every_write_counts(monkeypatch, i):
    key, value, _ = structure.WRITES[i]
    monkeypatch.setattr(structure, "WRITES", [(key, value, [[0, 0, 0], [0, 0, 0]])])
    with pytest.raises(ConformanceError, match="element"):
        structure.setitem(subject())


@pytest.mark.parametrize(
    "body", [{"devices": lambda self: 0}, {"capabilities": ["linalg"]}, {"capabilities": frozenset({5})}]
)
def test_a_false_declaration_is_found(faulty, body):
    with pytest.raises((ConformanceError, pg.errors.DeviceError)):
        interface.declared(Subject(faulty(**body)))


class Twice(Op):
    """z = 2 x, with all that may be wrong with an op

    ∂L/∂x = 2 g
    """

    fault: str = ""
    elementwise = True

    def forward(self, xp, x):
        if self.fault == "in place" and x.shape:
            x[...] = x * 2.0
            return x
        if self.fault == "0-d":
            return x + x if x.shape else x
        return XP.astype(x * 2.0, XP.float64) if self.fault == "wide" else x * 2.0

    def dx(self, g):
        if self.fault == "order 2":
            return (g * 2.0).detach()
        return g * (3.0 if self.fault == "gradient" else 2.0)


def row(fault="", **how):
    op = Twice(fault)
    return case(Twice, lambda x: apply(op, x), real(2, 3), **how)


ASPECTS = {
    "value": (rows.value, {"closed": lambda x: 3 * x}, ""),
    "gradient": (rows.gradient, {}, "gradient"),
    "second order": (rows.gradient, {}, "order 2"),
    "untouched": (rows.untouched, {"order": 0}, "in place"),
    "corners": (rows.corners, {}, "0-d"),
    "float32": (rows.single, {}, "wide"),
}


@pytest.mark.parametrize("name", ASPECTS)
def test_each_aspect_of_a_row_can_fail(name):
    aspect, options, fault = ASPECTS[name]
    aspect(subject(), row(closed=lambda x: 2 * x))
    if name == "second order":
        square = case(Twice, lambda x: apply(Twice(fault), x * x), real(2, 3))
        with pytest.raises(ConformanceError):
            aspect(subject(), square)
    else:
        with pytest.raises(ConformanceError):
            aspect(subject(), row(fault, **options))


def test_layouts_are_what_they_say():
    s, x = subject(), pg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for how in rows.LAYOUTS.values():
        odd = how(s, x)
        assert (tuple(odd.shape), s.read(odd)) == ((2, 3), x.tolist())
        assert s.read(how(s, pg.tensor(5.0))) == 5.0
        assert tuple(how(s, pg.zeros(2, 0)).shape) == (2, 0)


def test_a_forward_that_depends_on_the_layout_is_found(monkeypatch):
    monkeypatch.setitem(rows.LAYOUTS, "wrong", lambda s, x: x.data[..., ::-1])
    with pytest.raises(ConformanceError, match="wrong inputs: element 0"):
        rows.layout(subject(), row())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_rounded_once(dtype):
    s = subject()
    if dtype not in s.dtypes:
        with pytest.raises(Excused, match=f"the backend has no {dtype}"):
            rows.half(dtype)(s, row())
        return
    rows.half(dtype)(s, row())
    rounding = case(Twice, lambda x: (x + 0.001) * 2.0 if x.dtype == dtype else (x + 0.05) * 2.0, real(2, 3))
    with pytest.raises(ConformanceError, match=f"{dtype} beside float32"):
        rows.half(dtype)(s, rounding)


# -- what the checks are built from -----------------------------------------------------------------------------------


def test_close_and_near():
    assert compare.near(1.0, 1.0 + 1e-9, 1e-8, 0.0)
    assert not compare.near(1.0, 1.0 + 1e-7, 1e-8, 0.0)
    assert compare.near(math.nan, math.nan, 0.0, 0.0)
    assert not compare.near(0.0, math.nan, 1.0, 1.0)
    assert not compare.near(math.nan, 0.0, 1.0, 1.0)
    assert not compare.near(1e308, math.inf, 1.0, 1.0)
    assert compare.near(-math.inf, -math.inf, 0.0, 0.0)
    with pytest.raises(ConformanceError, match=r"element 1 is 3\.0, expected 2\.0"):
        compare.close([1.0, 3.0], [1.0, 2.0], "x", 1e-3)
    with pytest.raises(ConformanceError, match="number of elements"):
        compare.close([1.0], [1.0, 2.0], "x", 1e-3)


def test_rounding():
    assert compare.rounded([1 / 3, 1e39, 7], "float32") == [0.3333333432674408, math.inf, 7]
    assert compare.rounded([1 / 3, 70000.0, -70000.0], "float16") == [0.333251953125, math.inf, -math.inf]
    assert compare.rounded([1 / 3, 1.00390625, 1.01171875], "bfloat16") == [0.333984375, 1.0, 1.015625]
    assert math.isnan(compare.rounded(math.nan, "bfloat16"))


def test_closed_forms_broadcast():
    got = compare.everywhere(lambda x, y: x - y, [[[1.0], [2.0]], [10.0, 20.0, 30.0]])
    assert got.shape == (2, 3)
    assert got.flat == [-9.0, -19.0, -29.0, -8.0, -18.0, -28.0]
    assert compare.everywhere(abs, [[]]).shape == (0,)


def test_a_row_may_give_its_very_numbers():
    r = case(EXP, ops.exp, exactly([0.0, -math.inf]), bools(2), closed=None)
    assert rows.plain(r)[0] == [0.0, -math.inf]


def test_philox_from_the_known_answers():
    """The first blocks of key 0 and of all ones, as the generator's authors publish them (Random123, kat_vectors)."""
    block = interface._block
    ones = 2**64 - 1
    assert block((0, 0), 0) == (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)
    assert block((ones, ones), 2**256 - 1) == (
        0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0,
    )  # fmt: skip
