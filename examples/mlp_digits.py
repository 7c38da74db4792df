"""Learn to read handwritten digits: data, a network, training, saving, loading and predicting on one page.

On the best CPU backend that is installed:        python examples/mlp_digits.py
On any other (`python -m plugrad` lists them):    python examples/mlp_digits.py --device numpy
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neural_network import MLPClassifier
from tqdm import tqdm

import plugrad as pg
from plugrad import data, nn, optim


def network() -> nn.Module:
    """An image of 8 × 8 grey values in, ten logits out."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 10))


def train(net: nn.Module, train_set: data.Subset, epochs: int) -> list[float]:
    """Fit the network by cross-entropy; return the loss of each epoch."""
    batches = data.DataLoader(train_set, batch_size=64, shuffle=True)
    optimizer = optim.AdamW(net.parameters(), lr=5e-3, weight_decay=0.05)
    schedule = optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.5)
    losses = []
    for _ in (bar := tqdm(range(epochs), desc="training", unit="epoch")):
        total = 0.0
        for x, y in batches:
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        schedule.step()
        losses.append(total / len(train_set))
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    return losses


def draw(losses: list[float], images: pg.Tensor, digits: pg.Tensor, truth: pg.Tensor, path: Path) -> None:
    """The loss curve, and a sheet of held-out digits with what the network reads; mistakes come first, in red."""
    figure = plt.figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=[1, 1.25])[0]
    curve = left.subplots()
    curve.semilogy(range(1, len(losses) + 1), losses)
    curve.set(xlabel="epoch", ylabel="cross-entropy", title="training loss")
    right.suptitle("held-out digits, as the network reads them")
    mistakes_first = pg.argsort((digits == truth).astype("int64")).tolist()
    for axes, i in zip(right.subplots(4, 8).flat, mistakes_first, strict=False):
        said, meant = int(digits[i]), int(truth[i])
        title, color = (f"{said}", "black") if said == meant else (f"{said}, not {meant}", "red")
        axes.imshow(images[i].numpy(), cmap="gray_r")
        axes.set_title(title, color=color, size=9)
        axes.axis("off")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn to read handwritten digits.")
    parser.add_argument("--device", help="a backend that is installed, as in `numpy` or `cuda:0`")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("build/digits"), help="folder for the weights and the picture")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    plt.switch_backend("Agg")  # draws into files, so no display is needed

    pg.manual_seed(0)
    with pg.device(args.device):  # new tensors go there; so does all that is computed from them
        train_set, held_out = data.random_split(data.digits(), [0.8, 0.2])
        net = network()
        print(f"{net}\n{len(train_set)} digits to learn, {len(held_out)} held out, on {pg.device()}")
        losses = train(net, train_set, args.epochs)

        weights = args.out / "weights.npz"
        np.savez(weights, **{name: value.numpy() for name, value in net.state_dict().items()})
        fresh = network()  # knows nothing yet
        fresh.load_state_dict(np.load(weights))
        images, truth = data.default_collate(list(held_out))
        with pg.no_grad():
            digits = fresh.eval()(images).argmax(axis=-1)
        ours = (digits == truth).astype("float32").mean()

    x, y = data.default_collate(list(train_set))
    rival = MLPClassifier(learning_rate_init=5e-3, random_state=0).fit(x.flatten(1).numpy(), y.numpy())
    theirs = rival.score(images.flatten(1).numpy(), truth.numpy())
    print(f"held-out accuracy: plugrad {ours:.4f}, scikit-learn's MLPClassifier {theirs:.4f}")
    picture = args.out / "digits.png"
    draw(losses, images, digits, truth, picture)
    print(f"weights: {weights.resolve()}\npicture: {picture.resolve()}")


if __name__ == "__main__":
    main()
