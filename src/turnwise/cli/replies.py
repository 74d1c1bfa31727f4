"""`turnwise replies`: an index of past replies, searched and measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnwise.cli.console import console, count_progress, share_progress, split_names
from turnwise.errors import TurnwiseError

if TYPE_CHECKING:
    from turnwise.replies import IndexVersion, ReplyOptions, ReplyScores, Suggestion
    from turnwise.runtime import Encoder, Scorer

__all__ = ["app"]

app = typer.Typer(
    help="Past replies that fit a conversation: build an index, search it, measure it.", no_args_is_help=True
)

INDEX = typer.Argument(..., help="The index's folder.")
TABLES = typer.Argument(..., help="Folders of dialogue tables, as 'turnwise prepare' writes them.")
MODEL = typer.Option(..., help="The encoder's folder.")
RERANKER = typer.Option(None, help="A cross-encoder's folder: it puts the best candidates in their final order.")
MODE = typer.Option("hybrid", help="What is compared: vector, text, hybrid (both), contexts, or all.")
WHERE = typer.Option(None, help="A condition in SQL over text, count, sources and domains: 'count > 1'.")
RARITY = typer.Option(0.1, help="How much frequent replies count less: 0 not at all, 1 by their inverse frequency.")
BF16 = typer.Option(False, help="Encode in bfloat16; an index keeps to what it was built with.")


def _encoder(model: Path, bf16: bool) -> Encoder:
    from turnwise.runtime import load_encoder

    return load_encoder(model, bf16=bf16)


def _scorer(folder: Path | None) -> Scorer | None:
    from turnwise.runtime.scorer import is_cross_encoder, load_scorer

    if folder is None:
        return None
    if not is_cross_encoder(folder):
        raise TurnwiseError(f"{folder} holds no cross-encoder", "give the folder of a CrossEncoder")
    return load_scorer(folder)


def _options(speakers: str, system: str, min_words: int, context_turns: int, contexts: bool) -> ReplyOptions:
    from pydantic import ValidationError

    from turnwise.replies import ReplyOptions

    named: dict[str, Any] = {"system_speakers": tuple(split_names(system))} if system else {}
    try:
        return ReplyOptions.model_validate(
            {
                "speakers": speakers,
                "min_words": min_words,
                "context_turns": context_turns,
                "contexts": contexts,
                **named,
            }
        )
    except ValidationError as error:
        problem = error.errors()[0]
        place = str(problem["loc"][0]).replace("_", "-")
        raise TurnwiseError(f"--{place}: {problem['msg']}", "see turnwise replies build --help") from error


@app.command()
def build(
    tables: list[Path] = TABLES,
    model: Path = MODEL,
    out: Path = typer.Option(..., help="The index's folder."),
    speakers: str = typer.Option("system", help="Whose turns are replies: system (those who answer) or everyone."),
    system: str = typer.Option("", help="The names of those who answer, such as agent,helpdesk; common ones if empty."),
    min_words: int = typer.Option(1, help="Leave out shorter replies."),
    context_turns: int = typer.Option(5, help="So many turns before a reply are its context."),
    contexts: bool = typer.Option(False, help="Index contexts too, to find replies to similar ones."),
    bf16: bool = BF16,
) -> None:
    """Index the replies of conversations; each once, with how often and where it was given.

    Killed in the middle, the same command goes on where it was.

    [bold]Example[/]

    turnwise replies build prepared/ --model my-model/ --out replies/
    """
    from turnwise.replies import ReplyIndex

    options = _options(speakers, system, min_words, context_turns, contexts)
    encoder = _encoder(model, bf16)
    with share_progress() as show:
        index = ReplyIndex.build(tables, out, encoder, options, on_progress=show)
    _summary(index.version)
    console.print(f"Next: turnwise replies search {out} --model {model} 'a message'", markup=False)


@app.command()
def add(
    tables: list[Path] = TABLES,
    index: Path = typer.Option(..., help="The index's folder."),
    model: Path = MODEL,
    bf16: bool = BF16,
) -> None:
    """Add the replies of more conversations; what is there already is not counted twice.

    [bold]Example[/]

    turnwise replies add todays-chats/ --index replies/ --model my-model/
    """
    from turnwise.replies import ReplyIndex

    opened = ReplyIndex(index, _encoder(model, bf16))
    with share_progress() as show:
        version = opened.add(tables, on_progress=show)
    _summary(version)
    console.print(f"Next: turnwise replies search {index} --model {model} 'a message'", markup=False)


@app.command()
def delete(
    index: Path = INDEX,
    conversations: str = typer.Option("", help="The ids of dialogues, separated by commas."),
    reply: list[str] = typer.Option([], help="The text of a reply; may be given several times."),
    where: str | None = typer.Option(None, help="A condition in SQL over dialogue_id, source and turn."),
) -> None:
    """Remove conversations or replies; older versions hold them until 'turnwise replies prune'.

    [bold]Example[/]

    turnwise replies delete replies/ --conversations c17,c18
    """
    from turnwise.replies import ReplyIndex

    version = ReplyIndex(index).delete(conversations=split_names(conversations), replies=reply, where=where)
    _summary(version)
    console.print(f"Next: turnwise replies prune {index}, which removes it from older versions too", markup=False)


@app.command()
def reembed(index: Path = INDEX, model: Path = MODEL, bf16: bool = BF16) -> None:
    """Make all vectors anew with another model; searches use the old ones until it is done.

    Killed in the middle, the same command goes on where it was.

    [bold]Example[/]

    turnwise replies reembed replies/ --model better-model/
    """
    from turnwise.replies import ReplyIndex

    encoder = _encoder(model, bf16)
    with share_progress() as show:
        version = ReplyIndex.reembed(index, encoder, on_progress=show).version
    _summary(version)
    console.print(f"Next: turnwise replies prune {index}, which frees the space of the old vectors", markup=False)


@app.command()
def versions(index: Path = INDEX) -> None:
    """List the finished versions of an index.

    [bold]Example[/]

    turnwise replies versions replies/
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from turnwise.replies import ReplyIndex

    table = Table(box=SIMPLE_HEAD)
    for heading in ("version", "when", "replies", "occurrences", "model", "what"):
        table.add_column(heading, justify="right" if heading in ("version", "replies", "occurrences") else "left")
    for version in ReplyIndex(index).versions:
        sizes = (f"{version.replies.rows:,}", f"{version.occurrences.rows:,}")
        table.add_row(str(version.number), version.when, *sizes, version.model, version.what)
    console.print(table)
    console.print(f"Next: turnwise replies prune {index} --keep 1, which frees the space of older ones", markup=False)


@app.command()
def prune(index: Path = INDEX, keep: int = typer.Option(1, help="So many of the last versions stay.")) -> None:
    """Remove older versions for good.

    [bold]Example[/]

    turnwise replies prune replies/ --keep 2
    """
    from turnwise.replies import ReplyIndex

    gone = ReplyIndex(index).prune(keep)
    console.print(f"Removed: version {', '.join(map(str, gone))}" if gone else "There is no older version.")
    console.print(f"Next: turnwise replies versions {index}", markup=False)


@app.command()
def rollback(index: Path = INDEX) -> None:
    """Undo a write that was killed and shall not be finished.

    [bold]Example[/]

    turnwise replies rollback replies/
    """
    from turnwise.replies import ReplyIndex

    undone = ReplyIndex.rollback(index)
    console.print(f"Undone: {undone}" if undone else "Every write is finished.", markup=False)
    console.print(f"Next: turnwise replies versions {index}", markup=False)


@app.command()
def search(
    index: Path = INDEX,
    messages: list[str] | None = typer.Argument(None, help="The turns so far, oldest first; else JSON lines on stdin."),
    model: Path = MODEL,
    reranker: Path | None = RERANKER,
    k: int = typer.Option(5, "-k", help="How many replies."),
    mode: str = MODE,
    where: str | None = WHERE,
    rarity: float = RARITY,
    bf16: bool = BF16,
) -> None:
    """Find replies that fit.

    Without messages it reads JSON lines, each a context: {"context": ["turn", "turn"]}, and writes JSON lines.

    [bold]Examples[/]

    turnwise replies search replies/ --model my-model/ "I lost my card"

    turnwise replies search replies/ --model my-model/ --reranker my-reranker/ < contexts.jsonl > replies.jsonl
    """
    import json
    from dataclasses import asdict

    from turnwise.replies import ReplyIndex

    opened = ReplyIndex(index, _encoder(model, bf16), scorer=_scorer(reranker))

    def suggest(context: list[str]) -> list[Suggestion]:
        return opened.suggest(context, k, mode=mode, where=where, rarity=rarity)  # type: ignore[arg-type]

    if messages:
        _show(suggest(messages))
        return
    for record, context in _contexts(sys.stdin):
        found = [asdict(suggestion) for suggestion in suggest(context)]
        typer.echo(json.dumps({**record, "replies": found}, ensure_ascii=False))


def _contexts(lines: Any) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Records and their contexts; one turn may stand as a plain text."""
    import json

    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"standard input, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise TurnwiseError(f"{place}: {error.msg}", 'give one object a line: {"context": ["a turn"]}') from error
        context = record.get("context") if isinstance(record, dict) else None
        turns = [context] if isinstance(context, str) else context
        if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
            raise TurnwiseError(f"{place} has no context", 'give one object a line: {"context": ["a turn"]}')
        yield record, turns


def _show(found: list[Suggestion]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    table.add_column("score", justify="right")
    table.add_column("reply", overflow="fold")
    table.add_column("given", justify="right")
    table.add_column("for example in", overflow="fold")
    for suggestion in found:
        place = suggestion.conversations[0]
        where = f"{place.source} {place.dialogue_id}, turn {place.turn}"
        table.add_row(f"{suggestion.score:.4f}", suggestion.text, f"{suggestion.count:,}", where)
    console.print(table if found else "No reply fits: try another --mode, or a wider --where.")


@app.command()
def evaluate(
    index: Path = INDEX,
    tables: list[Path] = typer.Argument(..., help="Dialogue tables that the models were not trained on."),
    model: Path = MODEL,
    reranker: Path | None = RERANKER,
    limit: int = typer.Option(1_000, help="At most so many contexts."),
    mode: str = MODE,
    where: str | None = WHERE,
    rarity: float = RARITY,
    out: Path | None = typer.Option(None, help="Also write the scores to this JSON file."),
    bf16: bool = BF16,
) -> None:
    """Measure how often the reply that was given is found.

    [bold]Example[/]

    turnwise replies build held-out/ --model my-model/ --out held-out-replies/

    turnwise replies evaluate held-out-replies/ held-out/ --model my-model/ --reranker my-reranker/
    """
    from turnwise.replies import ReplyIndex, evaluate_replies

    opened = ReplyIndex(index, _encoder(model, bf16), scorer=_scorer(reranker))
    with count_progress() as progress:
        bar = progress.add_task("contexts", total=limit, note="")

        def step(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total)

        scores = evaluate_replies(
            opened,
            tables,
            limit=limit,
            mode=mode,
            where=where,
            rarity=rarity,
            on_context=step,  # type: ignore[arg-type]
        )
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(scores.model_dump_json(indent=2) + "\n", encoding="utf-8")
    _scores(scores)
    console.print("Next: try another --mode or --rarity, or a --reranker")


def _scores(scores: ReplyScores) -> None:
    console.print(f"{scores.contexts:,} contexts; the index holds the given reply for {scores.in_index:.1f} %")
    console.print(f"search      Top-1 {scores.top1:5.1f} %   Top-10 {scores.top10:5.1f} %")
    if scores.rerank_top1 is not None:
        console.print(f"re-ranked   Top-1 {scores.rerank_top1:5.1f} %   Top-10 {scores.rerank_top10:5.1f} %")
    console.print(f"{scores.milliseconds:.1f} ms a search (median), without encoding and re-ranking")


def _summary(version: IndexVersion) -> None:
    ann = version.ann
    console.print(
        f"Version {version.number}: {version.replies.rows:,} replies, given {version.occurrences.rows:,} times,"
        f" vectors of {version.model}",
        markup=False,
    )
    if ann.kind == "exact":
        console.print("Searched exactly: every vector is compared")
    elif ann.recall is not None:
        console.print(
            f"Searched by {ann.nprobes} of {ann.partitions} partitions: {ann.recall:.3f} of the true ten nearest are"
            f" found, measured on {ann.probes} contexts"
        )
