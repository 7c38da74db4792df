"""The array API standard 2024.12, name by name: what `x.__array_namespace__()` must have, and which dtypes come out."""

from __future__ import annotations

import inspect

import pytest

import plugrad as pg
from plugrad import array_api as xp

# name and parameters: "/" ends the positional ones, "*" begins the keywords, "name=" has a default
FUNCTIONS = """
arange start / stop= step= * dtype= device=
asarray obj / * dtype= device= copy=
empty shape * dtype= device=
empty_like x / * dtype= device=
eye n_rows n_cols= / * k= dtype= device=
from_dlpack x / * device= copy=
full shape fill_value * dtype= device=
full_like x / fill_value * dtype= device=
linspace start stop / num * dtype= device= endpoint=
meshgrid *arrays indexing=
ones shape * dtype= device=
ones_like x / * dtype= device=
tril x / * k=
triu x / * k=
zeros shape * dtype= device=
zeros_like x / * dtype= device=

astype x dtype / * copy= device=
broadcast_arrays *arrays
broadcast_to x / shape
can_cast from_ to /
finfo type /
iinfo type /
isdtype dtype kind
result_type *arrays_and_dtypes

abs x /
acos x /
acosh x /
add x1 x2 /
asin x /
asinh x /
atan x /
atan2 x1 x2 /
atanh x /
bitwise_and x1 x2 /
bitwise_left_shift x1 x2 /
bitwise_invert x /
bitwise_or x1 x2 /
bitwise_right_shift x1 x2 /
bitwise_xor x1 x2 /
ceil x /
clip x / min= max=
copysign x1 x2 /
cos x /
conj x /
cosh x /
divide x1 x2 /
equal x1 x2 /
exp x /
expm1 x /
floor x /
floor_divide x1 x2 /
greater x1 x2 /
greater_equal x1 x2 /
hypot x1 x2 /
imag x /
isfinite x /
isinf x /
isnan x /
less x1 x2 /
less_equal x1 x2 /
log x /
log1p x /
log2 x /
log10 x /
logaddexp x1 x2 /
logical_and x1 x2 /
logical_not x /
logical_or x1 x2 /
logical_xor x1 x2 /
maximum x1 x2 /
minimum x1 x2 /
multiply x1 x2 /
negative x /
nextafter x1 x2 /
not_equal x1 x2 /
positive x /
pow x1 x2 /
real x /
reciprocal x /
remainder x1 x2 /
round x /
sign x /
signbit x /
sin x /
sinh x /
sqrt x /
square x /
subtract x1 x2 /
tan x /
tanh x /
trunc x /

take x indices / * axis=
take_along_axis x indices / * axis=

matmul x1 x2 /
matrix_transpose x /
tensordot x1 x2 / * axes=
vecdot x1 x2 / * axis=

concat arrays / * axis=
expand_dims x / * axis=
flip x / * axis=
moveaxis x source destination /
permute_dims x / axes
repeat x repeats / * axis=
reshape x / shape * copy=
roll x / shift * axis=
squeeze x / axis
stack arrays / * axis=
tile x repetitions /
unstack x / * axis=

argmax x / * axis= keepdims=
argmin x / * axis= keepdims=
count_nonzero x / * axis= keepdims=
nonzero x /
searchsorted x1 x2 / * side= sorter=
where condition x1 x2 /

unique_all x /
unique_counts x /
unique_inverse x /
unique_values x /

argsort x / * axis= descending= stable=
sort x / * axis= descending= stable=

cumulative_prod x / * axis= dtype= include_initial=
cumulative_sum x / * axis= dtype= include_initial=
max x / * axis= keepdims=
mean x / * axis= keepdims=
min x / * axis= keepdims=
prod x / * axis= dtype= keepdims=
std x / * axis= correction= keepdims=
sum x / * axis= dtype= keepdims=
var x / * axis= correction= keepdims=

all x / * axis= keepdims=
any x / * axis= keepdims=
diff x / * axis= n= prepend= append=

linalg.cholesky x / * upper=
linalg.cross x1 x2 / * axis=
linalg.det x /
linalg.diagonal x / * offset=
linalg.eigh x /
linalg.eigvalsh x /
linalg.inv x /
linalg.matmul x1 x2 /
linalg.matrix_norm x / * keepdims= ord=
linalg.matrix_power x n /
linalg.matrix_rank x / * rtol=
linalg.matrix_transpose x /
linalg.outer x1 x2 /
linalg.pinv x / * rtol=
linalg.qr x / * mode=
linalg.slogdet x /
linalg.solve x1 x2 /
linalg.svd x / * full_matrices=
linalg.svdvals x /
linalg.tensordot x1 x2 / * axes=
linalg.trace x / * offset= dtype=
linalg.vecdot x1 x2 / * axis=
linalg.vector_norm x / * axis= keepdims= ord=
"""
ROWS = {line.split()[0]: line.split()[1:] for line in FUNCTIONS.splitlines() if line}

METHODS = """
__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__ __float__
__floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__ __lt__ __matmul__ __mod__
__mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__ __setitem__ __sub__ __truediv__ __xor__ to_device dtype
device mT ndim shape size T __radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ __rmod__ __rpow__ __rmatmul__
__rand__ __ror__ __rxor__ __rlshift__ __rrshift__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__
__ipow__ __imatmul__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__
"""
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def find(name):
    found = xp
    for part in name.split("."):
        found = getattr(found, part)
    return found


def parameters(name):
    """Names of the parameters that are positional only, either, and keyword only; "=" behind those with a default."""
    row = ROWS[name]
    kinds, kind = {"only": [], "either": [], "keyword": []}, "only" if "/" in row else "either"
    for part in row:
        if part in "/*":
            kind = {"/": "either", "*": "keyword"}[part]
        elif part.startswith("*"):
            kinds["only"], kind = ["any", "number"], "keyword"
        else:
            kinds[kind].append(part)
    return kinds["only"], kinds["either"], kinds["keyword"]


def bind(name, positional, keywords):
    inspect.signature(find(name)).bind(*positional, **{k.rstrip("="): None for k in keywords})


@pytest.mark.parametrize("name", ROWS)
def test_every_function_is_there_with_the_standards_parameters(name):
    """As many by position, and as many by name, as the standard allows; and only those that it has no default for."""
    only, either, keyword = parameters(name)
    bind(name, [*only, *either], keyword)
    bind(name, only, [*either, *keyword])
    needed = lambda names: [n for n in names if not n.endswith("=")]  # noqa: E731
    bind(name, needed([*only, *either]), needed(keyword))


def test_the_constants_and_dtypes_are_there():
    assert (xp.e, xp.pi, xp.inf) == (2.718281828459045, 3.141592653589793, float("inf"))
    assert xp.nan != xp.nan
    assert xp.newaxis is None
    assert xp.__array_api_version__ == "2024.12"
    assert [getattr(xp, name).name for name in DTYPES] == DTYPES


@pytest.mark.parametrize("name", METHODS.split())
def test_every_method_is_there(name):
    assert hasattr(pg.Tensor, name) or hasattr(pg.ones(1, 1), name)


def test_tensors_answer_with_the_namespace():
    assert pg.ones(2).__array_namespace__() is xp
    assert pg.ones(2).__array_namespace__(api_version="2024.12") is xp
    with pytest.raises(ValueError, match="2031"):
        pg.ones(2).__array_namespace__(api_version="2031.12")


def test_std_and_var_have_the_standards_default():
    x = pg.tensor([1.0, 3.0])
    assert (xp.var(x).item(), xp.std(x).item()) == (1, 1)
    assert (pg.var(x).item(), xp.var(x, correction=1).item()) == (2, 2)


def test_astype_gives_a_value_of_its_own_unless_told_not_to():
    x = pg.ones(1, 3)
    assert xp.astype(x, pg.float32, copy=False) is x
    y = xp.astype(xp.broadcast_to(x, (2, 3)), pg.float32)
    y[0, 0] = 7
    assert (y[0, 0].item(), x.tolist()) == (7, [[1, 1, 1]])
    assert xp.astype(x, pg.int32).dtype is pg.int32


def test_every_tensor_is_real():
    x = pg.tensor([1.0, -2.0], requires_grad=True)
    for f in (xp.real, xp.conj):
        y = f(x)
        assert (y is not x, y.tolist()) == (True, [1, -2])
        assert pg.grad(y.sum(), x)[0].tolist() == [1, 1]
    assert xp.imag(x).tolist() == [0, 0]
    assert not xp.isdtype(x.dtype, "complex floating")
