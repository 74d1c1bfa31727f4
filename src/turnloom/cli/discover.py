"""`turnloom discover`: a named hierarchy of what people say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import VECTORS, say, share_progress

if TYPE_CHECKING:
    from turnloom.discovery import Summary
    from turnloom.discovery.names import Namer

TABLE = typer.Argument(..., help="A dialogue table's folder.")
MODEL = typer.Option("turnloom-mini", help="The model's folder, or turnloom-mini if it is installed.")
ROLE = typer.Option("customer", help="Whose messages: customer, agent, both, or a speaker's name.")
FIRST = typer.Option(False, "--first", help="Only the first message of each conversation.")
CONTEXT = typer.Option(False, help="Read messages of up to three words together with the turn before.")
PIPELINE = typer.Option(
    None, metavar="NAME|FOLDER", help="A spaCy pipeline for names; an installed English one is used anyway."
)
SHOWN_GROUPS, SHOWN_BELOW = 8, 6


def discover(
    table: Path = TABLE,
    out: Path = typer.Option(..., help="The folder for the hierarchy."),
    model: str = MODEL,
    vectors: Path | None = VECTORS,
    role: str = ROLE,
    first: bool = FIRST,
    context: bool = CONTEXT,
    min_size: int = typer.Option(5, min=2, help="Groups of fewer distinct messages are dissolved."),
    pipeline: str | None = PIPELINE,
    name_endpoint: str | None = typer.Option(
        None, metavar="URL", help="Let a model behind an OpenAI-compatible endpoint name the groups."
    ),
    name_model: str = typer.Option("gpt-4o-mini", help="The naming model's name on that endpoint."),
) -> None:
    """See what people say: a named hierarchy of groups, without labels.

    Writes index.html to read, discovery.json with the groups, and messages.parquet with every message and its group.

    [bold]Examples[/]

    turnloom discover prepared/ --out found/ --first

    turnloom discover prepared/ --out found/ --model my-model --vectors vectors/ --role agent
    """
    from turnloom.discovery import MessageOptions, discover_table, save_discovery
    from turnloom.discovery.folder import MARKER
    from turnloom.files import refuse_other_files
    from turnloom.runtime import load_encoder
    from turnloom.runtime.model_folder import find_model
    from turnloom.runtime.protocols import turn_encoder
    from turnloom.vectors.encoder import stored

    find_model(model)
    refuse_other_files(out, "a discovery")
    options, namer = MessageOptions(role, first, context), _namer(pipeline, name_endpoint, name_model)
    encoder = turn_encoder(stored(load_encoder(model), vectors))
    with share_progress() as progress:
        found = discover_table(table, encoder, options, min_size=min_size, namer=namer, on_progress=progress)
    save_discovery(found, out)
    _show(found.summary)
    say(f"Next: open {out}/index.html; turnloom flow {table} --model {model} shows how conversations go")
    say(f"      turnloom drift {out} NEW_TABLE --model {model} shows what changed ({out}/{MARKER} is for programs)")


def _namer(pipeline: str | None, endpoint: str | None, model: str) -> Namer:
    from turnloom.discovery import Namer, find_parser

    if endpoint is None:
        return Namer(find_parser(pipeline))
    from turnloom.discovery.endpoint_names import EndpointNamer

    return EndpointNamer(find_parser(pipeline), endpoint, model)


def _show(found: Summary) -> None:
    """Print the largest groups of the top level, each with its largest groups of the lowest."""
    parent = {group.id: group.parent for group in found.groups}

    def top(group: int) -> int:
        above = parent[group]
        return group if above is None else top(above)

    leaves = found.leaves()
    for group in [group for group in found.groups if group.level == 0][:SHOWN_GROUPS]:
        below = [leaf.name for leaf in leaves if leaf.id != group.id and top(leaf.id) == group.id]
        more = f", … ({len(below) - SHOWN_BELOW} more)" if len(below) > SHOWN_BELOW else ""
        names = f": {', '.join(below[:SHOWN_BELOW])}{more}" if below else ""
        say(f"{100 * group.share:5.1f} %  {group.name}{names}")
    lost = sum(found.unassigned.values())
    say(
        f"{found.occurrences:,} messages ({found.messages:,} distinct) in {' › '.join(map(str, found.levels))} groups; "
        f"{100 * lost / max(found.occurrences, 1):.1f} % in none"
    )
