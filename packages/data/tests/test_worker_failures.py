"""What goes wrong in a worker is raised in the main process: whole, after the batches before it, never as a wait."""

from __future__ import annotations

import faulthandler
import functools
import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any

import pytest

import plugrad as pg
import plugrad_data as data
from plugrad_data.failure import packed, unpacked
from plugrad_data.shipping import Shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="these data sets are not to be imported by a worker"
)


@pytest.fixture(autouse=True)
def _nobody_left() -> Iterator[None]:
    yield
    gc.collect()  # the exception that was caught knows its frames
    assert not multiprocessing.active_children()


class Odd(Exception):
    """Made of two things, of which pickle keeps one; and it holds what cannot be pickled."""

    def __init__(self, a: str, b: int) -> None:
        super().__init__(f"{a}-{b}")
        self.lock, self.code = threading.Lock(), 17


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Refusing(ValueError):
    """Comes out of pickle as another exception."""

    def __reduce__(self) -> Any:
        return TypeError, ("not this one",)


class Holder:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    def method(self) -> None: ...


def local() -> Exception:
    class Inner(LookupError):
        def __str__(self) -> str:
            return f"inner {self.code}"

    found = Inner("x")
    found.code = 17
    return found


class Failing(data.Dataset):
    """Sample 5 raises, or does something worse."""

    def __init__(self, act: Callable[[], Any], n: int = 8) -> None:
        self.act, self.n = act, n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> int:
        if i == 5:
            error = self.act()
            if isinstance(error, BaseException):
                raise error
        return i


def loader(dataset: Any, **options: Any) -> data.DataLoader:
    return data.DataLoader(dataset, **{"batch_size": 2, "num_workers": 2, "multiprocessing_context": "fork", **options})


def outcome(batches: Any) -> tuple[list[Any], BaseException, str]:
    """What came, the exception, and what a program would show of it."""
    got: list[Any] = []
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        got.extend(batch.tolist() for batch in batches)
    error = caught.value
    return got, error, "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: ValueError("boom-17"), ValueError, "boom-17"),
        (lambda: Odd("boom", 17), Odd, "boom-17"),
        (lambda: KeyError("one\ntwo"), KeyError, r"'one\ntwo'"),
        (lambda: OSError(2, "No such file", "boom"), FileNotFoundError, "[Errno 2] No such file: 'boom'"),
        (lambda: ValueError(lambda: 1), ValueError, "<lambda>"),
        (lambda: Refusing("boom-17"), Refusing, "boom-17"),
        (local, LookupError, "inner 17"),
        (lambda: ExceptionGroup("all", [ValueError("boom-17")]), ExceptionGroup, "all (1 sub-exception)"),
        (lambda: SystemExit(4), SystemExit, "4"),
    ],
)
def test_an_exception_arrives_whole(make: Callable[[], BaseException], kind: type[BaseException], words: str) -> None:
    got, error, shown = outcome(loader(Failing(make)))
    assert got == [[0, 1], [2, 3]]
    assert isinstance(error, kind)
    assert type(error).__qualname__ == type(make()).__qualname__
    assert words in str(error)
    assert "raised in DataLoader worker 0 (pid " in shown
    assert ", in __getitem__\n    raise error\n" in shown.replace("  | ", "").replace("  +", "").replace(
        "        ", "    "
    )
    if isinstance(error, Exception):
        assert "while loading sample 5 for batch 2" in shown


def test_what_an_exception_holds_arrives_too() -> None:
    _, error, _ = outcome(loader(Failing(lambda: Odd("boom", 17))))
    assert type(error) is Odd
    assert (error.args, error.code) == (("boom-17",), 17)
    assert "lock" in error.lock  # in words


def test_exceptions_of_classes_that_are_not_there() -> None:
    """As from a worker that imported what this process did not."""
    whole, names, *rest = packed(Odd("boom", 17))
    assert whole is None
    error = unpacked((None, [("elsewhere", "Stranger"), ("elsewhere", "Base"), *names[1:]], *rest), "a worker")
    assert (type(error).__module__, type(error).__name__, str(error)) == ("elsewhere", "Stranger", "boom-17")
    assert isinstance(error, Exception)
    group = packed(ExceptionGroup("all", [Odd("boom", 17)]))
    error = unpacked(group, "a worker")
    assert type(error).__name__ == "ExceptionGroup"
    assert str(error) == "all (1 sub-exception)"
    assert "boom-17" in error.__notes__[0]
    assert type(unpacked(packed(Mute()), "a worker")) is Mute


def test_the_same_words_without_workers() -> None:
    options: dict[str, Any] = {"num_workers": 0, "multiprocessing_context": None}
    got, error, _ = outcome(loader(Failing(lambda: KeyError("boom")), **options))
    assert got == [[0, 1], [2, 3]]
    assert error.__notes__ == ["while loading sample 5 for batch 2"]

    class Many(Failing):
        def __getitems__(self, indices: list[int]) -> list[int]:
            raise KeyError("boom")

    _, error, _ = outcome(loader(Many(lambda: None, 400), batch_size=300, **options))
    assert error.__notes__[0].startswith("while loading samples [0, 1, 2, ")
    assert error.__notes__[0].endswith("... for batch 0")
    _, error, _ = outcome(loader(data.TensorDataset(pg.arange(3)), sampler=[0, 9], **options))
    assert error.__notes__[-1] == "while loading samples [0, 9] for batch 0"
    _, error, _ = outcome(loader([1, "a"], **options))
    assert error.__notes__ == ["while collating samples [0, 1] for batch 0"]


@pytest.mark.parametrize("persistent", [False, True])
def test_the_epoch_after_an_error(persistent: bool) -> None:
    flag = multiprocessing.get_context("fork").Value("i", 1)
    dataset = Failing(lambda: KeyError("once") if flag.value else None)
    batches = loader(dataset, persistent_workers=persistent)
    assert outcome(batches)[0] == [[0, 1], [2, 3]]
    flag.value = 0
    assert [b.tolist() for b in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_other_places_that_fail() -> None:
    def init(worker: int) -> None:
        raise KeyError(f"no worker {worker}")

    _, error, _ = outcome(loader(Failing(lambda: None), worker_init_fn=init))
    assert error.args == ("no worker 0",)

    got, error, _ = outcome(loader([1, 2, 3, "a"]))
    assert got == [[1, 2]]
    assert error.__notes__[0] == "while collating samples [2, 3] for batch 1"

    _, error, _ = outcome(loader([1, 2], collate_fn=lambda batch: {"f": [lambda: 1]}))
    assert isinstance(error, pickle.PicklingError)
    assert "batch 0 cannot leave its worker: batch['f'][0] is a lambda defined at " in str(error)

    def sampler() -> Iterator[list[int]]:
        yield [0]
        yield [1]
        raise KeyError("no more")

    got, error, _ = outcome(loader(range(9), batch_size=1, batch_sampler=sampler()))
    assert got == [[0], [1]]
    assert error.args == ("no more",)


def test_streams_that_fail() -> None:
    class Broken(data.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            yield from (1, 2, 3)
            raise KeyError("torn")

    for options in ({}, {"num_workers": 0, "multiprocessing_context": None}):
        got, error, _ = outcome(loader(Broken(), **options))
        assert got in ([[1, 2], [1, 2]], [[1, 2]])
        assert error.__notes__[0] == "while loading sample 3 of the stream"

    class Unread(data.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            raise KeyError("not there")

    assert outcome(loader(Unread()))[1].args == ("not there",)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"was killed by signal 9 \(SIGKILL\); if the system did that"),
        (
            lambda: (faulthandler.disable(), os.kill(os.getpid(), signal.SIGSEGV)),
            r"was killed by signal 11 \(SIGSEGV\); native code crashed",
        ),
        (lambda: os._exit(7), "ended with exit code 7 before its work was done"),
        (lambda: os._exit(0), "ended with exit code 0 before its work was done"),
    ],
)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_worker_that_dies(act: Callable[[], Any], words: str, persistent: bool) -> None:
    batches = loader(Failing(act), persistent_workers=persistent)
    for _ in range(2):  # the next epoch has new workers
        start = time.monotonic()
        got, error, _ = outcome(batches)
        assert got == [[0, 1], [2, 3]]
        assert type(error) is RuntimeError
        with pytest.raises(RuntimeError, match=rf"^DataLoader worker 0 \(pid \d+\) {words}"):
            raise error
        assert time.monotonic() - start < 30


def test_a_worker_that_dies_with_a_child_of_its_own() -> None:
    """The child holds the worker's end of the pipe, so that it does not close."""

    def act() -> None:
        child = os.fork()
        if not child:
            time.sleep(30)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    start = time.monotonic()
    assert "was killed by signal 9" in str(outcome(loader(Failing(act)))[1])
    assert time.monotonic() - start < 25


def test_a_worker_that_hangs() -> None:
    start = time.monotonic()
    got, error, _ = outcome(loader(Failing(lambda: time.sleep(60)), timeout=2))
    assert got == [[0, 1], [2, 3]]
    assert type(error) is RuntimeError
    assert "DataLoader worker 0 (pid " in str(error)
    assert "has not sent batch 2 within 2 s" in str(error)
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (Failing(lambda: None), r"dataset\.act is a lambda defined at .*test_worker_failures\.py:\d+; define it at"),
        (Failing(functools.partial(max, key=lambda x: x)), r"dataset\.act\.keywords\['key'\] is a lambda"),
        (
            Failing(Holder().method),
            r"dataset\.act\.__self__\.lock is of type lock, which cannot be pickled \(cannot",
        ),
        (
            Failing([0, {"a": local()}]),
            r"dataset\.act\[1\]\['a'\] is of the class local\.<locals>\.Inner, defined inside",
        ),
    ],
)
def test_what_cannot_be_pickled_is_named(dataset: Any, words: str) -> None:
    with pytest.raises(pickle.PicklingError, match=f"its worker processes need copies, but {words}"):
        next(iter(loader(dataset, multiprocessing_context="spawn")))


def test_what_is_pickled_is_loaded_when_asked_for() -> None:
    shipped = Shipped(a=[1, 2])
    copy = pickle.loads(pickle.dumps(shipped))
    assert not hasattr(copy, "objects")
    assert copy.load() == copy.load() == shipped.load() == {"a": [1, 2]}
