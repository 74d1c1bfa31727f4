"""One stage of a run: its view, its losses, its trainer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnloom.errors import TurnloomError
from turnloom.objectives import ContextReplyHeads
from turnloom.objectives.gathering import of_first, world_size
from turnloom.runtime.context_format import ContextFormat
from turnloom.training.budget import Budget
from turnloom.training.clock import RunClock, Window
from turnloom.training.distributed import is_first_process
from turnloom.training.looks import Looks
from turnloom.training.losses import added_parameters, build_losses, context_reply_heads, trained_heads
from turnloom.training.recipe import Recipe, Stage
from turnloom.training.stage_data import StageData

if TYPE_CHECKING:
    from turnloom.training.run import Progress, TrainResult

__all__ = ["StageRun"]

FINISHED = "finished.json"
_NEVER = 10_000_000
WRITES, WRITTEN_A_SECOND = 4, 200_000_000
"""How often the model's bytes are written at the end of a stage and of a run, and how fast a slow disk takes them."""
_HEADS = r"^(?!(?:.*\.)?model\.)|\.(?:classifier|score)\."
"""Matches the names of parameters that do not belong to the encoder: heads, and a cross-encoder's last layer."""


class StageRun:
    """The run of one stage.

    Args:
        recipe: The whole recipe.
        stage: This stage of it.
        model: The encoder or cross-encoder, trained in place.
        heads: The context head and the reply head that it had before, if any.
        context: How contexts become text.
        folder: Where its view and checkpoints go.
        clock: The run's clock.
        window: The part of the run's time that the stage has, if the run has a deadline.
        looks: Validation, if there is any.
        on_progress: Called with what is being done, the part that is done, and a note.
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

    @property
    def _pairs_a_step(self) -> int:
        """Over all processes."""
        return self._stage.batch_size * world_size()

    def train(self, tables: Sequence[Path], resume: bool, result: TrainResult) -> dict[str, Any]:
        """Train, add to the result, and return the losses with what they learned."""
        import torch

        torch.manual_seed(self._recipe.seed)  # The first weights of heads.
        self._model.max_seq_length = self._recipe.model.max_length
        views = StageData(self._recipe, self._stage, self._model, self._context, self._folder, self._on_progress)
        data, parts = views.build(tables, self._pairs_a_step)
        for source, count in views.rows.items():
            result.rows[source] = result.rows.get(source, 0) + count
        losses = build_losses(self._model, parts, self._stage.mini_batch_size, self._heads)
        self._check_heads(losses)
        finished = self._folder / FINISHED
        trainer, budget = self._trainer(data, losses)
        if resume and finished.exists():
            trainer._load_from_checkpoint(str(self._folder / "finished"))
            _add(result, json.loads(finished.read_text(encoding="utf-8")))
        else:
            done = self._done(self._run(trainer, budget, resume), budget)
            _add(result, done)
            if is_first_process():
                trainer._save(str(self._folder / "finished"))
                finished.write_text(json.dumps(done) + "\n", encoding="utf-8")
                self._note_time()
        if self._refit({group: data[group] for group in data if parts[group] is self._stage}, losses):
            self._look(losses, result)
        return losses

    def _check_heads(self, losses: dict[str, Any]) -> None:
        """Before the first step: afterwards all that was learned would be lost."""
        if self._stage is not self._recipe.stages[-1]:
            return
        if self._recipe.refit and context_reply_heads(losses) is None:
            raise TurnloomError("refit needs the head 'context-reply' in the last stage", "change the recipe")
        if self._recipe.keep_heads and not trained_heads(losses):
            problem = "keep_heads needs the head 'context-reply' or a template layer in the last stage"
            raise TurnloomError(problem, "change the recipe")

    def _look(self, losses: dict[str, Any], result: TrainResult) -> None:
        """Validate what heads that were refitted have become: the last point of the curve."""
        if self._looks is None or not is_first_process():
            return
        scores = self._looks.score(self._whole(self._model, losses), self._clock.left - self._saving)
        if math.isfinite(scores["score"]):
            result.curve.append({"step": result.steps, "minutes": result.minutes, **scores})

    @property
    def _saving(self) -> float:
        """About how many seconds it takes to write the model: a checkpoint, at the stage's end and at the run's."""
        size: int = sum(weight.numel() * weight.element_size() for weight in self._model.parameters())
        return WRITES * size / WRITTEN_A_SECOND

    def _reserve(self) -> float:
        """Seconds at the window's end that a look and saving are going to take; noted in the window."""
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
        """Train to the end, from the last checkpoint if there is one to go on from; the trainer's state then."""
        from turnloom.training.trainer import last_checkpoint, state_at_the_end

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
        """What the trainer did."""
        return {
            "steps": state.global_step,
            "pairs": state.global_step * self._pairs_a_step,
            "tokens": budget.tokens,
            "minutes": budget.seconds / 60,
            "curve": _curve(state.log_history),
        }

    def _refit(self, data: dict[str, Any], losses: dict[str, Any]) -> bool:
        """Train the kept heads on, after the last stage and if the recipe says so; whether it did."""
        from turnloom.training.refit import refit_heads

        options = self._recipe.refit
        if options is None or self._stage is not self._recipe.stages[-1]:
            return False
        heads = context_reply_heads(losses)
        assert heads is not None
        seed, bf16 = self._recipe.seed, self._recipe.computes_in_bf16
        show = self._on_progress
        refit_heads(self._model, heads, data, options, bf16=bf16, seed=seed, left=self._refit_left(), on_progress=show)
        return True

    def _refit_left(self) -> Callable[[], float] | None:
        """Seconds left for refitting, the same in all processes; nothing if the run has no deadline."""
        if self._window is None:
            return None
        kept = self._reserve()
        return lambda: of_first(self._clock.left - kept, self._model.device)

    def _trainer(self, data: dict[str, Any], losses: dict[str, Any]) -> tuple[Any, Budget]:
        from datasets import DatasetDict
        from transformers import PrinterCallback

        from turnloom.training.trainer import DialogueTrainer, Pace, RerankerTrainer, Validation

        steps_a_pass = sum(len(part) // self._pairs_a_step for part in data.values())
        steps = self._stage.steps or max(1, round(self._stage.epochs * steps_a_pass))
        if self._window is not None:
            self._window.begins = (
                self._clock.seconds
            )  # The rate follows the time of training, which views have taken from.
        budget = Budget(steps, self._stage.minutes, self._window)
        validation = None
        self._reserve()
        if self._looks is not None:
            looks = self._looks

            def score(model: Any) -> dict[str, float]:
                left = math.inf if self._window is None else self._window.left + self._window.reserved - self._saving
                scores = looks.score(self._whole(model, losses), left)
                self._reserve()
                return {**scores, "minutes": budget.seconds / 60}

            validation = Validation(score)

        def on_step(step: int, part: float, loss: float | None) -> None:
            rate = step * self._pairs_a_step / max(budget.seconds, 1e-6)
            note = f"step {step:,}, {rate:,.0f} pairs/s" + (f", loss {loss:.3f}" if loss is not None else "")
            self._on_progress("training", part, note)

        heads = self._stage.reranks or bool(added_parameters(losses))
        kind = RerankerTrainer if self._stage.reranks else DialogueTrainer
        trainer = kind(
            stage=self._stage,
            budget=budget,
            losses=losses,
            model=self._model,
            args=self._arguments(_NEVER if budget.timed else steps, heads),
            train_dataset=DatasetDict(data) if len(data) > 1 else next(iter(data.values())),
            evaluator=validation,
            callbacks=[Pace(budget, on_step, self._note_time)],
        )
        trainer.remove_callback(PrinterCallback)  # The command line shows what is to be seen.
        return trainer, budget

    def _whole(self, model: Any, losses: dict[str, Any]) -> Any:
        """The model as it will be saved, with its heads if they are kept."""
        from turnloom.training.heads import keep_heads

        heads = trained_heads(losses)
        return keep_heads(model, heads) if self._recipe.keep_heads and heads else model

    def _arguments(self, steps: int, heads: bool) -> Any:
        import torch
        from sentence_transformers import CrossEncoderTrainingArguments, SentenceTransformerTrainingArguments

        from turnloom.training.sampling import BlockShuffle

        recipe, stage = self._recipe, self._stage
        looks = self._looks is not None and recipe.evaluate_every > 0
        kind = CrossEncoderTrainingArguments if stage.reranks else SentenceTransformerTrainingArguments
        return kind(
            output_dir=str(self._folder),
            max_steps=steps,
            per_device_train_batch_size=stage.batch_size,
            learning_rate=stage.encoder_rate,
            learning_rate_mapping={_HEADS: stage.head_rate} if heads else {},
            weight_decay=stage.weight_decay,
            max_grad_norm=stage.max_gradient_norm,
            bf16=recipe.computes_in_bf16,
            use_cpu=not torch.cuda.is_available(),
            batch_sampler=BlockShuffle,
            multi_dataset_batch_sampler="round_robin" if stage.mixing == "equal" else "proportional",
            eval_strategy="steps" if looks else "no",
            eval_steps=recipe.evaluate_every or None,
            save_steps=recipe.evaluate_every if looks else recipe.save_every,
            save_total_limit=2,
            load_best_model_at_end=looks,
            metric_for_best_model="eval_score" if looks else None,
            greater_is_better=True if looks else None,
            logging_steps=10,
            report_to=[recipe.report_to] if recipe.report_to != "none" else [],
            disable_tqdm=True,
            seed=recipe.seed,
            dataloader_drop_last=True,
        )


def _curve(history: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """The validation scores of a trainer's log."""
    points = []
    for entry in history:
        scores = {name.removeprefix("eval_"): value for name, value in entry.items() if name.startswith("eval_")}
        if math.isfinite(scores.get("score", math.nan)):  # A look that was given up has none.
            points.append({"step": entry["step"], **{k: v for k, v in scores.items() if not k.endswith(_TIMES)}})
    return points


_TIMES = ("runtime", "per_second")


def _add(result: TrainResult, done: dict[str, Any]) -> None:
    result.steps += done["steps"]
    result.pairs += done["pairs"]
    result.tokens += done["tokens"]
    result.minutes += done["minutes"]
    result.curve += done["curve"]
