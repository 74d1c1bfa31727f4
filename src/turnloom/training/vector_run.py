"""Train a small network on stored vectors: the steps, checkpoints and budget that all such recipes share."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, write_whole
from turnloom.objectives.gathering import (
    first_process_first,
    from_first_process,
    is_first_process,
    process_number,
    world_size,
)
from turnloom.runtime.conversation_folder import own_weights
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.model_folder import NOT_THE_MODEL, model_folder
from turnloom.runtime.protocols import Encoder, Progress, in_full_precision, turn_encoder
from turnloom.training.clock import RunClock, rate_factor
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.folder import CONFIG, WORK, claim
from turnloom.training.vector_recipe import ConversationRecipe, RerankRecipe, VectorRecipe
from turnloom.vectors.table import VectorTable

STEP, MOMENTS, NETWORK = "step.json", "optimizer.pt", "network.safetensors"
GRADIENT_NORM = 1.0


@dataclass
class VectorResult:
    """What a run did: `contexts` counts repeated ones again, `minutes` counts training alone."""

    folder: Path
    steps: int = 0
    contexts: int = 0
    minutes: float = 0.0
    turns: dict[str, int] = field(default_factory=dict)
    loss: float = 0.0


class VectorRun:
    """The steps of a run, from the last checkpoint.

    Args:
        recipe: The recipe.
        sampler: The dialogues to learn from.
        network: The network; all weights that require a gradient are trained.
        loss: Returns the loss of a step and the number of contexts in it; with several processes, those of this one's
            share.
        base: The base model's folder.
        out: The new model's folder: a copy of the base model with what was trained in it.
        on_progress: Called with a step, the share of it that is done, and a note.
    """

    def __init__(
        self,
        recipe: VectorRecipe,
        sampler: ConversationSampler,
        network: nn.Module,
        loss: Callable[[int], tuple[Tensor, int]],
        base: Path,
        out: Path,
        on_progress: Progress,
    ) -> None:
        self._recipe, self._network, self._loss = recipe, network, loss
        self._tables, self._base, self._out = sampler.tables, base, out
        self._work, self._on_progress = out / WORK, on_progress
        self.result = VectorResult(out, turns=sampler.turns)
        self._trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(self._trained, lr=recipe.rate, weight_decay=recipe.weight_decay)

    def train(self, minutes: float | None, began: float, *, resume: bool) -> None:
        """Train to the end of the budget: so many minutes since `began`, or the recipe's steps.

        Raises:
            TurnloomError: If the new model's folder is that of the base model, or contains another run.
        """
        self._claim(resume)
        self._clock = RunClock(minutes, began)
        self._clock.resume(self._work)
        self._window = self._clock.window(0, 1, refits=False)
        result, checkpoint = self.result, self._last_checkpoint() if resume else None
        if checkpoint is not None:
            self._restore(checkpoint)
        self._network.train()
        began, before, seen = time.monotonic(), result.minutes, 0
        while (part := self._part()) < 1:
            contexts, result.loss = self._step(part)
            result.steps, result.contexts = result.steps + 1, result.contexts + contexts
            seen += contexts
            seconds = time.monotonic() - began
            result.minutes = before + seconds / 60
            if result.steps % 20 == 0:
                note = f"step {result.steps:,}, {seen / seconds:,.0f} contexts/s, loss {result.loss:.3f}"
                self._on_progress("training", self._part(), note)
            if result.steps % self._recipe.save_every == 0 and is_first_process():
                self._checkpoint()
        self._on_progress("training", 1.0, f"{result.steps:,} steps, {result.contexts:,} contexts")
        self._network.eval()

    def _claim(self, resume: bool) -> None:
        if self._base.resolve() == self._out.resolve():
            raise TurnloomError(f"{self._out} is the model to start from", "choose another --out")
        with first_process_first():
            if is_first_process():
                hashes = sorted(table.manifest.content_hash for table in self._tables)
                claim(self._recipe, hashes, self._work, resume=resume)

    def _part(self) -> float:
        """Return the share of the run that is done, by steps or by time, the same in all processes."""
        if self._window is None:
            return min(1.0, self.result.steps / self._recipe.steps)
        return from_first_process(self._window.progress, torch.device("cpu"))

    def _step(self, part: float) -> tuple[int, float]:
        """Take one step; return the number of contexts in all processes, and the loss."""
        # The same dropout after an interruption.
        torch.manual_seed(hash((self._recipe.seed, self.result.steps, process_number())) % 2**31)
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate * rate_factor("onecycle", 0.0, part)
        self._optimizer.zero_grad()
        loss, contexts = self._loss(self.result.steps)
        loss.backward()
        seen = torch.tensor([float(contexts), loss.item()])
        if world_size() > 1:
            dist.all_reduce(seen)
            for parameter in self._trained:
                parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                dist.all_reduce(parameter.grad)
        nn.utils.clip_grad_norm_(self._trained, GRADIENT_NORM)
        self._optimizer.step()
        return int(seen[0]), float(seen[1])

    def _checkpoint(self) -> None:
        """Write everything that the next step depends on, completely or not at all."""
        folder = self._work / f"checkpoint-{self.result.steps}"
        whole = WholeFolder(folder, STEP, "a checkpoint")
        save_file(own_weights(self._network), whole.new / NETWORK)
        torch.save(self._optimizer.state_dict(), whole.new / MOMENTS)
        state = {name: getattr(self.result, name) for name in ("steps", "contexts", "minutes")}
        (whole.new / STEP).write_text(json.dumps(state) + "\n", encoding="utf-8")
        whole.commit()
        self._clock.note(self._work)
        for older in self._checkpoints():
            if older != folder:
                shutil.rmtree(older)

    def _checkpoints(self) -> list[Path]:
        return [path.parent for path in self._work.glob(f"checkpoint-*/{STEP}")]

    def _last_checkpoint(self) -> Path | None:
        return max(self._checkpoints(), key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def _restore(self, folder: Path) -> None:
        self._network.load_state_dict(load_file(folder / NETWORK), strict=False)
        self._optimizer.load_state_dict(torch.load(folder / MOMENTS, weights_only=True))
        for name, value in json.loads((folder / STEP).read_text(encoding="utf-8")).items():
            setattr(self.result, name, value)

    def save(self, add: Callable[[Path], None]) -> None:
        """Write the base model's files, let `add` write what was trained beside them, and end the run."""
        if not is_first_process():
            return
        whole = WholeFolder(self._out, CONFIG, "a model", keep_others=True)
        for path in self._base.iterdir():
            if path.name not in NOT_THE_MODEL and not path.name.startswith("."):
                (shutil.copytree if path.is_dir() else shutil.copyfile)(path, whole.new / path.name)
        add(whole.new)
        whole.commit()
        summary = {name: getattr(self.result, name) for name in ("steps", "contexts", "minutes", "turns")}
        write_whole(self._work / "result.json", json.dumps(summary, indent=1) + "\n")
        for folder in self._checkpoints():
            shutil.rmtree(folder)


def open_sampler(recipe: ConversationRecipe | RerankRecipe, vectors: Sequence[Path]) -> ConversationSampler:
    """Open vector tables for a recipe, and set the seed of all that follows."""
    sampler = ConversationSampler([VectorTable(folder) for folder in vectors], recipe.data, recipe.seed)
    torch.manual_seed(recipe.seed)
    return sampler


def base_model(recipe: VectorRecipe, sampler: ConversationSampler) -> tuple[Path, Encoder]:
    """Return the folder of a recipe's base model, and its encoder.

    Raises:
        TurnloomError: If the recipe names none, or another model made the vectors.
    """
    if recipe.model.start is None:
        raise TurnloomError(f"the recipe {recipe.name!r} does not say what to start from", "give --start FOLDER")
    folder = model_folder(recipe.model.start)
    encoder = load_encoder(folder)
    # Vectors made in bfloat16 differ slightly, but are good enough to train on.
    if in_full_precision(sampler.fingerprint) != turn_encoder(encoder).fingerprint:
        table = sampler.tables[0]
        raise TurnloomError(
            f"{table.folder} holds vectors of {table.manifest.model}, not of {folder}",
            f"make them again with: turnloom vectors TABLE --model {folder} --out FOLDER",
        )
    return folder, encoder
