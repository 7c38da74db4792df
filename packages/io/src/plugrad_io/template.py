"""Names with placeholders: "layer.{i}.{kind}", "{rest:*}"."""

from __future__ import annotations

import re

from .errors import MappingError

HOLE = re.compile(r"\{([^\W\d]\w*)(:\*)?\}")


class Template:
    """A name with placeholders: `{x}` is letters without a dot, `{x:*}` takes dots too; the rest is plain."""

    def __init__(self, text: str) -> None:
        self.text = text
        if set("{}") & set(HOLE.sub("", text)):
            raise MappingError(f"{text!r} has braces that are no placeholder; placeholders are {{name}} and {{name:*}}")
        pattern, end = "", 0
        self.names: list[str] = []
        for hole in HOLE.finditer(text):
            name, deep = hole.groups()
            before = re.escape(text[end : hole.start()])
            again = f"(?P={name})" if name in self.names else f"(?P<{name}>{'.+' if deep else '[^.]+'})"
            pattern, end = pattern + before + again, hole.end()
            self.names.append(name)
        self._pattern = re.compile(pattern + re.escape(text[end:]), re.DOTALL)

    def match(self, name: str) -> dict[str, str] | None:
        """What the placeholders stand for in `name`; None where the rest does not agree."""
        found = self._pattern.fullmatch(name)
        return None if found is None else found.groupdict()

    def of(self, source: Template) -> Template:
        """This template, after a check that `source` says what every placeholder is."""
        unknown = [name for name in self.names if name not in source.names]
        if unknown:
            raise MappingError(f"{self.text!r} asks for {{{unknown[0]}}}, which {source.text!r} does not tell")
        return self

    def fill(self, found: dict[str, str]) -> str:
        """The name, placeholders filled in."""
        return HOLE.sub(lambda hole: found[hole[1]], self.text)
