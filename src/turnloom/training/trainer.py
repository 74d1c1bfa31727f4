"""Extend sentence-transformers' trainers: checkpoints include the losses' heads, and budgets can be in minutes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import (
    CrossEncoderTrainer,
    CrossEncoderTrainingArguments,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.trainer import BaseTrainer
from torch import nn
from transformers import TrainerCallback, TrainerState

from turnloom.files import write_whole
from turnloom.objectives.gathering import from_first_process, world_size
from turnloom.training.base_model import frozen_rows
from turnloom.training.clock import CLOCK, Budget, rate_factor
from turnloom.training.data import BlockShuffle
from turnloom.training.losses import added_parameters
from turnloom.training.optimizer import MuonAndAdamW, layer_matrices
from turnloom.training.recipe import Recipe, Stage

HEADS, COMPLETE = "heads.safetensors", "complete"
_ADDED = r"^(?!(?:.*\.)?model\.)|\.(?:classifier|score)\."
"""Matches the names of parameters outside the encoder: heads, and a cross-encoder's last layer."""


class _StageTrainer(BaseTrainer):
    """A stage's additions to any of sentence-transformers' trainers."""

    def __init__(self, *, stage: Stage, budget: Budget, losses: dict[str, nn.Module], **options: Any) -> None:
        self._stage = stage
        self._budget = budget
        self._losses = losses
        super().__init__(loss=losses if len(losses) > 1 else next(iter(losses.values())), **options)

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Do nothing: Turnloom writes the card."""

    def create_optimizer(self, model: Any = None) -> Any:
        """Create the optimizer that the stage names."""
        made = self.optimizer is None
        super().create_optimizer(model) if model is not None else super().create_optimizer()
        if made and self._stage.optimizer == "muon":
            adamw: Any = self.optimizer
            self.optimizer = MuonAndAdamW(adamw, layer_matrices(self.model))
        return self.optimizer

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Create a schedule that follows the budget, in steps or in minutes."""
        del num_training_steps
        stage, budget = self._stage, self._budget

        def factor(step: int) -> float:
            return rate_factor(stage.schedule, stage.warmup, budget.progress(step))

        chosen: Any = optimizer or self.optimizer
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(chosen, factor)
        return self.lr_scheduler

    def get_decay_parameter_names(self, model: nn.Module) -> list[str]:
        """Exclude parameters with frozen rows: AdamW would decay these rows even without a gradient."""
        frozen = {name for name, parameter in model.named_parameters() if frozen_rows(parameter)}
        return [name for name in super().get_decay_parameter_names(model) if name not in frozen]

    def compute_loss(self, model: Any, inputs: dict[str, Any], *arguments: Any, **options: Any) -> Any:
        """Compute the loss, and count its tokens."""
        masks = [value for name, value in inputs.items() if name.endswith("attention_mask")]
        self._budget.tokens += sum(int(mask.sum()) for mask in masks)
        return super().compute_loss(model, inputs, *arguments, **options)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        super()._save(output_dir, state_dict)
        heads = {name: value.detach().contiguous() for name, value in added_parameters(self._losses).items()}
        if heads:
            save_file(heads, Path(str(output_dir or self.args.output_dir)) / HEADS)

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:  # type: ignore[override, unused-ignore]
        super()._load_from_checkpoint(checkpoint_path)
        parameters = added_parameters(self._losses)
        if parameters:
            saved = load_file(Path(checkpoint_path) / HEADS)
            with torch.no_grad():
                for name, parameter in parameters.items():
                    parameter.copy_(saved[name])


class DialogueTrainer(_StageTrainer, SentenceTransformerTrainer):
    """The trainer of one stage of an encoder."""


class RerankerTrainer(_StageTrainer, CrossEncoderTrainer):
    """The trainer of one stage of a cross-encoder, whose loss tokenizes texts itself."""

    def compute_loss(self, model: Any, inputs: dict[str, Any], *arguments: Any, **options: Any) -> Any:
        """Compute the loss, and count its tokens."""
        found = super().compute_loss(model, inputs, *arguments, **options)
        losses: list[Any] = list(self._losses.values())
        self._budget.tokens += sum(int(loss.tokens) for loss in losses)
        return found


class Pace(TrainerCallback):
    """Keep the clock, end the run when its budget is spent, and mark complete checkpoints."""

    def __init__(
        self,
        budget: Budget,
        on_step: Callable[[int, float, float | None], None],
        on_save: Callable[[], None] = lambda: None,
    ) -> None:
        self._budget = budget
        self._on_step = on_step
        self._on_save = on_save
        self._loss: float | None = None
        self._steps_before = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Restore the time of an interrupted run."""
        del control, kwargs
        resumed = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if state.global_step and (resumed / CLOCK).exists():
            restored_clock(resumed, self._budget)
        self._steps_before = state.global_step
        self._budget.start_clock()
        self._began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop when time is up; pause the clock during evaluation and saving."""
        del kwargs
        if world_size() > 1:
            self._budget.agree(state.global_step, lambda done: from_first_process(done, args.device))
        part = self._budget.progress(state.global_step)
        self._on_step(state.global_step, part, self._loss)
        if self._budget.window is not None and from_first_process(self._is_last(state.global_step), args.device):
            part = 1.0
        if part >= 1:
            control.should_training_stop = control.should_save = True
            control.should_evaluate = args.eval_strategy != "no"
        elif control.should_evaluate and self._budget.window is not None:
            window = self._budget.window  # Without time for this validation and the final one, skip this one.
            control.should_evaluate = bool(from_first_process(window.left > window.reserved, args.device))
        if control.should_evaluate or control.should_save:
            self._budget.stop_clock()

    def _is_last(self, step: int) -> bool:
        """Whether another step would overshoot the window's end by more than stopping now undershoots it."""
        window = self._budget.window
        assert window is not None
        usual = (time.monotonic() - self._began) / max(1, step - self._steps_before)
        return window.left < usual / 2

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Resume the clock."""
        del args, state, control, kwargs
        self._budget.start_clock()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        """Remember the loss."""
        del args, state, control, kwargs
        self._loss = (logs or {}).get("loss", self._loss)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Mark the checkpoint as complete: a run killed while saving leaves it unmarked."""
        del control, kwargs
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if folder.exists():
            clock = {"seconds": self._budget.seconds, "tokens": self._budget.tokens}
            if self._budget.window is not None:
                clock["begins"] = self._budget.window.begins
            write_whole(folder / CLOCK, json.dumps(clock))
            (folder / COMPLETE).touch()
            self._on_save()


def restored_clock(checkpoint: Path, budget: Budget) -> None:
    """Restore the time and the token count of an interrupted run."""
    clock = json.loads((checkpoint / CLOCK).read_text(encoding="utf-8"))
    budget.spent, budget.tokens = clock["seconds"], clock["tokens"]
    if budget.window is not None:
        budget.window.begins = clock.get("begins", budget.window.begins)


def state_at_the_end(checkpoint: Path, budget: Budget) -> TrainerState | None:
    """Return the state of a run that was interrupted after its last step; None if steps remain.

    A trainer that resumes from such a checkpoint takes one extra step before it checks whether any remain.
    """
    state = TrainerState.load_from_json(str(checkpoint / "trainer_state.json"))
    restored_clock(checkpoint, budget)
    return state if budget.progress(state.global_step) >= 1 else None


def last_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint."""
    whole = [path.parent for path in folder.glob(f"checkpoint-*/{COMPLETE}")]
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def training_arguments(recipe: Recipe, stage: Stage, folder: Path, steps: int, *, heads: bool, looks: bool) -> Any:
    """Return the settings of sentence-transformers' trainer; `heads` if more than the encoder is trained."""
    kind = CrossEncoderTrainingArguments if stage.reranks else SentenceTransformerTrainingArguments
    return kind(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=stage.batch_size,
        learning_rate=stage.encoder_rate,
        learning_rate_mapping={_ADDED: stage.head_rate} if heads else {},
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
