"""PyTorch's files that are damaged or hostile: every one is refused by name, and nothing in any of them is executed."""

from __future__ import annotations

import os
import pickle
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from make_files import call, number, pickled, storage, table, tensor, text, torch_legacy, torch_zip, tuple_of, zipped

from plugrad_io import FileFormatError, load_torch

if TYPE_CHECKING:
    from pathlib import Path

SIX = bytes(24)
W = tensor(storage("0", 6), (2, 3), (3, 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pth"


def read(path: Path, body: bytes, numel: int = 6, data: bytes = SIX, **more: bytes) -> Any:
    path.write_bytes(torch_zip(body, {"0": data}, **more))
    return load_torch(path)


MARKER = "plugrad_io_executed"


class Attack:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, (MARKER,)


def system(*, how: str = "reduce") -> bytes:
    """Opcodes that call os.system, in every way there is."""
    f, stacked = b"cos\nsystem\n", text("os") + text("system") + b"\x93"
    arg = text(f"touch {MARKER}")
    return {
        "reduce": f + arg + b"\x85R",
        "stack global": stacked + arg + b"\x85R",
        "inst": b"(" + arg + b"ios\nsystem\n",
        "obj": b"(" + f + arg + b"o",
        "newobj": f + arg + b"\x85\x81",
        "newobj ex": f + arg + b"\x85}\x92",
        "build": b"ccollections\nOrderedDict\n)R" + f + b"b",
        "setstate": f + table({"__setstate__": f}) + b"b",
        "persid": tuple_of(text("storage"), f, text("0"), text("cpu"), number(1)) + b"Q",
        "module": tuple_of(text("module"), f, b"N", b"N") + b"Q",
        "extension": b"\x82\x01",
        "getattr": b"cbuiltins\ngetattr\n",
        "eval": b"c__builtin__\neval\n" + arg + b"\x85R",
        "dotted": text("collections") + text("abc.sys.modules") + b"\x93",
        "torch.load": b"ctorch\nload\n" + arg + b"\x85R",
        "bytes": b"ctorch.storage\n_load_from_bytes\n" + b"C\x01x\x85R",
        "derived": call("torch._tensor _rebuild_from_type_v2", f, f, tuple_of(arg), b"}"),
        "codec": b"c_codecs\ndecode\n",
        "numpy": call("numpy.core.multiarray scalar", f, b"C\x01x"),
        "factory": b"ccollections\ndefaultdict\n" + f + b"\x85R",
        "memo": f + b"q\0" + b"0h\0" + arg + b"\x85R",
        "text": b"Vos\nVsystem\n\x93",
    }[how]


HOWS = [
    "reduce",
    "stack global",
    "inst",
    "obj",
    "newobj",
    "newobj ex",
    "build",
    "setstate",
    "persid",
    "module",
    "extension",
    "getattr",
    "eval",
    "dotted",
    "torch.load",
    "bytes",
    "derived",
    "codec",
    "numpy",
    "factory",
    "memo",
    "text",
]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("old", [False, True], ids=["zip", "legacy"])
def test_nothing_is_executed(path: Path, how: str, old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def caught(*args: Any) -> None:
        raise AssertionError(f"executed with {args}")

    monkeypatch.chdir(path.parent)
    monkeypatch.setattr("os.system", caught)
    body = table({"w": W, "x": system(how=how)})
    path.write_bytes(torch_legacy(body, [("0", 6, SIX)]) if old else torch_zip(body, {"0": SIX}))
    with pytest.raises(FileFormatError) as error:
        load_torch(path)
    assert str(error.value).startswith(str(path))
    assert not (path.parent / MARKER).exists()


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_pickles_of_other_objects(path: Path, protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    text = pickle.dumps({"w": Attack()}, protocol)
    for data in (text, zipped({"archive/data.pkl": text})):
        path.write_bytes(data)
        with pytest.raises(FileFormatError):
            load_torch(path)
    assert not (path.parent / MARKER).exists()
    pickle.loads(text)
    assert (path.parent / MARKER).exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("torch.nn.modules.linear Linear", "a whole model, which is a program; in PyTorch, save model.state_dict"),
        ("my.package Net", "If it is part of a model: in PyTorch, save model.state_dict"),
        ("torch.optim.adam Adam", "save optimizer.state_dict"),
        ("torch ComplexFloatStorage", "complex numbers"),
        ("torch complex64", "complex numbers"),
        ("torch QInt8Storage", "quantised"),
        ("torch float8_e4m3fn", "8-bit floats"),
        ("torch._utils _rebuild_sparse_tensor", "a sparse tensor; save x.to_dense"),
        ("torch._utils _rebuild_qtensor", "a quantised tensor"),
        ("torch._utils _rebuild_meta_tensor_no_storage", "a kind of tensor that is not read"),
        ("builtins complex", "no tensor and no plain container"),
    ],
)
def test_refusals_name_the_global_and_the_reason(path: Path, name: str, why: str) -> None:
    with pytest.raises(FileFormatError, match=why) as caught:
        read(path, b"c" + name.replace(" ", "\n").encode() + b"\n")
    assert name.replace(" ", ".") in str(caught.value)
    assert "Nothing in the file was executed" in str(caught.value)


def deep(n: int, code: bytes = b"\x85") -> bytes:
    return b"N" + code * n


def laughs(n: int) -> bytes:
    """A tuple of two of a tuple of two of ..., 2ⁿ in all."""
    return b")" + b"2\x86" * n


MB = text("x" * 10**6) + b"q\1"
ENCODE = b"c_codecs\nencode\n(%s" + text("latin1") + b"tR"
WRONG = {
    "empty": (pickled(b""), "damaged pickle"),
    "no stop": (b"\x80\2N", "cut short: an opcode"),
    "two values": (pickled(b"NN"), "damaged pickle"),
    "protocol": (pickled(b"N", 9), "protocol 9"),
    "text protocol": (b"(lp0\n.", "opcode b'p' is none that torch.save writes"),
    "stack": (pickled(b"0"), "damaged pickle"),
    "mark": (pickled(b"t"), "damaged pickle"),
    "tuple": (pickled(b"N\x87"), "a tuple of more than there is"),
    "memo": (pickled(b"h\7"), "damaged pickle"),
    "memo bomb": (pickled(b"Nr" + b"\xff\xff\xff\xff" + b"j\xff\xff\xff\xfe"), "damaged pickle"),
    "huge string": (pickled(b"X\xff\xff\xff\xff"), "cut short: a string at byte \\d+ takes 4294967295 bytes"),
    "huge bytes": (pickled(b"\x8e" + b"\xff" * 7 + b"\x7f"), "cut short: bytes at byte \\d+ takes 9223372036854775807"),
    "beyond": (pickled(b"\x8e" + b"\xff" * 8), "cut short: bytes"),
    "negative": (pickled(b"T\xff\xff\xff\xff"), "cut short: a string at byte \\d+ takes -1 bytes"),
    "long number": (pickled(b"\x8b\0\4\0\0" + b"1" * 1024), "a number of 1024 bytes"),
    "frame": (pickled(b"\x95" + b"\xff" * 4), "cut short: a frame|damaged pickle"),
    "no line": (pickled(b"c" + b"x" * 5000), "the name of a global at byte \\d+ has no end within 512 bytes"),
    "no UTF-8": (pickled(b"X\1\0\0\0\xff"), "damaged pickle"),
    "append": (pickled(b"}Na"), "a dict is treated as a list"),
    "items": (pickled(b"](NNu"), "a list is treated as a dict"),
    "odd items": (pickled(b"}(NNNu"), "damaged pickle"),
    "key": (pickled(b"}]Ns"), r"the list \[\] is no key of a dict"),
    "deep key": (pickled(b"}" + deep(100_000) + b"Ns"), "the tuple .* is no key of a dict"),
    "far key": (pickled(b"}" + number(2**61 - 1) + b"Ns"), "the int 2305843009213693951 is no key of a dict"),
    "deep dtype": (pickled(call("numpy dtype", deep(300_000))), "a tuple where a str belongs"),
    "deep codec": (pickled(call("_codecs encode", text("x"), deep(300_000))), "a tuple where a str belongs"),
    "deep": (pickled(deep(100_000)), "containers within containers, more than 100 deep"),
    "deep lists": (pickled(b"](" * 100_000 + b"e" * 100_000), "containers within containers, more than 100 deep"),
    "circle": (pickled(b"]q\0h\0a"), "a container holds itself"),
    "circle of dicts": (pickled(b"}q\0" + text("a") + b"h\0s"), "a container holds itself"),
    "laughs, called": (pickled(b"cos\nsystem\n" + laughs(90) + b"R"), "os.system"),
    "laughs, as a shape": (
        pickled(call("torch._utils _rebuild_tensor", W, number(0), laughs(90), laughs(90))),
        "damaged|makes a tensor",
    ),
    "laughs, as a storage": (pickled(laughs(90) + b"Q"), "which is no storage"),
    "laughs, as an object": (pickled(laughs(90) + b"\x81"), "makes an object of a class"),
    "a global as a value": (pickled(b"ccollections\nOrderedDict\n"), "it holds collections.OrderedDict as a value"),
    "a storage as a value": (pickled(storage("0", 6)), "it holds storage 0 as a value"),
    "copies": (pickled(b"(" + ENCODE % MB + ENCODE % b"h\1" * 2000 + b"t"), "makes more of its strings and lists"),
    "bad codec": (pickled(call("_codecs encode", text("x"), text("hex"))), "damaged pickle"),
    "call": (pickled(b"ctorch\nTensor\n)R"), "the pickle calls torch.Tensor, which is not done"),
    "call a number": (pickled(b"N)R"), "the pickle calls None"),
    "arguments": (pickled(call("torch._utils _rebuild_parameter")), "damaged pickle"),
    "attributes": (pickled(b"]Nb"), "sets attributes of a list"),
    "numpy object": (pickled(call("numpy dtype", text("O8"))), "a NumPy array or number of dtype 'O8'"),
    "numpy size": (
        pickled(call("numpy.core.multiarray scalar", call("numpy dtype", text("f8")), b"C\x01x")),
        "damaged pickle",
    ),
    "storage": (
        pickled(tuple_of(text("storage"), text("f4"), text("0"), text("cpu"), number(1)) + b"Q"),
        "no storage of numbers",
    ),
    "key 7": (pickled(storage("0", 2).replace(text("0"), number(7))), "refers to storage 7"),
    "elements": (pickled(storage("0", 2**62)), "refers to storage '0' of 4611686018427387904 elements"),
    "two ways": (pickled(storage("0", 2) + storage("0", 3) + b"\x86"), "storage '0' is told in two ways"),
    "marks": (pickled(tensor(storage("0", 6), (1,), (1,), more=table({"neg": b"\x88"}))), "a tensor with the marks"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("old", [False, True], ids=["zip", "legacy"])
def test_wrong_pickles(path: Path, name: str, old: bool) -> None:
    data, message = WRONG[name]
    start = torch_legacy(b"N", [])[: -len(pickled(b"N")) - len(pickled(b"](e"))]
    path.write_bytes(start + data + pickled(b"](e") if old and data[-1:] == b"." else zipped({"a/data.pkl": data}))
    with pytest.raises(FileFormatError, match=message) as caught:
        load_torch(path)
    assert str(caught.value).startswith(str(path))


TENSORS = {
    "behind": (tensor(storage("0", 6), (2, 3), (3, 1), 1), "reaches to element 7, behind its 6 elements"),
    "stride": (tensor(storage("0", 6), (2,), (2**62,)), "reaches to element"),
    "negative stride": (tensor(storage("0", 6), (2,), (-1,)), "which are not whole numbers from 0"),
    "negative offset": (tensor(storage("0", 6), (2,), (1,), -1), "do not go together"),
    "negative size": (tensor(storage("0", 6), (-2,), (1,)), "which are not whole numbers from 0"),
    "axes": (tensor(storage("0", 6), (2,), (1, 1)), "do not go together"),
    "many axes": (tensor(storage("0", 6), (1,) * 65, (1,) * 65), "a shape that no memory holds"),
    "sizes": (tensor(storage("0", 6), (2**40, 2**40), (0, 0)), "a shape that no memory holds"),
    "expanded": (tensor(storage("0", 6), (2**40,), (0,)), "its tensors would take 4398046511104 bytes, at most"),
    "no storage": (tensor(number(3), (2,), (1,)), "makes a tensor of 3"),
    "missing": (tensor(storage("1", 6), (2,), (1,)), "is missing|does not fit the value"),
    "two sizes": (tensor(storage("0", 7), (2,), (1,)), "has 24 bytes, and the pickle tells of 28|has 6 elements"),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("old", [False, True], ids=["zip", "legacy"])
def test_wrong_tensors(path: Path, name: str, old: bool) -> None:
    body, message = TENSORS[name]
    path.write_bytes(torch_legacy(body, [("0", 6, SIX)]) if old else torch_zip(body, {"0": SIX}))
    with pytest.raises(FileFormatError, match=message):
        load_torch(path)


def test_many_views_of_one_storage(path: Path) -> None:
    """200,000 bytes, looked at from 2,000 places: what they take together is told before any is made."""
    views = [tensor(storage("0", 50_000), (40_000,), (1,), i) for i in range(2000)]
    with pytest.raises(FileFormatError, match="its tensors would take 320000000 bytes"):
        read(path, b"(" + b"".join(views) + b"t", data=bytes(200_000))
    few = read(path, b"(" + b"".join(views[:3]) + b"t", data=bytes(200_000))
    assert [x.shape for x in few] == [(40_000,)] * 3


def test_limit(path: Path) -> None:
    path.write_bytes(torch_zip(tensor(storage("0", 6), (10**6,), (0,)), {"0": SIX}))
    assert load_torch(path).shape == (10**6,)
    with pytest.raises(FileFormatError, match="its tensors would take 4000000 bytes, at most 1000"):
        load_torch(path, limit=1000)


ZIPS = {
    "no pickle": (zipped({"a/data/0": SIX}), "no file of torch.save: 0 members are called data.pkl"),
    "two pickles": (zipped({"a/data.pkl": b"N.", "b/data.pkl": b"N."}), "no file of torch.save: 2 members"),
    "program": (zipped({"a/data.pkl": b"N.", "a/constants.pkl": b"N."}), "a program of torch.jit.save"),
    "byte order": (torch_zip(W, {"0": SIX}, byteorder=b"middle"), "byte order b'middle' is neither"),
    "twice": (zipped([("a/data.pkl", b"N."), ("a/datb.pkl", b"N.")]).replace(b"datb", b"data"), "is there twice"),
    "absolute": (zipped({"/a/data.pkl": b"N."}), "points outside the file"),
    "bomb": (zipped({"a/data.pkl": bytes(10**8)}, zipfile.ZIP_DEFLATED), "unpack to 100000000"),
    "changed": (torch_zip(W, {"0": SIX}).replace(SIX, SIX[:-1] + b"!"), "is damaged: BadZipFile: Bad CRC"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_wrong_zip_files(path: Path, name: str) -> None:
    data, message = ZIPS[name]
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=message):
        load_torch(path)


LEGACY = {
    "another pickle": (pickled(number(5)) + pickled(b"N"), "a pickle that torch.save has not written"),
    "another version": (pickled(number(0x1950A86A20F9469CFC6C)) + pickled(number(1000)), "has not written"),
    "keys": (torch_legacy(W, [("9", 6, SIX)]), "the list of storages does not fit the value"),
    "twice": (torch_legacy(W, [("0", 6, SIX), ("0", 6, SIX)]), "is told twice"),
    "size": (torch_legacy(W, [("0", 5, SIX)]), "has 5 elements, or is told twice; 6 fit"),
    "cut": (torch_legacy(W, [("0", 6, SIX)])[:-1], "cut short: storage '0'"),
    "none": (torch_legacy(W, []), "storage '0' is missing"),
}


@pytest.mark.parametrize("name", LEGACY)
def test_wrong_older_files(path: Path, name: str) -> None:
    data, message = LEGACY[name]
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=message):
        load_torch(path)
