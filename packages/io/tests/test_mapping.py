"""Rules that give weights other names, and the dry run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError
from plugrad_io import (
    Change,
    Drop,
    Join,
    Mapping,
    MappingError,
    Rename,
    Split,
    Tie,
    Transpose,
    open_safetensors,
    save_safetensors,
)

if TYPE_CHECKING:
    from pathlib import Path


def state(**shapes: tuple[int, ...]) -> dict[str, pg.Tensor]:
    made, start = {}, 0
    for name, shape in shapes.items():
        t = pg.arange(start, start + pg.zeros(shape).size, dtype="float32").reshape(shape)
        made[name.replace("__", ".")] = t
        start += t.size
    return made


def test_rename_by_placeholders() -> None:
    given = state(bert__layer__0__q__weight=(2, 3), bert__layer__11__q__weight=(3, 2), pooler=(1,))
    made = Mapping(Rename("bert.layer.{i}.{rest:*}", "blocks.{i}.{rest}"))(given)
    assert list(made) == ["blocks.0.q.weight", "blocks.11.q.weight", "pooler"]
    assert made["blocks.11.q.weight"].tolist() == given["bert.layer.11.q.weight"].tolist()


def test_a_placeholder_without_star_stops_at_a_dot_and_dots_are_dots() -> None:
    given = state(a__b__c=(1,), a__bxc=(2,))
    assert list(Mapping(Rename("a.{x}", "{x}"))(given)) == ["a.b.c", "bxc"]
    assert list(Mapping(Rename("a.b.c", "z"))(state(a__b__c=(1,), aXbXc=(1,)))) == ["z", "aXbXc"]


def test_one_placeholder_twice_must_agree() -> None:
    assert list(Mapping(Rename("{i}.{i}", "{i}"))(state(a__a=(1,), a__b=(1,)))) == ["a", "a.b"]


def test_transpose_split_join() -> None:
    given = state(dense__kernel=(2, 6), q=(2, 3), k=(2, 3), v=(1, 3))
    mapping = Mapping(
        Transpose("{l}.kernel"),
        Split("{l}.kernel", ["{l}.a", "{l}.b", "{l}.c"], axis=0, sizes=[1, 2, 3]),
        Join(["q", "k", "v"], "in_proj_weight"),
    )
    made = mapping(given)
    kernel = given["dense.kernel"].T
    assert made["dense.b"].tolist() == kernel[1:3].tolist()
    assert made["dense.c"].shape == (3, 2)
    assert made["in_proj_weight"].tolist() == pg.concat([given["q"], given["k"], given["v"]]).tolist()
    back = Mapping(Split("in_proj_weight", ["q", "k", "v"], sizes=[2, 2, 1]))(made)
    assert all(back[n].tolist() == given[n].tolist() for n in "qkv")


def test_transpose_takes_an_order_and_refuses_a_wrong_one() -> None:
    given = state(w=(2, 3, 5))
    assert Mapping(Transpose("w", (2, 0, 1)))(given)["w"].shape == (5, 2, 3)
    with pytest.raises(ShapeError, match=r"w has shape \(2, 3, 5\).*\(1, 0\)"):
        Mapping(Transpose("w", (1, 0)))(given)


def test_tied_weights_are_one_object() -> None:
    made = Mapping(Tie("{m}.embed", "{m}.head"))(state(lm__embed=(5, 2)))
    assert made["lm.embed"] is made["lm.head"]


def test_change_and_its_shape() -> None:
    given = state(w=(2, 3))
    assert Mapping(Change("w", lambda t: t * 2))(given)["w"].tolist() == (given["w"] * 2).tolist()
    flat = Change("w", lambda t: t.reshape(-1), shape=lambda s: (s[0] * s[1],))
    assert Mapping(flat)(given)["w"].shape == (6,)
    with pytest.raises(ShapeError, match=r"\(6,\), but \(2, 3\) was told; give Change the argument shape="):
        Mapping(Change("w", lambda t: t.reshape(-1)))(given)


def test_the_dry_run_reports_and_touches_nothing() -> None:
    def touched(t: pg.Tensor) -> pg.Tensor:
        raise AssertionError("a dry run makes no tensor")

    given = state(old__a=(2, 3), ids=(4,), b=(5,), extra=(1,))
    mapping = Mapping(
        Rename("old.{x}", "new.{x}"), Change("new.a", touched), Transpose("new.a"), Drop("ids"), Rename("nothing", "x")
    )
    plan = mapping.plan(given, state(new__a=(3, 2), b=(4,), c=(2,)))
    assert not plan.fits
    assert plan.matched == {"new.a": ("old.a",)}
    assert plan.misshapen == {"b": ((5,), (4,))}
    assert plan.missing == ["c"]
    assert plan.left_over == ["extra"]
    report = str(plan)
    for line in (
        "new.a (3, 2) <- old.a (by touched, transposed)",
        "b: (5,), wanted (4,)",
        "missing 1\n  c",
        "left over 1\n  extra (1,)",
        "rules that matched nothing 1\n  Rename('nothing', 'x')",
    ):
        assert line in report  # fmt: skip
    with pytest.raises(MappingError, match="does not fit"):
        mapping(given, state(new__a=(3, 2)))


def test_what_contradicts_is_named() -> None:
    with pytest.raises(MappingError, match="both a and b would be called z"):
        Mapping(Rename("a", "z"), Rename("b", "z"))(state(a=(1,), b=(1,)))
    with pytest.raises(MappingError, match=r"for w there is q, but no k"):
        Mapping(Join(["q", "k"], "w"))(state(q=(1,)))
    with pytest.raises(MappingError, match=r"\{j\}, which 'a.\{i\}' does not tell"):
        Rename("a.{i}", "b.{j}")
    with pytest.raises(ShapeError, match="5 along axis 0 is no multiple of 2"):
        Mapping(Split("w", ["a", "b"]))(state(w=(5, 2)))
    with pytest.raises(ShapeError, match="add up to 4, not 5"):
        Mapping(Split("w", ["a", "b"], sizes=[1, 3]))(state(w=(5, 2)))
    for sizes in ([1, 3, 1], [6, -1], []):
        with pytest.raises(MappingError, match=f"{len(sizes)} sizes for 2 names; one for each, from 0"):
            Split("w", ["a", "b"], sizes=sizes)
    for names in ([], "ab"):
        with pytest.raises(MappingError, match=r"Split: .* is to be a list of names, one or more"):
            Split("w", names)
        with pytest.raises(MappingError, match=r"Join: .* is to be a list of names, one or more"):
            Join(names, "w")
    with pytest.raises(MappingError, match="Mapping: a list is no rule"):
        Mapping([Rename("a", "b")])  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="differ elsewhere than along axis 0"):
        Mapping(Join(["q", "k"], "w"))(state(q=(1, 2), k=(1, 3)))


def test_joining_by_placeholder_keeps_layers_apart() -> None:
    given = state(l__0__q=(1, 2), l__1__q=(1, 2), l__1__k=(2, 2), l__0__k=(2, 2))
    made = Mapping(Join(["l.{i}.q", "l.{i}.k"], "l.{i}.qk"))(given)
    assert {n: t.shape for n, t in made.items()} == {"l.0.qk": (3, 2), "l.1.qk": (3, 2)}
    assert made["l.1.qk"].tolist() == pg.concat([given["l.1.q"], given["l.1.k"]]).tolist()


def test_a_join_loses_nothing() -> None:
    """Not what is there already under the new name, wherever that stands, and no layer of several."""
    for given in (state(x=(1,), q=(1,), k=(1,)), state(q=(1,), x=(1,), k=(1,)), state(q=(1,), k=(1,), x=(1,))):
        with pytest.raises(MappingError, match="would be called x"):
            Mapping(Join(["q", "k"], "x"))(given)
    with pytest.raises(MappingError, match=r"both l.0.q and l.1.q would be part 0 of qk"):
        Mapping(Join(["l.{i}.q", "l.{i}.k"], "qk"))(state(l__0__q=(1,), l__0__k=(1,), l__1__q=(1,), l__1__k=(1,)))


@pytest.mark.parametrize("text", ["a{}", "a{", "x.{1}", "x.{a-b}", "x.{a:+}", "{{x}}"])
def test_braces_that_are_no_placeholder(text: str) -> None:
    with pytest.raises(MappingError, match=r"has braces that are no placeholder; placeholders are \{name\} and"):
        Rename(text, "y")
    with pytest.raises(MappingError, match="has braces that are no placeholder"):
        Rename("{x}", text)


def test_names_with_letters_of_patterns() -> None:
    odd = "a+b(c)[d]*.^$|?"
    made = Mapping(Rename(odd + ".{x}", "new.{x}"))({f"{odd}.w": pg.ones(1), "aab(c)d..w": pg.ones(1)})
    assert list(made) == ["new.w", "aab(c)d..w"]
    assert list(Mapping(Rename("x.{a}", "y.{a}"))({"x.{q}\n": pg.ones(1)})) == ["y.{q}\n"]


def test_axes_from_the_end() -> None:
    given = state(w=(2, 3, 4))
    assert Mapping(Transpose("w", (-1, 0, 1)))(given)["w"].shape == (4, 2, 3)
    with pytest.raises(ShapeError, match=r"has not the axes \(0, 0, -3\)"):
        Mapping(Transpose("w", (0, 0, -3)))(given)
    with pytest.raises(ShapeError, match=r"has not the axes \(\)"):
        Mapping(Transpose("w", ()))(given)


def test_rules_in_a_row() -> None:
    """Exchanged by way of a third name; joined and split again; tied, then renamed together, or changed apart."""
    given = state(a__w=(2, 3), b__w=(2, 3))
    a, b = given.values()
    swap = Mapping(Rename("a.{x}", "c.{x}"), Rename("b.{x}", "a.{x}"), Rename("c.{x}", "b.{x}"))(given)
    assert (swap["a.w"] is b, swap["b.w"] is a) == (True, True)
    again = Mapping(Join(["a.w", "b.w"], "ab"), Split("ab", ["a.w", "b.w"]))(given)
    assert {n: t.tolist() for n, t in again.items()} == {n: t.tolist() for n, t in given.items()}
    tied = Mapping(Tie("a.w", "t.w"), Rename("{x:*}", "m.{x}"))(given)
    assert tied["m.a.w"] is tied["m.t.w"]
    apart = Mapping(Tie("a.w", "t.w"), Transpose("t.w"))(given)
    assert (apart["a.w"] is a, apart["t.w"].shape) == (True, (3, 2))


def test_what_is_no_state_dict() -> None:
    with pytest.raises(DTypeError, match=r"a Linear is no dict of tensors; of a model, pass model.state_dict"):
        Mapping().plan(type("Linear", (), {})())
    with pytest.raises(DTypeError, match="'epoch' is a int; pass the dict that has the tensors themselves"):
        Mapping()({"model": pg.ones(1), "epoch": 3})  # type: ignore[dict-item]
    with pytest.raises(DTypeError, match="w by f: became a list, not a tensor"):
        Mapping(Change("w", f))(state(w=(1,)))


def f(w: pg.Tensor) -> Any:
    return w.tolist()


def test_a_dry_run_over_a_file_reads_no_tensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_safetensors(tmp_path / "f", state(a=(2, 3), b=(4,)))
    with open_safetensors(tmp_path / "f") as file:
        with monkeypatch.context() as patch:
            patch.setattr(type(file), "array", lambda *_: pytest.fail("read"))
            plan = Mapping(Tie("a", "c")).plan(file, file)
        assert plan.left_over == ["c"]
        made = Mapping(Tie("a", "c"))(file)
    assert made["a"] is made["c"]
    assert made["b"].shape == (4,)
