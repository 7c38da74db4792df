"""From spelling to sound: one GRU reads the letters of a word, another one says its phonemes.

    python examples/pretrained/g2p.py plugrad backpropagation

The model and its weights are of g2pE (Park and Kim, 2019), trained on the CMU Pronouncing Dictionary; the idea is of
Sutskever, Vinyals and Le, Sequence to sequence learning with neural networks, 2014.
"""

from __future__ import annotations

import argparse
import sys

import plugrad as pg
from plugrad import data, io, nn

PACKAGE = data.Package("pip", "g2p-en==2.1.0", "2a7aabf1fc7f270fcc3349881407988c9245173c2413debbe5432f4a4f31319f")
FILES = {"g2p_en/checkpoint20.npz": "b8af35e4596d8dd5836dfd3fe9b2ba4f97b9c311efe8879544cbcfcbd566d8c6"}

LETTERS = ["<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz"]
NUMBER = {letter: i for i, letter in enumerate(LETTERS)}
#: of the ARPAbet; the digit behind a vowel is its stress: 1 first, 2 second, 0 none
VOWELS = ["AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"]
CONSONANTS = ["B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N", "NG", "P", "R", "S", "SH", "T", "TH", "V",
              "W", "Y", "Z", "ZH"]  # fmt: skip
STRESSED = [vowel + stress for vowel in VOWELS for stress in "012"]
PHONEMES = ["<pad>", "<unk>", "<s>", "</s>", *sorted([*CONSONANTS, *STRESSED, "UW"])]  # one UW is without a digit
START, STOP = PHONEMES.index("<s>"), "</s>"

MAPPING = io.Mapping(
    io.Rename("enc_emb", "letters.weight"),
    io.Rename("enc_w_{of}", "reader.weight_{of}_l0"),
    io.Rename("enc_b_{of}", "reader.bias_{of}_l0"),
    io.Rename("dec_emb", "phonemes.weight"),
    io.Rename("dec_w_{of}", "speaker.weight_{of}"),
    io.Rename("dec_b_{of}", "speaker.bias_{of}"),
    io.Rename("fc_w", "choice.weight"),
    io.Rename("fc_b", "choice.bias"),
)


class G2P(nn.Module):
    """Words in, phonemes out; all words of a call at once."""

    def __init__(self, width: int = 256) -> None:
        self.letters = nn.Embedding(len(LETTERS), width)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.phonemes = nn.Embedding(len(PHONEMES), width)
        self.speaker = nn.GRUCell(width, width)
        self.choice = nn.Linear(width, len(PHONEMES))

    def read(self, words: list[str]) -> pg.Tensor:
        """What is left in mind after the last letter: (words, width)."""
        spelt = [[NUMBER.get(letter, NUMBER["<unk>"]) for letter in (*word.lower(), STOP)] for word in words]
        x = nn.utils.rnn.pad_sequence([pg.tensor(row) for row in spelt], batch_first=True)
        states: tuple[pg.Tensor, pg.Tensor] = self.reader(self.letters(x), lengths=[len(row) for row in spelt])
        return states[1][0]

    def say(self, said: pg.Tensor, mind: pg.Tensor) -> tuple[pg.Tensor, pg.Tensor]:
        """One step: the scores of the next phoneme (words, phonemes), and the mind after it."""
        mind = self.speaker(self.phonemes(said), mind)
        return self.choice(mind), mind

    def forward(self, words: list[str], longest: int = 20) -> list[list[str]]:
        """The most probable phoneme after each, until STOP."""
        mind, said = self.read(words), pg.full(len(words), START)
        spoken: list[list[str]] = [[] for _ in words]
        for _ in range(longest):
            scores, mind = self.say(said, mind)
            said = scores.argmax(axis=-1)
            for row, i in zip(spoken, said.tolist(), strict=True):
                row.append(PHONEMES[i])
            if all(STOP in row for row in spoken):
                break
        return [row[: [*row, STOP].index(STOP)] for row in spoken]


def load() -> G2P:
    """The model with its weights, fetched on first use (3 MB)."""
    (path,) = data.fetch(PACKAGE, FILES)
    model = G2P()
    model.load_state_dict(MAPPING(io.load(path), model.state_dict()))
    return model.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description="English words to phonemes.")
    parser.add_argument("words", nargs="+", help="English words, also such as are in no dictionary")
    words = parser.parse_args().words
    try:
        model = load()
    except data.FetchError as error:
        sys.exit(f"g2p: {error}")
    with pg.no_grad():
        for word, phonemes in zip(words, model(words), strict=True):
            print(f"{word}: {' '.join(phonemes)}")


if __name__ == "__main__":
    main()
