"""Fused kernels: preferred, off, forced; declining with reasons; with a backward of their own; held to the formula."""

from __future__ import annotations

import math

import pytest

import plugrad as pg
from plugrad import ops
from plugrad.backend import Device
from plugrad.errors import ConformanceError, KernelError, PluginLoadError
from plugrad.kernel import Kernel, as_kernel
from plugrad.testing import case, gradcheck, real
from plugrad.testing.parity import parity
from plugrad.testing.subject import Excused, Subject

EXP, MUL = (pg.Op.catalogue[f"plugrad.{name}"] for name in ("Exp", "Mul"))


def device(**kernels):
    """The default backend once more, with these kernels on it: `device(Exp=function)`."""
    made = {f"plugrad.{name}": as_kernel(k, f"{name} of a test") for name, k in kernels.items()}
    return Device(pg.device().backend, 0, lambda backend, op: made.get(op.key))


def doubled(op, x):
    """Not exp at all, so that one sees who has run."""
    return x * 2.0


def exp(op, x):
    return pg.device().xp.exp(x)


def run(where, data=(0.0, 1.0), dtype="float32"):
    return ops.exp(pg.tensor(list(data), dtype=dtype, device=where)).tolist()


FORMULA = pytest.approx([1.0, math.e])


# -- modes ------------------------------------------------------------------------------------------------------------


def test_a_kernel_runs_where_there_is_one():
    assert run(device(Exp=doubled)) == [0.0, 2.0]
    assert run(device(Mul=doubled)) == FORMULA


def test_off():
    there = device(Exp=doubled)
    with pg.kernels("off"):
        assert run(there) == FORMULA
    assert run(there) == [0.0, 2.0]


def test_off_for_some_ops_only():
    there = device(Exp=doubled)
    with pg.kernels("off", "mul", "sum"):
        assert run(there) == [0.0, 2.0]
    with pg.kernels("off", "exp"):
        assert run(there) == FORMULA


def test_as_a_decorator_and_nested():
    there = device(Exp=doubled)
    off = pg.kernels("off")(lambda: run(there))
    assert off() == FORMULA
    with pg.kernels("off"), pg.kernels("prefer"):
        assert run(there) == [0.0, 2.0]


def test_an_unknown_mode():
    with pytest.raises(ValueError, match="'fast' is none of 'prefer', 'off', 'force'"):
        pg.kernels("fast")


def test_forced_and_accepted():
    with pg.kernels("force", "exp"):
        assert run(device(Exp=doubled)) == [0.0, 2.0]


def test_forced_without_names_means_every_kernel_there_is():
    with pg.kernels("force"):
        assert run(device()) == FORMULA
        with pytest.raises(KernelError, match="exp: its kernel was forced and declined"):
            run(device(Exp=lambda op, x: NotImplemented))


def test_forced_where_none_is_registered():
    with pg.kernels("force", "exp"), pytest.raises(KernelError, match=r"no kernel is registered for plugrad\.Exp on"):
        run(device())


# -- declining --------------------------------------------------------------------------------------------------------


def test_a_kernel_that_declines_leaves_it_to_the_formula():
    there = device(Exp=lambda op, x: NotImplemented)
    assert run(there) == FORMULA
    with pg.kernels("force", "exp"), pytest.raises(KernelError, match=r"it returned NotImplemented.*pg.kernels"):
        run(there)


def only_long(op, x):
    return True if x.shape[0] > 2 else f"{x.shape[0]} elements are too few, it takes 3 or more"


def test_supports_is_asked_before_and_its_words_are_the_reason():
    there = device(Exp=Kernel(doubled, supports=only_long))
    assert run(there, (0.0, 1.0, 2.0)) == [0.0, 2.0, 4.0]
    assert run(there) == FORMULA
    with pg.kernels("force", "exp"), pytest.raises(KernelError, match="2 elements are too few, it takes 3 or more"):
        run(there)


def test_supports_one_dtype():
    back = pg.device().backend
    there = device(Exp=Kernel(doubled, supports=lambda op, x: back.dtype_of(x) == "float32" or "float32 only"))
    assert run(there) == [0.0, 2.0]
    assert run(there, dtype="float64") == FORMULA
    with pg.kernels("force", "exp"), pytest.raises(KernelError, match="float32 only"):
        run(there, dtype="float64")


# -- gradients --------------------------------------------------------------------------------------------------------


def test_a_kernel_without_backward_has_the_formula_s_gradient():
    x = pg.tensor([0.0, 1.0], device=device(Exp=exp), requires_grad=True)
    ops.exp(x).sum().backward()
    assert x.grad.tolist() == FORMULA


class Recorded:
    """A kernel of Mul that keeps sums of its own, and remembers what it was asked."""

    def __init__(self):
        self.asked = []
        self.kernel = Kernel(self.forward, self.backward)

    def forward(self, op, x, y):
        return x * y, (x, y)

    def backward(self, op, kept, g, wanted):
        self.asked.append(list(wanted))
        x, y = kept
        return [g * y if wanted[0] else None, g * x if wanted[1] else None]


def test_own_backward_gets_what_it_kept_and_what_is_wanted():
    mine = Recorded()
    there = device(Mul=mine.kernel)
    x = pg.tensor([2.0, 3.0], device=there, requires_grad=True)
    y = pg.tensor([5.0, 7.0], device=there)
    ops.multiply(x, y).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    ops.multiply(x, y.requires_grad_()).sum().backward()
    assert mine.asked == [[True, False], [True, True]]
    assert y.grad.tolist() == [2.0, 3.0]


def test_own_backward_undoes_broadcasting_like_any_other():
    there = device(Mul=Recorded().kernel)
    x = pg.tensor([[1.0], [2.0]], device=there, requires_grad=True)
    y = pg.tensor([3.0, 4.0, 5.0], device=there, requires_grad=True)
    ops.multiply(x, y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([[12.0], [12.0]], [3.0, 3.0, 3.0])


def test_higher_order_uses_the_formula():
    mine = Recorded()
    x = pg.tensor([2.0, 3.0], device=device(Mul=mine.kernel), requires_grad=True)
    (first,) = pg.grad(ops.multiply(x, x).sum(), x, create_graph=True)
    assert mine.asked == []
    (second,) = pg.grad(ops.multiply(first, first).sum(), x)
    assert (first.tolist(), second.tolist()) == ([4.0, 6.0], [16.0, 24.0])


def test_both_orders_pass_gradcheck_with_the_kernel_on():
    there = device(Mul=Recorded().kernel)
    xs = [
        pg.tensor([[0.5, -1.5]], dtype="float64", device=there),
        pg.tensor([[2.0], [0.25]], dtype="float64", device=there),
    ]
    assert gradcheck(ops.multiply, xs, order=2)


def test_what_a_kernel_kept_is_freed_with_the_graph():
    x = pg.tensor([2.0], device=device(Mul=Recorded().kernel), requires_grad=True)
    z = ops.multiply(x, x)
    z.backward()
    assert z.node.saved is None
    assert z.node.kept is None
    with pytest.raises(pg.errors.GraphError, match="retain_graph"):
        z.backward()


# -- what goes wrong --------------------------------------------------------------------------------------------------


def test_an_error_in_a_kernel_says_which_op_and_inputs():
    def failing(op, x):
        raise ValueError("out of registers")

    with pytest.raises(ValueError, match="out of registers") as caught:
        run(device(Exp=failing))
    assert "Exp() on float32 (2,)" in "".join(caught.value.__notes__)


def test_what_is_no_kernel():
    with pytest.raises(PluginLoadError, match=r"exp of acme: load\(\) returned 5"):
        as_kernel(5, "exp of acme")


# -- the suite holds kernels to the formula ---------------------------------------------------------------------------

ROWS = [case(EXP, ops.exp, real(2, 3)), case(MUL, ops.multiply, real(2, 3), real(3))]


def held(name, kernel):
    parity(f"plugrad.{name}", ROWS)(Subject(device(**{name: kernel})))


def test_right_kernels_pass():
    held("Exp", exp)
    held("Mul", Recorded().kernel)


def test_a_wrong_value_is_found():
    with pytest.raises(ConformanceError, match="kernel beside formula: element 0"):
        held("Exp", lambda op, x: exp(op, x) * 1.001)


def test_a_wrong_gradient_is_found():
    class Wrong(Recorded):
        def backward(self, op, kept, g, wanted):
            return [g * kept[1], g * kept[1]]

    with pytest.raises(ConformanceError, match="gradient of the kernel beside the formula's"):
        held("Mul", Wrong().kernel)


def test_a_wrong_dtype_is_found():
    xp = pg.device().xp
    with pytest.raises(ConformanceError, match=r"kernel beside formula: dtype: got .*float64.*, expected .*float32"):
        held("Exp", lambda op, x: xp.astype(xp.exp(x), xp.float64))


def test_a_wrong_shape_is_found():
    with pytest.raises(ConformanceError, match="shape"):
        held("Exp", lambda op, x: exp(op, x)[0, ...])


def test_a_kernel_that_never_runs_is_found():
    with pytest.raises(ConformanceError, match=r"declines every case row: .*not today"):
        held("Exp", Kernel(exp, supports=lambda op, x: "not today"))


def test_a_kernel_without_a_case_row_is_found():
    with pytest.raises(ConformanceError, match="has no case row"):
        parity("plugrad.Add", ROWS)(Subject(device(Add=lambda op, x, y: x + y)))


def test_a_kernel_for_no_op_is_found():
    with pytest.raises(ConformanceError, match="no op of that name is known"):
        parity("plugrad.Nosuch", ROWS)(Subject(device(Nosuch=exp)))


def test_rows_that_need_more_than_the_backend_has_are_excused():
    rows = [case(EXP, ops.exp, real(2), needs=("telepathy",))]
    with pytest.raises(Excused, match="needs a capability"):
        parity("plugrad.Exp", rows)(Subject(device(Exp=exp)))
