"""`turnloom intents`: fit, predict, evaluate and discover."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.console import (
    FORMAT,
    MESSAGES,
    VECTORS,
    batches,
    counting,
    messages_from,
    note,
    say,
    write_lines,
    write_text,
)
from turnloom.cli.intents_inputs import called_names, confirmed, is_names_file, read_pool
from turnloom.cli.intents_report import percent, say_fitted
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.intents import Cluster, LabelledMessage

app = typer.Typer(help="Detect intents from a few examples, and know when none fits.", no_args_is_help=True)
MODEL = typer.Option(None, help="The model's folder, if it has moved.")


def _labelled(source: str, format: str | None) -> tuple[list[Any], list[Any]]:
    """Read messages and their labels; every row must have one."""
    messages: list[Any] = []
    labels: list[Any] = []
    for message in messages_from(source, format):
        if message.row.get("label") in (None, ""):
            raise TurnloomError(f"{source}, message {len(messages) + 1}: no label", "every row needs text and label")
        messages.append(message.turns)
        labels.append(message.labels)
    if not messages:
        raise TurnloomError(f"{source} holds no message", "give messages with text and label")
    return messages, labels


def _texts(path: Path | None) -> list[Any]:
    return [message.turns for message in messages_from(str(path), None)] if path else []


def _frequencies(path: Path | None) -> dict[str, float] | None:
    if path is None:
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): float(count) for name, count in found.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise TurnloomError(f"{path} holds no frequencies", 'write {"intent": how often, …} as JSON') from error


@app.command("fit")
def fit(
    examples: str = typer.Argument(
        "-", help="Examples with the columns or keys text and label, or YAML with names only; - for standard input."
    ),
    model: str = typer.Option(..., help="The model's folder."),
    out: Path = typer.Option(..., help="The classifier's folder."),
    method: str = typer.Option("auto", help="prototypes, knn, logistic, or auto to choose by cross-validation."),
    multi_label: bool = typer.Option(False, help="A message may have several intents."),
    context_turns: int = typer.Option(0, min=0, help="How many earlier turns ('context') are read with a message."),
    false_reject: float = typer.Option(0.1, help="The share of in-scope messages that may be turned away."),
    false_accept: float | None = typer.Option(None, help="The share of out-of-scope messages that may be let in."),
    out_of_scope: Path | None = typer.Option(None, help="Messages that fit no intent."),
    held_out: Path | None = typer.Option(None, help="In-scope messages to set the threshold with."),
    pool: str | None = typer.Option(
        None, metavar="TABLE|FILE", help="Unlabelled messages to learn from: a dialogue table or a file of messages."
    ),
    descriptions: Path | None = typer.Option(None, help="YAML: what intents are called, name: description."),
    names: bool = typer.Option(True, help="Learn from the intents' names."),
    feedback: Path | None = typer.Option(
        None, help="A file of feedback, as the studio keeps it: confirmed and corrected messages are examples."
    ),
    accept_at: float = typer.Option(0.5, help="Below this probability, ask between two intents."),
    frequencies: Path | None = typer.Option(None, help="How often each intent will occur, as JSON."),
    vectors: Path | None = VECTORS,
    format: str | None = FORMAT,
) -> None:
    """Get a classifier from names of intents, a few labelled messages and unlabelled ones.

    You don't need out-of-scope examples; rows labelled out_of_scope, oos or none are messages that fit no intent.
    Names count like one or two examples each, unless they turn out to be codes. Unlabelled messages (--pool) help most
    with few examples.

    [bold]Examples[/]

    turnloom intents fit examples.csv --model my-model --out my-intents

    turnloom intents fit names.yaml --pool prepared/ --vectors vectors/ --model my-model --out my-intents

    turnloom intents fit examples.jsonl --model my-model --out my-intents --false-reject 0.05 --context-turns 3
    """
    from turnloom.runtime.model_folder import find_model

    find_model(model)
    from turnloom.intents import IntentClassifier

    called = called_names(examples, descriptions, names)
    messages, labels = ([], []) if is_names_file(examples) else _labelled(examples, format)
    messages, labels = [*messages, *(said := confirmed(feedback))], [*labels, *said.values()]
    unlabelled = read_pool(pool, context_turns) if pool else []
    classifier = IntentClassifier(
        model,
        method=method,  # type: ignore[arg-type]  # Validated later, with an error that lists the valid names.
        multi_label=multi_label,
        context_turns=context_turns,
        false_reject_rate=false_reject,
        false_accept_rate=false_accept,
        accept_at=accept_at,
        frequencies=_frequencies(frequencies),
        vectors=vectors,
    )
    with counting("learning", len(messages)) as count:
        classifier.fit(
            messages,
            labels,
            names=called,
            pool=unlabelled,
            out_of_scope=_texts(out_of_scope),
            held_out=_texts(held_out),
        )
        count(len(messages))
    classifier.save(out)
    say_fitted(classifier, out)


@app.command("predict")
def predict(
    classifier: Path = typer.Argument(..., help="The classifier's folder."),
    messages: str = MESSAGES,
    model: str | None = MODEL,
    examples: int = typer.Option(3, min=0, help="How many of the nearest examples are shown."),
    vectors: Path | None = VECTORS,
    format: str | None = FORMAT,
) -> None:
    """Answer messages as JSON lines: accept, ask between two, or out of scope; with the nearest examples.

    [bold]Examples[/]

    turnloom intents predict my-intents messages.csv > answers.jsonl

    echo "my card is lost" | turnloom intents predict my-intents | jq .decision
    """
    from turnloom.intents import IntentClassifier

    known = IntentClassifier.load(classifier, model, vectors=vectors)
    done: dict[str, int] = {"accept": 0, "ask": 0, "out_of_scope": 0}
    with counting("answering") as count:
        for batch in batches(messages_from(messages, format)):
            answers = known.answer([message.turns for message in batch], examples=examples)
            rows = zip(batch, answers, strict=True)
            write_lines(({"text": message.turns[-1], **answer.as_dict()} for message, answer in rows), sys.stdout)
            for answer in answers:
                done[answer.decision] += 1
            count(len(batch))
    note(f"{done['accept']:,} accepted, {done['ask']:,} to ask about, {done['out_of_scope']:,} out of scope")


@app.command("evaluate")
def evaluate(
    classifier: Path = typer.Argument(..., help="The classifier's folder."),
    messages: str = typer.Argument("-", help="Messages with text and label, which it has not seen."),
    model: str | None = MODEL,
    json_out: Path | None = typer.Option(None, "--json", help="Also write the numbers as JSON."),
    vectors: Path | None = VECTORS,
    format: str | None = FORMAT,
) -> None:
    """Measure a classifier on labelled messages; rows labelled out_of_scope, oos or none test the scope.

    [bold]Examples[/]

    turnloom intents evaluate my-intents test.csv --json scores.json
    """
    from turnloom.intents import IntentClassifier, Rate
    from turnloom.intents import evaluate as measure

    known = IntentClassifier.load(classifier, model, vectors=vectors)
    texts, labels = _labelled(messages, format)
    with counting("measuring", len(texts)) as count:
        found = measure(known, texts, labels)
        count(len(texts))
    if json_out is not None:
        write_text(json_out, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    for name, value in found.items():
        if isinstance(value, dict):
            say(f"{name.replace('_', ' ')}: {percent(Rate(**value))}")
        elif isinstance(value, float):
            say(f"{name.replace('_', ' ')}: {100 * value:.1f} %")
        elif isinstance(value, int):
            say(f"messages {name.replace('_', ' ')}: {value:,}")
    for pair in found["confused"]:
        say(f"  {pair['is']} was taken for {pair['said']} {pair['times']} times")
    say(f"Next: turnloom intents discover {classifier} MESSAGES shows what may be missing")


@app.command("discover")
def discover(
    sources: list[str] = typer.Argument(
        ..., metavar="[INTENTS] MESSAGES", help="Messages; to see what a classifier misses, its folder before them."
    ),
    model: str | None = typer.Option(None, help="The model's folder; a classifier knows its own."),
    min_size: int = typer.Option(5, min=2, help="Groups of fewer distinct messages are not reported."),
    typical: int = typer.Option(3, min=1, help="How many typical members stand for a group."),
    members: bool = typer.Option(False, help="Write all members of each group."),
    vectors: Path | None = VECTORS,
    format: str | None = FORMAT,
) -> None:
    """Find groups of messages that mean the same, as JSON lines, the largest first.

    With messages and a model, groups are looked for among all messages: where to start when there are no intents yet.
    With a classifier, only messages that fit none of its intents are grouped, as finely as these: what is missing.

    [bold]Examples[/]

    turnloom intents discover messages.csv --model my-model > groups.jsonl

    turnloom intents discover my-intents last-week.csv --min-size 10

    cat messages.txt | turnloom intents discover - --model my-model --members

    turnloom intents discover openings.csv --model my-model --vectors vectors/ > groups.jsonl
    """
    folder, given = _discover_from(sources)
    found: list[LabelledMessage] = list(messages_from(given, format)) if folder or model else []
    with counting("grouping", len(found)) as count:
        clusters = _clusters(folder, model, [message.turns for message in found], min_size, typical, vectors)
        count(len(found))
    rows = []
    for cluster in clusters:
        row: dict[str, Any] = {"name": cluster.name, "size": cluster.size}
        row |= {"typical": list(cluster.typical), "cohesion": round(cluster.cohesion, 4)}
        if members:
            row["members"] = [found[place].turns[-1] for place in cluster.places]
        rows.append(row)
    write_lines(rows, sys.stdout)
    grouped = sum(cluster.size for cluster in clusters)
    rest = "is in scope or stands alone" if folder else "stands alone"
    note(f"{len(clusters)} groups with {grouped:,} of {len(found):,} messages; the rest {rest}")
    if clusters:
        again = "add them to the examples, then fit again" if folder else "fit them with turnloom intents fit"
        note(f"Next: label a group's members and {again}")


def _discover_from(sources: list[str]) -> tuple[Path | None, str]:
    """Return the classifier's folder, if any, and the source of messages: standard input if only a folder is named."""
    if len(sources) > 2:
        raise TurnloomError(f"{len(sources)} files are named", "give one of messages, and a classifier's folder before")
    if len(sources) == 2:
        return Path(sources[0]), sources[1]
    return (Path(sources[0]), "-") if Path(sources[0]).is_dir() else (None, sources[0])


def _clusters(
    folder: Path | None,
    model: str | None,
    messages: list[tuple[str, ...]],
    min_size: int,
    typical: int,
    vectors: Path | None,
) -> list[Cluster]:
    if folder is None and model is None:
        raise TurnloomError("no model is named", "give --model FOLDER, or a classifier's folder before the messages")
    if model is not None:
        from turnloom.runtime.model_folder import find_model

        find_model(model)
    if folder is not None:
        from turnloom.intents import IntentClassifier

        classifier = IntentClassifier.load(folder, model, vectors=vectors)
        return classifier.discover(messages, min_size=min_size, typical=typical)
    from turnloom.intents.discover import group_messages
    from turnloom.runtime import load_encoder
    from turnloom.vectors.encoder import stored

    encoded = stored(load_encoder(model), vectors).encode([turns[-1] for turns in messages])
    return group_messages(messages, encoded, min_size=min_size, typical=typical)
