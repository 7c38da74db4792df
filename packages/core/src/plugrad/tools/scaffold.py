"""`new_backend(name)`: a complete plugin package for a new device, which passes the conformance suite as written."""

from __future__ import annotations

import keyword
import re
import textwrap
import time
from importlib import metadata, resources
from pathlib import Path
from string import Template

from ..backend import API, REQUIRED
from ..errors import PluginError
from ..plugins import CPU, EXTRAS

#: File of the new package → its text in templates/.
FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "LICENSE": "LICENSE.txt",
    "src/plugrad_$name/__init__.py": "init.py.txt",
    "src/plugrad_$name/_plugin.py": "plugin.py.txt",
    "src/plugrad_$name/_backend.py": "backend.py.txt",
    "src/plugrad_$name/py.typed": "py.typed.txt",
    "tests/test_conformance.py": "test_conformance.py.txt",
    ".github/workflows/test.yml": "test.yml.txt",
}


def new_backend(name: str, folder: str | Path = ".") -> Path:
    """Write the package plugrad-NAME into `folder` and return where it is; a folder that is there is left alone."""
    check_name(name)
    words, root = fill(name), Path(folder) / f"plugrad-{name}"
    texts = {Template(path).substitute(words): render(source, words) for path, source in FILES.items()}
    try:
        root.mkdir(parents=True)
    except FileExistsError:
        raise PluginError(f"new-backend: {root} exists already; move it, or choose another name or --out") from None
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="\n")
    return root


def check_name(name: str) -> None:
    """Refuse what cannot name a device, a distribution and a module at once, and what plugrad's own are called."""
    if not re.fullmatch(r"[a-z]([a-z0-9_]*[a-z0-9])?", name) or keyword.iskeyword(name):
        raise PluginError(
            f"new-backend: {name!r} cannot name a device: write a lowercase identifier of letters, digits and "
            f"inner '_' that is no word of Python, as in 'mine' or 'my_gpu'"
        )
    own = dict.fromkeys(["cpu", *CPU, *EXTRAS])
    if name in own:
        taken = ", ".join(own)
        raise PluginError(f"new-backend: {name!r} is one of plugrad's own names ({taken}); choose another")


def fill(name: str) -> dict[str, str]:
    """What stands in the templates → what it becomes."""
    return {
        "name": name,
        "Name": name.title().replace("_", ""),
        "version": metadata.version("plugrad").partition("+")[0],
        "api": str(API),
        "count": str(len(REQUIRED)),
        "required": textwrap.indent(textwrap.fill(", ".join(f"`{f}`" for f in REQUIRED), 117), "   "),
        "year": time.strftime("%Y"),
    }


def render(source: str, words: dict[str, str]) -> str:
    """One template with its words filled in."""
    text = resources.files(__package__).joinpath("templates", source).read_text(encoding="utf-8")
    return Template(text).substitute(words)
