"""`turnloom quickstart`: go from chat logs to a service, with an explanation of each step."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.console import console, say
from turnloom.cli.convert import convert_with_progress, find_inputs, warn_if_most_rejected
from turnloom.cli.intents_report import say_pool
from turnloom.cli.quickstart_replies import choose_order, index_replies
from turnloom.cli.quickstart_scores import VECTORS, choose_model
from turnloom.cli.quickstart_training import choose_recipe, fit_words, learns_words, train_model, warn_if_unknown
from turnloom.errors import TurnloomError
from turnloom.files import replacing, write_whole
from turnloom.words import WORDS

if TYPE_CHECKING:
    from turnloom.corpus.privacy.replacements import Replacement
    from turnloom.corpus.readers.source import LogFile
    from turnloom.intents.discover import Draft
    from turnloom.runtime import Encoder

INSTALLED_START = "turnloom-mini"
DEFAULT_START = "sentence-transformers/all-MiniLM-L6-v2"
HELD_OUT_PERCENT = 20
MOST_OPENINGS = 5_000
WORDINGS = "in-scope.csv"
"""More first messages, which set the threshold of the intents."""
STEPS = 6
HANDLE = re.compile(r"[.@]?<HANDLE>[,:]? ?")


def quickstart(
    logs: str = typer.Argument(..., help="Your conversations: a CSV with one message per row, or any other chat log."),
    start: Path | None = typer.Option(
        None,
        help=f"The base model; {INSTALLED_START} if installed, else {DEFAULT_START} from the hub. `{WORDS}` learns one "
        "from your conversations, in any language.",
    ),
    out: Path = typer.Option(Path("quickstart"), help="The folder for everything it makes."),
    minutes: float = typer.Option(5.0, min=0.01, help="How long to train."),
    recipe: str | None = typer.Option(
        None,
        help="How to train: a recipe's name or a YAML file. By default conversation if the base model reads whole "
        "conversations or cannot be fine-tuned, else dse-heads.",
    ),
    mapping: str | None = typer.Option(
        None, "--map", help="If columns are not found: dialogue_id=COLUMN,text=COLUMN,…"
    ),
    replace: Path | None = typer.Option(
        None, help="Also replace what the patterns of this YAML file match, such as booking references."
    ),
) -> None:
    """Get a service that detects intents and suggests replies from your chat logs, without labels, in a few minutes.

    Run it again with the same logs and it continues where it stopped. Your edits to intents.csv and service.yaml stay.

    [bold]Examples[/]

    turnloom quickstart chats.csv

    turnloom quickstart chats.csv --start all-MiniLM-L6-v2/ --minutes 30 --out support/

    turnloom quickstart 聊天.csv --start universal-sentence-encoder

    turnloom quickstart चैट.csv --start words
    """
    from turnloom.corpus.privacy.replacements import load_replacements
    from turnloom.replies.store import lancedb
    from turnloom.runtime.model_folder import find_model

    replacements = load_replacements(replace) if replace else ()
    if start is not None and not learns_words(start):
        find_model(start)
    lancedb()  # If it is missing, fail now, not after minutes of training.
    files = find_inputs([logs], mapping=mapping)
    base = start or _default_start()
    chosen = recipe or choose_recipe(base)
    _claim(out, files, base, chosen, minutes, replacements)
    _read(files, out)
    _prepare(out, replacements)
    why = "The model learns from what was said next; no labels are needed."
    _announce(3, f"Training for {minutes:g} minute{'' if minutes == 1 else 's'}", why)
    if learns_words(base):
        base = fit_words(out)
    else:
        warn_if_unknown(base, out)
    train_model(out, base, chosen, minutes)
    why = "On the dialogues kept apart: how often is the true reply the first of 100? By chance, 1 % of the time."
    _announce(4, "Measuring before and after", why)
    model = choose_model(out, base)
    _announce(5, "Indexing replies", "Each reply that was ever given is kept once, to be suggested where it fits.")
    encoder = index_replies(out, model)
    _intents(out, model, encoder)
    _service(out, model, encoder)


def _announce(number: int, doing: str, why: str) -> None:
    console.print(f"\n[bold]{number}/{STEPS} {doing}[/]")
    say(why)


def _default_start() -> Path:
    """Return turnloom-mini if it is installed, else a small general model from the hub."""
    from huggingface_hub import snapshot_download

    from turnloom.runtime.model_folder import model_folder

    installed = model_folder(INSTALLED_START)
    if installed.exists():
        return installed
    try:
        return Path(snapshot_download(DEFAULT_START, ignore_patterns=["onnx/*", "openvino/*", "*.bin", "*.h5", "*.ot"]))
    except (OSError, ValueError) as error:
        raise TurnloomError(
            f"{DEFAULT_START} cannot be fetched ({type(error).__name__})",
            "give --start FOLDER, the folder of any SentenceTransformer",
        ) from error


def _claim(
    out: Path, files: list[LogFile], base: Path, recipe: str, minutes: float, replace: tuple[Replacement, ...]
) -> None:
    """Record the logs and settings of this folder; others need another folder."""
    from turnloom.runtime import load_encoder

    changed = [Path(file.path).stat().st_mtime_ns if Path(file.path).exists() else 0 for file in files]
    job: dict[str, Any] = {
        "logs": hashlib.sha256(repr([files, changed]).encode()).hexdigest(),
        "recipe": recipe,
        "minutes": minutes,
    }
    job["start"] = WORDS if learns_words(base) else load_encoder(base).fingerprint
    if replace:  # Folders made without them stay as they are.
        job["replace"] = [one.model_dump() for one in replace]
    mark = out / "quickstart.json"
    made = json.loads(mark.read_text(encoding="utf-8")) if mark.exists() else job
    if other := [name for name in sorted({*made, *job}) if made.get(name) != job.get(name)]:
        raise TurnloomError(f"{out} was made with other {' and '.join(other)}", "give the same, or another --out")
    out.mkdir(parents=True, exist_ok=True)
    write_whole(mark, json.dumps(job, indent=2) + "\n")


def _read(files: list[LogFile], out: Path) -> None:
    from turnloom.corpus.table import MANIFEST, read_manifest

    why = "Every format becomes one table of dialogues; what cannot be read is set aside."
    _announce(1, "Reading your conversations", why)
    if not (out / "corpus" / MANIFEST).exists():
        convert_with_progress(files, out / "corpus")
    else:
        warn_if_most_rejected(read_manifest(out / "corpus").counts, out / "corpus")
    manifest = read_manifest(out / "corpus")
    rejected = manifest.counts["rejected"]
    aside = f"; {rejected:,} records set aside, see {out}/corpus/rejected.jsonl" if rejected else ""
    say(f"{manifest.dialogues:,} dialogues with {manifest.turns:,} turns{aside}")


def _prepare(out: Path, replacements: tuple[Replacement, ...]) -> None:
    from turnloom.corpus.prepare import PrepareOptions, prepare
    from turnloom.corpus.table import read_manifest, split_table

    why = "Copies are dropped, personal data becomes placeholders, and a fifth is kept apart to measure on."
    _announce(2, "Cleaning them", why)
    with console.status("cleaning …") as status:
        prepared, _ = prepare(
            out / "corpus",
            out / "prepared",
            PrepareOptions(replace=replacements),
            command="turnloom quickstart",
            on_step=lambda step: status.update(f"{step} …"),
        )
        split_table(out / "prepared", out / "train", out / "held-out", HELD_OUT_PERCENT)
    replaced = sum(prepared.counts["personal_data"].values())
    kept, apart = (read_manifest(out / name).dialogues for name in ("train", "held-out"))
    console.print(
        f"{kept:,} dialogues to learn from, {apart:,} kept apart; {replaced:,} pieces of personal data replaced"
    )
    if not replacements:
        say("Codes of your own, such as booking references, stay: --replace FILE replaces them.")


def _intents(out: Path, model: Path, encoder: Encoder) -> None:
    from turnloom.intents import IntentClassifier, read_messages
    from turnloom.intents.pool import FEWEST_MESSAGES

    why = "First messages that mean the same form groups: each is the draft of an intent, for you to rename."
    _announce(6, "Looking for intents", why)
    draft, wordings = out / "intents.csv", out / WORDINGS
    if not draft.exists():
        found = _draft(out, encoder)
        if len({label for _, label in found.examples}) < 2:
            console.print(
                "No groups stand out yet: give more conversations, or write intents.csv by hand (text,label)."
            )
            return
        _write_csv(wordings, [("text",), *((text,) for text in found.wordings)])
        _write_csv(draft, [("text", "label"), *found.examples])
    known = list(read_messages(draft))
    in_scope = [message.turns for message in read_messages(wordings)] if wordings.exists() else []
    texts, labels = [message.turns for message in known], [message.labels for message in known]
    pool = sorted({*_openings(out)} - {turns[-1] for turns in texts})
    classifier = IntentClassifier(str(model), vectors=out / VECTORS / model.name)
    classifier.fit(texts, labels, held_out=in_scope, pool=pool if len(pool) >= FEWEST_MESSAGES else ())
    classifier.save(out / "intents")
    if classifier.pool_report is not None:
        say_pool(classifier.pool_report)
    names = list(dict.fromkeys(label for message in known for label in message.labels))  # Largest groups first.
    say(f"{len(names)} intents: {', '.join(names[:8])}{', …' if len(names) > 8 else ''}")
    say(f"Rename or merge them in {draft}, then run this command again. A service takes them at POST /admin/reload.")


def _draft(out: Path, encoder: Encoder) -> Draft:
    """Draft examples of intents from groups of similar first turns."""
    from turnloom.intents.discover import draft_intents

    openings = _openings(out)
    with console.status("grouping …"):
        return draft_intents(openings, encoder.encode(openings), encoder.encode)


def _openings(out: Path) -> list[str]:
    """Return the distinct first turns, or a sample of them; without handles, which say who is asked, not what."""
    from turnloom.corpus import read_table

    firsts = (row["turns"][0]["text"] for row in read_table(out / "prepared").select("turns").iter_rows())
    openings = list(dict.fromkeys(HANDLE.sub("", text).strip() or text for text in firsts))
    if len(openings) > MOST_OPENINGS:  # Sample from all of them: the first ones may be from one week or one file.
        openings = random.Random(0).sample(openings, MOST_OPENINGS)
    return openings


def _write_csv(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _service(out: Path, model: Path, encoder: Encoder) -> None:
    """Write the service's commented configuration for the new model, intents and replies, with relative paths."""
    from turnloom.replies import ReplyIndex
    from turnloom.service.config_file import config_text, load_config

    path = out / "service.yaml"
    if not path.exists():
        order, least = choose_order(ReplyIndex(out / "replies", encoder), out / "held-out")
        text = config_text().replace("  path: model\n", f"  path: {model.name}\n")
        for part in ("replies", *(["intents"] if (out / "intents").exists() else [])):
            text = text.replace(f"# {part}: ", f"{part}: ").replace(f"#   folder: {part}\n", f"  folder: {part}\n")
        text = text.replace("#   mode: hybrid ", f"  mode: {order} ")
        write_whole(path, text if least is None else text.replace("#   min_score: 0.6 ", f"  min_score: {least} "))
    config = load_config(path)
    vectors = out / VECTORS / model.name
    say(f"\nAll of it is in {out}. Next:")
    say(f"  turnloom serve {path}   then open http://127.0.0.1:{config.port}/")
    mode = "" if config.replies is None or config.replies.mode == "hybrid" else f" --mode {config.replies.mode}"
    say(f"  turnloom replies search {out}/replies --model {model}{mode} 'a message'")
    say(f"  turnloom studio {out}/studio --table {out}/prepared --model {model} --vectors {vectors} --first")
    say("     all groups on a map, to review and rename in the browser")
    say(f"  turnloom inspect {out}/prepared   what your conversations are like")
