"""`python -m plugrad new-backend NAME`: the files it writes, and what it refuses."""

from __future__ import annotations

import ast
import re
import tomllib
from fnmatch import fnmatch

import pytest

import plugrad as pg
from plugrad.__main__ import main
from plugrad.backend import API, REQUIRED
from plugrad.errors import PluginError
from plugrad.tools.scaffold import FILES, new_backend

WHOLE = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "src/plugrad_my_gpu2/__init__.py",
    "src/plugrad_my_gpu2/_plugin.py",
    "src/plugrad_my_gpu2/_backend.py",
    "src/plugrad_my_gpu2/py.typed",
    "tests/test_conformance.py",
    ".github/workflows/test.yml",
}


def texts(root):
    """Path → text of every file below a folder."""
    return {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in root.rglob("*") if p.is_file()}


@pytest.fixture
def package(tmp_path):
    return texts(new_backend("my_gpu2", tmp_path))


def test_the_package_is_whole(package):
    assert set(package) == WHOLE


def test_no_placeholder_is_left(package):
    for path, text in package.items():
        left = re.findall(r"\$(?!\{\{)|TODO|FIXME|NAME", text)  # `${{ ... }}` is the workflow's own
        assert left == [], path
    assert "python-version: ${{ matrix.python }}" in package[".github/workflows/test.yml"]


def test_lines_end_in_one_way_and_fit(package):
    for path, text in package.items():
        assert "\r" not in text, path
        assert not path.endswith(".py") or max(map(len, text.splitlines())) <= 120, path
        assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), path


def test_the_project_file(package):
    project = tomllib.loads(package["pyproject.toml"])
    assert project["project"]["name"] == "plugrad-my_gpu2"
    assert project["project"]["entry-points"] == {"plugrad.backends": {"my_gpu2": "plugrad_my_gpu2._plugin"}}
    assert f"plugrad~={pg.__version__}" in project["project"]["dependencies"]
    assert any(fnmatch(line, "pytest*") for line in project["dependency-groups"]["test"])
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/plugrad_my_gpu2"]


def test_every_module_parses_and_says_what_it_is(package):
    for path, text in package.items():
        if path.endswith(".py"):
            assert ast.get_docstring(ast.parse(text)), path


def test_the_plugin_module_is_light(package):
    """It imports no array library, and has the hooks that make a backend."""
    tree = ast.parse(package["src/plugrad_my_gpu2/_plugin.py"])
    top = {n.module for n in tree.body if isinstance(n, ast.ImportFrom)}
    assert top == {"__future__", "importlib.util", "typing", "plugrad.backend", "plugrad.hookspecs"}
    assert not any(isinstance(n, ast.Import) for n in tree.body)
    hooks = {n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.decorator_list}
    assert hooks == {"plugrad_available", "plugrad_backend"}


def test_the_backend_names_itself_and_its_interface(package):
    tree = ast.parse(package["src/plugrad_my_gpu2/_backend.py"])
    (made,) = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    fields = {n.targets[0].id: n.value for n in made.body if isinstance(n, ast.Assign)}
    assert made.name == "MyGpu2Backend"
    assert ast.literal_eval(fields["name"]) == "my_gpu2"
    assert ast.literal_eval(fields["api"]) == API
    assert "return MyGpu2Backend()" in package["src/plugrad_my_gpu2/_plugin.py"]


def test_the_backend_is_about_twenty_lines(package):
    (made,) = [n for n in ast.parse(package["src/plugrad_my_gpu2/_backend.py"]).body if isinstance(n, ast.ClassDef)]
    assert made.end_lineno - made.lineno < 25


def test_the_suite_is_one_line(package):
    assert package["tests/test_conformance.py"].splitlines()[-1] == 'TestMyGpu2 = backend_suite("my_gpu2")'


def test_the_readme_names_every_required_function(package):
    readme = package["README.md"]
    assert [name for name in REQUIRED if f"`{name}`" not in readme] == []
    assert f"these {len(REQUIRED)} functions" in readme
    assert "python -m plugrad check my_gpu2" in readme


def test_its_code_in_the_readme_parses(package):
    blocks = re.findall(r"```python\n(.*?)```", package["README.md"], re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        ast.parse(block)


def test_a_plugin_that_starts_where_its_library_is_missing(site):
    """Installed from its files alone: listed, and unavailable for a reason in words."""
    root = new_backend("mine", site.folder / "made")
    plugin = (root / "src" / "plugrad_mine" / "_plugin.py").read_text(encoding="utf-8")
    plugin = plugin.replace('find_spec("numpy")', 'find_spec("nosuchlibrary")')
    site.add("plugrad-mine", "0.1.0", "backends", {"mine": "mine_plugin"}, mine_plugin=plugin)
    done = site.module()
    assert done.returncode == 0, done.stderr
    assert "plugrad-mine 0.1.0" in done.stdout
    assert "unavailable: NumPy is not installed. pip install numpy" in done.stdout


BAD = ["", "Mine", "2nd", "_mine", "mine_", "my-gpu", "my gpu", "mine\n", "é", "../x", "class"]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_is_none(tmp_path, name):
    with pytest.raises(PluginError, match="cannot name a device: write a lowercase identifier") as caught:
        new_backend(name, tmp_path)
    assert repr(name) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["cpu", "numpy", "cuda", "native", "nn", "optim", "data"])
def test_a_name_of_plugrads_own(tmp_path, name):
    with pytest.raises(PluginError, match=f"'{name}' is one of plugrad's own names"):
        new_backend(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_left_alone(tmp_path):
    kept = tmp_path / "plugrad-mine" / "README.md"
    kept.parent.mkdir()
    kept.write_text("mine")
    with pytest.raises(PluginError, match="plugrad-mine exists already"):
        new_backend("mine", tmp_path)
    assert texts(tmp_path) == {"plugrad-mine/README.md": "mine"}


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new-backend", "mine"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("wrote plugrad-mine")
    assert "python -m plugrad check mine" in out
    assert len(texts(tmp_path / "plugrad-mine")) == len(FILES)
    assert main(["new-backend", "mine"]) == 2
    assert "plugrad-mine exists already" in capsys.readouterr().err


def test_the_command_writes_where_it_is_told(tmp_path, capsys):
    where = tmp_path / "not" / "yet"
    assert main(["new-backend", "mine", "--out", str(where)]) == 0
    assert f"cd {where / 'plugrad-mine'}" in capsys.readouterr().out
    assert (where / "plugrad-mine" / "pyproject.toml").is_file()


def test_the_command_refuses_in_words(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["new-backend", "Mine", "--out", str(tmp_path)]) == 2
    assert main(["new-backend", "mine", "--out", str(tmp_path / "file")]) == 2
    err = capsys.readouterr().err
    assert "'Mine' cannot name a device" in err
    assert str(tmp_path / "file") in err
    assert "Traceback" not in err
