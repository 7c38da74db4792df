"""Names of one model to names of another: rules, a dry run that reports what they would do, and the tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.errors import ShapeError

from .errors import MappingError
from .piece import Piece, joined, parts, pieces_of
from .template import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Mapping as Named

    from plugrad import Tensor

    Pieces = dict[str, Piece]

__all__ = ["Change", "Drop", "Join", "Mapping", "Plan", "Rename", "Split", "Tie", "Transpose"]


class Rule:
    """One step: from names and pieces to names and pieces. Subclasses write `apply`.

    Names are templates: "layer.{i}.{kind}" stands for "layer.0.weight", "layer.11.bias", ...; a placeholder is one or
    more letters without a dot, and "{rest:*}" takes dots as well. Everything else, but for braces, stands for itself.
    """

    def apply(self, pieces: Pieces) -> tuple[Pieces, int]:
        """(all pieces after the rule, how many names it matched)."""
        raise NotImplementedError(f"{type(self).__name__}.apply(self, pieces) is not written")

    def __repr__(self) -> str:
        told = ", ".join(f"{v!r}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{type(self).__name__}({told})"


class Each(Rule):
    """A rule that looks at one name at a time."""

    def __init__(self, old: str) -> None:
        self.old = old
        self._old = Template(old)

    def apply(self, pieces: Pieces) -> tuple[Pieces, int]:
        made: Pieces = {}
        hits = 0
        for name, piece in pieces.items():
            found = self._old.match(name)
            hits += found is not None
            for new, part in [(name, piece)] if found is None else self.turn(name, piece, found):
                put(made, new, part, self)
        return made, hits

    def turn(self, name: str, piece: Piece, found: dict[str, str]) -> Iterable[tuple[str, Piece]]:
        """What one matching name becomes."""
        raise NotImplementedError


class Rename(Each):
    """`old` is called `new`: Rename("bert.{rest:*}", "{rest}")."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__(old)
        self.new = new
        self._new = Template(new).of(self._old)

    def turn(self, name: str, piece: Piece, found: dict[str, str]) -> Iterable[tuple[str, Piece]]:
        return [(self._new.fill(found), piece)]


class Drop(Each):
    """`old` is left out, on purpose."""

    def turn(self, name: str, piece: Piece, found: dict[str, str]) -> Iterable[tuple[str, Piece]]:
        return []


class Tie(Rename):
    """`new` is the very tensor that `old` is: Tie("embed.weight", "head.weight")."""

    def turn(self, name: str, piece: Piece, found: dict[str, str]) -> Iterable[tuple[str, Piece]]:
        return [(name, piece), (self._new.fill(found), piece.noted("tied"))]


class Change(Each):
    """`old` becomes f(old), a function of the tensor; `shape` says which shape that has, of the shape before.

    Change("blk.{i}.attn_q.weight", lambda w: unpermute(w, heads=9))
    """

    def __init__(self, old: str, f: Callable[[Tensor], Tensor], shape: Callable[..., Any] | None = None) -> None:
        super().__init__(old)
        self.f, self._shape = f, shape

    def turn(self, name: str, piece: Piece, found: dict[str, str]) -> Iterable[tuple[str, Piece]]:
        shape = piece.shape if self._shape is None else tuple(self._shape(piece.shape))
        return [(name, piece.changed(f"by {getattr(self.f, '__name__', self.f)}", shape, self.f))]


class Transpose(Each):
    """The axes of `old` in the order `axes`; backwards unless told: a (in, out) weight becomes (out, in)."""

    def __init__(self, old: str, axes: Sequence[int] | None = None) -> None:
        super().__init__(old)
        self.axes = None if axes is None else tuple(axes)

    def turn(self, name: str, piece: Piece, found: dict[str, str]) -> Iterable[tuple[str, Piece]]:
        n = len(piece.shape)
        axes = tuple(reversed(range(n))) if self.axes is None else self.axes
        order = tuple([a % n if -n <= a < n else a for a in axes])
        if sorted(order) != list(range(n)):
            raise ShapeError(f"{self!r}: {name} has shape {piece.shape}, so it has not the axes {axes}")
        shape = tuple([piece.shape[a] for a in order])
        return [(name, piece.changed("transposed", shape, lambda t: t.permute_dims(order)))]


def several(rule: str, names: Sequence[str]) -> tuple[str, ...]:
    """`names`, a list that is not empty."""
    if isinstance(names, str) or not names:
        raise MappingError(f"{rule}: {names!r} is to be a list of names, one or more")
    return tuple(names)


class Split(Each):
    """`old` is cut along an axis into `new`, evenly unless `sizes` are told."""

    def __init__(self, old: str, new: Sequence[str], axis: int = 0, sizes: Sequence[int] | None = None) -> None:
        super().__init__(old)
        self.new, self.axis, self.sizes = several("Split", new), axis, None if sizes is None else tuple(sizes)
        self._new = [Template(n).of(self._old) for n in new]
        if self.sizes is not None and (len(self.sizes) != len(self.new) or min(self.sizes) < 0):
            raise MappingError(f"{self!r}: {len(self.sizes)} sizes for {len(self.new)} names; one for each, from 0")

    def turn(self, name: str, piece: Piece, found: dict[str, str]) -> Iterable[tuple[str, Piece]]:
        cut = parts(piece, self.axis, self.sizes or len(self.new), f"{self!r}: {name}")
        return zip([n.fill(found) for n in self._new], cut, strict=True)


class Join(Rule):
    """All of `old`, one behind the other along an axis, become `new`; placeholders tell which belong together."""

    def __init__(self, old: Sequence[str], new: str, axis: int = 0) -> None:
        self.old, self.new, self.axis = several("Join", old), new, axis
        self._old = [Template(o) for o in old]
        self._new = Template(new)
        for template in self._old:
            self._new.of(template)

    def apply(self, pieces: Pieces) -> tuple[Pieces, int]:
        groups = self._groups(pieces)
        place = {name: new for new, names in groups.items() for name in names.values()}
        made: Pieces = {}
        for name, piece in pieces.items():
            new = place.get(name)
            if new is None:
                put(made, name, piece, self)
            elif new in groups:  # at the place of the first that is there
                put(made, new, self._joined(new, groups.pop(new), pieces), self)
        return made, len(place)

    def _groups(self, pieces: Pieces) -> dict[str, dict[int, str]]:
        """New name → number of the part → its name."""
        groups: dict[str, dict[int, str]] = {}
        for name in pieces:
            for i, template in enumerate(self._old):
                found = template.match(name)
                if found is None:
                    continue
                new = self._new.fill(found)
                there = groups.setdefault(new, {}).setdefault(i, name)
                if there != name:
                    raise MappingError(f"{self!r}: both {there} and {name} would be part {i} of {new}")
        return groups

    def _joined(self, new: str, names: dict[int, str], pieces: Pieces) -> Piece:
        lacking = [template.text for i, template in enumerate(self._old) if i not in names]
        if lacking:
            raise MappingError(f"{self!r}: for {new} there is {', '.join(names.values())}, but no {', '.join(lacking)}")
        return joined([pieces[names[i]] for i in range(len(names))], self.axis, f"{self!r}: {new}")


def put(pieces: Pieces, name: str, piece: Piece, rule: Rule) -> None:
    """Enter one more piece; two of one name are a mistake in the rules."""
    if name in pieces:
        there, here = ("+".join(p.origin) for p in (pieces[name], piece))
        raise MappingError(f"{rule!r}: both {there} and {here} would be called {name}")
    pieces[name] = piece


class Mapping:
    """Rules, one after the other.

    mapping = io.Mapping(
        io.Rename("bert.{rest:*}", "{rest}"),
        io.Transpose("{layer:*}.kernel"),
        io.Join(["{l:*}.q.weight", "{l:*}.k.weight", "{l:*}.v.weight"], "{l}.in_proj_weight"),
        io.Tie("embed.weight", "head.weight"),
        io.Drop("{l:*}.position_ids"),
    )
    print(mapping.plan(weights, model.state_dict()))        # a dry run
    model.load_state_dict(mapping(weights, model.state_dict()))
    """

    def __init__(self, *rules: Rule) -> None:
        wrong = [rule for rule in rules if not isinstance(rule, Rule)]
        if wrong:
            raise MappingError(f"Mapping: a {type(wrong[0]).__name__} is no rule; write Mapping(rule, rule, ...)")
        self.rules = rules

    def plan(self, state: Named[str, Any], like: Named[str, Any] | None = None) -> Plan:
        """What would become of `state`, measured against the state dict `like`; no tensor is touched."""
        pieces = pieces_of(state)
        idle = []
        for rule in self.rules:
            pieces, hits = rule.apply(pieces)
            if not hits:
                idle.append(rule)
        return Plan(pieces, idle, like)

    def __call__(self, state: Named[str, Any], like: Named[str, Any] | None = None) -> dict[str, Tensor]:
        """The tensors under their new names. With `like`, raises MappingError unless everything fits."""
        return self.plan(state, like).tensors()

    def __repr__(self) -> str:
        return f"Mapping({', '.join(map(repr, self.rules))})"


class Plan:
    """What rules would make of a state dict. Print it, ask `fits`, take `tensors()`.

    matched      new name → its old names, where the other side wants it in this shape
    misshapen    new name → (shape there is, shape that is wanted)
    missing      names that are wanted and not made
    left_over    names that are made and not wanted
    idle         rules that no name matched
    """

    def __init__(self, pieces: Pieces, idle: list[Rule], like: Named[str, Any] | None) -> None:
        wanted = {n: p.shape for n, p in (pieces if like is None else pieces_of(like)).items()}
        self.idle, self._pieces = idle, pieces
        shared = [n for n in wanted if n in pieces]
        self.matched = {n: pieces[n].origin for n in shared if pieces[n].shape == wanted[n]}
        self.misshapen = {n: (pieces[n].shape, wanted[n]) for n in shared if n not in self.matched}
        self.missing = [n for n in wanted if n not in pieces]
        self.left_over = [n for n in pieces if n not in wanted]

    @property
    def fits(self) -> bool:
        """Everything that is wanted is there, in its shape, and nothing else."""
        return not (self.missing or self.left_over or self.misshapen)

    def tensors(self) -> dict[str, Tensor]:
        """The tensors, made now. Tied ones are one and the same object."""
        if not self.fits:
            raise MappingError(f"the mapping does not fit\n{self}")
        return {name: piece.value() for name, piece in self._pieces.items()}

    def __str__(self) -> str:
        pieces = self._pieces
        lines = [f"matched {len(self.matched)}", *(f"  {n} {p.shape}{p.told(n)}" for n, p in self._of(self.matched))]
        lines += _lines("wrong shape", [f"{n}: {a}, wanted {b}" for n, (a, b) in self.misshapen.items()])
        lines += _lines("missing", self.missing)
        lines += _lines("left over", [f"{n} {pieces[n].shape}{pieces[n].told(n)}" for n in self.left_over])
        return "\n".join(lines + _lines("rules that matched nothing", map(repr, self.idle)))

    def _of(self, names: Iterable[str]) -> list[tuple[str, Piece]]:
        return [(n, self._pieces[n]) for n in names]


def _lines(title: str, entries: Iterable[str]) -> list[str]:
    found = [f"  {e}" for e in entries]
    return [f"{title} {len(found)}", *found] if found else []
