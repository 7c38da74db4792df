"""`python -m plugrad`: the listing, the suite with a score, the explanation of an op."""

from __future__ import annotations

import subprocess
import sys

import pytest

import plugrad as pg
from plugrad.__main__ import main


def lines(done):
    return [line.split() for line in done.stdout.splitlines()]


# -- the listing ------------------------------------------------------------------------------------------------------


def test_what_works_and_what_does_not(site):
    site.backend("acme", version="3.1")
    site.backend("gone", available="Unavailable('the card left', 'Plug it in')")
    done = site.module()
    assert done.returncode == 0, done.stderr
    out = done.stdout
    assert "acme       plugrad-acme 3.1       works: 1 device, interface 1.0, float32" in out
    assert "gone       plugrad-gone 1.0       unavailable: the card left. Plug it in" in out
    assert out.startswith(f"plugrad 0, interface 1.0, Python {sys.version.split()[0]}\n")
    assert out.splitlines()[-1] == "default device: acme"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"before": "import nosuchlibrary\n"}, "ModuleNotFoundError: No module named 'nosuchlibrary'"),
        ({"made": "1 / 0"}, "ZeroDivisionError"),
        ({"api": (7, 0)}, "was written for interface 7.0, this plugrad has 1.0: pip install -U plugrad"),
        ({"available": "1 / 0"}, "ZeroDivisionError"),
        ({"after": "@hookimpl\ndef plugrad_bakend(): pass\n"}, "plugrad_bakend"),
    ],
)
def test_a_broken_plugin_is_shown_without_a_traceback(site, how, words):
    site.backend("acme", **how)
    site.backend("fine")
    done = site.module()
    assert done.returncode == 1
    assert "broken: " in done.stdout
    assert words in done.stdout
    assert "fine       plugrad-fine 1.0       works: 1 device" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_the_version_of_the_array_library_is_shown(site):
    site.backend("acme", after="Mine.xp.__name__, Mine.xp.__version__ = 'acmearrays', '8.5'\n")
    assert ", float32, acmearrays 8.5" in site.module().stdout


def test_duplicates_are_shown(site):
    site.backend("acme", dist="acme-a")
    site.add("acme-b", "2.0", "backends", {"acme": "acme_plugin"})
    done = site.module()
    assert done.returncode == 1
    assert done.stdout.count("several distributions declare 'acme'; uninstall all but one") == 2
    assert "acme-a" in done.stdout
    assert "acme-b" in done.stdout


def test_extensions_and_kernels(site):
    text = """
        import sys
        from plugrad.hookspecs import hookimpl
        @hookimpl
        def plugrad_namespace():
            return sys.modules[__name__]
        @hookimpl
        def plugrad_kernels(register):
            register("acme", "plugrad.Exp", lambda: 1 / 0)
    """
    site.backend("acme")
    site.add("acme-audio", "1.0", "extensions", {"audio": "acme_audio"}, acme_audio=text)
    done = site.module()
    assert done.returncode == 0, done.stderr
    assert ["audio", "acme-audio", "1.0", "works:", "plugrad.audio", "is", "acme_audio"] in lines(done)
    assert ["acme", "plugrad.Exp", "from", "audio", "=", "acme_audio", "(acme-audio", "1.0)"] in lines(done)


def test_nothing_installed(site):
    done = site.module()
    assert done.returncode == 0
    assert "backends: none" in done.stdout
    assert "default device: none: no backend can run here: pip install 'plugrad[numpy]'" in done.stdout


def test_a_default_that_does_not_exist(site):
    site.backend("acme")
    done = site.module(PLUGRAD_DEVICE="nosuch")
    assert "default device: none: no plugin 'nosuch'" in done.stdout


def test_the_real_thing_from_a_shell():
    done = subprocess.run([sys.executable, "-m", "plugrad"], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.startswith(f"plugrad {pg.__version__}, interface ")
    assert str(pg.device()) in done.stdout


# -- check ------------------------------------------------------------------------------------------------------------


def test_check_prints_a_score(capsys):
    assert main(["check", str(pg.device()), "--only", "functions/s*"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"backend {pg.device()}"
    assert out[-1] == "score 3/3"


def test_check_lists_its_checks(capsys):
    assert main(["check", str(pg.device()), "--list"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert {"functions/exp", "gradient/plugrad.Exp", "random/random_words"} <= set(names)


def test_check_of_a_backend_that_does_not_start(capsys):
    assert main(["check", "nosuch"]) == 2
    assert "no plugin 'nosuch' in plugrad.backends" in capsys.readouterr().err


def test_check_fails_where_a_check_fails(site):
    site.backend("acme")  # it has no function at all
    done = site.module("check", "acme", "--only", "functions/s*")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "score 0/3"
    assert "FAILED  functions/sin" in done.stdout


# -- explain ----------------------------------------------------------------------------------------------------------


def test_explain(capsys):
    assert main(["explain", "exp"]) == 0
    out = capsys.readouterr().out
    assert "Exp()" in out
    assert "plugrad/ops/exponential.py:" in out


def test_explain_of_nobody(capsys):
    assert main(["explain", "nosuch"]) == 2
    assert "no op or function is called 'nosuch'" in capsys.readouterr().err


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert "check" in out
    assert "explain" in out
