"""Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

import pytest

import plugrad as pg
import plugrad_nn as nn


def test_sequential_calls_in_order_and_names_by_number() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    x = pg.tensor([[1.0, -1.0]])
    assert net(x).tolist() == net[2](net[1](net[0](x))).tolist()
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert (len(net), list(net)[1] is net[1], net[-1] is net[2]) == (3, True, True)


def test_sequential_with_names() -> None:
    net = nn.Sequential({"first": nn.Linear(1, 1), "act": nn.ReLU()})
    assert list(net.state_dict()) == ["first.weight", "first.bias"]
    assert net.act is net[1]


def test_slices_share_the_layers() -> None:
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh())
    assert type(net[1:]) is nn.Sequential
    assert net[1:][0] is net[1]
    rows = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    assert type(rows[:1]) is nn.ModuleList


def test_rows_grow_and_change() -> None:
    rows = nn.ModuleList([nn.Identity()])
    rows.append(nn.Linear(1, 2)).extend([nn.ReLU()])
    rows[0] = nn.Tanh()
    assert [type(m).__name__ for m in rows] == ["Tanh", "Linear", "ReLU"]
    assert list(rows.state_dict()) == ["1.weight", "1.bias"]


def test_a_dict_of_modules() -> None:
    parts = nn.ModuleDict({"keys": nn.Linear(1, 1)})  # a name that is also a method
    parts["b"] = nn.ReLU()
    assert list(parts) == list(parts.keys()) == ["keys", "b"]
    assert list(parts.state_dict()) == ["keys.weight", "keys.bias"]
    assert [name for name, _ in parts.named_children()] == ["keys", "b"]
    assert ("b" in parts, len(parts), dict(parts.items())["b"] is parts["b"]) == (True, 2, True)
    del parts["b"]
    assert list(parts.values()) == [parts["keys"]]


def test_a_row_changes_and_counts_anew() -> None:
    a, b, c, d = (nn.Linear(i, 1) for i in (1, 2, 3, 4))
    net = nn.Sequential(a, b, c)
    assert net.insert(1, d) is net
    assert list(net) == [a, d, b, c]
    assert net.pop(0) is a
    del net[1]
    assert list(net) == [d, c]
    assert sorted(net.state_dict()) == ["0.bias", "0.weight", "1.bias", "1.weight"]
    assert net.state_dict()["0.weight"].shape == (1, 4)
    net[1] = a
    assert net.pop() is a
    assert list(nn.ModuleList([a, b, c])[::2]) == [a, c]


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(TypeError, match="Sequential holds Modules; this is a function"):
        nn.Sequential(nn.ReLU(), lambda x: x)
    with pytest.raises(TypeError, match="ModuleList holds Modules; this is a type"):
        nn.ModuleList([nn.ReLU])


def test_a_list_of_parameters() -> None:
    ps = nn.ParameterList([pg.ones(2), nn.Parameter(pg.zeros(3))])
    ps.append(pg.ones((1, 2)))
    assert [n for n, _ in ps.named_parameters()] == ["0", "1", "2"]
    assert all(isinstance(p, nn.Parameter) for p in ps)
    del ps[0]
    assert {n: p.shape for n, p in ps.named_parameters()} == {"0": (3,), "1": (1, 2)}
    with pytest.raises(TypeError, match="ParameterList holds Parameters; this is a Linear"):
        ps.append(nn.Linear(1, 1))


def test_a_dict_of_modules_is_changed() -> None:
    d = nn.ModuleDict({"a": nn.Linear(1, 2)})
    d.update({"b": nn.Linear(2, 1)})
    assert isinstance(d.pop("a"), nn.Linear)
    assert list(d) == ["b"]
    assert [n for n, _ in d.named_parameters()] == ["b.weight", "b.bias"]
    d.clear()
    assert not len(d)
