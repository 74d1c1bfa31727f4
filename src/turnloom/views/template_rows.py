"""The view `templates` (TaDSE): each utterance with its template, and new utterances from the same template."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.tagging import Tagged
from turnloom.corpus.turn_arrays import hash_strings, split_turns
from turnloom.errors import TurnloomError
from turnloom.views.templates import ONE_TOKEN, EntityBook, Statistics, Template, augment, slot_token, template_of
from turnloom.views.view import View, Workspace, exploded

_ORIGINAL, _MADE = "0", "1"
"""Prefixes of template names: an utterance's original template sorts before generated ones."""


class Templates(View):
    """TaDSE: the context is a template, the reply an utterance that fills it (Oh et al. 2023, section 5.1).

    Slots come from the table's turns. An utterance without slots is its own template.

    Attributes:
        top_k: Fill each template with the k most frequent values of each slot; 0 for no new utterances.
        cap: The maximum number of new utterances per template.
        names: Whether templates show slot names instead of one token for all slots.
    """

    columns: ClassVar[tuple[str, ...]] = ("context", "reply", "source")

    kind: Literal["templates"] = "templates"
    top_k: int = Field(5, ge=0)
    cap: int = Field(200, ge=1)
    names: bool = False

    def make_rows(self, workspace: Workspace) -> Any:
        """Build the utterances and their augmentations; the tokens are those of the slots that occur."""
        found = find_templates(workspace.table())
        workspace.tokens = found.tokens(self)
        return workspace.staged(found.rows(self, workspace.seed))


@dataclass
class TemplateRows:
    """The slot values of a table, and its utterances with their templates as a Daft DataFrame.

    The columns of `said` are `source`, `text` and `template`, as `Template.to_json` writes it.
    """

    book: EntityBook
    said: Any

    def tokens(self, view: Templates) -> list[str]:
        """Extra tokens in a view's templates that no tokenizer knows."""
        return sorted(map(slot_token, self.book.counts)) if view.names else [ONE_TOKEN]

    def statistics(self, *, k: int, cap: int, seed: int = 0) -> Statistics:
        """Compute the counts of TaDSE's Table 1 per template."""
        templates: dict[str, set[str]] = defaultdict(set)
        utterances = 0
        for row in self.said.select("template", "text").iter_rows():
            templates[row["template"]].add(row["text"])
            utterances += 1
        total = sum(
            len(
                said | {tagged.text for tagged in augment(Template.from_json(text), self.book, k=k, cap=cap, seed=seed)}
            )
            for text, said in templates.items()
        )
        values = sum(len(counted) for counted in self.book.counts.values())
        return Statistics(len(self.book.counts), values, len(templates), utterances, total)

    def samples(self, count: int, *, k: int, cap: int, seed: int = 0) -> list[tuple[str, str]]:
        """Return some templates with one new utterance each."""
        distinct = self.said.select("template").distinct().sort("template").to_pylist()
        templates = [template for row in distinct if (template := Template.from_json(row["template"])).names]
        rng = random.Random(seed)
        return [
            (template.text(names=True), rng.choice(augment(template, self.book, k=k, cap=cap, seed=seed)).text)
            for template in rng.sample(templates, min(count, len(templates)))
        ]

    def rows(self, view: Templates, seed: int) -> Any:
        """Return the view's rows with a `row_key`: one per distinct utterance."""
        engine = daft()
        col, kinds = engine.col, engine.DataType
        book = self.book

        @batch_function(kinds.list(kinds.string()))
        def filled(templates: pa.Array) -> pa.Array:
            made = (
                augment(Template.from_json(text), book, k=view.top_k, cap=view.cap, seed=seed)
                for text in templates.to_pylist()
            )
            return pa.array([[tagged.text for tagged in group] for group in made], pa.large_list(pa.large_string()))

        @batch_function(kinds.list(kinds.string()))
        def contexts(marked: pa.Array) -> pa.Array:
            found = [[Template.from_json(text[1:]).text(names=view.names)] for text in marked.to_pylist()]
            return pa.array(found, pa.large_list(pa.large_string()))

        @batch_function(kinds.uint64())
        def keys(texts: pa.Array) -> pa.Array:
            return pa.array(hash_strings(texts))

        rows = self.said.select(col("source"), col("text"), (engine.lit(_ORIGINAL) + col("template")).alias("marked"))
        if view.top_k:
            templates = self.said.groupby("template").agg(col("source").min())
            made = templates.with_column("text", filled(col("template"))).explode("text").where(col("text").not_null())
            rows = rows.concat(
                made.select(col("source"), col("text"), (engine.lit(_MADE) + col("template")).alias("marked"))
            )
        once = rows.groupby("text").agg(col("marked").min(), col("source").min())
        return once.select(
            col("source"),
            contexts(col("marked")).alias("context"),
            col("text").alias("reply"),
            keys(col("text")).alias("row_key"),
        )


def _utterances(turns: pa.Array) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[Tagged]]:
    """Return where each dialogue's turns start, and the turns with the slots whose position is known."""
    offsets, flat = split_turns(turns)
    rows = zip(flat.field("text").to_pylist(), flat.field("slots").to_pylist(), strict=True)
    placed = [
        Tagged.of(text, [(one["name"], one["start"], one["end"]) for one in slots or () if one["start"] is not None])
        for text, slots in rows
    ]
    return offsets, placed


def find_templates(table: Any) -> TemplateRows:
    """Extract the utterances of a dialogue table with their templates, and the book of slot values.

    Pass only training data: its values fill the templates.
    """
    engine = daft()
    col, kinds = engine.col, engine.DataType
    slot = kinds.struct({"name": kinds.string(), "value": kinds.string()})
    fields = {"text": kinds.string(), "template": kinds.string(), "slots": kinds.list(slot)}

    @batch_function(kinds.list(kinds.struct(fields)))
    def read(turns: pa.Array) -> pa.Array:
        offsets, utterances = _utterances(turns)
        found = [
            {
                "text": tagged.text,
                "template": template_of(tagged).to_json(),
                "slots": [{"name": name, "value": value} for name, value in tagged.values()],
            }
            for tagged in utterances
        ]
        types = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
        schema = pa.struct([("text", pa.string()), ("template", pa.string()), ("slots", types)])
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(found, schema))

    said = exploded(table.select(col("source"), read(col("turns")).alias("turn")), "turn", fields)
    named = exploded(said.select("slots"), "slots", ("name", "value"), kept=())
    counted = named.groupby("name", "value").agg(col("value").count().alias("count")).to_pylist()
    if not counted:
        raise TurnloomError(
            "no turn has a slot", "annotate them: turnloom templates build TABLE --tagger spacy:PIPELINE"
        )
    book = EntityBook()
    for row in counted:
        book.counts[row["name"]][row["value"]] = row["count"]
    return TemplateRows(book, said.select("source", "text", "template"))
