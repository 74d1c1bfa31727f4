"""`turnloom export`: a model for CPUs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.console import console, load_model, say
from turnloom.cli.evaluate import measure_all
from turnloom.errors import TurnloomError
from turnloom.files import write_whole

if TYPE_CHECKING:
    from turnloom.runtime.protocols import Encoder, Scorer

SAMPLE = (
    "Hi, my parcel has not arrived yet.",
    "Could you give me the order number, please?",
    "It is 4471, I ordered two weeks ago.",
    "Thank you. It left our warehouse yesterday and should reach you on Friday.",
    "How do I change my delivery address?",
    "You find it under Account, then Addresses.",
    "I want to cancel my subscription.",
    "May I ask why you are leaving?",
    "It is too expensive for what I use.",
    "We could offer you the small plan for half the price.",
    "My card was declined twice, although there is money on the account.",
    "Please call your bank, the payment is refused on their side.",
    "Is there a table for four tonight at eight?",
    "I am sorry, we are fully booked. Would half past nine do?",
    "Yes, that works.",
    "What's the weather going to be like tomorrow?",
    "Play some jazz in the kitchen",
    "wifi keeps dropping since the last update, any ideas??",
    "try sudo dmesg | grep wlan and paste what it says",
    "ok",
    "No worries!",
    "Book me a train to Cambridge on Sunday morning, arriving before noon.",
    "There are five trains. The first one leaves at 8:01, shall I book it?",
    "Thanks, bye.",
)
"""The texts to compare an export on by default."""


def _texts(path: Path) -> list[str]:
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise TurnloomError(f"{path} cannot be read ({error})", "give a text file with one text per line") from error
    texts = [line for line in lines if line]
    if len(texts) < 3:
        raise TurnloomError(f"{path} has fewer than three texts", "give one text per line")
    return texts


def export(
    model: Path = typer.Argument(..., help="The folder of an encoder or of a re-ranker."),
    out: Path | None = typer.Option(None, help="The new folder; by default MODEL-onnx or MODEL-int8."),
    int8: bool = typer.Option(
        False, "--int8", help="In 8 bits: a quarter of the matrices' size, and faster, most on CPUs with VNNI."
    ),
    texts: Path | None = typer.Option(None, help="What to compare on: a file with one text per line."),
    calibrate: Path | None = typer.Option(
        None, help="For --int8, texts like those you expect, one per line; some English service messages by default."
    ),
    measure: bool = typer.Option(
        False, "--measure", help="Also run suite quick (ums for a re-ranker) on both, and report the change."
    ),
) -> None:
    """Get a faster copy of a model for CPUs (ONNX), and a report of what that changes.

    Use the new folder wherever you use a model's folder.

    [bold]Examples[/]

    turnloom export my-model/ --int8

    turnloom export my-reranker/ --int8 --out reranker-int8 --measure
    """
    from turnloom.runtime.export import agreement, export_model
    from turnloom.runtime.scorer import is_cross_encoder

    sample = list(SAMPLE) if texts is None else _texts(texts)
    calibration = None if calibrate is None else _texts(calibrate)
    out = out or model.resolve().with_name(f"{model.resolve().name}-{'int8' if int8 else 'onnx'}")
    with console.status(f"Exporting {model}"):
        export_model(model, out, int8=int8, calibration=calibration)
    original, exported = load_model(model), load_model(out)
    report: dict[str, Any] = {
        "megabytes": {"before": _megabytes(model), "after": _megabytes(out)},
        "agreement": agreement(original, exported, sample),
        "seconds": {"before": _seconds(original, sample), "after": _seconds(exported, sample)},
    }
    if measure:
        report["change"] = _changes(original, exported, "ums" if is_cross_encoder(out) else "quick", out)
    write_whole(out / "report.json", json.dumps(report, indent=2) + "\n")
    _summary(report, out, len(sample))
    if not is_cross_encoder(out):
        _say_what_fits(model, out, int8)
    say(f"Next: turnloom evaluate {out}")


def _megabytes(folder: Path) -> float:
    files = [path for path in folder.rglob("*") if path.suffix in (".safetensors", ".onnx")]
    return round(sum(path.stat().st_size for path in files if "training" not in path.parts) / 1e6, 1)


def _seconds(model: Encoder | Scorer, texts: list[str]) -> float:
    """Time all texts on a warm model; the best of three runs."""
    from turnloom.runtime.protocols import Scorer

    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        _ = model.score(texts[:1], texts[1:]) if isinstance(model, Scorer) else model.encode(texts)
        best = min(best, time.perf_counter() - start)
    return best


def _changes(original: Any, exported: Any, suite: str, out: Path) -> dict[str, float]:
    """Return the change of each task's main score, in points."""
    from turnloom.benchmarks import suite_tasks

    before, after = measure_all({"before": original, "after": exported}, suite_tasks(suite), out / "measured")
    return {
        name: task.mean() - before.tasks[name].mean()
        for name, task in after.tasks.items()
        if task.error is None and before.tasks[name].error is None
    }


def _summary(report: dict[str, Any], out: Path, texts: int) -> None:
    sizes, seconds = report["megabytes"], report["seconds"]
    console.print(f"{sizes['before']:.1f} MB before, {sizes['after']:.1f} MB after")
    for name, value in report["agreement"].items():
        say(f"{name.replace('_', ' ')}: {value:.5f}")
    console.print(
        f"{texts} texts in {1000 * seconds['before']:.1f} ms before, {1000 * seconds['after']:.1f} ms after: "
        f"{seconds['before'] / seconds['after']:.1f} times as fast"
    )
    for name, change in report.get("change", {}).items():
        say(f"{name}: {change:+.2f} points")
    say(f"The exported model: {out}")


def _say_what_fits(model: Path, out: Path, int8: bool) -> None:
    """Print whether the model's intents and replies work with the export, or how to make new ones."""
    if not int8:
        say(f"Intents and replies that were made with {model} can be used with it.")
        return
    say(f"Intents and replies that were made with {model} do not fit it. Make its own with:")
    say(f"  turnloom intents fit EXAMPLES --model {out} --out INTENTS")
    say(f"  turnloom replies reembed INDEX --model {out}")
