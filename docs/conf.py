"""Settings of the manual, with two rules of its own: docstrings are shown as they stand, and no op is left out."""

from __future__ import annotations

import pkgutil
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from plugrad import Op
from plugrad.backend import REQUIRED

if TYPE_CHECKING:
    from types import ModuleType

    from docutils import nodes
    from sphinx.application import Sphinx

CORE = Path(__file__).resolve().parents[1] / "packages" / "core" / "pyproject.toml"

project = "plugrad"
author = "the plugrad authors"
version = release = tomllib.loads(CORE.read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "plugrad"
autodoc_member_order = "bysource"
autodoc_typehints = "none"


def verbatim(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Formulas and tables are aligned by hand, so a docstring becomes a literal block."""
    if any(lines):
        lines[:] = ["::", "", *(f"   {line}".rstrip() for line in lines), ""]


def is_op(x: object) -> bool:
    return isinstance(x, type) and issubclass(x, Op)


def settings(app: Sphinx, what: str, name: str, obj: Any, options: object, *signature: str | None) -> Any:
    """The signature of an op is its settings."""
    return (f"({', '.join(obj.fields)})" if obj.fields else "", None) if is_op(obj) else signature


def entries(module: ModuleType) -> list[str]:
    """What the catalogue shows of one of its files: the ops, then what else it exports."""
    exported = getattr(module, "__all__", ())
    own = {n: x for n, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__ and callable(x)}
    ours = [n for n, x in own.items() if is_op(x)] + [n for n, x in own.items() if n in exported and not is_op(x)]
    return [f".. {'autoclass' if isinstance(own[n], type) else 'autofunction'}:: {module.__name__}.{n}\n" for n in ours]


def files(name: str) -> list[ModuleType]:
    """A module; of a package, its modules and those of its packages."""
    module = import_module(name)
    inside = pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}.")
    return [m for info in inside for m in files(info.name)] if hasattr(module, "__path__") else [module]


class Catalogue(SphinxDirective):
    """`{catalogue} module ...`: what modules and packages export, file by file; every op among it."""

    required_arguments, optional_arguments = 1, 99

    def run(self) -> list[nodes.Node]:
        text = ["```{eval-rst}"]
        for module in [m for name in self.arguments for m in files(name)]:
            if found := entries(module):
                title = (module.__doc__ or module.__name__).strip().splitlines()[0].replace("`", "``")
                text += [f".. rubric:: {title}\n", *found]
        return self.parse_text_to_nodes("\n".join([*text, "```"]))


class Required(SphinxDirective):
    """`{required}`: the functions that a namespace must have, each with its reason."""

    def run(self) -> list[nodes.Node]:
        rows = [f"| `{name}` | {reason} |" for name, reason in REQUIRED.items()]
        return self.parse_text_to_nodes("\n".join(["| function | what for |", "|---|---|", *rows]))


def setup(app: Sphinx) -> None:
    app.add_directive("catalogue", Catalogue)
    app.add_directive("required", Required)
    app.connect("autodoc-process-docstring", verbatim)
    app.connect("autodoc-process-signature", settings)
