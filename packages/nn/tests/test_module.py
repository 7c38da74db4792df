"""Modules: what they hold, under which names, and what can be done to all of it."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from dataclasses import dataclass, field
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.context import current
from plugrad.errors import DTypeError, NonFiniteError, ShapeError


class Block(nn.Module):
    def __init__(self, n: int) -> None:
        self.inner = nn.Linear(n, n)

    def forward(self, x: pg.Tensor) -> pg.Tensor:
        return self.inner(x).relu()


class Net(nn.Module):
    def __init__(self) -> None:
        self.layers = [Block(2), {"a": (Block(2), nn.Identity())}]
        self.scale = nn.Parameter(pg.ones(2))
        self.register_buffer("seen", pg.zeros(1))
        self.register_buffer("cache", pg.zeros(1), persistent=False)
        self.constant = pg.ones(3)
        self.nothing = None

    def forward(self, x: pg.Tensor) -> pg.Tensor:
        return self.layers[1]["a"][0](self.layers[0](x)) * self.scale


@dataclass
class Parts:
    first: nn.Linear = field(default_factory=lambda: nn.Linear(2, 1))


@dataclass
class Data(nn.Module):
    parts: Parts
    layers: list[Any]

    def forward(self, x: pg.Tensor) -> pg.Tensor:
        return self.parts.first(x)


NAMES = [
    "scale",
    "layers.0.inner.weight",
    "layers.0.inner.bias",
    "layers.1.a.0.inner.weight",
    "layers.1.a.0.inner.bias",
]


def test_parameters_are_found_in_attributes_and_plain_containers() -> None:
    assert [name for name, _ in Net().named_parameters()] == NAMES
    assert all(isinstance(p, nn.Parameter) for p in Net().parameters())


def test_parameters_are_found_in_dataclasses() -> None:
    net = Data(Parts(), [nn.Linear(1, 1)])
    assert [n for n, _ in net.named_parameters()] == [
        f"{m}.{t}" for m in ("parts.first", "layers.0") for t in ("weight", "bias")
    ]
    assert net(pg.ones(2)).shape == (1,)


def test_modules_and_children() -> None:
    net = Net()
    names = ["", "layers.0", "layers.0.inner", "layers.1.a.0", "layers.1.a.0.inner", "layers.1.a.1"]
    assert [name for name, _ in net.named_modules()] == names
    assert [name for name, _ in net.named_children()] == ["layers.0", "layers.1.a.0", "layers.1.a.1"]
    assert net.get_submodule("layers.0.inner") is net.layers[0].inner
    assert net.get_parameter("scale") is net.scale
    with pytest.raises(AttributeError, match=r"no module 'layers.7'.*layers.0.inner"):
        net.get_submodule("layers.7")
    with pytest.raises(AttributeError, match=r"no parameter 'x'.*scale"):
        net.get_parameter("x")


def test_a_module_held_twice_counts_once_but_has_both_names_in_the_state() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    net.again = net[0]
    assert len(list(net.parameters())) == 2
    assert len(list(net.modules())) == 3
    assert set(net.state_dict()) == {"0.weight", "0.bias", "again.weight", "again.bias"}
    net.load_state_dict({name: pg.ones(*t.shape) for name, t in net.state_dict().items()})
    assert net.again is net[0]
    assert net.again.bias.tolist() == [1.0, 1.0]


def test_a_module_that_knows_its_parent_is_walked_once() -> None:
    net, child = nn.Sequential(nn.Linear(2, 2)), nn.Identity()
    net.child, child.parent, child.loop = child, net, [child]
    child.loop.append(child.loop)
    assert len(list(net.modules())) == 3
    assert set(net.state_dict()) == {"0.weight", "0.bias"}
    assert "(...)" in repr(net)
    seen: list[str] = []
    net.apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Identity", "Linear", "Sequential"]


def test_buffers_are_what_was_registered() -> None:
    net = Net()
    assert [name for name, _ in net.named_buffers()] == ["seen", "cache"]
    assert set(net.state_dict()) == {*NAMES, "seen"}
    net.seen = net.seen + 1  # a new tensor at the same name is still the buffer
    assert net.state_dict()["seen"].tolist() == [1.0]
    assert len(list(net.buffers())) == 2


def test_a_state_dict_is_a_value() -> None:
    net = nn.Linear(2, 1)
    before = net.state_dict()
    numbers = before["weight"].tolist()
    with pg.no_grad():
        net.weight += 1.0
    assert before["weight"].tolist() == numbers
    before["weight"] *= 0.0
    assert net.weight.tolist() != [[0.0, 0.0]]
    assert not before["weight"].requires_grad


def test_loading_keeps_the_objects_and_their_dtype() -> None:
    net = nn.Linear(2, 1)
    weight = net.weight
    keys = net.load_state_dict({"weight": pg.tensor([[1, 2]]), "bias": pg.tensor([3.0], dtype="float16")})
    assert keys == ([], [])
    assert net.weight is weight
    assert weight.dtype is pg.float32
    assert weight.requires_grad
    assert (weight.tolist(), net.bias.tolist()) == ([[1.0, 2.0]], [3.0])


def test_a_state_that_does_not_fit_names_every_fault_and_changes_nothing() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    before = {name: t.tolist() for name, t in net.state_dict().items()}
    given = {"0.weight": pg.zeros(2, 2), "0.bias": pg.zeros(3), "1.weight": pg.zeros(1, 1), "2.bias": pg.zeros(1)}
    with pytest.raises(nn.StateDictError) as caught:
        net.load_state_dict(given)
    for fault in ("0.bias: shape (3,) given, (2,) wanted", "1.weight: shape (1, 1)", "1.bias: missing", "2.bias: Seq"):
        assert fault in str(caught.value)
    with pytest.raises(nn.StateDictError, match=r"0\.bias"):
        net.load_state_dict(given, strict=False)
    with pytest.raises(nn.StateDictError, match="weight is a str"):
        nn.Linear(1, 1).load_state_dict({"weight": "1", "bias": pg.zeros(1)})
    assert {name: t.tolist() for name, t in net.state_dict().items()} == before
    del given["0.bias"], given["1.weight"]
    missing, unexpected = net.load_state_dict(given, strict=False)
    assert (missing, unexpected) == (["0.bias", "1.weight", "1.bias"], ["2.bias"])
    assert net[0].weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_train_and_eval_reach_everything_without_init() -> None:
    net = Net()
    assert net.training
    assert net.eval() is net
    assert not any(m.training for m in net.modules())
    net.train()
    assert all(m.training for m in net.modules())


def test_gradients_are_asked_for_and_forgotten() -> None:
    net = nn.Linear(2, 1)
    net(pg.ones(2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.weight.grad.tolist() == [[0.0, 0.0]]
    net.zero_grad()
    assert net.weight.grad is None
    net.requires_grad_(False)
    assert not net(pg.ones(2)).requires_grad


def test_to_casts_parameters_and_floating_buffers_in_place() -> None:
    net = Net()
    net.register_buffer("count", pg.tensor([1]))
    scale = net.scale
    net(pg.ones(2)).sum().backward()
    assert net.to(pg.float16) is net
    assert net.scale is scale
    assert (scale.dtype, scale.grad.dtype, net.seen.dtype, net.count.dtype) == (
        pg.float16,
        pg.float16,
        pg.float16,
        pg.int64,
    )
    assert scale.requires_grad
    assert scale.is_leaf
    net.to("cpu").float()
    assert scale.dtype is pg.float32
    assert net.half().scale.dtype is pg.float16
    assert net.double().scale.dtype is pg.float64
    with pytest.raises(DTypeError):
        net.to(dtype="float33")


def test_hooks_see_and_replace() -> None:
    net, seen = nn.Identity(), []
    handles = [
        net.register_forward_pre_hook(lambda m, args: (args[0] + 1,)),
        net.register_forward_hook(lambda m, args, out: seen.append((args[0].tolist(), out.tolist()))),
        net.register_forward_hook(lambda m, args, out: out * 10),
    ]
    assert net(pg.tensor([1.0])).tolist() == [20.0]
    assert seen == [([2.0], [2.0])]
    for handle in handles:
        handle.remove()
    assert net(pg.tensor([1.0])).tolist() == [1.0]
    assert nn.Identity()._hooks == ()  # nobody else's


def test_errors_name_the_module_path() -> None:
    net = Net()
    net.layers[1]["a"][0].inner = nn.Linear(3, 3)
    with pytest.raises(ShapeError, match=r"Net\.layers\.1\.a\.0\.inner"):
        net(pg.ones(2))
    assert current.get().path == ()


def test_the_path_follows_a_changed_model() -> None:
    paths: list[str] = []

    class Tell(nn.Module):
        def forward(self, x: Any) -> Any:
            paths.append(".".join(current.get().path))
            return x

    class Outer(nn.Module):
        def __init__(self) -> None:
            self.a = Tell()

        def forward(self, x: Any) -> Any:
            return self.a(x)

    net = Outer()
    net(1)
    net(1)
    net.b, net.a = net.a, Tell()
    net(1)
    net.forward = lambda x: net.b(x)  # type: ignore[method-assign]
    net(1)
    nn.Sequential(net)(1)
    Tell()(1)
    assert paths == ["Outer.a", "Outer.a", "Outer.a", "Outer.b", "Sequential.0.b", "Tell"]


def test_the_nan_tracer_names_the_module_path() -> None:
    class Root(nn.Module):
        def forward(self, x: pg.Tensor) -> pg.Tensor:
            return x.sqrt()

    net = nn.Sequential(nn.Identity(), nn.Sequential(Root()))
    with pytest.raises(NonFiniteError, match=r"Sequential\.1\.0"), pg.nan_tracer():
        net(pg.tensor([-1.0]))
    assert all(kept[2] is None or not kept[2].watchers for m in net.modules() for kept in m._names.values())


def test_a_model_is_freed_with_its_last_reference() -> None:
    net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    net(pg.ones(1)).sum().backward()
    net.register_forward_hook(lambda *_: None).remove()
    dead = weakref.ref(net), weakref.ref(net[1])
    gc.disable()
    try:
        del net
        assert [r() for r in dead] == [None, None]
    finally:
        gc.enable()


def test_copies_and_pickles_have_a_life_of_their_own() -> None:
    net = nn.Sequential(nn.Linear(2, 1), nn.Dropout(0.5)).eval()
    net(pg.ones(2))
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert type(other[0].weight) is nn.Parameter
        assert other[0].weight.tolist() == net[0].weight.tolist()
        assert other[0].weight.requires_grad
        assert not other[1].training
        with pg.no_grad():
            other[0].weight *= 0.0
        assert net[0].weight.tolist() != [[0.0, 0.0]]
        assert other(pg.ones(2)).tolist() == other[0].bias.tolist()


def test_registering_is_setting_an_attribute() -> None:
    net = nn.Identity()
    net.register_parameter("w", nn.Parameter(pg.ones(1)))
    net.add_module("part", nn.Linear(1, 1))
    assert [name for name, _ in net.named_parameters()] == ["w", "part.weight", "part.bias"]
    with pytest.raises(DTypeError, match=r"nn\.Parameter"):
        net.register_parameter("v", pg.ones(1))


def test_a_parameter_is_a_leaf_of_its_own() -> None:
    x = pg.tensor([1.0, 2.0], requires_grad=True)
    p = nn.Parameter(x * 2)
    assert p.is_leaf
    assert p.requires_grad
    assert nn.Parameter([1.0, 2.0], requires_grad=False).tolist() == [1.0, 2.0]
    with pg.no_grad():
        p += 1.0
    assert type(p) is nn.Parameter
    assert x.tolist() == [1.0, 2.0]
    assert type(p + 1) is pg.Tensor
    assert repr(p).startswith("Parameter containing:\n")


def test_a_module_without_forward_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"Module\.forward"):
        nn.Module()(1)


def test_repr_shows_the_tree() -> None:
    assert repr(nn.Sequential(nn.Sequential(nn.Linear(1, 2, bias=False)), nn.ReLU())).splitlines() == [
        "Sequential(",
        "  (0): Sequential(",
        "    (0): Linear(in_features=1, out_features=2, bias=False)",
        "  )",
        "  (1): ReLU()",
        ")",
    ]


class Tied(nn.Module):
    def __init__(self) -> None:
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight


def test_tied_weights_stay_tied() -> None:
    net = Tied()
    assert len(list(net.parameters())) == 1
    assert list(net.state_dict()) == ["embed.weight", "head.weight"]
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net)), Tied().to(dtype="float64")):
        assert other.embed.weight is other.head.weight
        assert other.embed.weight is not net.embed.weight
    values = pg.arange(15, dtype="float32").reshape(5, 3)
    for names in (["embed.weight"], ["head.weight"], ["embed.weight", "head.weight"]):
        other = Tied()
        assert not any(other.load_state_dict(dict.fromkeys(names, values)))
        assert other.embed.weight is other.head.weight
        assert other.head.weight.tolist() == values.tolist()


def test_tied_weights_that_are_given_apart_are_refused() -> None:
    net = Tied()
    before = net.embed.weight.tolist()
    with pytest.raises(nn.StateDictError, match=r"head.weight: it is tied to embed.weight, but given other values"):
        net.load_state_dict({"embed.weight": pg.zeros((5, 3)), "head.weight": pg.ones((5, 3))})
    assert net.embed.weight.tolist() == before


class Refusing(nn.Module):
    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def forward(self, x: Any) -> Any:
        raise self.error("I refuse")


def test_whatever_is_raised_inside_a_model_says_where() -> None:
    def model(layer: nn.Module) -> nn.Module:
        return nn.Sequential({"encoder": nn.Sequential(nn.ReLU(), layer)})

    for layer, x in [(nn.Conv1d(3, 2, 1), (2, 4)), (nn.LSTM(3, 4), (5, 2, 7)), (nn.Linear(3, 4), (2, 5)),
                     (nn.BatchNorm2d(3), (2, 4, 5, 5))]:  # fmt: skip
        with pytest.raises(ShapeError) as caught:
            model(layer)(pg.ones(x))
        assert str(caught.value).count("Sequential.encoder.1") == 1
    with pytest.raises(ShapeError, match=r"(?s)^I refuse.*in Sequential.encoder.1$"):
        model(Refusing(ShapeError))(pg.ones(1))
    with pytest.raises(KeyError, match="I refuse") as noted:
        model(Refusing(KeyError))(pg.ones(1))
    assert noted.value.__notes__ == ["in Sequential.encoder.1"]
