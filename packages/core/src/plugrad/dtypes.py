"""The dtypes of plugrad, and the one table that says what two of them give."""

from __future__ import annotations

from .errors import DTypeError

__all__ = [
    "DType", "bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64",
]  # fmt: skip


class DType:
    """A kind of number: `pg.float32`. One object for each, so `is` works; `==` also takes the name.

    name    "float32"
    kind    "bool", "uint", "int" or "float"
    bits    width of one element
    """

    __slots__ = ("bits", "kind", "name")

    name: str
    kind: str
    bits: int

    def __init__(self, name: str, kind: str, bits: int) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "bits", bits)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("dtypes are constants")

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return (self.bits + 7) // 8

    @property
    def is_floating_point(self) -> bool:
        return self.kind == "float"

    def __repr__(self) -> str:
        return f"plugrad.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        return dtype, (self.name,)


bool_ = DType("bool", "bool", 1)
uint8, uint16, uint32, uint64 = (DType(f"uint{n}", "uint", n) for n in (8, 16, 32, 64))
int8, int16, int32, int64 = (DType(f"int{n}", "int", n) for n in (8, 16, 32, 64))
float16, float32, float64 = (DType(f"float{n}", "float", n) for n in (16, 32, 64))
bfloat16 = DType("bfloat16", "float", 16)

ALL = (bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, bfloat16, float32, float64)
BY_NAME = {t.name: t for t in ALL}
DEFAULT = {"bool": bool_, "int": int64, "float": float32}  # what Python's bool, int and float become
RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2}


def dtype(spec: object) -> DType:
    """The dtype called `spec`: a DType, its name, a Python type, or another library's dtype object."""
    if isinstance(spec, DType):
        return spec
    name = {bool: "bool", int: "int64", float: "float32"}.get(spec) if isinstance(spec, type) else None
    name = name or (spec if isinstance(spec, str) else getattr(spec, "name", None) or getattr(spec, "__name__", spec))
    found = BY_NAME.get(str(name).rpartition(".")[2].removesuffix("_"))
    if found is None:
        raise DTypeError(f"no dtype is called {spec!r}; plugrad has {', '.join(BY_NAME)}")
    return found


def promote(a: DType, b: DType) -> DType:
    """The dtype that `a` and `b` give together: bool < integers < floats, within a kind the wider.

    An integer never widens a float (int64 with float32 gives float32); float16 with bfloat16 gives float32; an
    unsigned with a signed integer gives the next signed one. uint64 with a signed integer has no such dtype: an error.
    """
    if a is b:
        return a
    if RANK[a.kind] != RANK[b.kind]:
        return a if RANK[a.kind] > RANK[b.kind] else b
    if a.kind == b.kind:
        return float32 if a.bits == b.bits else max(a, b, key=_bits)
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    if unsigned.bits < signed.bits:
        return signed
    if unsigned.bits == 64:
        raise DTypeError(f"no integer dtype holds both {a} and {b}; cast one of them: x.astype({signed.name!r})")
    return BY_NAME[f"int{unsigned.bits * 2}"]


def _bits(t: DType) -> int:
    return t.bits


def with_scalar(t: DType, value: bool | int | float) -> DType:
    """The dtype that a tensor of dtype `t` and a plain number give: the number is weak, only its kind counts."""
    weak = DEFAULT["bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"]
    return weak if RANK[weak.kind] > RANK[t.kind] else t


def limits(t: DType) -> tuple[int, int]:
    """The smallest and the largest value of an integer dtype."""
    return (0, 2**t.bits - 1) if t.kind == "uint" else (-(2 ** (t.bits - 1)), 2 ** (t.bits - 1) - 1)
