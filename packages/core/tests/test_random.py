"""Generator: NumPy's Philox stream, state, and the distributions made of it."""

import copy
import math
import pickle

import pytest

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError
from plugrad.ops.generator import seed_key
from plugrad.tools.record import Program

# numpy.random.SeedSequence(seed).generate_state(2, uint64), written down
KEYS = {
    0: (15793235383387715774, 12390638538380655177),
    5: (12631478326263854183, 4464650224815488352),
}


@pytest.fixture
def words():
    device = pg.device()

    def draw(seed, offset, n, generic):
        make = device.xp.philox if generic else lambda *a: device.backend.random_bits(*a, device.index)
        return [int(w) for w in make(seed_key(seed), offset, n)]

    return draw


@pytest.mark.parametrize("generic", [True, False])
def test_the_stream_is_philox(words, generic):
    whole = words(5, 0, 21, generic)
    assert whole[:4] == reference(5, 1)
    assert whole[4:8] == reference(5, 2)
    for offset, n in [(0, 1), (3, 10), (4, 4), (7, 1), (1, 19)]:
        assert words(5, offset, n, generic) == whole[offset : offset + n]
    far = 2**40 + 3
    assert words(5, far, 2, generic) == [reference(5, far // 4 + 1)[3], reference(5, far // 4 + 2)[0]]


def reference(seed, block):
    """Philox4x64-10 of one counter, in plain integers."""
    c, k, word = [block, 0, 0, 0], list(seed_key(seed)), 2**64 - 1
    for _ in range(10):
        p, q = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [q >> 64 ^ c[1] ^ k[0], q & word, p >> 64 ^ c[3] ^ k[1], p & word]
        k = [k[0] + 0x9E3779B97F4A7C15 & word, k[1] + 0xBB67AE8584CAA73B & word]
    return c


def test_seeds_and_positions():
    g = pg.Generator(7)
    first = pg.rand(3, generator=g).tolist()
    assert g.get_state() == (7, 3)
    assert pg.rand(3, generator=g).tolist() != first
    assert pg.rand(3, generator=g.manual_seed(7)).tolist() == first
    assert pg.rand(3, generator=pg.Generator(8)).tolist() != first
    assert pg.Generator().get_state() != pg.Generator().get_state()
    with pytest.raises(ValueError, match="-1"):
        pg.Generator(-1)


def test_state_can_be_read_set_pickled_and_copied():
    g = pg.Generator(3)
    pg.randn(5, generator=g)
    state = g.get_state()
    twins = [pickle.loads(pickle.dumps(g)), copy.deepcopy(g), pg.Generator(99)]
    twins[2].set_state(state)
    want = pg.rand(4, generator=g).tolist()
    assert [pg.rand(4, generator=t).tolist() for t in twins] == [want] * 3


def test_the_default_generator():
    pg.manual_seed(4)
    state = pg.get_rng_state()
    a = pg.rand(2).tolist()
    pg.set_rng_state(state)
    assert pg.rand(2).tolist() == a
    pg.manual_seed(4)
    assert pg.rand(2).tolist() == a


def test_uniform_numbers():
    x = pg.rand(40, 5, generator=pg.Generator(1))
    assert x.shape == (40, 5)
    assert x.dtype == "float32"
    flat = x.reshape(-1).tolist()
    assert 0 <= min(flat) < 0.05 < 0.95 < max(flat) < 1
    wide = pg.rand(40, 5, generator=pg.Generator(1), dtype="float64").reshape(-1).tolist()
    assert flat == pytest.approx(wide, abs=2**-23)
    small = pg.rand(400, generator=pg.Generator(1), dtype="float16")
    assert small.dtype == "float16"
    assert max(small.tolist()) < 1
    low = pg.uniform(-3.0, -1.0, 50, generator=pg.Generator(1)).tolist()
    assert -3 <= min(low) < -2.5 < -1.5 < max(low) < -1
    with pytest.raises(DTypeError, match="int64"):
        pg.rand(2, dtype="int64")


def test_normal_numbers():
    x = pg.randn(601, generator=pg.Generator(2), dtype="float64").tolist()
    mean = sum(x) / len(x)
    var = sum((v - mean) ** 2 for v in x) / len(x)
    assert abs(mean) < 4 / math.sqrt(601)
    assert abs(var - 1) < 4 * math.sqrt(2 / 601)
    g = pg.Generator(2)
    y = pg.randn(601, generator=g).tolist()
    assert y == pytest.approx(x, abs=1e-4)
    assert g.offset == 602  # pairs
    assert pg.randn(generator=g).shape == ()


def test_normal_with_tensors_passes_gradients():
    mean, std = pg.tensor([1.0, 2.0], requires_grad=True), pg.tensor([0.0, 0.0], requires_grad=True)
    x = pg.normal(mean, std)
    assert x.tolist() == [1.0, 2.0]
    x.sum().backward()
    assert mean.grad.tolist() == [1.0, 1.0]


def test_integers():
    x = pg.randint(-2, 3, 200, generator=pg.Generator(3))
    assert x.dtype == "int64"
    assert set(x.tolist()) == {-2, -1, 0, 1, 2}
    assert set(pg.randint(2, (60,), generator=pg.Generator(3)).tolist()) == {0, 1}
    with pytest.raises(ValueError, match="no integers"):
        pg.randint(3, 3, 2)


def test_permutations():
    seen = {tuple(pg.randperm(3, generator=pg.Generator(s)).tolist()) for s in range(60)}
    assert len(seen) == 6
    assert sorted(pg.randperm(17, generator=pg.Generator(1)).tolist()) == list(range(17))
    assert pg.randperm(0).tolist() == []


def test_bernoulli_and_multinomial():
    p = pg.tensor([0.0, 1.0, 0.5])
    draws = [pg.bernoulli(p, generator=pg.Generator(s)).tolist() for s in range(40)]
    assert {d[0] for d in draws} == {0.0}
    assert {d[1] for d in draws} == {1.0}
    assert {d[2] for d in draws} == {0.0, 1.0}
    weights = pg.tensor([[0.0, 3.0, 1.0], [1.0, 0.0, 0.0]])
    x = pg.multinomial(weights, 80, replacement=True, generator=pg.Generator(1))
    assert x.shape == (2, 80)
    assert set(x[1].tolist()) == {0}
    ones = x[0].tolist().count(1)
    assert 45 <= ones <= 75
    assert 0 not in x[0].tolist()
    y = pg.multinomial(weights[0], 2, generator=pg.Generator(1))
    assert sorted(y.tolist()) == [1, 2]
    with pytest.raises(ValueError, match="fewer nonzero"):
        pg.multinomial(weights, 2)
    with pytest.raises(ValueError, match="negative"):
        pg.multinomial(pg.tensor([1.0, -1.0]), 1)
    with pytest.raises(ShapeError, match=r"\(\)"):
        pg.multinomial(pg.tensor(1.0), 1)


def test_keys_are_those_of_numpys_seed_sequence():
    assert {seed: seed_key(seed) for seed in KEYS} == KEYS
    assert len({seed_key(2**k) for k in range(0, 400, 7)}) == len(range(0, 400, 7))


def test_what_the_dtype_does_not_hold_is_refused():
    for low, high in ((0, 257), (-1, 5)):
        with pytest.raises(DTypeError, match=f"randint: {low} to {high - 1} do not fit uint8, which holds 0 to 255"):
            pg.randint(low, high, (3,), dtype="uint8")
    assert pg.randint(256, (50,), dtype="uint8").dtype == "uint8"
    assert pg.randint(2**63, 2**63 + 1, (1,), dtype="uint64").tolist() == [2**63]
    with pytest.raises(DTypeError, match="randperm: 0 to 256 do not fit uint8"):
        pg.randperm(257, dtype="uint8")
    with pytest.raises(DTypeError, match=r"randint: high 2\.5 is no whole number"):
        pg.randint(2.5, (3,))


def test_uniform_numbers_reach_neither_end_by_rounding():
    for dtype in ("float16", "float32"):
        x = pg.uniform(2048, 2050, 300, dtype=dtype, generator=pg.Generator(1))
        assert x.dtype == dtype
        assert 2048 <= x.min().item() <= x.max().item() < 2050
    x = pg.uniform(3.0, 1.0, 100, generator=pg.Generator(1))
    assert 1 < x.min().item() <= x.max().item() <= 3
    wide = pg.uniform(-3e38, 3e38, 100, generator=pg.Generator(1))
    assert wide.isfinite().all()
    assert wide.min().item() < -1e38 < 1e38 < wide.max().item()


def test_seeds_and_states_are_whole_numbers_from_0():
    g = pg.Generator(3)
    for wrong in ((1.5, 0), ("1", 0), (1, 0.5)):
        with pytest.raises(DTypeError, match="is no whole number"):
            g.set_state(wrong)
    with pytest.raises(ValueError, match="Generator: offset -5 is negative"):
        g.set_state((1, -5))
    assert g.get_state() == (3, 0)


def test_probabilities_are_checked():
    for wrong in (1.5, -1.0, math.nan):
        with pytest.raises(ValueError, match="bernoulli: p is a probability"):
            pg.bernoulli(pg.tensor([0.5, wrong]))
    with pytest.raises(DTypeError, match="bernoulli: dtype int64 is not floating"):
        pg.bernoulli(pg.tensor([1]))
    with pytest.raises(DTypeError, match="multinomial: dtype int64 is not floating"):
        pg.multinomial(pg.tensor([1]), 1)
    with pytest.raises(ValueError, match="multinomial: -1 samples"):
        pg.multinomial(pg.ones(3), -1)
    assert pg.bernoulli(pg.ones(3, dtype="float16")).tolist() == [1, 1, 1]


def test_weights_far_apart():
    tiny, huge = pg.tensor([0.0, 1e-40, 0.0]), pg.tensor([3e38, 0.0, 3e38])
    for replacement in (True, False):
        drawn = [pg.multinomial(p, 1, replacement, generator=pg.Generator(s)).item() for p in (tiny, huge)
                 for s in range(20)]  # fmt: skip
        assert set(drawn[:20]) == {1}
        assert set(drawn[20:]) == {0, 2}


def test_events_can_be_recorded():
    g, twin = pg.Generator(1), pg.Generator(1)
    program = Program(lambda p: pg.bernoulli(p * 0.5, generator=g), (pg.ones(20),), {})
    twin.set_state(g.get_state())
    assert program(pg.ones(20)).tolist() == pg.bernoulli(pg.full((20,), 0.5), generator=twin).tolist()
    with pytest.raises(ValueError, match="bernoulli: p is a probability"):
        program(pg.ones(20) * 3)


def test_a_wide_range_is_drawn_at_once():
    assert 0 <= pg.randint(2**62, (3,)).min().item() < 2**62
