"""`import plugrad` is light, and brings in neither an array library nor a plugin."""

import subprocess
import sys

HEAVY = ["numpy", "pluggy", "typing", "dataclasses", "inspect", "importlib.metadata", "functools", "contextlib", "re"]


def run(code):
    return subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)


def test_import_brings_in_nothing_heavy():
    import os
    from pathlib import Path

    import plugrad

    home = Path(os.path.dirname(plugrad.__file__)).parent
    got = run(
        f"import sys; sys.path.insert(0, {str(home)!r}); import plugrad as pg; "
        f"print(sorted(set({HEAVY}) & set(sys.modules)), len(pg.Op.catalogue) > 100, "
        "[m for m in sys.modules if m.startswith('plugrad_')])"
    )
    assert got.stdout.strip() == "[] True []", got.stderr


def test_lazy_names_are_listed_and_found():
    import plugrad as pg

    assert {"device", "checkpoint", "explain", "graph", "compile", "linalg"} <= set(dir(pg))
    assert callable(pg.explain)
    assert callable(pg.graph)
    assert callable(pg.compile)
    assert callable(pg.checkpoint)
    assert pg.__version__.count(".") == 2
    assert not hasattr(pg, "no_such_thing")
    assert not hasattr(pg, "__no_such_thing__")
