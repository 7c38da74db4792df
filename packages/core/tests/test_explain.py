"""`pg.explain`: formula, lines, what is kept, and why a kernel was not used."""

from __future__ import annotations

import inspect
import linecache
from pathlib import Path

import pytest

import plugrad as pg
from plugrad import ops
from plugrad.backend import Device
from plugrad.kernel import Kernel, as_kernel
from plugrad.tools.introspect import where

MUL, EXP, MATMUL = (pg.Op.catalogue[f"plugrad.{name}"] for name in ("Mul", "Exp", "MatMul"))


def line(place):
    """The source line that `file:line` stands for."""
    name, _, number = place.rpartition(":")
    path = Path(pg.__file__).parents[1] / name
    return linecache.getline(str(path if path.exists() else name), int(number))


def test_formula_lines_and_what_is_kept():
    (e,) = pg.explain(MUL).entries
    assert e["formula"] == inspect.getdoc(MUL)
    assert "def forward(self, xp, x, y):" in line(e["forward"])
    assert "def dx(self, g, y):" in line(e["gradients"]["dx"])
    assert "def dy(self, g, x):" in line(e["gradients"]["dy"])
    assert e["needs"] == {"dx": ["y"], "dy": ["x"]}


@pytest.mark.parametrize("what", [EXP, EXP(), ops.exp, "exp", "Exp", "plugrad.Exp"])
def test_however_one_asks(what):
    (e,) = pg.explain(what).entries
    assert e["key"] == "plugrad.Exp"


def test_an_op_made_the_tensor():
    x = pg.tensor([1.0], requires_grad=True)
    (e,) = pg.explain(x * x).entries
    assert (e["op"], e["key"]) == ("Mul()", "plugrad.Mul")
    with pytest.raises(pg.errors.DTypeError, match="no op is behind"):
        pg.explain(x)


def test_functions_of_a_table_and_methods():
    (e,) = pg.explain(ops.less).entries
    assert "less" in e["op"]
    assert "MatMul" in str(pg.explain(pg.Tensor.matmul))


def test_a_name_of_nobody():
    with pytest.raises(LookupError, match="no op or function is called 'nosuch'"):
        pg.explain("nosuch")


def test_what_z_is_called():
    (e,) = pg.explain(EXP).entries
    assert e["needs"] == {"dx": ["z"]}


# -- kernels ----------------------------------------------------------------------------------------------------------


def device(kernel):
    return Device(pg.device().backend, 0, lambda backend, op: kernel if op is EXP else None)


def doubled(op, x):
    return x * 2.0


def few(op, x):
    return True if x.shape[0] < 3 else "three or more elements are too many"


def used(where, n=2):
    (e,) = pg.explain(ops.exp, pg.zeros(n, device=where)).entries
    return e["kernels"][where.type]


def test_a_kernel_that_runs():
    told = used(device(as_kernel(doubled, "a test")))
    assert told["used"] == "yes"
    assert "def doubled(op, x):" in line(told["forward"])


def test_why_a_kernel_does_not_run():
    assert used(device(as_kernel(Kernel(doubled, supports=few), "a test")), 3)["used"] == (
        "no: three or more elements are too many"
    )
    assert used(device(as_kernel(lambda op, x: NotImplemented, "a test")))["used"] == "no: it returned NotImplemented"
    assert used(device(None))["used"] == f"no: none is registered for plugrad.Exp on {pg.device().type}"
    with pg.kernels("off"):
        assert used(device(as_kernel(doubled, "a test")))["used"] == "no: switched off by pg.kernels('off')"


def test_the_inputs_of_a_call():
    e = pg.explain(ops.exp, pg.zeros(2, 3)).entries[-1]
    assert e["inputs"] == [f"float32 (2, 3) on {pg.device()}"]


def test_a_call_that_runs_several_ops_explains_each():
    x = pg.tensor([1.0, 2.0])
    found = pg.explain(lambda x: ops.exp(x) * x, x).entries
    assert [e["key"] for e in found] == ["plugrad.Exp", "plugrad.Mul"]
    assert pg.explain(MUL(), x, x).entries[0]["key"] == "plugrad.Mul"


def test_a_call_leaves_no_watcher_behind():
    from plugrad.context import current

    with pytest.raises(ZeroDivisionError):
        pg.explain(lambda x: 1 / 0, pg.zeros(1))
    assert current.get().watchers == ()


# -- as text ----------------------------------------------------------------------------------------------------------


def test_it_prints_well():
    text = str(pg.explain(MATMUL))
    assert text == repr(pg.explain(MATMUL))
    assert text.startswith("MatMul()    plugrad.MatMul")
    assert "∂L/∂X" in text
    assert "  forward   plugrad/ops/linear.py:" in text
    assert "keeps y" in text


def test_kernels_in_the_text():
    text = str(pg.explain(ops.exp, pg.zeros(3, device=device(as_kernel(Kernel(doubled, supports=few), "a test")))))
    assert f"kernel    {pg.device().type}" in text
    assert "three or more elements are too many" in text


def test_installed_kernels_are_listed_with_who_brings_them():
    for (backend, key), (origin, _) in pg.plugins.kernel_table().items():
        if key in pg.Op.catalogue:
            (e,) = pg.explain(key).entries
            assert e["kernels"][backend]["from"] == origin


def test_a_line_of_a_builtin():
    assert where(len) == "builtins.len"


@pytest.mark.parametrize(("name", "op"), [("rand", "Uniform"), ("einsum", "MatMul"), ("solve", "Solve")])
def test_names_that_come_in_late(name, op):
    assert f"plugrad.{op}" in str(pg.explain(name))
