"""`turnloom templates`: extract templates and slot values from utterances, and preview new utterances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from turnloom.cli.console import command_line, console, new_table, say

if TYPE_CHECKING:
    from turnloom.views.template_rows import TemplateRows

app = typer.Typer(
    help="Templates of utterances and the values that fill them, for the recipe tadse.", no_args_is_help=True
)

TOP_K = typer.Option(5, help="How many of a slot's most frequent values fill a template.")
CAP = typer.Option(200, help="The most new utterances per template.")
SAMPLES = typer.Option(8, help="How many new utterances to show.")


@app.command()
def build(
    inputs: list[str] = typer.Argument(
        ...,
        help="Tables, JSON Lines of utterances with 'text' and 'slots' (one tag per word), or names of public sets.",
    ),
    out: Path = typer.Option(..., help="The folder of the table with slots."),
    tagger: str | None = typer.Option(
        None, help="Finds slots in turns that have none: spacy:PIPELINE, or MODULE:FUNCTION."
    ),
    split: str = typer.Option("train", help="For public sets: train, dev or test."),
    top_k: int = TOP_K,
    cap: int = CAP,
    overwrite: bool = typer.Option(False, help="Replace an existing table."),
) -> None:
    """Make a table whose turns have slots, and show the templates and values that it gives.

    [bold]Examples[/]

    turnloom templates build snips atis --out runs/slots

    turnloom templates build runs/corpus --tagger spacy:en_core_web_sm --out runs/slots
    """
    from turnloom.corpus.tagging import load_tagger, slot_table

    found = load_tagger(tagger) if tagger else None
    with console.status("reading utterances" + (" and finding slots" if found else "")):
        slot_table(inputs, out, tagger=found, split=split, command=command_line(), overwrite=overwrite)
    _show(out, top_k, cap, samples=3)
    say(f"\nNext: turnloom train tadse {out} --start MODEL --out runs/tadse")


@app.command()
def inspect(
    table: Path = typer.Argument(..., help="A table whose turns have slots."),
    top_k: int = TOP_K,
    cap: int = CAP,
    samples: int = SAMPLES,
) -> None:
    """Show what fills each slot, which slots are noisy, and some utterances made from templates.

    [bold]Examples[/]

    turnloom templates inspect runs/slots --top-k 3
    """
    _show(table, top_k, cap, samples)


def _show(table: Path, top_k: int, cap: int, samples: int) -> None:
    from turnloom.corpus.table import read_table
    from turnloom.views.template_rows import find_templates

    found = find_templates(read_table(table))
    _print_book(found, top_k)
    counted = found.statistics(k=top_k, cap=cap)
    console.print(
        f"{counted.entities} slots with {counted.values:,} values; {counted.templates:,} templates of "
        f"{counted.utterances:,} utterances become {counted.augmented:,} utterances, {counted.ratio:.1f} a template"
    )
    for name, share in sorted(found.book.noisy().items(), key=lambda item: -item[1]):
        console.print(
            f"[yellow]noisy:[/] {share:.0%} of what fills {name!r} fills other slots too: its templates get values "
            "that nobody would say. Merge such slots, or use a smaller --top-k."
        )
    for template, text in found.samples(samples, k=top_k, cap=cap):
        say(f"  {template}\n    {text}")


def _print_book(found: TemplateRows, top_k: int) -> None:

    table = new_table(padding=(0, 1, 0, 0))
    table.add_column("slot", no_wrap=True)
    for heading in ("values", "times"):
        table.add_column(heading, justify="right")
    table.add_column(f"the {top_k} most frequent", overflow="fold")
    book = found.book
    for name in sorted(book.counts, key=lambda slot: -book.counts[slot].total()):
        values = book.counts[name]
        table.add_row(escape(name), f"{len(values):,}", f"{values.total():,}", escape(", ".join(book.top(name, top_k))))
    console.print(table)
