"""Plugins, against distributions made on the spot: found, loaded late, refused with the reason and the cure."""

from __future__ import annotations

import pytest


def failing(site, kind, call, **env):
    """The message of the error of `kind` that `call` raises in a fresh interpreter."""
    return site.run(f"fails(pg.errors.{kind}, lambda: {call})", **env)


# -- found and loaded late --------------------------------------------------------------------------------------------


def test_nothing_is_imported_until_a_device_is_asked_for(site):
    site.backend("acme")
    out = site.run("""
        from plugrad import plugins
        print("acme_plugin" in sys.modules, "pluggy" in sys.modules)
        print(list(plugins.scan(plugins.BACKENDS)), "acme_plugin" in sys.modules)
        print(pg.device("acme"), "acme_plugin" in sys.modules)
    """)
    assert out.splitlines() == ["False False", "['acme'] False", "acme True"]


def test_a_broken_plugin_neither_breaks_nor_slows_the_import(site):
    site.backend("slow", before="import time\ntime.sleep(60)\n")
    site.backend("broken", before="import nosuchlibrary\n")
    site.backend("acme")
    assert site.run("print(pg.device('acme'), 'slow_plugin' in sys.modules, 'broken_plugin' in sys.modules)") == (
        "acme False False"
    )


def test_one_device_object_for_each_place(site):
    site.backend("acme", made="Two()", after="class Two(Mine):\n    def devices(self): return 2\n")
    out = site.run("""
        print(pg.device("acme") is pg.device("acme:0"), pg.device("acme:1"), pg.device(pg.device("acme:1")))
        print(pg.devices())
    """)
    assert out.splitlines() == ["True acme:1 acme:1", "[device('acme:0'), device('acme:1')]"]


def test_refresh_finds_what_was_installed_meanwhile(site):
    site.backend("acme")
    out = site.run("""
        from pathlib import Path
        info = Path("plugrad_acme-1.0.dist-info/entry_points.txt")
        text = info.read_text()
        info.write_text("")
        fails(pg.errors.PluginNotFoundError, lambda: pg.device("acme"))
        info.write_text(text)
        pg.plugins.refresh()
        print(pg.device("acme"))
    """)
    assert out.splitlines()[-1] == "acme"


# -- refused --------------------------------------------------------------------------------------------------------


def test_an_unknown_name_lists_what_is_installed(site):
    site.backend("acme")
    message = failing(site, "PluginNotFoundError", "pg.device('acmee')")
    assert "no plugin 'acmee'" in message
    assert "installed: acme" in message


@pytest.mark.parametrize(("name", "extra"), [("numpy", "numpy"), ("cuda", "cuda13x")])
def test_a_known_name_says_what_to_install(site, name, extra):
    assert f"pip install 'plugrad[{extra}]'" in failing(site, "PluginNotFoundError", f"pg.device({name!r})")


def test_unavailable_with_reason_and_fix(site):
    site.backend("acme", available="Unavailable('no accelerator was found', 'Plug one in')")
    message = failing(site, "UnavailableError", "pg.device('acme')")
    assert message == (
        "backend acme = acme_plugin (plugrad-acme 1.0) cannot run here: no accelerator was found. Plug one in"
    )
    assert failing(site, "DeviceError", "pg.device('acme')") == message


def test_an_import_error_is_told_with_distribution_and_cause(site):
    site.backend("acme", dist="acme-grad", version="2.3", before="import nosuchlibrary\n")
    message = failing(site, "PluginLoadError", "pg.device('acme')")
    assert message == (
        "cannot load plugin acme = acme_plugin (acme-grad 2.3): ModuleNotFoundError: No module named 'nosuchlibrary'"
    )


def test_a_failure_is_kept_and_the_module_is_not_run_twice(site):
    site.backend("acme", before="print('run')\nimport nosuchlibrary\n")
    out = site.run("""
        fails(pg.errors.PluginLoadError, lambda: pg.device("acme"))
        fails(pg.errors.PluginLoadError, lambda: pg.device("acme"))
    """)
    assert out.count("run") == 1
    assert out.count("nosuchlibrary") == 2


def test_two_distributions_of_one_name(site):
    site.backend("acme", dist="acme-a", version="1.5")
    site.add("acme-b", "2.5", "backends", {"acme": "acme_plugin"})
    message = failing(site, "DuplicatePluginError", "pg.device('acme')")
    assert "declared by 2 distributions" in message
    assert "acme-a 1.5" in message
    assert "acme-b 2.5" in message
    assert "Uninstall all but one" in message


def test_a_misspelt_hook(site):
    site.backend("acme", after="@hookimpl\ndef plugrad_bakend(): pass\n")
    message = failing(site, "PluginLoadError", "pg.device('acme')")
    assert "plugrad_bakend" in message
    assert "plugrad-acme 1.0" in message


def test_a_hook_with_wrong_arguments(site):
    site.backend("acme", after="@hookimpl\ndef plugrad_kernels(registrar): pass\n")
    message = failing(site, "PluginLoadError", "pg.device('acme')")
    assert "registrar" in message
    assert "plugrad-acme 1.0" in message


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("'a string'", "plugrad_backend() returned 'a string', not a plugrad.Backend"),
        ("Mine", "not a plugrad.Backend"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("None", "plugrad_backend"),
    ],
)
def test_plugrad_backend_goes_wrong(site, made, words):
    site.backend("acme", made=made)
    message = failing(site, "PluginLoadError", "pg.device('acme')")
    assert message.startswith("cannot start backend acme = acme_plugin (plugrad-acme 1.0): ")
    assert words in message


def test_plugrad_available_goes_wrong(site):
    site.backend("acme", available="1 / 0")
    message = failing(site, "PluginLoadError", "pg.device('acme')")
    assert "plugrad-acme 1.0" in message
    assert "ZeroDivisionError" in message


@pytest.mark.parametrize("found", ["'no card'", "False", "True"])
def test_plugrad_available_returns_something_else(site, found):
    site.backend("acme", available=found)
    message = failing(site, "PluginLoadError", "pg.device('acme')")
    assert f"plugrad_available() returned {found}, not Unavailable(...)" in message
    assert "plugrad_available" in failing(site, "DeviceError", "pg.device()")


def test_a_backend_under_another_name(site):
    site.backend("acme", made="Other()", after="class Other(Mine):\n    name = 'else'\n")
    assert "it calls itself 'else'" in failing(site, "PluginLoadError", "pg.device('acme')")


def test_a_plugin_without_a_backend(site):
    site.add("acme", "1.0", "backends", {"acme": "acme_plugin"}, acme_plugin="")
    message = failing(site, "PluginLoadError", "pg.device('acme')")
    assert "plugrad_backend" in message


# -- versions of the interface ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("core", [(1, 0), (1, 1), (1, 7)])
def test_an_older_minor_version_loads(site, core):
    site.backend("acme", api=(1, 0))
    assert site.run(f"pg.plugins.API = {core}\nprint(pg.device('acme'))") == "acme"


@pytest.mark.parametrize(
    ("api", "core", "upgrade"),
    [
        ((1, 2), (1, 1), "plugrad"),
        ((2, 0), (1, 1), "plugrad"),
        ((1, 9), (2, 0), "acme-grad"),
        ((0, 9), (1, 0), "acme-grad"),
    ],
)
def test_other_versions_are_refused_with_both_and_the_command(site, api, core, upgrade):
    site.backend("acme", dist="acme-grad", api=api)
    message = site.run(f"pg.plugins.API = {core}\nfails(pg.errors.InterfaceError, lambda: pg.device('acme'))")
    assert f"was written for interface {api[0]}.{api[1]}" in message
    assert f"this plugrad has {core[0]}.{core[1]}" in message
    assert message.endswith(f"pip install -U {upgrade}")


# -- which device -----------------------------------------------------------------------------------------------------


def test_cpu_takes_the_best_that_can_run(site):
    site.backend("numpy")
    site.backend("native", available="Unavailable('too old a processor')")
    assert site.run("print(pg.device(), pg.device('cpu'))") == "numpy numpy"


def test_cpu_prefers_native(site):
    site.backend("numpy")
    site.backend("native")
    assert site.run("print(pg.device('cpu'))") == "native"


def test_cpu_takes_the_only_other_one(site):
    site.backend("acme")
    site.backend("gone", available="Unavailable('it left')")
    assert site.run("print(pg.device())") == "acme"


def test_cpu_does_not_guess_among_others(site):
    site.backend("acme")
    site.backend("emca")
    message = failing(site, "DeviceError", "pg.device()")
    assert "acme, emca" in message
    assert "PLUGRAD_DEVICE" in message


def test_no_backend_at_all(site):
    assert failing(site, "DeviceError", "pg.device()").startswith(
        "no backend can run here: pip install 'plugrad[numpy]'"
    )


def test_no_backend_that_works_says_why_of_each(site):
    site.backend("acme", available="Unavailable('it left')")
    site.backend("numpy", before="import nosuchlibrary\n")
    message = failing(site, "DeviceError", "pg.device()")
    assert "acme: it left" in message
    assert "nosuchlibrary" in message


def test_the_environment_names_the_default(site):
    site.backend("numpy")
    site.backend("acme")
    assert site.run("print(pg.device(), pg.device('cpu'))", PLUGRAD_DEVICE="acme") == "acme numpy"
    assert "no plugin 'nosuch'" in failing(site, "PluginNotFoundError", "pg.device()", PLUGRAD_DEVICE="nosuch")


def test_the_innermost_with_names_the_default(site):
    for name in ("numpy", "acme", "emca"):
        site.backend(name)
    out = site.run(
        """
        with pg.device("acme"):
            print(pg.device())
            with pg.device("emca"):
                print(pg.device())
            try:
                with pg.device("emca"):
                    raise KeyError
            except KeyError:
                print(pg.device())
        print(pg.device())
        """,
        PLUGRAD_DEVICE="numpy",
    )
    assert out.split() == ["acme", "emca", "acme", "numpy"]


@pytest.mark.parametrize(
    ("spec", "words"), [("acme:7", "there are 1 acme devices"), ("acme:x", "a number, as in 'cuda:1'")]
)
def test_a_device_that_is_not_there(site, spec, words):
    site.backend("acme")
    assert words in failing(site, "DeviceError", f"pg.device({spec!r})")
