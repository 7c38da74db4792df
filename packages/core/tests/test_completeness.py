"""Nothing is forgotten: every op has a row, a formula and tested gradients, every module says what is public."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import plugrad as pg
from plugrad import ops, plugins
from plugrad.errors import PluginError
from plugrad.op import Op
from plugrad.testing.cases import every

MODULES = [m.name for m in walk_packages(pg.__path__, "plugrad.") if "__main__" not in m.name]


def ours():
    """Every op class of plugrad and of the extensions that are installed."""
    for name in MODULES:
        import_module(name)
    for name in plugins.scan(plugins.EXTENSIONS):
        try:
            plugins.namespace(name)
        except PluginError:
            continue
    own = [cls for cls in below(Op) if cls.__module__.partition(".")[0].startswith("plugrad")]
    return sorted((cls for cls in own if cls.forward is not Op.forward), key=lambda cls: cls.key)


def below(cls):
    """Every class that derives from `cls`."""
    return [c for sub in cls.__subclasses__() for c in (sub, *below(sub))]


def file_for_rows(cls):
    """Where the rows of an op belong."""
    package, _, module = cls.__module__.partition(".")
    if package != "plugrad":
        return f"what plugrad_cases() of {package} returns"
    return f"packages/core/src/plugrad/testing/cases/{module.rpartition('.')[2]}.py"


OPS = ours()

#: Ops without a row, each with the reason.
NO_ROW = {"plugrad.Recomputed": "a function stands in for its formula: test_checkpoint.py checks it"}


@pytest.fixture(scope="module")
def rows():
    found = {}
    for row in every():
        found.setdefault(row.op, []).append(row)
    return found


def differentiable(cls):
    return any(cls.gradients)


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.key)
def test_every_op_has_a_case_row(rows, cls):
    if cls not in rows and cls.key not in NO_ROW:
        pytest.fail(f"op {cls.key} has no case row: add one in {file_for_rows(cls)}")


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.key)
def test_gradients_are_checked_to_second_order(rows, cls):
    highest = max((row.order for row in rows.get(cls, [])), default=0)
    assert highest >= 2 or not differentiable(cls) or cls.key in NO_ROW, (
        f"op {cls.key} has gradients, and its rows check them to order {highest}: "
        f"a row with order=2 belongs in {file_for_rows(cls)}"
    )


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.key)
def test_an_op_says_its_formula(cls):
    doc = cls.__dict__.get("__doc__") or ""
    assert doc.strip(), f"op {cls.key} has no docstring: its formula"
    first = doc.strip().splitlines()[0]
    assert any(sign in first for sign in "=∈←"), (
        f"op {cls.key}: the docstring opens with {first!r}, which is no formula"
    )
    if differentiable(cls):
        assert "∂" in doc, f"op {cls.key}: the docstring does not give the gradient (∂L/∂x = ...)"


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.key)
def test_settings_can_be_printed_compared_and_hashed(rows, cls):
    for row in rows.get(cls, []):
        assert row.op is cls
    assert all(isinstance(f, str) for f in cls.fields)
    assert "ClassVar" not in str([cls.__annotations__.get(f) for f in cls.fields])


def test_exceptions_are_ops_that_exist():
    assert set(NO_ROW) <= {cls.key for cls in OPS}


def test_no_two_ops_share_a_name():
    homes = {}
    for cls in OPS:
        other = homes.setdefault(cls.key, cls)
        assert other is cls, f"{cls.__module__} and {other.__module__} both define {cls.key}: kernels go by that name"


def test_every_row_is_of_the_op_that_it_names(rows):
    """A row's function runs the op that the row says it is about."""
    from plugrad.testing.rows import tensors
    from plugrad.tools.watch import Watcher

    class Seen(Watcher):
        def before(self, op, inputs):
            seen.add(type(op))

    device = pg.device()
    for cls, found in rows.items():
        for row in found:
            if not set(row.needs) <= device.backend.capabilities:
                continue
            seen = set()
            with Seen():
                row.f(*tensors(row, device, "float32"))
            assert cls in seen, f"row {row.name}: its function runs {sorted(c.key for c in seen)}, not {cls.key}"


# -- what is public ---------------------------------------------------------------------------------------------------


STARS = [n for n in ast.parse(Path(ops.__file__).read_text(encoding="utf-8")).body if isinstance(n, ast.ImportFrom)]
OP_MODULES = [f"plugrad.ops.{n.module}" for n in STARS if n.names[0].name == "*"]


@pytest.mark.parametrize("name", OP_MODULES)
def test_a_module_of_ops_lists_its_functions(name):
    module = import_module(name)
    assert len(set(module.__all__)) == len(module.__all__), f"{name}.__all__ names something twice"
    for public in module.__all__:
        assert getattr(ops, public) is getattr(module, public), f"plugrad.ops.{public} is not the one of {name}"


@pytest.mark.parametrize("name", OP_MODULES)
def test_public_functions_are_documented(name):
    module = import_module(name)
    for public in module.__all__:
        assert inspect.getdoc(getattr(module, public)), f"{name}.{public} has no docstring"


def test_no_two_modules_give_one_name():
    homes = {}
    for name in OP_MODULES:
        for public in import_module(name).__all__:
            assert public not in homes, f"{public} is in {homes[public]}.__all__ and in {name}.__all__"
            homes[public] = name


def test_every_function_is_reachable_from_the_top():
    for name in OP_MODULES:
        for public in import_module(name).__all__:
            assert hasattr(pg, public), f"pg.{public} is missing"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_opens_with_one_sentence(name):
    doc = import_module(name).__doc__
    assert doc, f"{name} has no docstring"
    assert doc.strip().splitlines()[0].rstrip().endswith((".", ":", "?")), f"{name}: {doc.splitlines()[0]!r}"
