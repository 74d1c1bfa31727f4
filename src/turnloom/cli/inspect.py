"""`turnloom inspect`: what a corpus contains, and what is wrong with it."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape
from rich.table import Table

from turnloom.cli.console import LOGS, MAPPING, SPLIT, console, say, split_names, write_text
from turnloom.cli.convert import convert_logs, find_inputs, table_among, warn_if_most_rejected

if TYPE_CHECKING:
    from turnloom.corpus.inspect import CorpusStatistics

BAR_WIDTH = 40


def _table_of(logs: list[str], split: str, mapping: str | None, temporary: str) -> Any:
    """Return the table of a folder, or a temporary one converted from logs."""
    from turnloom.corpus import read_table

    if (table := table_among(logs)) is not None:
        return read_table(table)
    conversion = convert_logs(find_inputs(logs, split, mapping), Path(temporary))
    warn_if_most_rejected(conversion.manifest.counts, Path(temporary))
    return read_table(temporary)


def inspect(
    logs: list[str] = LOGS,
    html: Path | None = typer.Option(None, help="Also write one self-contained HTML page with plots."),
    json_out: Path | None = typer.Option(None, "--json", help="Also write the numbers as JSON."),
    split: str = SPLIT,
    mapping: str | None = MAPPING,
    hold_out: str = typer.Option("", help="Suites or public sets to look for in it, such as dse,diaeval or all."),
) -> None:
    """See what is in your conversations, and what to know before you train on them.

    [bold]Examples[/]

    turnloom inspect corpus/ --html corpus.html

    turnloom inspect chats.csv
    """
    from turnloom.corpus.cleaning.hold_out import hold_out_names, load_hold_out
    from turnloom.corpus.inspect import inspect_page, measure

    held = hold_out_names(split_names(hold_out))
    with tempfile.TemporaryDirectory() as temporary, console.status("measuring …"):
        table = _table_of(logs, split, mapping, str(Path(temporary) / "table"))
        found = measure(table, load_hold_out(held) if held else None)
    _print(found)
    name = logs[0] if len(logs) == 1 else f"{len(logs)} sources"
    if json_out:
        write_text(json_out, found.model_dump_json(indent=2) + "\n")
    if html:
        write_text(html, inspect_page(found, name))
        say(f"Page with plots: {html}")
    else:
        console.print("Next: add --html page.html for plots.")


def _print(found: CorpusStatistics) -> None:
    from turnloom.corpus.inspect import headline, warnings_of

    for name, value in headline(found).items():
        console.print(f"{name:>20}  [bold]{value}[/]")
    found_sets = [(name, count) for name, count in found.overlaps.items() if count]
    for title, rows in (
        ("personal data", list(found.personal_data.items())),
        ("benchmark material, turns and pairs", found_sets),
        ("speakers", [(name or "(none)", count) for name, count in list(found.speakers.items())[:8]]),
        ("most frequent utterances", found.top_utterances[:8]),
        ("words in a turn", _ranges(found.words_per_turn, (0, 3, 7, 15, 30, len(found.words_per_turn)))),
        (
            "turns in a dialogue",
            _ranges(found.turns_per_dialogue, (0, 1, 2, 4, 8, 16, 32, len(found.turns_per_dialogue))),
        ),
    ):
        if not rows:
            continue
        table = Table(title=title, title_justify="left", show_header=False, box=None)
        highest = max(count for _, count in rows) or 1
        for label, count in rows:
            bar = "█" * round(BAR_WIDTH * count / highest)
            table.add_row(escape(label[:60]), f"{count:,}", f"[blue]{bar}[/]")
        table.columns[1].justify = "right"
        console.print(table)
    for warning in warnings_of(found):
        console.print(f"[yellow]![/] {warning}")


def _ranges(histogram: list[int], edges: tuple[int, ...]) -> list[tuple[str, int]]:
    """Group a histogram into a few ranges; the last one is open-ended."""
    ranges = []
    for low, high in itertools.pairwise(edges):
        first = low + 1 if low else 0
        count = sum(histogram[first : high + 1])
        label = f"{first} and more" if high == edges[-1] else (str(high) if first == high else f"{first} to {high}")
        if count:
            ranges.append((label, count))
    return ranges
