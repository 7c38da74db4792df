"""no_grad and its relatives: nested, raised through, in generators, coroutines and threads."""

import asyncio
import threading

import pytest

import plugrad as pg


def recorded():
    return (pg.tensor(1.0, requires_grad=True) * 1.0).requires_grad


def test_nested_and_restored():
    assert recorded()
    with pg.no_grad():
        assert not recorded()
        with pg.enable_grad():
            assert recorded()
            with pg.set_grad_enabled(False):
                assert not recorded()
        assert not pg.is_grad_enabled()
    assert recorded()


def test_restored_after_an_exception():
    with pytest.raises(ValueError, match="boom"), pg.no_grad():
        raise ValueError("boom")
    assert recorded()


def test_one_object_can_be_entered_again():
    off = pg.no_grad()
    with off, off:
        assert not recorded()
    with off:
        assert not recorded()
    assert recorded()


def test_decorated_functions_may_recurse():
    inside = []

    @pg.no_grad()
    def count(n):
        """Doc."""
        inside.append(recorded())
        return 0 if n == 0 else count(n - 1)

    count(3)
    assert inside == [False] * 4
    assert recorded()
    assert count.__name__ == "count"
    assert count.__doc__ == "Doc."


def test_generators_switch_only_while_they_run():
    closed = []

    @pg.no_grad()
    def numbers():
        try:
            got = yield recorded()
            while True:
                try:
                    got = yield got, recorded()
                except KeyError:
                    got = "caught"
        finally:
            closed.append(recorded())

    it = numbers()
    assert next(it) is False
    assert recorded()
    assert it.send(5) == (5, False)
    assert it.throw(KeyError) == ("caught", False)
    assert recorded()
    it.close()
    assert closed == [False]

    @pg.no_grad()
    def short():
        yield 1
        return 7

    def outer():
        return (yield from short())

    it = outer()
    assert next(it) == 1
    with pytest.raises(StopIteration) as stop:
        next(it)
    assert stop.value.value == 7


def test_coroutines_and_asynchronous_generators():
    @pg.no_grad()
    async def inside():
        await asyncio.sleep(0)
        return recorded()

    @pg.no_grad()
    async def several():
        yield recorded()
        await asyncio.sleep(0)
        yield recorded()

    async def main():
        task = asyncio.create_task(inside())
        before = recorded()
        seen = [x async for x in several()]
        return await task, before, seen, recorded()

    assert asyncio.run(main()) == (False, True, [False, False], True)


def test_threads_have_switches_of_their_own():
    seen = []
    with pg.no_grad():
        thread = threading.Thread(target=lambda: seen.append(recorded()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_default_device_nests():
    home = pg.device()
    with pg.device(str(home)) as d:
        assert d is home
        with home:
            assert pg.zeros(2).device is home
    assert pg.zeros(2).device is home
