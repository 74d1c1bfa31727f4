"""Probes: a small network on a frozen encoder's vectors, tuned on validation data (DiaEval, section 3.1)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.runtime.protocols import Context

if TYPE_CHECKING:
    import torch

EPOCHS, PATIENCE, BATCH = 40, 5, 256
Floats = npt.NDArray[Any]
Targets = npt.NDArray[np.bool_]
Score = Callable[[Floats, Targets], float]


@dataclass(frozen=True)
class Setting:
    """One point of the grid; with 0 hidden units, the probe is linear."""

    hidden: int
    rate: float


GRID = tuple(Setting(hidden, rate) for hidden in (0, 256) for rate in (1e-3, 1e-2))


@dataclass(frozen=True)
class ProbeData:
    """Vectors and targets, a boolean matrix with one row per example and one column per label or class."""

    vectors: Floats
    targets: Targets


def _network(dimensions: int, priors: Floats, hidden: int, exclusive: bool) -> torch.nn.Module:
    """Return a network that initially predicts label frequencies, and stays there if vectors are uninformative."""
    import torch

    last = torch.nn.Linear(hidden or dimensions, len(priors))
    torch.nn.init.zeros_(last.weight)
    odds = np.log(priors) if exclusive else np.log(priors / (1 - priors))
    last.bias.data = torch.tensor(odds, dtype=torch.float32)
    if not hidden:
        return last
    return torch.nn.Sequential(torch.nn.Linear(dimensions, hidden), torch.nn.ReLU(), last)


def fit_probe(
    train: ProbeData,
    validation: ProbeData,
    score: Score,
    setting: Setting,
    *,
    exclusive: bool,
    seed: int,
) -> tuple[Callable[[Floats], Floats], float]:
    """Train a probe until validation stops improving; return a function from vectors to outputs, and its score.

    With one class per row (`exclusive`), the score decides when to stop. With several labels, the loss does:
    uninformative vectors never lower it, so the probe stays at label frequencies, where macro F1 would reward guessing.
    """
    import torch

    mean, spread = train.vectors.mean(axis=0), train.vectors.std(axis=0)
    # Constant dimensions carry no information, and scaling must not amplify their rounding errors.
    scale = np.where(spread > 1e-6, spread, np.inf)
    count = len(train.targets)
    priors = np.clip(train.targets.mean(axis=0), 0.5 / count, 1 - 0.5 / count)

    def standardised(vectors: Floats) -> torch.Tensor:
        return torch.tensor((vectors - mean) / scale, dtype=torch.float32)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _network(train.vectors.shape[1], priors, setting.hidden, exclusive)
        inputs, targets = standardised(train.vectors), torch.tensor(train.targets, dtype=torch.float32)
        seen, expected = standardised(validation.vectors), torch.tensor(validation.targets, dtype=torch.float32)
        loss = torch.nn.CrossEntropyLoss() if exclusive else torch.nn.BCEWithLogitsLoss(reduction="mean")
        optimiser = torch.optim.AdamW(network.parameters(), lr=setting.rate, weight_decay=1e-2, fused=True)

        def outputs_of(values: torch.Tensor) -> Floats:
            with torch.inference_mode():
                return np.asarray(network(values).numpy())

        def badness() -> float:
            with torch.inference_mode():
                outputs = network(seen)
                return -score(outputs.numpy(), validation.targets) if exclusive else float(loss(outputs, expected))

        best, waited, state = badness(), 0, copy.deepcopy(network.state_dict())
        for _ in range(EPOCHS):
            for places in torch.split(torch.randperm(count), BATCH):
                optimiser.zero_grad()
                loss(network(inputs[places]), targets[places]).backward()
                optimiser.step()
            reached = badness()
            if reached < best:
                best, waited, state = reached, 0, copy.deepcopy(network.state_dict())
            elif (waited := waited + 1) >= PATIENCE:
                break
        network.load_state_dict(state)
    return (lambda vectors: outputs_of(standardised(vectors))), score(outputs_of(seen), validation.targets)


def choose_setting(
    train: ProbeData,
    validation: ProbeData,
    score: Score,
    *,
    exclusive: bool,
    seed: int,
    grid: Sequence[Setting] = GRID,
) -> Setting:
    """Return the setting of the grid with the best validation score; the first if several tie."""
    reached = [fit_probe(train, validation, score, point, exclusive=exclusive, seed=seed)[1] for point in grid]
    return grid[int(np.argmax(reached))]


def probe_contexts(
    encoder: CachedEncoder,
    splits: Mapping[str, tuple[Sequence[Context], Targets]],
    score: Score,
    *,
    heads: bool = False,
    exclusive: bool,
    draws: int,
    seed: int,
) -> list[Floats]:
    """Return the outputs of probes with different initial weights on the test contexts; tune once, on validation."""
    # Encode all at once, so that texts of similar length share a batch.
    vectors = encoder.encode_contexts([context for contexts, _ in splits.values() for context in contexts], heads)
    ends = np.cumsum([len(contexts) for contexts, _ in splits.values()])[:-1]
    data = {
        part: ProbeData(rows, targets)
        for (part, (_, targets)), rows in zip(splits.items(), np.split(vectors, ends), strict=True)
    }
    fitting = (data["train"], data["validation"], score)
    setting = choose_setting(*fitting, exclusive=exclusive, seed=seed)
    probes = [fit_probe(*fitting, setting, exclusive=exclusive, seed=seed + draw)[0] for draw in range(draws)]
    return [predict(data["test"].vectors) for predict in probes]
