"""The examples as programs, where neither the cache nor the network has the weights."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.weights


@pytest.mark.parametrize("name", ["g2p", "minilm", "smollm"])
def test_without_a_network_they_say_what_to_do(example, run, monkeypatch, tmp_path, name):
    monkeypatch.setenv("PLUGRAD_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    package = example(name).PACKAGE.name
    with pytest.raises(SystemExit) as caught:
        run(example(name), "word")
    told = str(caught.value)
    assert told.startswith(f"{name}: {package}: ")
    assert f"put its files into {tmp_path / package.replace('==', '-')}" in told
