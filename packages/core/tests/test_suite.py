"""The conformance suite itself: each check can fail, gaps are named, what does not apply is excused aloud."""

from __future__ import annotations

import ast
import copy
import math
from pathlib import Path
from unittest import SkipTest

import pytest

import plugrad as pg
from plugrad import ops, plugins, testing
from plugrad.apply import apply
from plugrad.backend import REQUIRED, Unavailable
from plugrad.errors import ConformanceError
from plugrad.op import Op
from plugrad.testing import (
    backend_suite,
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
from plugrad.testing.cases import _distinct, every
from plugrad.testing.cases import rows as core_rows
from plugrad.testing.subject import Excused, Subject
from plugrad.testing.suite import checks

WHOLE = pg.device().backend
EXP = Op.catalogue["plugrad.Exp"]


def faulty(functions=None, **body):
    """The default backend once more, with something wrong with it."""
    if functions:
        body["functions"] = {**WHOLE.functions, **functions}
    made = copy.copy(WHOLE)
    made.__class__ = type("Faulty", (type(WHOLE),), body)
    for name in ("_namespaces", "_names", *body):
        made.__dict__.pop(name, None)
    return made


def outcomes(backend, only, **how):
    return {r.check.name: (r.outcome, r.why) for r in check_backend(backend, only=only, **how).results}


# -- each check can fail ----------------------------------------------------------------------------------------------

XP = WHOLE.namespace(0)


def off(f):
    return lambda *args, **kwargs: f(*args, **kwargs) + 1


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


def without(name):
    return property(lambda self: {k: v for k, v in WHOLE.dtypes.items() if k != name})


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
def test_a_fault_is_found(name):
    assert outcomes(WHOLE, name) == {name: ("passed", "")}
    assert outcomes(faulty(**FAULTS[name]), name)[name][0] == "failed"


@pytest.mark.parametrize(
    "body", [{"devices": lambda self: 0}, {"capabilities": ["linalg"]}, {"capabilities": frozenset({5})}]
)
def test_a_false_declaration_is_found(body):
    with pytest.raises((ConformanceError, pg.errors.DeviceError)):
        interface.declared(Subject(faulty(**body)))


def subject():
    return Subject(WHOLE)


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


# -- what is checked --------------------------------------------------------------------------------------------------


def test_every_required_function_has_a_check():
    names = [c.name for c in checks(WHOLE.name)]
    assert {f"functions/{name}" for name in REQUIRED} <= set(names)
    assert len(names) == len(set(names))


def test_every_row_is_checked_in_every_way_that_applies():
    names = {c.name for c in checks(WHOLE.name)}
    for r in core_rows():
        assert {f"{what}/{r.name}" for what in ("value", "untouched", "layout")} <= names
        assert (f"gradient/{r.name}" in names) == (r.order > 0)
        floats = any(spec.kind == "float" for spec in r.inputs)
        assert all((f"{t}/{r.name}" in names) == floats for t in ("float32", "float16", "bfloat16"))


def test_rows_of_extensions_are_checked_too():
    names = {r.name for r in every()}
    for extension in plugins.scan(plugins.EXTENSIONS):
        for r in plugins.manager(plugins.EXTENSIONS, extension).hook.plugrad_cases() or ():
            assert r.name in names
    assert {r.name for r in core_rows()} <= names


def test_names_of_rows_must_differ():
    with pytest.raises(ValueError, match=r"two case rows are called 'plugrad.Exp/a'"):
        _distinct([case(EXP, ops.exp, real(2), label="a"), case(EXP, ops.exp, real(3), label="a")])


def test_checks_hold_without_assert_statements():
    """Under -O an assert statement is no check."""
    for path in Path(testing.__file__).parent.glob("**/*.py"):
        found = [n.lineno for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Assert)]
        assert not found, f"{path}:{found[0]}"


def test_the_tables_are_about_required_functions():
    assert set(elementary.UNARY) | set(elementary.BINARY) | set(structure.FUNCTIONS) == set(REQUIRED)


# -- gaps -------------------------------------------------------------------------------------------------------------

SOME = "functions/s*"


def test_skip_and_xfail_are_told_with_their_reasons():
    broken = faulty({"sqrt": off(XP.sqrt)})
    report = check_backend(
        broken, only=SOME, skip={"functions/sin": "no tables"}, xfail={"functions/sqrt": "off by one"}
    )
    assert report.ok
    assert report.score == (1, 2)
    assert "skipped, functions: no tables: 1 checks" in str(report)
    assert "xfailed, functions: off by one: 1 checks" in str(report)


def test_an_unexpected_pass_fails():
    report = check_backend(WHOLE, only=SOME, xfail={"functions/s[iq]*": "was broken"})
    assert not report.ok
    assert [r.why for r in report.of("failed")] == ["passed, though expected to fail: was broken"] * 2


@pytest.mark.parametrize("how", ["skip", "xfail"])
def test_an_unknown_name_is_an_error(how):
    with pytest.raises(ValueError, match="no check is called 'functions/sinh'"):
        check_backend(WHOLE, only=SOME, **{how: {"functions/sinh": "x"}})
    with pytest.raises(ValueError, match="no check is called 'nosuch/\\*'"):
        backend_suite(WHOLE.name, **{how: {"nosuch/*": "x"}})


def test_a_report_prints_its_score():
    text = str(check_backend(faulty({"sin": off(XP.sin)}), only=SOME))
    assert text.splitlines()[0] == f"backend {WHOLE.name}"
    assert "  functions            2/3" in text
    assert "FAILED  functions/sin" in text
    assert text.splitlines()[-1] == "score 2/3"


def test_no_check_at_all_is_no_success():
    assert not check_backend(WHOLE, only="nosuch/*").ok


# -- what a backend lacks is excused, aloud ---------------------------------------------------------------------------


def test_without_float64():
    narrow = faulty(dtypes=without("float64"))
    found = outcomes(narrow, "*/plugrad.Exp")
    assert found["value/plugrad.Exp"] == found["gradient/plugrad.Exp"] == ("passed", "")
    assert found["float32/plugrad.Exp"] == ("excused", "the backend has no float64")
    wrong = faulty({"exp": lambda x: XP.exp(x) * XP.astype(XP.exp(x * 0.5), x.dtype)}, dtypes=without("float64"))
    assert outcomes(wrong, "value/plugrad.Exp")["value/plugrad.Exp"][0] == "failed"
    assert outcomes(wrong, "gradient/plugrad.Exp")["gradient/plugrad.Exp"][0] == "failed"


def test_a_capability():
    needy = case(EXP, ops.exp, real(2), needs=("telepathy",))
    for aspect in (rows.value, rows.layout, rows.gradient, rows.untouched):
        with pytest.raises(Excused, match="capability 'telepathy'"):
            aspect(subject(), needy)


def test_a_missing_dtype_is_refused_not_swapped():
    assert outcomes(faulty(dtypes=without("uint8")), "dtypes/missing")["dtypes/missing"] == ("passed", "")


# -- the face for pytest ----------------------------------------------------------------------------------------------


def suite(backend=None, **how):
    return backend_suite(backend or (lambda: WHOLE), only=SOME, **how)


def test_one_method_for_each_check():
    made = suite()
    names = [n for n in vars(made) if n.startswith("test_")]
    assert names == ["test_functions_sqrt", "test_functions_sin", "test_functions_sum"]
    for name in names:
        getattr(made(), name)()


def test_every_check_has_a_method():
    made = backend_suite(WHOLE.name)
    assert len([n for n in vars(made) if n.startswith("test_")]) == len(checks(WHOLE.name))


def test_a_method_fails_by_raising():
    with pytest.raises(ConformanceError):
        suite(lambda: faulty({"sin": off(XP.sin)}))().test_functions_sin()


def test_methods_of_gaps():
    made = suite(skip={"functions/sum": "too slow"}, xfail={"functions/sin": "was broken"})()
    with pytest.raises(SkipTest, match="too slow"):
        made.test_functions_sum()
    with pytest.raises(ConformanceError, match="passed, though expected to fail: was broken"):
        made.test_functions_sin()
    with pytest.raises(SkipTest, match="known gap: off by one"):
        suite(lambda: faulty({"sin": off(XP.sin)}), xfail={"functions/sin": "off by one"})().test_functions_sin()


def test_a_backend_that_cannot_run_here(monkeypatch):
    monkeypatch.setattr(plugins, "unavailable", lambda name: Unavailable("no card"))
    monkeypatch.setattr(plugins, "device", lambda spec: (_ for _ in ()).throw(pg.errors.UnavailableError("no card")))
    with pytest.raises(SkipTest, match="no card"):
        suite("acme", require=False)().test_functions_sin()
    with pytest.raises(pg.errors.UnavailableError):
        suite("acme")().test_functions_sin()


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
