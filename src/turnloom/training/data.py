"""The data of a stage: sample tables to fit the time, build views, and shuffle their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sentence_transformers.base.sampler import DefaultBatchSampler

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.table import MANIFEST, TableWriter, bucket, read_manifest, read_table
from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import first_process_first
from turnloom.objectives.taught import Teachers
from turnloom.runtime.context_format import ContextFormat
from turnloom.runtime.protocols import Progress
from turnloom.training.base_model import add_tokens
from turnloom.training.recipe import Part, Recipe, Stage
from turnloom.views import build_view, load_view
from turnloom.views.view import Reading

TURNS_A_MINUTE = 500_000
"""Two cores build views of this many turns in less than half a minute, and no run can train on more per minute."""
_PARTS = 10_000
BLOCK_BATCHES = 256


def tables_within(tables: Sequence[Path], minutes: float, work: Path, on_progress: Progress) -> list[Path]:
    """Return the tables, or samples of their dialogues if they are larger than a run of this length can use.

    Samples are drawn by a hash of the dialogues' ids, in proportion to each table's size. They are written to the
    run's folder `work`; existing samples are reused.
    """
    turns = sum(read_manifest(table).turns for table in tables)
    most = TURNS_A_MINUTE * minutes
    if turns <= most:
        return list(tables)
    share = max(1, int(_PARTS * most / turns))
    note = f"{100 * share / _PARTS:g} % of the dialogues"
    found = []
    for number, table in enumerate(tables):
        on_progress("sampling the tables", number / len(tables), note)
        found.append(_sampled(table, work / f"sample-{number}", share))
    on_progress("sampling the tables", 1.0, note)
    return found


def _sampled(table: Path, folder: Path, share: int) -> Path:
    col, kinds = daft().col, daft().DataType

    @batch_function(kinds.bool())
    def is_chosen(ids: pa.Array) -> pa.Array:
        numbers = (100 * bucket("sample", name) + bucket("finer", name) for name in ids.to_pylist())
        return pa.array([number < share for number in numbers], pa.bool_())

    if not (folder / MANIFEST).exists():
        writer = TableWriter(folder)
        writer.write(read_table(table).where(is_chosen(col("dialogue_id"))))
        writer.finish("turnloom.training.tables_within", {"share": share / _PARTS})
    return folder


class StageData:
    """The views of a stage, and the words that they add to the model's tokenizer; `rows` counts pairs by source."""

    def __init__(
        self, recipe: Recipe, stage: Stage, model: Any, context: ContextFormat, folder: Path, on_progress: Progress
    ) -> None:
        self._recipe, self._stage, self._model, self._context = recipe, stage, model, context
        self._folder, self._on_progress = folder, on_progress
        self.rows: dict[str, int] = {}

    def build(self, tables: Sequence[Path], pairs_a_step: int) -> tuple[dict[str, Any], dict[str, Part]]:
        """Return the dataset of each group of each view, which makes text of rows as they are read, and its `Part`."""
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
        """Return the dataset of each group of one view."""
        if not part.view.reads_tables:
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
        teachers = getattr(part.objective, "teachers", ()) if part.objective.labels_are_rows else ()
        reading = Reading(
            self._context,
            self._model.tokenizer,
            self._recipe.model.max_length,
            seed=self._recipe.seed,
            objective=part.objective,
            rows=Teachers(teachers).rows if part.objective.labels_are_rows else None,
        )
        return {group: rows.with_transform(part.view.transform(rows, reading)) for group, rows in views.items()}


class BlockShuffle(DefaultBatchSampler):
    """Shuffle blocks of rows, and the rows within each block.

    Views are already shuffled on disk. This sampler makes each epoch different while reading stays nearly sequential.
    It keeps one number per block in memory: some thousands for a billion pairs. The order depends on the seed and the
    epoch alone.
    """

    def __init__(self, dataset: Any, batch_size: int, drop_last: bool = True, **options: Any) -> None:
        options.pop("generator", None)
        super().__init__(dataset, batch_size=batch_size, drop_last=True, **options)
        self._rows = len(dataset)
        del drop_last  # Always drop it: a smaller last batch would have fewer negatives than the others.

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng([self.seed, self.epoch])
        size = self.batch_size * BLOCK_BATCHES
        rest: list[int] = []
        for block in rng.permutation(-(-self._rows // size)):
            start = int(block) * size
            rows = start + rng.permutation(min(size, self._rows - start))
            rest += rows.tolist()
            whole = len(rest) // self.batch_size * self.batch_size
            for first in range(0, whole, self.batch_size):
                yield rest[first : first + self.batch_size]
            rest = rest[whole:]

    def __len__(self) -> int:
        return self._rows // self.batch_size
