"""The speech detector: convolutions and an LSTM cell."""

from __future__ import annotations

import wave

import numpy as np
import pytest

import plugrad as pg
from plugrad import io

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def silero(example):
    return example("silero")


@pytest.fixture(scope="module")
def model(silero):
    return silero.load()


@pytest.fixture(scope="module")
def told(reference):
    return reference("silero_vad_16k")


def recorded(path, samples, rate=16_000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples * 32768).round().clip(-32768, 32767).astype("<i2").tobytes())
    return str(path)


def test_every_rule_is_used_and_nothing_is_left_over(silero, model):
    (path,) = silero.data.fetch(silero.PACKAGE, silero.FILES)
    plan = silero.MAPPING.plan(io.load(path), model.state_dict())
    assert plan.fits
    assert plan.idle == []
    assert len(plan.matched) == 15
    assert sum(p.size for p in model.parameters()) == 309_633


def test_probabilities_and_last_state(silero, model, told):
    with pg.no_grad():
        probabilities, (h, c) = model(silero.windows_of(pg.tensor(told["audio16k"])))
    np.testing.assert_allclose(probabilities.numpy(), told["probs"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(h.numpy(), told["h_last"], rtol=0, atol=2e-5)
    np.testing.assert_allclose(c.numpy(), told["c_last"], rtol=0, atol=2e-5)


def test_a_recording_in_two_parts_is_heard_as_in_one(silero, model, told):
    windows, state, parts = silero.windows_of(pg.tensor(told["audio16k"])), None, []
    with pg.no_grad():
        for part in (windows[:17], windows[17:]):
            probabilities, state = model(part, state)
            parts.append(probabilities.numpy())
    np.testing.assert_allclose(np.concatenate(parts), told["probs"], rtol=0, atol=1e-5)


def test_what_lacks_to_a_whole_step_is_silence(silero):
    x = pg.arange(1.0, 701.0)
    windows = silero.windows_of(x).numpy()
    assert windows.shape == (2, 64 + 512)
    assert windows[0].tolist() == [0.0] * 64 + list(range(1, 513))
    assert windows[1].tolist() == [*range(449, 701), *[0.0] * (2 * 512 - 700)]
    assert silero.windows_of(pg.zeros(0)).shape == (1, 64 + 512)


def test_stretches_are_joined(silero):
    assert silero.stretches([0.1, 0.6, 0.9, 0.2, 0.5]) == [(0.032, 0.096), (0.128, 0.16)]
    assert silero.stretches([0.1]) == []


def test_the_program(silero, run, told, tmp_path):
    path = recorded(tmp_path / "speech.wav", told["audio16k"])
    assert run(silero, path) == "   0.10 s to    0.51 s\n   0.80 s to    1.41 s\n"


def test_a_recording_of_another_kind_is_refused(silero, run, told, tmp_path):
    path = recorded(tmp_path / "slow.wav", told["audio16k"], rate=8_000)
    with pytest.raises(SystemExit, match="1 channels of 16 bits, 8000 samples a second; convert it"):
        run(silero, path)
