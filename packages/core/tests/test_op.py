"""Op: settings, identity, and the reading of gradient signatures."""

import copy
import pickle

import pytest

import plugrad as pg
from plugrad.op import ALL, Op, Z
from plugrad.ops.arithmetic import Add
from plugrad.ops.rectifier import Relu


class Scaled(Op):
    """z = a · x · y"""

    a: float
    b: int = 3

    def forward(self, xp, x, y):
        return x * y * self.a

    def dx(self, g, y):
        return g * y * self.a

    def dy(self, g, z, x):
        return g * x * self.a


class Many(Op):
    """z = x₀ + x₁ + ..."""

    def forward(self, xp, *xs):
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        return total

    def dxs(self, i, g, xs):
        return g


def test_one_instance_for_each_setting():
    assert Scaled(2.0) is Scaled(2.0, 3) is Scaled(a=2.0) is Scaled(b=3, a=2.0)
    assert Scaled(2.0) is not Scaled(3.0)


def test_settings_that_compare_equal_are_still_told_apart():
    assert Scaled(1, 1).a is not Scaled(True, 1).a
    assert str(Scaled(-0.0).a) == "-0.0"
    assert str(Scaled(0.0).a) == "0.0"
    assert type(Scaled(2, 3).a) is int
    assert type(Scaled(2.0, 3).a) is float


def test_ops_print_compare_hash_pickle_and_copy():
    op = Scaled(2.0)
    assert repr(op) == "Scaled(a=2.0, b=3)"
    assert op == Scaled(2.0)
    assert op != Scaled(2.5)
    assert hash(op) == hash(Scaled(2.0))
    assert pickle.loads(pickle.dumps(Add())) is Add()
    assert copy.deepcopy(op) is op


def test_ops_are_constants():
    with pytest.raises(AttributeError, match="constant"):
        Scaled(2.0).a = 3.0


@pytest.mark.parametrize(("args", "named"), [((), {}), ((1.0, 2, 3), {}), ((1.0,), {"c": 1}), ((1.0,), {"a": 1.0})])
def test_wrong_settings_are_refused(args, named):
    with pytest.raises(TypeError, match=r"Scaled takes \(a, b\)"):
        Scaled(*args, **named)


def test_signatures_say_what_is_kept():
    assert Scaled.inputs == ("x", "y")
    assert Scaled.named == (1, Z, 0)
    assert Scaled.keeps[0b01] == (1, None, None)  # only x wants a gradient: dx names y
    assert Scaled.keeps[0b10] == (None, Z, 0)
    assert Scaled.keeps[0b11] == (1, Z, 0)
    assert Many.named == (ALL,)
    assert Add.keeps[0b11] == ()  # keeps nothing
    assert Relu.keeps[1] == (Z,)


def test_no_gradient_method_no_gradient():
    class Sum3(Op):
        """z = x + i, no gradient for i"""

        def forward(self, xp, x, i):
            return x + i

        def dx(self, g):
            return g

    assert Sum3.keeps[0b10] is None
    x, i = pg.tensor([1.0], requires_grad=True), pg.tensor([2.0], requires_grad=True)
    assert not pg.apply(Sum3(), x.detach(), i).requires_grad
    y = pg.apply(Sum3(), x, i)
    y.backward(pg.tensor([3.0]))
    assert x.grad.tolist() == [3.0]
    assert i.grad is None


def test_a_gradient_that_names_something_unknown_is_refused_when_the_class_is_made():
    with pytest.raises(TypeError, match=r"Wrong\.dx names 'w'"):

        class Wrong(Op):
            def forward(self, xp, x):
                return x

            def dx(self, g, w):
                return g


def test_an_op_of_the_user_works_to_any_order():
    x, y = pg.tensor([0.5, -1.5], "float64"), pg.tensor([2.0, 0.25], "float64")
    assert pg.gradcheck(lambda a, b: pg.apply(Scaled(1.5), a, b), [x, y], order=3)
    assert pg.gradcheck(lambda a, b: pg.apply(Many(), a, b, a), [x, y], order=1)


def test_a_gradient_that_is_no_tensor_is_named():
    class Zero(Op):
        """z = x"""

        def forward(self, xp, x):
            return x + 0

        def dx(self, g):
            return 0.0

    x = pg.tensor([1.0], requires_grad=True)
    with pytest.raises(pg.errors.GraphError, match=r"Zero\.dx returned 0\.0"):
        pg.apply(Zero(), x).backward()


def test_a_gradient_of_the_wrong_shape_is_named():
    class Wide(Op):
        """z = x"""

        def forward(self, xp, x):
            return x + 0

        def dx(self, g):
            return pg.concat([g, g])

    x = pg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(pg.errors.ShapeError, match=r"Wide\.dx gave shape \(4,\) for an input of shape \(2,\)"):
        pg.apply(Wide(), x).sum().backward()
