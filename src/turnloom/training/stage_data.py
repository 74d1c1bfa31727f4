"""The data of a stage: its views, built and read, and their rows turned into what the losses take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import ContextFormat
from turnloom.training.distributed import first_process_first
from turnloom.training.recipe import Part, Recipe, Stage
from turnloom.training.reply_pairs import ToReplyPairs
from turnloom.training.start import add_tokens
from turnloom.training.texts import ToText
from turnloom.views import LabelledPairs, Manipulations, Matching, build_view, load_view
from turnloom.views.manipulations import MARKS, Task

if TYPE_CHECKING:
    from turnloom.training.run import Progress

__all__ = ["StageData"]


class StageData:
    """The views of a stage, with the words that they add to the model's tokenizer.

    Args:
        recipe: The whole recipe.
        stage: The stage.
        model: The encoder or cross-encoder.
        context: How contexts become text.
        folder: Where the views go.
        on_progress: Called with what is being done, the part that is done, and a note.

    Attributes:
        rows: Training pairs by source, after `build`.
    """

    def __init__(
        self, recipe: Recipe, stage: Stage, model: Any, context: ContextFormat, folder: Path, on_progress: Progress
    ) -> None:
        self._recipe, self._stage, self._model, self._context = recipe, stage, model, context
        self._folder, self._on_progress = folder, on_progress
        self.rows: dict[str, int] = {}

    def build(self, tables: Sequence[Path], pairs_a_step: int) -> tuple[dict[str, Any], dict[str, Part]]:
        """The dataset of each group of each view, its rows turned into text as they are read; and the group's part."""
        data: dict[str, Any] = {}
        owners: dict[str, Part] = {}
        parts = [self._stage, *self._stage.also]
        for number, part in enumerate(parts):
            found = self._view(part, self._folder / (f"view-{number}" if number else "view"), tables)
            named = {f"{number}-{group}" if len(parts) > 1 else group: rows for group, rows in found.items()}
            data |= named
            owners |= dict.fromkeys(named, part)
        small = next((group for group, rows in data.items() if len(rows) < pairs_a_step), None)
        if small is not None:
            raise TurnloomError(
                f"there are {len(data[small]):,} training pairs{f' in {small}' if small else ''}, fewer than a batch",
                "use more conversations, or --set stages.0.batch_size to less",
            )
        return data, owners

    def _view(self, part: Part, place: Path, tables: Sequence[Path]) -> dict[str, Any]:
        """The dataset of each group of one view."""
        if isinstance(part.view, LabelledPairs):
            raise TurnloomError("labelled pairs come from files, not from a table", "build the view in Python")
        with first_process_first():
            manifest = build_view(
                list(tables),
                place,
                part.view,
                seed=self._recipe.seed,
                source_weights=part.source_weights or None,
                limit=part.limit,
                on_progress=lambda step, part: self._on_progress(step, part, ""),
            )
            views = {group: load_view(place, group) for group in manifest.rows}
        if manifest.tokens:
            frozen = self._recipe.model.freeze_embeddings
            add_tokens(self._model.tokenizer, self._model[0].auto_model, manifest.tokens, frozen=frozen)
        for counts in manifest.rows.values():
            for source, count in counts.items():
                self.rows[source] = self.rows.get(source, 0) + count
        return {group: rows.with_transform(self._transform(part, rows)) for group, rows in views.items()}

    def _transform(self, part: Part, rows: Any) -> ToText | ToReplyPairs:
        """What turns these rows into what the loss reads."""
        view, objective = part.view, part.objective
        reads = self._context, self._model.tokenizer, self._recipe.model.max_length
        if isinstance(view, Manipulations):
            tasks: list[Task] = [task for task in MARKS if getattr(objective, task)]
            return ToReplyPairs(*reads, view=view, tasks=tasks, seed=self._recipe.seed, rows=rows)
        return ToText(
            *reads,
            replies="reply" in rows.column_names,
            frequencies=objective.wants_frequencies,
            around=2 * view.turns if isinstance(view, Matching) else None,
        )
