"""States that do not belong to a loader, and generators in places where nobody looks for them."""

from __future__ import annotations

import dataclasses
import multiprocessing
import random
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def stopped(**options: Any) -> dict[str, Any]:
    """The state of a loader after one batch."""
    loader = data.DataLoader(range(10), **{"batch_size": 2, "shuffle": True, **options})
    next(iter(loader))
    return loader.state_dict()


@pytest.mark.parametrize(
    ("n", "options", "words"),
    [
        (10, {"batch_size": 3}, "batch_size 2, of this loader 3"),
        (20, {}, "samples 10, of this loader 20"),
        (10, {"shuffle": False}, "sampler RandomSampler, of this loader SequentialSampler"),
    ],
)
def test_the_middle_of_another_epoch(n: int, options: dict[str, Any], words: str) -> None:
    """It would go on with the wrong samples; nothing is changed."""
    loader = data.DataLoader(range(n), **{"batch_size": 2, "shuffle": True, **options})
    before = loader.state_dict()
    with pytest.raises(ValueError, match=f"stands in the middle of an epoch: of it, {words}"):
        loader.load_state_dict(stopped())
    assert loader.state_dict() == before


def test_between_epochs_the_loader_may_be_another() -> None:
    old = data.DataLoader(range(10), 2, shuffle=True)
    list(old)
    for loader in (data.DataLoader(range(20), 4), data.DataLoader(range(20), 4, shuffle=True)):
        loader.load_state_dict(old.state_dict())
        assert (loader.epoch, sorted(x for b in loader for x in b.tolist())) == (1, list(range(20)))
    loader = data.DataLoader(range(10), 2, shuffle=True)
    loader.load_state_dict(data.DataLoader(range(10), 2).state_dict())
    assert sorted(x for b in loader for x in b.tolist()) == list(range(10))


@pytest.mark.parametrize("state", [{}, {"seed": None}, {"step": 3}])
def test_the_state_of_something_else(state: dict[str, Any]) -> None:
    loader = data.DataLoader(range(10), 2)
    with pytest.raises(ValueError, match="DataLoader: this is no state of a loader; it lacks"):
        loader.load_state_dict(state)
    assert len(list(loader)) == 5


class Rows:
    """Sample i is a number drawn from a generator."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self.draw = draw

    def __len__(self) -> int:
        return 6

    def __getitem__(self, i: int) -> float:
        return float(self.draw())


class Old(Rows):
    """NumPy's older generator, as many data sets have it."""

    def __init__(self, bits: Any = None) -> None:
        self.rng = np.random.RandomState(bits)
        self.draw = self.rng.random_sample


class OfTheClass(Rows):
    rng = np.random.default_rng(0)

    def __init__(self) -> None:
        self.draw = lambda: OfTheClass.rng.random()


@dataclasses.dataclass(slots=True)
class Slots:
    rng: np.random.Generator
    unset: int = dataclasses.field(init=False)

    def __len__(self) -> int:
        return 6

    def __getitem__(self, i: int) -> float:
        return self.rng.random()


class Modules(Rows):
    """Modules in attributes, as who wants to swap NumPy for another library has it."""

    def __init__(self) -> None:
        self.random, self.xp = random, np
        self.os_random = random.SystemRandom()
        self.draw = lambda: self.random.random() + self.xp.random.rand()


class Shared(Rows):
    """The global generator itself, as `sklearn.utils.check_random_state(None)` gives it."""

    def __init__(self) -> None:
        self.rng = np.random.rand.__self__
        self.draw = self.rng.random_sample


MAKERS = {
    "RandomState": lambda: Old(3),
    "RandomState of other bits": lambda: Old(np.random.PCG64(3)),
    "class attribute": OfTheClass,
    "slots": lambda: Slots(np.random.default_rng(0)),
    "modules": Modules,
    "the global one": Shared,
}


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="these are not to be imported")
@pytest.mark.parametrize("name", MAKERS)
def test_generators_wherever_a_data_set_holds_them(name: str) -> None:
    def drawn(n: int) -> list[float]:
        pg.manual_seed(1)
        options = {"num_workers": n, "multiprocessing_context": "fork"} if n else {}
        loader = data.DataLoader(MAKERS[name](), **options)
        return [x for _ in range(2) for b in loader for x in b.tolist()]

    np.random.seed(5)
    before = np.random.get_state()[1].tolist()
    found = [drawn(n) for n in (0, 1, 3)]
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) == 12
    assert np.random.get_state()[1].tolist() == before


def test_a_generator_of_the_older_kind_is_put_back() -> None:
    dataset = Old(3)
    dataset.rng.standard_normal()  # which keeps another in reserve
    like = np.random.RandomState(3)
    like.standard_normal()
    list(data.DataLoader(dataset))
    assert dataset.rng.standard_normal(3).tolist() == like.standard_normal(3).tolist()


class Slow(Rows):
    def __getitem__(self, i: int) -> float:
        time.sleep(0.004)
        return random.random()


def states() -> Iterator[Any]:
    yield from (random.getstate(), np.random.get_state()[1].tolist(), pg.get_rng_state())


def test_loaders_in_several_threads_leave_the_random_states_as_they_were() -> None:
    """They begin and end their batches in any order; the last one out puts back what the first one found."""
    before = list(states())
    threads = [threading.Thread(target=lambda: list(data.DataLoader(Slow(float)))) for _ in range(3)]
    for thread in threads:
        thread.start()
        time.sleep(0.002)
    for thread in threads:
        thread.join()
    before[2] = list(states())[2]  # each epoch took its seed from there
    assert list(states()) == before


class Inside(Rows):
    """Two numbers, and between them another loader, if wanted."""

    def __init__(self, inner: bool) -> None:
        self.inner = inner

    def __getitem__(self, i: int) -> tuple[float, float]:
        first = random.random()
        if self.inner:
            list(data.DataLoader(Slow(float), generator=pg.Generator(1)))
        return first, random.random()


def test_a_loader_in_a_data_set_leaves_the_outer_batch_its_numbers() -> None:
    loaders = [data.DataLoader(Inside(inner), generator=pg.Generator(2)) for inner in (False, True)]
    found = [[x.item() for batch in loader for x in batch] for loader in loaders]
    assert found[0] == found[1]
