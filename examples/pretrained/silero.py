"""Where in a recording somebody speaks: the speech detector of Silero, convolutions and an LSTM.

    python examples/pretrained/silero.py recording.wav          16-bit mono, 16,000 samples a second

The model and its weights are of the Silero team, Silero VAD, 2021 to 2026.
"""

from __future__ import annotations

import argparse
import sys
import wave

import numpy as np

import plugrad as pg
from plugrad import data, io, nn

PACKAGE = data.Package("pip", "silero-vad==6.2.3", "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8")
FILES = {
    "silero_vad/data/silero_vad_16k.safetensors": "c59271c284ae9c8335d795d60e0bfdb71aaaceec578d9bd9ffc1b8153c319ea1"
}

RATE, STEP, BEFORE, AFTER = 16_000, 512, 64, 64  # samples: a second, a step, what is seen around a step
BANDS = 129

MAPPING = io.Mapping(
    io.Rename("stft_conv.weight", "waves.weight"),
    *[io.Rename(f"conv{i + 1}.{{kind}}", f"convs.{2 * i}.{{kind}}") for i in range(4)],
    io.Rename("lstm_cell.{rest}", "memory.{rest}"),
    io.Rename("final_conv.{kind}", "choice.{kind}"),
)
State = tuple[pg.Tensor, pg.Tensor]


class Silero(nn.Module):
    """The probability of speech in each step of 512 samples, given all steps before."""

    def __init__(self) -> None:
        self.waves = nn.Conv1d(1, 2 * BANDS, 256, stride=128, bias=False)  # a Fourier transform: cosines, then sines
        self.convs = nn.Sequential(
            nn.Conv1d(BANDS, 128, 3, padding=1), nn.ReLU(),
            nn.Conv1d(128, 64, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv1d(64, 64, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv1d(64, 128, 3, padding=1), nn.ReLU(),
        )  # fmt: skip
        self.memory = nn.LSTMCell(128, 128)
        self.choice = nn.Conv1d(128, 1, 1)

    def heard(self, windows: pg.Tensor) -> pg.Tensor:
        """What a step sounds like: (steps, 128), of windows (steps, BEFORE + STEP)."""
        x = nn.functional.pad(windows, (0, AFTER), mode="reflect")
        x = self.waves(x.expand_dims(1))
        loud = (x[:, :BANDS] ** 2 + x[:, BANDS:] ** 2).sqrt()
        y: pg.Tensor = self.convs(loud)
        return y.squeeze(-1)

    def forward(self, windows: pg.Tensor, state: State | None = None) -> tuple[pg.Tensor, State | None]:
        """(probabilities (steps,), state), of windows (steps, BEFORE + STEP); the state makes the next call go on."""
        minds = []
        for x in self.heard(windows):
            mind, cell = self.memory(x, state)
            minds.append(mind)
            state = mind, cell
        scores = self.choice(pg.stack(minds).relu().expand_dims(-1))
        return scores.sigmoid().reshape(-1), state


def windows_of(samples: pg.Tensor) -> pg.Tensor:
    """Each step with the samples before it, silence before the first and after the last: (steps, BEFORE + STEP)."""
    steps = max(-(-len(samples) // STEP), 1)
    x = nn.functional.pad(samples, (BEFORE, steps * STEP - len(samples)))
    return pg.stack([x[i * STEP : (i + 1) * STEP + BEFORE] for i in range(steps)])


def load() -> Silero:
    """The model with its weights, fetched on first use (11 MB)."""
    (path,) = data.fetch(PACKAGE, FILES)
    model = Silero()
    model.load_state_dict(MAPPING(io.load(path), model.state_dict()))
    return model.eval()


def read(path: str) -> pg.Tensor:
    """The samples of a recording, from -1 to 1."""
    with wave.open(path) as file:
        kind = file.getnchannels(), file.getsampwidth(), file.getframerate()
        if kind != (1, 2, RATE):
            raise ValueError(
                f"{path} has {kind[0]} channels of {8 * kind[1]} bits, {kind[2]} samples a second; "
                f"convert it to one channel of 16 bits, {RATE} samples a second"
            )
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return pg.tensor(samples.astype(np.float32) / 32768)


def stretches(probabilities: list[float], least: float = 0.5) -> list[tuple[float, float]]:
    """Beginning and end, in seconds, of each stretch of steps that are speech."""
    found: list[tuple[float, float]] = []
    for i, p in enumerate(probabilities):
        start, stop = i * STEP / RATE, (i + 1) * STEP / RATE
        if p >= least and found and found[-1][1] == start:
            start = found.pop()[0]
        if p >= least:
            found.append((start, stop))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Where in a recording somebody speaks.")
    parser.add_argument("recording", help="a .wav file, 16-bit mono, 16,000 samples a second")
    path = parser.parse_args().recording
    try:
        samples, model = read(path), load()
    except (OSError, ValueError, wave.Error) as error:
        sys.exit(f"silero: {error}")
    with pg.no_grad():
        probabilities, _ = model(windows_of(samples))
    for start, stop in stretches(probabilities.tolist()):
        print(f"{start:7.2f} s to {stop:7.2f} s")


if __name__ == "__main__":
    main()
