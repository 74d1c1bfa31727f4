"""`turnloom replies search` and `evaluate`: query an index, and the options that both share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from turnloom.cli.console import console, count_progress, new_table, write_text
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.replies import ReplyIndex, Suggestion

INDEX = typer.Argument(..., help="The index's folder.")
MODEL = typer.Option(..., help="The model's folder.")
RERANKER = typer.Option(None, help="A cross-encoder's folder: it puts the best candidates in their final order.")
RERANK_WEIGHT = typer.Option(0.7, help="How much the re-ranker counts beside the search: 0 not at all, 1 alone.")
MODE = typer.Option(
    "hybrid",
    help="What is compared: vector, text, hybrid (both), contexts, or all; typical prefers what the nearest say alike.",
)
WHERE = typer.Option(None, help="A condition in SQL over text, count, sources and domains: 'count > 1'.")
RARITY = typer.Option(0.0, help="How much frequent replies count less: 0 not at all, 1 by their inverse frequency.")
REPEATS = typer.Option(False, "--repeats", help="Also suggest what was already said in the context.")
BF16 = typer.Option(
    False, help="Encode in bfloat16: faster on CPUs with AMX only. An index keeps to what it was built with."
)


def open_index(
    index: Path,
    model: Path,
    bf16: bool,
    reranker: Path | None = None,
    vectors: Path | None = None,
    feedback: Path | None = None,
) -> ReplyIndex:
    """Open an index with its models."""
    from turnloom.replies import ReplyIndex
    from turnloom.runtime import load_encoder
    from turnloom.runtime.scorer import load_scorer
    from turnloom.vectors.encoder import stored

    scorer = None if reranker is None else load_scorer(reranker)
    return ReplyIndex(index, stored(load_encoder(model, bf16=bf16), vectors), scorer=scorer, feedback=feedback)


def search(
    index: Path = INDEX,
    messages: list[str] | None = typer.Argument(None, help="The turns so far, oldest first; else JSON lines on stdin."),
    model: Path = MODEL,
    reranker: Path | None = RERANKER,
    rerank_weight: float = RERANK_WEIGHT,
    k: int = typer.Option(5, "-k", help="How many replies."),
    mode: str = MODE,
    where: str | None = WHERE,
    rarity: float = RARITY,
    repeats: bool = REPEATS,
    min_score: float | None = typer.Option(None, help="With --mode typical: leave out replies below this score."),
    feedback: Path | None = typer.Option(
        None, help="A file of feedback, as the studio keeps it: rejected replies are suggested less."
    ),
    bf16: bool = BF16,
) -> None:
    """Find replies that fit.

    Without messages it reads JSON lines, each a context: {"context": ["turn", "turn"]}, and writes JSON lines.

    [bold]Examples[/]

    turnloom replies search replies/ --model my-model/ "I lost my card"

    turnloom replies search replies/ --model my-model/ --reranker my-reranker/ < contexts.jsonl > replies.jsonl
    """
    opened = open_index(index, model, bf16, reranker, feedback=feedback)

    def suggest(context: list[str]) -> list[Suggestion]:
        return opened.suggest(
            context,
            k,
            mode=mode,  # type: ignore[arg-type]
            where=where,
            rarity=rarity,
            rerank_weight=rerank_weight,
            repeats=repeats,
            min_score=min_score,
        )

    if messages:
        _show(suggest(messages))
        return
    for record, context in _contexts(sys.stdin):
        found = [asdict(suggestion) for suggestion in suggest(context)]
        typer.echo(json.dumps({**record, "replies": found}, ensure_ascii=False))


def _contexts(lines: Any) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Read records and their contexts; a context of one turn may be a plain text."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"standard input, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise TurnloomError(f"{place}: {error.msg}", 'give one object per line: {"context": ["a turn"]}') from error
        context = record.get("context") if isinstance(record, dict) else None
        turns = [context] if isinstance(context, str) else context
        if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
            raise TurnloomError(f"{place} has no context", 'give one object per line: {"context": ["a turn"]}')
        yield record, turns


def _show(found: list[Suggestion]) -> None:

    table = new_table()
    table.add_column("score", justify="right")
    table.add_column("reply", overflow="fold")
    table.add_column("given", justify="right")
    table.add_column("for example in", overflow="fold")
    for suggestion in found:
        place = suggestion.conversations[0]
        # People count from 1, as on the service's page; JSON and Python from 0.
        where = f"{place.source} {place.dialogue_id}, turn {place.turn + 1}"
        table.add_row(f"{suggestion.score:.4f}", escape(suggestion.text), f"{suggestion.count:,}", escape(where))
    console.print(table if found else "No reply fits: try another --mode, a wider --where or a lower --min-score.")


def evaluate(
    index: Path = INDEX,
    tables: list[Path] = typer.Argument(..., help="Dialogue tables that the models were not trained on."),
    model: Path = MODEL,
    reranker: Path | None = RERANKER,
    rerank_weight: float = RERANK_WEIGHT,
    limit: int = typer.Option(1_000, help="The most contexts."),
    mode: str = MODE,
    where: str | None = WHERE,
    rarity: float = RARITY,
    repeats: bool = REPEATS,
    out: Path | None = typer.Option(None, help="Also write the scores to this JSON file."),
    bf16: bool = BF16,
) -> None:
    """See how often the reply that was given is found.

    [bold]Example[/]

    turnloom replies build held-out/ --model my-model/ --out held-out-replies/

    turnloom replies evaluate held-out-replies/ held-out/ --model my-model/ --reranker my-reranker/
    """
    from turnloom.replies import evaluate_replies

    opened = open_index(index, model, bf16, reranker)
    with count_progress() as progress:
        bar = progress.add_task("contexts", total=limit, note="")

        def step(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total)

        scores = evaluate_replies(
            opened,
            tables,
            limit=limit,
            mode=mode,  # type: ignore[arg-type]
            where=where,
            rarity=rarity,
            rerank_weight=rerank_weight,
            repeats=repeats,
            on_context=step,
        )
    if out is not None:
        write_text(out, scores.model_dump_json(indent=2) + "\n")
    console.print(f"{scores.contexts:,} contexts; the index holds the given reply for {scores.in_index:.1f} %")
    console.print(f"search      Top-1 {scores.top1:5.1f} %   Top-10 {scores.top10:5.1f} %")
    if scores.rerank_top1 is not None:
        console.print(f"re-ranked   Top-1 {scores.rerank_top1:5.1f} %   Top-10 {scores.rerank_top10:5.1f} %")
    console.print(f"{scores.milliseconds:.1f} ms a search (median), without encoding and re-ranking")
    console.print("Next: try another --mode or --rarity, or a --reranker")
