"""One class per operation: its formula, its forward, one gradient per input, and nothing else."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

VARIADIC = 0x04  # flag of a code object: has *args
Z, ALL = -1, -2  # in place of an input's number: the output; all inputs


class Planned:
    """A class attribute read off the gradient methods when first asked for: `import plugrad` makes 150 ops."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, op: Op | None, cls: type[Op]) -> Any:
        if cls is Op:
            raise AttributeError(f"Op.{self.name}: ask a class of op")
        _plan(cls)
        return cls.__dict__[self.name]


class Name:
    """The name of an op class, MatMul → mat_mul, made when first asked for."""

    def __get__(self, op: Op | None, cls: type[Op]) -> str:
        cls.name = "".join(["_" + c.lower() if c.isupper() else c for c in cls.__name__]).lstrip("_")
        return cls.name


NAME: Any = Name()
PLANNED = {name: Planned(name) for name in ("inputs", "variadic", "named", "gradients", "keeps")}


class Op:
    """A function of tensors.

    Annotated fields hold the settings (axis, shape, ...) and never data, so an op can be printed, compared, hashed and
    run again. There is one instance for each setting.

        forward(self, xp, x, y)    the formula, in functions of the array namespace `xp`, on arrays
        dx(self, g, y)             ∂L/∂x, in tensor operations; g is ∂L/∂z
        dy(self, g, x)             ∂L/∂y; leave it out where there is no gradient

    The parameters of a gradient method say what is kept alive until then: `z` is the output, any other name an input;
    what no gradient names is not kept. With any number of inputs, `forward(self, xp, *xs)` pairs with
    `dxs(self, i, g, ...)`. With several outputs `forward` returns a tuple, and g and z are tuples.

    What else an op may say of itself:

        loose        names of inputs that keep a dtype of their own (indices, masks)
        floats       integers are cast to the default float first (exp, division)
        numbers      not for bool (difference, negation)
        storage      only moves numbers about: half precision needs no float32 inside
        elementwise  z[i] depends on x[i] alone, shapes broadcast
        singular     elementwise, and ∂z/∂x may be infinite or NaN: 0 · ∞ is mended to 0 (see grad.py)
        scales       elementwise, and g is multiplied by an input: the same, behind an op that selects
        selects      its gradient holds zeros that mean "not taken"
        movement     item assignment to its output would be lost on the input
        shared       one instance serves all equal settings
        target       the device its output lives on, where that is another one than its inputs'
    """

    name: ClassVar[str] = "op"
    key: ClassVar[str] = "plugrad.Op"
    loose: ClassVar[tuple[str, ...]] = ()
    floats: ClassVar[bool] = False
    numbers: ClassVar[bool] = False
    storage: ClassVar[bool] = False
    elementwise: ClassVar[bool] = False
    singular: ClassVar[bool] = False
    scales: ClassVar[bool] = False
    selects: ClassVar[bool] = False
    movement: ClassVar[bool] = False
    shared: ClassVar[bool] = True
    target: ClassVar[Any] = None

    direct: ClassVar[bool] = True  # integers and bool need no rule: neither `floats` nor `numbers`
    delicate: ClassVar[bool] = False  # singular, scales or selects: the traversal looks closer
    fields: ClassVar[tuple[str, ...]] = ()
    inputs: ClassVar[tuple[str, ...]]
    variadic: ClassVar[bool]
    gradients: ClassVar[tuple[tuple[Callable[..., Any], tuple[tuple[int, int], ...]] | None, ...]]
    named: ClassVar[tuple[int, ...]]
    keeps: ClassVar[Keeps]

    catalogue: ClassVar[dict[str, type[Op]]] = {}  # every op class there is, by key
    settings: tuple[Any, ...]

    def __init_subclass__(cls) -> None:
        own = [n for n, t in cls.__annotations__.items() if "ClassVar" not in str(t)]
        cls.fields = (*(n for n in cls.fields if n not in own), *own)
        if "name" not in cls.__dict__:
            cls.name = NAME
        cls.key = f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
        cls.direct = not (cls.floats or cls.numbers)
        cls.delicate = cls.singular or cls.scales or cls.selects
        if cls.__base__ is not Op:
            _late(cls)  # what its base has planned is not its own
        if not cls.key.startswith("plugrad."):
            _plan(cls)  # somebody's mistake is told where it is made
        Op.catalogue[cls.key] = cls

    def __new__(cls, *settings: Any, **named: Any) -> Op:
        if named or len(settings) != len(cls.fields):
            settings = _bind(cls, settings, named)
        key = (cls, settings, tuple(map(type, settings)))  # 1, 1.0 and True are equal, but not the same setting
        op = _made.get(key)
        if op is None:
            op = object.__new__(cls)
            vars(op).update(zip(cls.fields, settings, strict=True), settings=settings)
            if cls.shared and not (0.0 in settings and float in key[2]):  # nor are 0.0 and -0.0
                _remember(key, op)
        return op

    def forward(self, xp: Any, *arrays: Any, **none: Any) -> Any:
        """The formula."""
        raise NotImplementedError(f"{type(self).__name__}.forward(self, xp, ...) is not written")

    def misfit(self, *shapes: tuple[int, ...]) -> str | None:
        """Why inputs of these shapes do not fit, in words; asked only after `forward` has failed."""
        return _clash(shapes) if self.elementwise else None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is a constant; make another one with other settings")

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.settings == other.settings)

    def __hash__(self) -> int:
        return hash((type(self), self.settings))

    def __repr__(self) -> str:
        pairs = zip(self.fields, self.settings, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.settings


def _late(cls: type[Op]) -> None:
    for name, plan in PLANNED.items():
        setattr(cls, name, plan)


_late(Op)
_made: dict[Any, Op] = {}
LIMIT = 4096  # settings remembered


def _remember(key: Any, op: Op) -> None:
    if len(_made) >= LIMIT:
        _made.clear()
    _made[key] = op


def _bind(cls: type[Op], settings: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Settings in the order of the fields, defaults filled in from the class body."""
    given = {**dict(zip(cls.fields, settings, strict=False)), **named}
    values = {n: given.get(n, getattr(cls, n, Op)) for n in cls.fields}
    missing = [n for n, v in values.items() if v is Op]
    unknown = [n for n in named if n not in cls.fields]
    twice = [n for n in cls.fields[: len(settings)] if n in named]
    if missing or unknown or twice or len(settings) > len(cls.fields):
        raise TypeError(f"{cls.__name__} takes ({', '.join(cls.fields)}); got {settings} and {named}")
    return tuple(values.values())


class Keeps(dict[int, "tuple[int | None, ...] | None"]):
    """Inputs that want a gradient, as bits → what is kept for them, in the order of `named`; None: no gradient."""

    def __init__(self, wants: list[list[int] | None], named: tuple[int, ...]) -> None:
        self.wants, self.named = wants, named

    def __missing__(self, mask: int) -> tuple[int | None, ...] | None:
        asked = [want for i, want in enumerate(self.wants) if want is not None and mask >> i & 1]
        used = {n for want in asked for n in want}
        kept = tuple([n if n in used else None for n in self.named]) if used else ()
        self[mask] = kept if asked else None
        return self[mask]


def _plan(cls: type[Op]) -> None:
    """Read the gradient methods' parameters: what each needs, and so what is kept for whom.

    `named` lists everything some gradient names; `gradients[i]` is (method, ((place in `named`, what it is), ...)).
    """
    code = cls.forward.__code__
    cls.variadic = bool(code.co_flags & VARIADIC)
    cls.inputs = code.co_varnames[2 : code.co_argcount + cls.variadic]
    methods = [getattr(cls, "d" + name, None) for name in cls.inputs]
    wants = [None if m is None else _wanted(cls, m) for m in methods]
    cls.named = tuple(dict.fromkeys([n for want in wants for n in want or ()]))
    places = [None if want is None else tuple([(cls.named.index(n), n) for n in want]) for want in wants]
    pairs = zip(methods, places, strict=True)
    cls.gradients = tuple([None if m is None or p is None else (m, p) for m, p in pairs])
    cls.keeps = Keeps(wants, cls.named)


def _wanted(cls: type[Op], method: Callable[..., Any]) -> list[int]:
    """What a gradient method names after g: numbers of inputs, Z, or ALL."""
    code = method.__code__
    found = []
    for n in code.co_varnames[3 if cls.variadic else 2 : code.co_argcount]:
        if n != "z" and n not in cls.inputs:
            raise TypeError(f"{cls.__name__}.{method.__name__} names {n!r}: use g, z or inputs {cls.inputs}")
        found.append(Z if n == "z" else ALL if cls.variadic else cls.inputs.index(n))
    return found


def _clash(shapes: tuple[tuple[int, ...], ...]) -> str | None:
    """The first axis along which `shapes` do not broadcast."""
    for axis in range(-1, -1 - max(map(len, shapes), default=0), -1):
        sizes = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        if len(sizes) > 1:
            return f"axis {axis} has sizes {' and '.join(map(str, sorted(sizes)))}; equal sizes or 1 broadcast"
    return None
