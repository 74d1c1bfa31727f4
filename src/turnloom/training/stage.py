"""Run one stage: its data, losses and trainer, and refitting the heads after the last stage."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import DatasetDict
from torch import nn
from transformers import PrinterCallback

from turnloom.errors import TurnloomError
from turnloom.files import write_whole
from turnloom.objectives import ContextReplyHeads
from turnloom.objectives.gathering import from_first_process, is_first_process, world_size
from turnloom.runtime.context_format import ContextFormat
from turnloom.runtime.protocols import Progress
from turnloom.training.clock import Budget, RunClock, Window
from turnloom.training.data import StageData
from turnloom.training.losses import added_parameters, build_losses, context_reply_heads, keep_heads, trained_heads
from turnloom.training.recipe import Part, Recipe, Stage
from turnloom.training.refit import refit_heads
from turnloom.training.trainer import (
    DialogueTrainer,
    Pace,
    RerankerTrainer,
    last_checkpoint,
    state_at_the_end,
    training_arguments,
)
from turnloom.training.validation import Looks, Validation
from turnloom.vectors import VectorTable

FINISHED = "finished.json"
_NEVER = 10_000_000
_TIMES = ("runtime", "per_second")
WRITES, WRITTEN_A_SECOND = 4, 200_000_000
"""How often the model is written at the end of a stage and a run, and the bytes per second of a slow disk."""


class StageRun:
    """The run of one stage, which trains the model in place; `losses` then has the trained loss of each group.

    `heads` are those that the model had before, and `window` is the stage's share of the run's time.
    """

    def __init__(
        self,
        recipe: Recipe,
        stage: Stage,
        model: Any,
        heads: ContextReplyHeads | None,
        context: ContextFormat,
        folder: Path,
        clock: RunClock,
        window: Window | None,
        looks: Looks | None,
        on_progress: Progress,
    ) -> None:
        self._recipe, self._stage, self._context = recipe, stage, context
        self._model, self._heads = model, heads
        self._folder, self._clock, self._window = folder, clock, window
        self._looks, self._on_progress = looks, on_progress
        self._pairs_a_step = stage.batch_size * world_size()
        self._data: dict[str, Any] = {}
        self._owners: dict[str, Part] = {}
        self.losses: dict[str, nn.Module] = {}

    def train(self, tables: Sequence[Path], resume: bool) -> dict[str, Any]:
        """Train; return `steps`, `pairs`, `tokens`, `minutes`, the `curve`, and `rows` by source."""
        torch.manual_seed(self._recipe.seed)  # For the initial weights of heads.
        self._model.max_seq_length = self._recipe.model.max_length
        views = StageData(self._recipe, self._stage, self._model, self._context, self._folder, self._on_progress)
        self._data, self._owners = views.build(tables, self._pairs_a_step)
        self.losses = build_losses(self._model, self._owners, self._stage.mini_batch_size, self._heads)
        self._check_heads()
        finished = self._folder / FINISHED
        trainer, budget = self._trainer()
        if resume and finished.exists():
            trainer._load_from_checkpoint(str(self._folder / "finished"))
            done = json.loads(finished.read_text(encoding="utf-8"))
        else:
            done = self._done(self._run(trainer, budget, resume), budget)
            if is_first_process():
                trainer._save(str(self._folder / "finished"))
                write_whole(finished, json.dumps(done) + "\n")
                self._note_time()
        return {**done, "rows": views.rows}

    def refit(self, stored: VectorTable | None = None) -> dict[str, float]:
        """Train the kept heads further, as the recipe says; return the model's scores, empty without validation.

        Texts in a vector table (`stored`) are not encoded again.
        """
        options, heads = self._recipe.refit, context_reply_heads(self.losses)
        assert options is not None
        assert heads is not None
        left = None
        if self._window is not None:
            kept = self._reserve()
            left = lambda: from_first_process(self._clock.left - kept, self._model.device)  # noqa: E731
        refit_heads(
            self._model,
            heads,
            {group: rows for group, rows in self._data.items() if self._owners[group] is self._stage},
            options,
            bf16=self._recipe.computes_in_bf16,
            seed=self._recipe.seed,
            left=left,
            stored=stored,
            on_progress=self._on_progress,
        )
        if self._looks is None or not is_first_process():
            return {}
        scores = self._looks.score(self._whole(self._model), self._clock.left - self._saving)
        return scores if math.isfinite(scores["score"]) else {}

    def _check_heads(self) -> None:
        """Check the heads before the first step: after training, an error would lose the result."""
        if self._stage is not self._recipe.stages[-1]:
            return
        if self._recipe.refit and context_reply_heads(self.losses) is None:
            raise TurnloomError("refit needs the head 'context-reply' in the last stage", "change the recipe")
        if self._recipe.keep_heads and not trained_heads(self.losses):
            problem = "keep_heads needs the head 'context-reply' or a template layer in the last stage"
            raise TurnloomError(problem, "change the recipe")

    @property
    def _saving(self) -> float:
        """Estimate the seconds for writing the model: a checkpoint, at the end of the stage and of the run."""
        size: int = sum(weight.numel() * weight.element_size() for weight in self._model.parameters())
        return WRITES * size / WRITTEN_A_SECOND

    def _reserve(self) -> float:
        """Estimate the seconds for the final validation and saving, and reserve them in the window."""
        window = self._window
        if window is None:
            return 0.0
        looks = self._looks.expected_seconds(window.ends - window.begins) if self._looks else 0.0
        window.reserved = looks + self._saving
        return window.reserved

    def _note_time(self) -> None:
        if is_first_process():
            self._clock.note(self._folder.parent)

    def _run(self, trainer: Any, budget: Budget, resume: bool) -> Any:
        """Train to the end, from the last checkpoint when resuming; return the trainer's state."""
        checkpoint = last_checkpoint(self._folder) if resume else None
        state = state_at_the_end(checkpoint, budget) if checkpoint else None
        if state is not None:
            best = state.best_model_checkpoint if trainer.args.load_best_model_at_end else None
            trainer._load_from_checkpoint(best or str(checkpoint))
            return state
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        budget.stop_clock()
        return trainer.state

    def _done(self, state: Any, budget: Budget) -> dict[str, Any]:
        """Return what the trainer did."""
        return {
            "steps": state.global_step,
            "pairs": state.global_step * self._pairs_a_step,
            "tokens": budget.tokens,
            "minutes": budget.seconds / 60,
            "curve": _curve(state.log_history),
        }

    def _trainer(self) -> tuple[Any, Budget]:
        steps_a_pass = sum(len(rows) // self._pairs_a_step for rows in self._data.values())
        steps = self._stage.steps or max(1, round(self._stage.epochs * steps_a_pass))
        if self._window is not None:
            # The rate follows the training time, so start the window after views are built.
            self._window.begins = self._clock.seconds
        budget = Budget(steps, self._stage.minutes, self._window)
        self._reserve()

        def on_step(step: int, part: float, loss: float | None) -> None:
            rate = step * self._pairs_a_step / max(budget.seconds, 1e-6)
            note = f"step {step:,}, {rate:,.0f} pairs/s" + (f", loss {loss:.3f}" if loss is not None else "")
            self._on_progress("training", part, note)

        trainer = (RerankerTrainer if self._stage.reranks else DialogueTrainer)(
            stage=self._stage,
            budget=budget,
            losses=self.losses,
            model=self._model,
            args=training_arguments(
                self._recipe,
                self._stage,
                self._folder,
                _NEVER if budget.timed else steps,
                heads=self._stage.reranks or bool(added_parameters(self.losses)),
                looks=self._looks is not None and self._recipe.evaluate_every > 0,
            ),
            train_dataset=DatasetDict(self._data) if len(self._data) > 1 else next(iter(self._data.values())),
            evaluator=self._validation(budget),
            callbacks=[Pace(budget, on_step, self._note_time)],
        )
        trainer.remove_callback(PrinterCallback)  # The command line shows progress itself.
        return trainer, budget

    def _validation(self, budget: Budget) -> Validation | None:
        looks = self._looks
        if looks is None:
            return None

        def score(model: Any) -> dict[str, float]:
            left = math.inf if self._window is None else self._window.left + self._window.reserved - self._saving
            scores = looks.score(self._whole(model), left)
            self._reserve()
            return {**scores, "minutes": budget.seconds / 60}

        return Validation(score)

    def _whole(self, model: Any) -> Any:
        """Return the model as it will be saved, with its heads if they are kept."""
        heads = trained_heads(self.losses)
        return keep_heads(model, heads) if self._recipe.keep_heads and heads else model


def _curve(history: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """Return the validation scores in a trainer's log."""
    points = []
    for entry in history:
        scores = {name.removeprefix("eval_"): value for name, value in entry.items() if name.startswith("eval_")}
        if math.isfinite(scores.get("score", math.nan)):  # An abandoned validation has none.
            points.append({"step": entry["step"], **{k: v for k, v in scores.items() if not k.endswith(_TIMES)}})
    return points
