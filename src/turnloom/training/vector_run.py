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
from turnloom.objectives.gathering import first_process_first, from_first_process, is_first_process, world_size
from turnloom.runtime.conversation_folder import own_weights
from turnloom.runtime.model_folder import NOT_THE_MODEL
from turnloom.runtime.protocols import Encoder, Progress
from turnloom.training.clock import RunClock, rate_factor
from turnloom.training.folder import CONFIG, WORK, claim
from turnloom.training.vector_recipe import VectorRecipe
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
        network: The network; all weights that require a gradient are trained.
        loss: Returns the loss of a step and the number of contexts in it, given the step and the share of the run
            that is done; with several processes, those of this one's share.
        work: Where checkpoints go.
        clock: The budget.
        result: Where the run notes what it did.
        on_progress: Called with a step, the share of it that is done, and a note.
    """

    def __init__(
        self,
        recipe: VectorRecipe,
        network: nn.Module,
        loss: Callable[[int, float], tuple[Tensor, int]],
        work: Path,
        clock: RunClock,
        result: VectorResult,
        on_progress: Progress,
    ) -> None:
        self._recipe, self._network, self._loss = recipe, network, loss
        self._work, self._clock, self.result, self._on_progress = work, clock, result, on_progress
        self._trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(self._trained, lr=recipe.rate, weight_decay=recipe.weight_decay)
        self._window = clock.window(0, 1, refits=False)

    def train(self, resume: bool) -> VectorResult:
        """Train to the end of the budget."""
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
        return result

    def _part(self) -> float:
        """Return the share of the run that is done, by steps or by time, the same in all processes."""
        if self._window is None:
            return min(1.0, self.result.steps / self._recipe.steps)
        return from_first_process(self._window.progress, torch.device("cpu"))

    def _step(self, part: float) -> tuple[int, float]:
        """Take one step; return the number of contexts in all processes, and the loss."""
        rank = dist.get_rank() if world_size() > 1 else 0
        # The same dropout after an interruption.
        torch.manual_seed(hash((self._recipe.seed, self.result.steps, rank)) % 2**31)
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate * rate_factor("onecycle", 0.0, part)
        self._optimizer.zero_grad()
        loss, contexts = self._loss(self.result.steps, part)
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

    def finish(self) -> None:
        """Note what the run did, and remove the files that only an unfinished run needs."""
        summary = {name: getattr(self.result, name) for name in ("steps", "contexts", "minutes", "turns")}
        write_whole(self._work / "result.json", json.dumps(summary, indent=1) + "\n")
        for folder in self._checkpoints():
            shutil.rmtree(folder)


def check_vectors(table: VectorTable, fingerprint: str, encoder: Encoder, folder: Path) -> None:
    """Check that vectors were made by a model's turn encoder.

    Raises:
        TurnloomError: If another model made them.
    """
    # Vectors made in bfloat16 differ slightly, but are good enough to train on.
    if fingerprint.removesuffix("-bf16") != encoder.fingerprint:
        raise TurnloomError(
            f"{table.folder} holds vectors of {table.manifest.model}, not of {folder}",
            f"make them again with: turnloom vectors TABLE --model {folder} --out FOLDER",
        )


def claim_folder(recipe: VectorRecipe, tables: Sequence[VectorTable], base: Path, out: Path, *, resume: bool) -> Path:
    """Return the folder for a run's own files, after checking that this run may write there.

    Raises:
        TurnloomError: If the folder is that of the base model, or contains another run.
    """
    if base.resolve() == out.resolve():
        raise TurnloomError(f"{out} is the model to start from", "choose another --out")
    with first_process_first():
        if is_first_process():
            claim(recipe, sorted(table.manifest.content_hash for table in tables), out / WORK, resume=resume)
    return out / WORK


def save_copy(base: Path, out: Path, add: Callable[[Path], None], without: Sequence[str] = ()) -> None:
    """Write the base model's files except those named, and let `add` write what was trained beside them."""
    whole = WholeFolder(out, CONFIG, "a model", keep_others=True)
    for path in base.iterdir():
        if path.name in NOT_THE_MODEL or path.name.startswith(".") or path.name in without:
            continue
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, whole.new / path.name)
    add(whole.new)
    whole.commit()
