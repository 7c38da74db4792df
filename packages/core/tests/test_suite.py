"""The conformance suite: what it checks, how gaps are named, what does not apply is excused aloud."""

from __future__ import annotations

import ast
from pathlib import Path
from unittest import SkipTest

import pytest

import plugrad as pg
from plugrad import ops, plugins, testing
from plugrad.backend import REQUIRED, Unavailable
from plugrad.errors import ConformanceError
from plugrad.op import Op
from plugrad.testing import (
    backend_suite,
    case,
    check_backend,
    elementary,
    real,
    rows,
    structure,
)
from plugrad.testing.cases import _distinct, every
from plugrad.testing.cases import rows as core_rows
from plugrad.testing.subject import Excused, Subject
from plugrad.testing.suite import checks

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


def test_skip_and_xfail_are_told_with_their_reasons(faulty):
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


def test_a_report_prints_its_score(faulty):
    text = str(check_backend(faulty({"sin": off(XP.sin)}), only=SOME))
    assert text.splitlines()[0] == f"backend {WHOLE.name}"
    assert "  functions            2/3" in text
    assert "FAILED  functions/sin" in text
    assert text.splitlines()[-1] == "score 2/3"


def test_no_check_at_all_is_no_success():
    assert not check_backend(WHOLE, only="nosuch/*").ok


# -- what a backend lacks is excused, aloud ---------------------------------------------------------------------------


def test_without_float64(faulty):
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


def test_a_missing_dtype_is_refused_not_swapped(faulty):
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


def test_a_method_fails_by_raising(faulty):
    with pytest.raises(ConformanceError):
        suite(lambda: faulty({"sin": off(XP.sin)}))().test_functions_sin()


def test_methods_of_gaps(faulty):
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
