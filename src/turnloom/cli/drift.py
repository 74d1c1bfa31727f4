"""`turnloom drift`: what changed between two sets of conversations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import VECTORS, say, share_progress, write_text
from turnloom.cli.discover import CONTEXT, FIRST, MODEL, PIPELINE
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.discovery import Discovery, MessageOptions, Messages
    from turnloom.discovery.drift import Drift
    from turnloom.runtime.protocols import Encoder

SHOWN = 8


def drift(
    old: Path = typer.Argument(..., help="The old conversations: what 'turnloom discover' made, or a dialogue table."),
    new: Path = typer.Argument(..., help="The new conversations: a dialogue table, or what discover made of them."),
    out: Path = typer.Option(Path("drift"), help="The folder for index.html and drift.json."),
    model: str = MODEL,
    vectors: Path | None = VECTORS,
    intents: Path | None = typer.Option(None, help="A classifier's folder: which of its intents lost confidence?"),
    role: str | None = typer.Option(None, help="Whose messages, if OLD is a table: customer (the default), agent, …"),
    first: bool = FIRST,
    context: bool = CONTEXT,
    min_size: int = typer.Option(5, min=2, help="A new group has at least this many distinct messages."),
    pipeline: str | None = PIPELINE,
) -> None:
    """See what changed: which groups grew, shrank, appeared or disappeared.

    If OLD is a dialogue table, it is grouped first. If it is what discover made, the same messages are read as then
    (role, first messages, context), which takes less time. Differences that may be chance are not reported.

    [bold]Examples[/]

    turnloom drift last-week/ this-week/ --first --out drift/

    turnloom drift found/ this-week/ --intents my-intents --out drift/

    jq '.groups[] | select(.verdict == "appeared")' drift/drift.json
    """
    from turnloom.discovery import Namer, discover_table, encode_messages, find_parser, load_discovery, read_messages
    from turnloom.discovery.drift import measure_drift
    from turnloom.discovery.folder import is_discovery
    from turnloom.runtime import load_encoder
    from turnloom.runtime.model_folder import find_model
    from turnloom.runtime.protocols import turn_encoder
    from turnloom.vectors.encoder import stored

    find_model(model)
    encoder, namer = turn_encoder(stored(load_encoder(model), vectors)), Namer(find_parser(pipeline))
    before = _load_old(old, encoder) if is_discovery(old) else None
    options = _options(old, before, role, first, context)
    now = load_discovery(new).messages if is_discovery(new) else read_messages(new, options)
    with share_progress() as progress:
        if before is None:
            before = discover_table(
                old, encoder, options, namer=namer, on_progress=lambda step, *done: progress(f"old {step}", *done)
            )
        found = measure_drift(before, now, encode_messages(encoder, now, progress), min_size=min_size, namer=namer)
    if intents is not None:
        found = _with_intents(found, intents, model, before.messages, now)
    _write(found, out)
    _show(found, out)


def _load_old(folder: Path, encoder: Encoder) -> Discovery:
    from turnloom.discovery import load_discovery
    from turnloom.runtime.protocols import is_made_for, wrong_model

    before = load_discovery(folder)
    made = before.summary
    if not is_made_for(encoder, made.fingerprint):
        raise wrong_model(
            folder, made.model, made.fingerprint, encoder, "pass the same --model as to turnloom discover"
        )
    return before


def _options(old: Path, before: Discovery | None, role: str | None, first: bool, context: bool) -> MessageOptions:
    """Return which messages to read: as the old ones were, or as the options say if the old ones are a table."""
    from turnloom.discovery import MessageOptions

    if before is None:
        return MessageOptions(role or "customer", first, context)
    if role is not None or first or context:
        raise TurnloomError(
            f"{old} is grouped already, so --role, --first and --context change nothing",
            "leave them out, or name the dialogue table instead",
        )
    made = before.summary
    return MessageOptions(made.role, made.first, made.context)


def _with_intents(found: Drift, folder: Path, model: str, old: Messages, new: Messages) -> Drift:
    from turnloom.discovery.drift import measure_intents
    from turnloom.intents import IntentClassifier

    classifier = IntentClassifier.load(folder, model)

    def answer(texts: Sequence[str]) -> list[tuple[str, float]]:
        return [
            ("out of scope" if one.decision == "out_of_scope" else best.intent, best.probability)
            for one in classifier.answer(texts, examples=0)
            for best in one.candidates[:1]
        ]

    return found.model_copy(update={"intents": measure_intents(answer, old, new)})


def _write(found: Drift, out: Path) -> None:
    from turnloom.discovery.drift_page import drift_page

    write_text(out / "index.html", drift_page(found))
    write_text(out / "drift.json", json.dumps(found.model_dump(), indent=2, ensure_ascii=False) + "\n")


def _show(found: Drift, out: Path) -> None:
    for verdict in ("appeared", "grew", "shrank", "disappeared"):
        changes = [one for one in found.groups if one.verdict == verdict]
        for one in changes[:SHOWN]:
            say(f"{verdict:>11}  {one.name}: {100 * one.old_share:.1f} % → {100 * one.new_share:.1f} %")
        if len(changes) > SHOWN:
            say(f"{'':>11}  … and {len(changes) - SHOWN} more")
    for change in [change for change in found.intents if change.lost][:SHOWN]:
        say(f" less sure of  {change.intent}: {change.old_confidence:.2f} → {change.new_confidence:.2f}")
    steady = sum(one.verdict == "steady" for one in found.groups)
    say(
        f"{steady} of {len(found.groups)} groups are steady; "
        f"{100 * found.unfamiliar:.1f} % of messages are in no old group"
    )
    say(f"Next: open {out}/index.html; {out}/drift.json is for programs")
