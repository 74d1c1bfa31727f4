"""Build a view: dialogue tables in, shuffled Parquet shards out.

Example:
    >>> from pydantic import TypeAdapter
    >>> TypeAdapter(ViewOptions).validate_python({"kind": "windows", "sizes": [1, 2]}).groups
    ('window-1', 'window-2')
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import turnloom
from turnloom.corpus.engine import frugally
from turnloom.corpus.table import MANIFEST
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder
from turnloom.plugins import KindOfOption, Plugin, find_plugin
from turnloom.views.consecutive import Consecutive, Windows
from turnloom.views.context_response import ContextResponse
from turnloom.views.dialogue_view import DialogueView
from turnloom.views.dropout import Dropout
from turnloom.views.labelled_pairs import LabelledPairs
from turnloom.views.load import CACHE, VIEW_VERSION, ViewManifest, read_view_manifest
from turnloom.views.manipulations import Manipulations
from turnloom.views.matching import Matching
from turnloom.views.packed import Packed
from turnloom.views.shared_intents import SharedIntents
from turnloom.views.shared_replies import SharedReplies
from turnloom.views.shuffle import write_shards
from turnloom.views.template_rows import Templates
from turnloom.views.view import View, Workspace

GROUP = "turnloom.views"

_OWN: dict[str, type[View]] = {
    view.model_fields["kind"].default: view
    for view in (
        Consecutive,
        Windows,
        Dropout,
        ContextResponse,
        LabelledPairs,
        Manipulations,
        Matching,
        Packed,
        SharedIntents,
        SharedReplies,
        Templates,
    )
}


def _view_of(plugin: Plugin) -> type[DialogueView]:
    """Return the class of a view that another package adds."""
    view = plugin.load()
    if not isinstance(view, type) or not issubclass(view, DialogueView):
        raise plugin.broken("is no subclass of turnloom.views.DialogueView")
    field = view.model_fields.get("kind")
    if field is None or field.default != plugin.name:
        raise plugin.broken(f"says otherwise what it is called: it needs kind: Literal[{plugin.name!r}] with a default")
    return view


ViewOptions = Annotated[View, KindOfOption(GROUP, _OWN.get, lambda: list(_OWN), _view_of)]
"""The type of a pydantic field that accepts any view."""


Progress = Callable[[str, float], None]


def _planned(inputs: list[Path], view: View, seed: int, weights: dict[str, float], limit: int | None) -> ViewManifest:
    """Return the manifest of the view to build, without row counts."""
    job: dict[str, Any] = {
        "inputs": sorted(view.input_hashes(inputs)),
        "options": view.model_dump(mode="json"),
        "seed": seed,
        "source_weights": dict(sorted(weights.items())),
        "limit": limit,
    }
    made_by: list[Any] = [VIEW_VERSION, turnloom.__version__]
    if plugin := find_plugin(GROUP, job["options"].get("kind", ""), own=()):
        made_by += [plugin.package, plugin.version]
    fingerprint = hashlib.sha256(json.dumps([job, made_by], sort_keys=True).encode()).hexdigest()
    return ViewManifest(fingerprint=fingerprint, columns=list(view.columns), tokens=view.tokens, rows={}, **job)


def build_view(
    table: Path | Sequence[Path],
    out: Path,
    options: View,
    *,
    seed: int = 0,
    source_weights: dict[str, float] | None = None,
    limit: int | None = None,
    on_progress: Progress = lambda _step, _share: None,
) -> ViewManifest:
    """Write the rows of a view as Parquet shards in shuffled order, so that training can read them sequentially.

    The same rows, options and seed give the same files, whatever the tables' file layout and the number of threads. An
    unchanged view is reused; a different or incomplete one is replaced. Frequencies are counted over all tables, before
    weights and limit.

    Args:
        table: One or more dialogue table folders; for `LabelledPairs`, the files of pairs.
        out: The view's folder.
        options: The view and its settings.
        seed: The seed for sampling and shuffling.
        source_weights: How often to take rows of a source: below 1 drops some, above 1 repeats some.
        limit: The maximum number of rows per group, sampled at random.
        on_progress: Called with the name of a step and the share of it that is done.
    """
    inputs = [Path(path) for path in ([table] if isinstance(table, (str, Path)) else table)]
    weights = source_weights or {}
    if not inputs or any(weight < 0 for weight in weights.values()) or (limit is not None and limit < 1):
        raise TurnloomError("a view needs a table, weights from 0 and a limit from 1", "check the view's settings")
    manifest = _planned(inputs, options, seed, weights, limit)
    if (out / MANIFEST).exists() and read_view_manifest(out).fingerprint == manifest.fingerprint:
        return read_view_manifest(out)
    whole = WholeFolder(out, MANIFEST, "a view", caches=[CACHE])
    workspace = Workspace(inputs, whole.partial, seed, weights, options.tokens)
    on_progress("making rows", 0.0)
    with frugally():
        rows = options.make_rows(workspace)
        rows.write_parquet(str(whole.partial / "buckets"), partition_cols=["bucket"])
    manifest.tokens = workspace.tokens
    manifest.rows = _shuffled(workspace, options, manifest, whole.new, on_progress)
    (whole.new / MANIFEST).write_text(json.dumps(manifest.model_dump(), indent=2) + "\n", encoding="utf-8")
    whole.commit()
    return manifest


def _shuffled(
    workspace: Workspace, view: View, manifest: ViewManifest, out: Path, on_progress: Progress
) -> dict[str, dict[str, int]]:
    """Write every group's shards, and count their rows."""
    done, total = 0, workspace.buckets * len(view.groups)

    def on_bucket() -> None:
        nonlocal done
        done += 1
        on_progress("shuffling", done / total)

    return {
        group: write_shards(
            workspace.partial / "buckets",
            range(number * workspace.buckets, (number + 1) * workspace.buckets),
            out / group,
            manifest.columns,
            one_per_text=view.one_per_text,
            limit=manifest.limit,
            on_bucket=on_bucket,
        )
        for number, group in enumerate(view.groups)
    }
