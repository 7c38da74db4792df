"""Extensions and kernels of plugins, against distributions made on the spot."""

from __future__ import annotations

import pytest

EXTENSION = """
    import sys
    from plugrad.hookspecs import hookimpl
    @hookimpl
    def plugrad_namespace():
        return sys.modules[__name__]
"""


def failing(site, kind, call, **env):
    """The message of the error of `kind` that `call` raises in a fresh interpreter."""
    return site.run(f"fails(pg.errors.{kind}, lambda: {call})", **env)


# -- extensions -------------------------------------------------------------------------------------------------------


def test_an_extension_becomes_an_attribute(site):
    site.add("acme-audio", "1.0", "extensions", {"audio": "acme_audio"}, acme_audio=EXTENSION)
    out = site.run("""
        print("acme_audio" in sys.modules)
        from plugrad import audio
        print(audio.__name__, pg.audio is audio)
    """)
    assert out.splitlines() == ["False", "acme_audio True"]


@pytest.mark.parametrize("name", ["nn", "optim", "data"])
def test_a_missing_extension_names_the_extra(site, name):
    out = site.run(f"""
        print(hasattr(pg, {name!r}))
        fails(AttributeError, lambda: pg.{name})
        def imported():
            from plugrad import {name}
        fails(ImportError, imported)
    """).splitlines()
    assert out[0] == "False"
    assert all(f"pip install 'plugrad[{name}]'" in line for line in out[1:])
    assert len(out) == 3


def test_an_attribute_of_nobody(site):
    out = site.run("print(hasattr(pg, 'nosuch'))\nfails(AttributeError, lambda: pg.nosuch)").splitlines()
    assert out[0] == "False"
    assert "'nosuch'" in out[1]


def test_a_broken_extension_is_told_when_it_is_asked_for(site):
    site.add("acme-audio", "1.0", "extensions", {"audio": "acme_audio"}, acme_audio="import nosuchlibrary\n")
    site.backend("acme")
    out = site.run("""
        print(pg.device("acme"))
        fails(pg.errors.PluginLoadError, lambda: pg.audio)
    """).splitlines()
    assert out[0] == "acme"
    assert "acme-audio 1.0" in out[1]
    assert "nosuchlibrary" in out[1]


def test_plugins_of_one_name_in_both_groups_do_not_hide_each_other(site):
    site.backend("acme")
    site.add("acme-more", "1.0", "extensions", {"acme": "acme_more"}, acme_more=EXTENSION)
    assert site.run("print(pg.device('acme'), pg.acme.__name__)") == "acme acme_more"


# -- kernels ----------------------------------------------------------------------------------------------------------

KERNELS = """
@hookimpl
def plugrad_kernels(register):
    register("acme", "plugrad.Exp", lambda: len)
"""


def test_kernels_are_listed_without_loading_one(site):
    site.backend("acme", after=KERNELS.replace("lambda: len", "lambda: 1 / 0"))
    out = site.run("print([(k, v[0]) for k, v in pg.plugins.kernel_table().items()])")
    assert out == "[(('acme', 'plugrad.Exp'), 'acme = acme_plugin (plugrad-acme 1.0)')]"


def find(op="Exp"):
    return f"pg.plugins.find_kernel('acme', pg.Op.catalogue['plugrad.{op}'])"


def test_a_kernel_registered_twice_is_refused_each_time_naming_both(site):
    more = f'{KERNELS}    register("acme", "plugrad.Log", lambda: len)\n'.replace("\n", "\n    ")
    site.backend("acme", after=KERNELS)
    site.add("acme-fast", "2.0", "extensions", {"fast": "acme_fast"}, acme_fast=EXTENSION + more)
    out = site.run(f"""
        for _ in range(2):
            fails(pg.errors.DuplicatePluginError, lambda: {find()})
        print({find("Log")}.forward is len)
    """).splitlines()
    assert out[0] == out[1]
    assert all(name in out[0] for name in ("plugrad-acme 1.0", "acme-fast 2.0", "plugrad.Exp on acme"))
    assert out[2] == "True"


def test_plugrad_kernels_goes_wrong_for_its_own_plugin_only(site):
    site.backend("acme", after=KERNELS)
    site.backend("broken", after="@hookimpl\ndef plugrad_kernels(register): 1 / 0\n")
    out = site.run(f"""
        print({find()}.forward is len, {find()}.forward is len)
        fails(pg.errors.PluginLoadError, lambda: pg.device("broken"))
    """).splitlines()
    assert out[0] == "True True"
    assert "plugrad-broken 1.0" in out[1]
    assert "plugrad_kernels() raised ZeroDivisionError" in out[1]


def test_a_kernel_that_does_not_load(site):
    site.backend("acme", after=KERNELS.replace("len", "__import__('nosuchlibrary')"))
    message = failing(site, "PluginLoadError", find())
    assert message == (
        "cannot load kernel plugrad.Exp on acme, from acme = acme_plugin (plugrad-acme 1.0): "
        "ModuleNotFoundError: No module named 'nosuchlibrary'"
    )


def test_kernels_of_a_broken_plugin_are_left_out(site):
    site.backend("acme", after=KERNELS)
    site.backend("broken", before="import nosuchlibrary\n")
    assert site.run("print(list(pg.plugins.kernel_table()))") == "[('acme', 'plugrad.Exp')]"


def test_a_load_that_returns_no_function(site):
    site.backend("acme", after=KERNELS.replace("len", "'text'"))
    message = failing(site, "PluginLoadError", find())
    assert "load() returned 'text'" in message
    assert "plugrad-acme 1.0" in message
