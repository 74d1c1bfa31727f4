"""`turnloom flow`: how conversations go."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import VECTORS, note, say, share_progress, write_text
from turnloom.cli.discover import MODEL, PIPELINE, TABLE
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.discovery.flow import Flow


def flow(
    table: Path = TABLE,
    out: Path = typer.Option(Path("flow.html"), help="What to write: .html, .svg, .mmd (Mermaid), .dot or .json."),
    model: str = MODEL,
    vectors: Path | None = VECTORS,
    source: str | None = typer.Option(None, help="Only dialogues of this source."),
    label: str | None = typer.Option(None, help="Only dialogues with this label or domain."),
    since: str | None = typer.Option(None, metavar="DATE", help="Only dialogues that began then or later."),
    until: str | None = typer.Option(None, metavar="DATE", help="Only dialogues that began before."),
    states: int = typer.Option(16, min=2, max=18, help="At most how many states a role has."),
    min_share: float = typer.Option(0.1, min=0.0, max=1.0, help="Leave out what follows a state in a smaller share."),
    dialogues: int = typer.Option(5_000, min=1, help="At most how many dialogues are read, drawn at random."),
    pipeline: str | None = PIPELINE,
) -> None:
    """See how conversations go: what customers and agents do, and what follows.

    Turns are grouped by what they do in their conversation, not only by their words.

    [bold]Examples[/]

    turnloom flow prepared/ --out flow.html

    turnloom flow prepared/ --label refund --since 2026-05-01 --out refunds.mmd
    """
    from turnloom.discovery.flow import FlowFilter, build_flow, read_identified
    from turnloom.discovery.names import Namer
    from turnloom.discovery.phrases import find_parser
    from turnloom.runtime import load_encoder
    from turnloom.runtime.conversation import ConversationEncoder
    from turnloom.runtime.model_folder import find_model
    from turnloom.vectors.encoder import stored

    renderers = _renderers()
    if out.suffix not in renderers:
        raise TurnloomError(f"{out} has no known ending", f"choose one of {', '.join(renderers)}")
    find_model(model)
    wanted = FlowFilter(source, label, _date(since, "since"), _date(until, "until"), dialogues)
    ids, conversations = read_identified(table, wanted)
    encoder = stored(load_encoder(model), vectors)
    if not isinstance(encoder, ConversationEncoder):
        note(f"{encoder.name} has no conversation encoder: turns are grouped by their meaning alone")
    namer = Namer(find_parser(pipeline))
    with share_progress() as progress:
        found = build_flow(
            conversations, encoder, ids=ids, per_role=states, min_share=min_share, namer=namer, on_progress=progress
        )
    write_text(out, renderers[out.suffix](found))
    name = {node.id: node.name for node in found.nodes}
    for edge in [edge for edge in found.edges if edge.source == 0]:
        say(f"{100 * edge.share:3.0f} % start with: {name[edge.target]}")
    say(f"{found.dialogues:,} conversations, {len(found.nodes)} states, {len(found.edges)} transitions: {out}")
    say("Next: open it, or filter with --label, --source, --since and --until")


def _renderers() -> dict[str, Callable[[Flow], str]]:
    from turnloom.discovery import flow_drawing as drawing

    return {
        ".html": drawing.flow_page,
        ".svg": lambda found: str(drawing.flow_svg(found)) + "\n",
        ".mmd": drawing.flow_mermaid,
        ".dot": drawing.flow_dot,
        ".json": lambda found: found.model_dump_json(indent=2) + "\n",
    }


def _date(text: str | None, option: str) -> dt.datetime | None:
    from dateutil import parser

    if text is None:
        return None
    try:
        found = parser.isoparse(text)
    except ValueError as error:
        raise TurnloomError(f"--{option} {text!r} is no date", "write it as 2026-05-01 or 2026-05-01T12:00") from error
    return found if found.tzinfo else found.replace(tzinfo=dt.timezone.utc)
