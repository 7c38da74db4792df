"""A pickle, read by a machine that knows containers and numbers, and calls nothing but what it is given.

Python's own unpickler imports and calls whatever a file asks for. Here a global is a word that is looked up in a table
(`known.py`); what is not in it is an error that names the word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.errors import PluginError, UnsupportedError

from .errors import FileFormatError
from .stream import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from .known import Globals
    from .stream import Stream

STEPS = 10_000_000  # of one pickle
DEEPEST = 100  # containers within containers
LONGEST = 512  # bytes of a number, or of the name of a global
ATOMS = (bool, int, float, str, bytes, type(None))
FARTHEST = 2**60  # a whole number that is a key: those beyond are easily chosen so that all fall into one place

#: bytes that a copy may take for each entry
WEIGHT: dict[type, int] = {str: 1, bytes: 1, bytearray: 1, list: 64, tuple: 64, dict: 64, set: 64}


class Known:
    """What a global stands for: its name, and what calling it gives."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any] | None = None) -> None:
        self.name, self.call = name, call

    def __repr__(self) -> str:
        return self.name


class Machine:
    """One pickle, read from where the stream stands.

    names     what globals stand for
    persist   what stands outside the pickle: the storages of tensors
    room      bytes that calls may make in all
    """

    def __init__(self, stream: Stream, names: Globals, persist: Callable[[Any], Any], room: int) -> None:
        self.stream, self.names, self.persist, self.room = stream, names, persist, room
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The value."""
        try:
            self.run()
            (value,) = self.stack
        except (FileFormatError, PluginError, UnsupportedError):  # the last two are not the file's
            raise
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise self.stream.fault(f"damaged pickle, before byte {self.stream.place}: {str(error)[:200]}") from error
        return value

    def run(self) -> None:
        take, steps = self.stream.take, STEPS
        while (code := take(1, "an opcode")) != b".":
            step = OPCODES.get(code)
            if step is None:
                raise self.stream.fault(f"damaged pickle: opcode {code!r} is none that torch.save writes")
            step(self)
            steps -= 1
            if steps < 0:
                raise self.stream.fault(f"a pickle of more than {STEPS} steps")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    # -- numbers, strings -----------------------------------------------------------------------------------------

    def sized(self, code: str, what: str) -> bytes:
        """Bytes behind their length."""
        return self.stream.take(self.stream.number(code, "a length"), what)

    def text(self, code: str) -> None:
        self.stack.append(self.sized(code, "a string").decode("utf-8", "surrogatepass"))

    def integer(self, code: str) -> None:
        data = self.sized(code, "a number")
        if len(data) > LONGEST:
            raise ValueError(f"a number of {len(data)} bytes")
        self.stack.append(int.from_bytes(data, "little", signed=True))

    def protocol(self) -> None:
        version = self.stream.number("B")
        if not 2 <= version <= 5:
            raise ValueError(f"protocol {version}; 2 to 5 are read")

    # -- containers -----------------------------------------------------------------------------------------------

    def mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def since(self) -> list[Any]:
        """What was put on the stack since the last mark."""
        found, self.stack = self.stack, self.marks.pop()
        return found

    def last(self, kind: type) -> Any:
        """The value on top, which must be of a kind."""
        if type(self.stack[-1]) is not kind:
            raise TypeError(f"a {type(self.stack[-1]).__name__} is treated as a {kind.__name__}")
        return self.stack[-1]

    def tuple_of(self, n: int) -> None:
        if n > len(self.stack):
            raise IndexError("a tuple of more than there is")
        self.stack[len(self.stack) - n :] = [tuple(self.stack[len(self.stack) - n :])]

    def append(self) -> None:
        value = self.stack.pop()
        self.last(list).append(value)

    def extend(self) -> None:
        values = self.since()
        self.last(list).extend(values)

    def add(self) -> None:
        values = self.since()
        self.last(set).update(keys(values))

    def item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.last(dict)[keys([key])[0]] = value

    def items(self) -> None:
        values = self.since()
        self.last(dict).update(pairs(values))

    # -- what was seen before, what stands elsewhere, what is called ------------------------------------------------

    def put(self, code: str) -> None:
        self.memo[self.stream.number(code)] = self.stack[-1]

    def word(self) -> str:
        return self.stream.line(LONGEST, "the name of a global").decode()

    def named(self) -> Any:
        return self.names.find(f"{self.word()}.{self.word()}")

    def stacked_global(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise TypeError("the name of a global is no string")
        self.stack.append(self.names.find(f"{module}.{name}"))

    def reduce(self) -> None:
        args, f = self.stack.pop(), self.stack.pop()
        if not isinstance(f, Known) or f.call is None or type(args) is not tuple:
            raise self.stream.fault(f"the pickle calls {short(f)}, which is not done: nothing in a file is executed")
        self.charge(args)
        self.stack.append(f.call(*args))

    def build(self) -> None:
        state = self.stack.pop()
        self.charge(state if type(state) is tuple else (state,))
        self.names.complete(self.stack[-1], state)

    def make(self) -> None:
        raise self.stream.fault(
            f"the pickle makes an object of a class: {short(self.stack[-2:])}; only tensors and containers are read"
        )

    def instance(self) -> None:
        self.named()
        self.make()

    def charge(self, args: tuple[Any, ...]) -> None:
        """Count what a call copies, so that a short pickle does not fill the memory."""
        self.room -= sum([WEIGHT.get(type(a), 0) * len(a) for a in args if type(a) in WEIGHT])
        if self.room < 0:
            raise self.stream.fault("the pickle makes more of its strings and lists than such a file has to")


def keys(values: list[Any]) -> list[Any]:
    """`values`, if all may be keys of a dict: numbers, strings, and tuples of these."""
    for value in values:
        for part in value if type(value) is tuple else (value,):
            if not isinstance(part, ATOMS) or (type(part) is int and abs(part) > FARTHEST):
                raise TypeError(f"the {type(part).__name__} {short(part)} is no key of a dict")
    return values


def pairs(values: list[Any]) -> zip[tuple[Any, Any]]:
    """[k, v, k, v] as (k, v), (k, v)."""
    return zip(keys(values[::2]), values[1::2], strict=True)


def checked(value: Any, leaves: tuple[type, ...], stream: Stream) -> Any:
    """`value`, if it is plain containers of `leaves` and atoms, not in a circle and not too deep."""
    depth: dict[int, int] = {}  # of containers that are done; 0: still open
    todo, leaves = [(value, False)], (*ATOMS, bytearray, *leaves)
    while todo:
        x, done = todo.pop()
        if isinstance(x, leaves):
            continue
        if type(x) not in (dict, list, tuple, set, frozenset):
            raise stream.fault(f"it holds {short(x)} as a value; tensors, numbers, strings and containers are read")
        inner = list(x.values()) if type(x) is dict else list(x)
        if done:
            depth[id(x)] = 1 + max([depth.get(id(y), 0) for y in inner], default=0)
            if depth[id(x)] > DEEPEST:
                raise stream.fault(f"containers within containers, more than {DEEPEST} deep")
        elif id(x) not in depth:
            depth[id(x)] = 0
            todo += [(x, True), *((y, False) for y in inner)]
        elif depth[id(x)] == 0:
            raise stream.fault("a container holds itself")
    return value


OPCODES: dict[bytes, Callable[[Machine], Any]] = {
    b"\x80": Machine.protocol,
    b"\x95": lambda m: m.stream.take(8, "a frame"),
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(True),
    b"\x89": lambda m: m.push(False),
    b"K": lambda m: m.push(m.stream.number("B")),
    b"M": lambda m: m.push(m.stream.number("<H")),
    b"J": lambda m: m.push(m.stream.number("<i")),
    b"G": lambda m: m.push(m.stream.number(">d")),
    b"\x8a": lambda m: m.integer("B"),
    b"\x8b": lambda m: m.integer("<i"),
    b"X": lambda m: m.text("<I"),
    b"T": lambda m: m.text("<i"),
    b"U": lambda m: m.text("B"),
    b"\x8c": lambda m: m.text("B"),
    b"\x8d": lambda m: m.text("<Q"),
    b"B": lambda m: m.push(m.sized("<I", "bytes")),
    b"C": lambda m: m.push(m.sized("B", "bytes")),
    b"\x8e": lambda m: m.push(m.sized("<Q", "bytes")),
    b"\x96": lambda m: m.push(bytearray(m.sized("<Q", "bytes"))),
    b"(": Machine.mark,
    b"]": lambda m: m.push([]),
    b"}": lambda m: m.push({}),
    b")": lambda m: m.push(()),
    b"\x8f": lambda m: m.push(set()),
    b"a": Machine.append,
    b"e": Machine.extend,
    b"s": Machine.item,
    b"u": Machine.items,
    b"\x90": Machine.add,
    b"l": lambda m: m.push(m.since()),
    b"t": lambda m: m.push(tuple(m.since())),
    b"d": lambda m: m.push(dict(pairs(m.since()))),
    b"\x91": lambda m: m.push(frozenset(keys(m.since()))),
    b"\x85": lambda m: m.tuple_of(1),
    b"\x86": lambda m: m.tuple_of(2),
    b"\x87": lambda m: m.tuple_of(3),
    b"0": lambda m: m.stack.pop(),
    b"1": Machine.since,
    b"2": lambda m: m.push(m.stack[-1]),
    b"h": lambda m: m.push(m.memo[m.stream.number("B")]),
    b"j": lambda m: m.push(m.memo[m.stream.number("<I")]),
    b"q": lambda m: m.put("B"),
    b"r": lambda m: m.put("<I"),
    b"\x94": lambda m: m.memo.__setitem__(len(m.memo), m.stack[-1]),
    b"c": lambda m: m.push(m.named()),
    b"\x93": Machine.stacked_global,
    b"R": Machine.reduce,
    b"b": Machine.build,
    b"Q": lambda m: m.push(m.persist(m.stack.pop())),
    b"\x81": Machine.make,
    b"\x92": Machine.make,
    b"o": Machine.make,
    b"i": Machine.instance,
}
