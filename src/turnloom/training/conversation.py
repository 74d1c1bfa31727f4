"""Train a conversation encoder on stored vectors: it takes minutes where training on tokens takes hours."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import nn

from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, write_whole
from turnloom.objectives.gathering import first_process_first, from_first_process, is_first_process, world_size
from turnloom.runtime.conversation import ConversationEncoder, ConversationShape
from turnloom.runtime.conversation_folder import TorchReader, heads_of, own_weights, save_conversation
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.model_folder import NOT_THE_MODEL, model_folder
from turnloom.runtime.protocols import Progress, turn_encoder
from turnloom.training.clock import RunClock, rate_factor
from turnloom.training.conversation_data import ConversationSampler, Part
from turnloom.training.conversation_loss import conversation_loss, fit_gate
from turnloom.training.conversation_recipe import ConversationRecipe
from turnloom.training.folder import CONFIG, WORK, claim
from turnloom.vectors.table import VectorTable

STEP, MOMENTS, NETWORK = "step.json", "optimizer.pt", "network.safetensors"
LARGEST_SHARE = 0.6
"""In half of the steps, meaning gets a random share up to this, so that both halves of a query work at any share."""
GRADIENT_NORM = 1.0


@dataclass
class ConversationResult:
    """What a run did: `contexts` counts repeated ones again, `minutes` counts training alone."""

    folder: Path
    steps: int = 0
    contexts: int = 0
    minutes: float = 0.0
    turns: dict[str, int] = field(default_factory=dict)
    loss: float = 0.0


def train_conversation(
    recipe: ConversationRecipe,
    vectors: Sequence[Path],
    out: Path,
    *,
    minutes: float | None = None,
    began: float | None = None,
    resume: bool = False,
    on_progress: Progress = lambda *_: None,
) -> ConversationResult:
    """Train a conversation encoder on the vectors of turns; the encoder that made them stays as it is.

    Args:
        recipe: The recipe.
        vectors: Vector tables, all made by the recipe's base model.
        out: The new model's folder: a copy of the base model with a conversation encoder in it.
        minutes: How long the run may take, instead of the recipe's steps.
        began: When these minutes began, by `time.monotonic`; by default when the function is called.
        resume: Whether to continue an interrupted run in this folder.
        on_progress: Called with a step, the share of it that is done, and a note.

    Raises:
        TurnloomError: If the vectors are another model's, or the folder contains another run.
    """
    clock = RunClock(minutes, time.monotonic() if began is None else began)
    tables = [VectorTable(folder) for folder in vectors]
    sampler = ConversationSampler(tables, recipe.data, recipe.seed)
    torch.manual_seed(recipe.seed)
    base, network = _network(recipe, sampler)
    if base.resolve() == out.resolve():
        raise TurnloomError(f"{out} is the model to start from", "choose another --out")
    work = out / WORK
    with first_process_first():
        if is_first_process():
            hashes = sorted(table.manifest.content_hash for table in tables)
            claim(recipe, hashes, work, resume=resume)
    clock.resume(work)
    run = _Run(recipe, sampler, network, work, clock, ConversationResult(out, turns=sampler.turns), on_progress)
    result = run.train(resume)
    fit_gate(network, _gate_samplers(recipe, tables), bf16=recipe.computes_in_bf16, on_progress=on_progress)
    if is_first_process():
        _save(network, base, out)
        summary = {"steps": result.steps, "contexts": result.contexts, "minutes": result.minutes, "turns": result.turns}
        write_whole(work / "result.json", json.dumps(summary, indent=1) + "\n")
        run.clear()
    return result


def _network(recipe: ConversationRecipe, sampler: ConversationSampler) -> tuple[Path, ConversationNetwork]:
    """Return the base model's folder, and the network to train: a new one, or the one in the folder."""
    options = recipe.model
    if options.start is None:
        raise TurnloomError(f"the recipe {recipe.name!r} does not say what to start from", "give --start FOLDER")
    folder = model_folder(options.start)
    encoder = load_encoder(folder)
    below = turn_encoder(encoder)
    # Vectors made in bfloat16 differ slightly, but are good enough to train on.
    if sampler.fingerprint.removesuffix("-bf16") != below.fingerprint:
        made_by = sampler.tables[0].manifest.model
        raise TurnloomError(
            f"{sampler.tables[0].folder} holds vectors of {made_by}, not of {folder}",
            f"make them again with: turnloom vectors TABLE --model {folder} --out FOLDER",
        )
    if options.adapt:
        if not isinstance(encoder, ConversationEncoder) or not isinstance(encoder.reader, TorchReader):
            raise TurnloomError(f"{folder} has no conversation encoder to adapt", "leave --adapt out to train one")
        network = encoder.reader.network
        network.set_dropout(options.dropout)
        return folder, network
    heads = heads_of(below)
    shape = ConversationShape(
        width=sampler.width,
        uses_heads=bool(heads),
        encoder=below.fingerprint,
        **options.model_dump(include={"size", "layers", "heads", "reply_size", "max_turns"}),
    )
    return folder, ConversationNetwork(shape, **heads, dropout=options.dropout)


def _gate_samplers(recipe: ConversationRecipe, tables: Sequence[VectorTable]) -> list[ConversationSampler]:
    found = []
    parts: tuple[Part, ...] = ("held-out", "unlike")
    for part in parts:
        with suppress(TurnloomError):  # There may be too few dialogues to hold any out, or no `unlike` sources.
            found.append(ConversationSampler(tables, recipe.data, recipe.seed, part))
    return found


def _save(network: ConversationNetwork, base: Path, out: Path) -> None:
    """Write the base model's files, with the conversation encoder added."""
    whole = WholeFolder(out, CONFIG, "a model", keep_others=True)
    for path in base.iterdir():
        if path.name in NOT_THE_MODEL or path.name.startswith("."):
            continue
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, whole.new / path.name)
    save_conversation(network, whole.new)
    whole.commit()


class _Run:
    """The steps of a run, from the last checkpoint."""

    def __init__(
        self,
        recipe: ConversationRecipe,
        sampler: ConversationSampler,
        network: ConversationNetwork,
        work: Path,
        clock: RunClock,
        result: ConversationResult,
        on_progress: Progress,
    ) -> None:
        self._recipe, self._sampler, self._network = recipe, sampler, network
        self._work, self._clock, self.result, self._on_progress = work, clock, result, on_progress
        self._trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(self._trained, lr=recipe.rate, weight_decay=recipe.weight_decay)
        self._window = clock.window(0, 1, refits=False)

    def train(self, resume: bool) -> ConversationResult:
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
        windows, rank = self._recipe.data.windows, dist.get_rank() if world_size() > 1 else 0
        step = self.result.steps
        torch.manual_seed(hash((self._recipe.seed, step, rank)) % 2**31)  # The same dropout after an interruption.
        batch = self._sampler.batch(step, rank, world_size())
        share = (
            torch.rand((), generator=torch.Generator().manual_seed(step)).item() * LARGEST_SHARE if step % 2 else None
        )
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate * rate_factor("onecycle", 0.0, part)
        self._optimizer.zero_grad()
        loss = conversation_loss(
            self._network,
            batch,
            bf16=self._recipe.computes_in_bf16,
            share=share,
            window=windows[step % len(windows)] if windows else None,
            inverse_frequency=self._recipe.inverse_frequency,
        )
        loss.backward()
        seen = torch.tensor([float(len(batch.text)), loss.item()])
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

    def clear(self) -> None:
        """Remove the files that only an unfinished run needs."""
        for folder in self._checkpoints():
            shutil.rmtree(folder)
