"""The GRU that reads spelling and says phonemes."""

from __future__ import annotations

import numpy as np
import pytest

import plugrad as pg
from plugrad import io

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def g2p(example):
    return example("g2p")


@pytest.fixture(scope="module")
def model(g2p):
    return g2p.load()


@pytest.fixture(scope="module")
def told(reference):
    return reference("g2p_en")


def test_every_rule_is_used_and_nothing_is_left_over(g2p, model):
    (path,) = g2p.data.fetch(g2p.PACKAGE, g2p.FILES)
    plan = g2p.MAPPING.plan(io.load(path), model.state_dict())
    assert plan.fits
    assert plan.idle == []
    assert len(plan.matched) == 12
    assert "reader.weight_ih_l0 (768, 256) <- enc_w_ih" in str(plan)


def test_the_tables_are_the_original_ones(g2p, told):
    assert told["grapheme_table"].tolist() == g2p.LETTERS
    assert told["phoneme_table"].tolist() == g2p.PHONEMES


def test_hidden_state_and_scores(g2p, model, told):
    words = told["words"].tolist()
    with pg.no_grad():
        mind = model.read(words)
        scores, _ = model.say(pg.full(len(words), g2p.START), mind)
    np.testing.assert_allclose(mind.numpy(), told["enc_hidden"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(scores.numpy(), told["first_logits"], rtol=0, atol=5e-5)


def test_every_word_is_said_as_by_the_original(model, told):
    with pg.no_grad():
        said = model(told["words"].tolist())
    assert told["phonemes"].tolist() == [" ".join(phonemes) for phonemes in said]


def test_a_word_alone_is_said_as_among_longer_ones(model, told):
    with pg.no_grad():
        for word, phonemes in zip(told["words"].tolist(), told["phonemes"].tolist(), strict=True):
            assert [phonemes.split()] == model([word])


def test_it_stops_where_it_is_told_to(model):
    with pg.no_grad():
        assert model(["backpropagation"], longest=3) == [["B", "AE2", "K"]]


def test_the_program(g2p, run):
    assert run(g2p, "plugrad", "Tensor") == "plugrad: P L UW1 G R AH0 D\nTensor: T EH1 N S ER0\n"
