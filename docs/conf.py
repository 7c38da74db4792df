"""Settings of the documentation, and the one rule for docstrings: they are shown as they stand in the code."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CORE = Path(__file__).resolve().parents[1] / "packages" / "core" / "pyproject.toml"

project = "plugrad"
author = "the plugrad authors"
version = release = tomllib.loads(CORE.read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"


def verbatim(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Formulas and tables are aligned by hand, so a docstring becomes a literal block."""
    if any(lines):
        lines[:] = ["::", "", *(f"   {line}".rstrip() for line in lines), ""]


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", verbatim)
