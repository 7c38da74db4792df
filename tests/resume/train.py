"""A training run that may be killed at any moment: `python train.py folder steps workers`. It goes on where it can."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

import plugrad as pg
from plugrad import data, io, nn, optim

SAVE_EVERY = 3


class Noisy(data.Dataset):
    """Samples that draw from all three default generators, as transforms do."""

    def __init__(self) -> None:
        g = np.random.Generator(np.random.Philox(5))
        self.x = g.standard_normal((37, 6)).astype("float32")
        self.y = g.integers(0, 3, 37)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i: int) -> tuple[Any, int, int]:
        noise = random.gauss(0, 0.1) + float(np.random.normal(0, 0.1)) + 0.1 * float(pg.randn(()))
        return self.x[i] + np.float32(noise), int(self.y[i]), i


def main(folder: Path, steps: int, workers: int) -> None:
    random.seed(1)
    np.random.seed(2)
    pg.manual_seed(3)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
    adamw = optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.1)
    schedule = optim.lr_scheduler.StepLR(adamw, 4, 0.7)
    loader = data.DataLoader(Noisy(), batch_size=5, shuffle=True, num_workers=workers)
    averages = pg.zeros((2,))
    path, step = folder / "run.ckpt", 0
    parts = {"model": net, "optimizer": adamw, "schedule": schedule, "loader": loader}
    if path.exists():
        found = io.load_checkpoint(path, **parts)
        step, averages = found["step"], found["averages"]
    with open(folder / "log.jsonl", "a", encoding="utf-8") as log:
        while step < steps:
            for x, y, i in loader:
                loss = nn.functional.cross_entropy(net(x), y)
                adamw.zero_grad()
                loss.backward()
                adamw.step()
                schedule.step()
                averages = averages * 0.9 + pg.stack([loss.detach(), x.mean()]) * 0.1
                step += 1
                if step % SAVE_EVERY == 0:
                    io.save_checkpoint(path, **parts, step=step, averages=averages)
                told = {"step": step, "loss": loss.item().hex(), "seen": i.tolist(), "lr": adamw.param_groups[0]["lr"]}
                log.write(json.dumps(told) + "\n")
                log.flush()
                print(step, flush=True)
                if step == steps:
                    break
    io.save(folder / "last.safetensors", {**net.state_dict(), "averages": averages})
    print("done", os.getpid(), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
