"""Where an epoch stands, as plain numbers."""

from __future__ import annotations

from typing import Any

__all__ = ["Place"]


class Place:
    """Batches that were given; of a stream also how many each worker gave, its own state, and whose turn is next."""

    def __init__(self, workers: int, batches: int = 0, stream: dict[str, Any] | None = None) -> None:
        n = max(workers, 1)
        if stream is not None and len(stream["taken"]) != n:
            raise ValueError(
                f"DataLoader: the state is of a stream divided among {len(stream['taken'])} workers, this loader has "
                f"{workers}: their samples differ; use the same num_workers until the epoch is over"
            )
        found = stream or {"taken": [0] * n, "states": [None] * n, "turn": 0}
        self.batches, self.turn = batches, found["turn"]
        self.taken, self.states = list(found["taken"]), list(found["states"])

    def took(self, worker: int, state: Any) -> None:
        """A batch of this worker's was given."""
        self.taken[worker] += 1
        self.states[worker] = state
        self.turn = (worker + 1) % len(self.taken)

    def stream(self) -> dict[str, Any]:
        return {"taken": list(self.taken), "states": list(self.states), "turn": self.turn}
