"""The command line as a user meets it: what it prints, how it fails, how fast it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tests.corpus.formats import json_lines, sample, turns_record
from turnloom.cli.console import parse_mapping
from turnloom.cli.main import app, main
from turnloom.corpus import read_table
from turnloom.errors import TurnloomError


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["turnloom", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(json_lines([turns_record(sample(number)) for number in range(20)]) + b"broken\n")
    return path


MOSTLY_BAD = "conv,turn,body\n1,1,hi\n1,x,a\n1,y,b\n1,1\n,1,c\n1,z,d\n2,2,2,2,2\n"


def test_rejections_are_summed_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log, out = tmp_path / "log.csv", str(tmp_path / "out")
    log.write_text(MOSTLY_BAD)
    reasons = (
        "Most frequent reasons for a rejection:\n"
        f"  3 × column 'turn' is not a number ({log}:3: 'x')\n"
        f"  2 × it has 2 fields, the header has 3 ({log}:5: '1,1')\n"
        f"  1 × column 'conv' is empty ({log}:6: "
    )
    code, said, warned = run(capsys, monkeypatch, "convert", str(log), "--out", out)
    assert code == 0
    assert warned == "warning: 6 of 7 records were rejected (85 %)\n"
    assert said.count(reasons) == 1

    log.write_text("conv,turn,body\n" + "1,1,hi\n" * 7 + MOSTLY_BAD.split("\n", 2)[2])
    code, said, warned = run(capsys, monkeypatch, "convert", str(log), "--out", out, "--overwrite")
    assert (code, warned) == (0, "")
    assert said.count("  3 × column 'turn' is not a number") == 1

    log.write_text("conv,turn,body\n" + MOSTLY_BAD.split("\n", 2)[2])
    code, said, warned = run(capsys, monkeypatch, "convert", str(log), "--out", str(tmp_path / "none"))
    assert code == 2
    assert said.count("  3 × column 'turn' is not a number") == 1
    assert "all 6 records were rejected, mostly because column 'turn' is not a number" in warned
    assert not (tmp_path / "none" / "manifest.json").exists()


def test_a_field_may_go_by_its_columns_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("ticket,von,body\n1,Anna,hi\n")
    options = ["--map", "conversation_id=ticket,message=body,role=von", "--out", str(tmp_path / "out")]
    assert run(capsys, monkeypatch, "convert", str(tmp_path / "log.csv"), *options)[0] == 0
    (row,) = read_table(tmp_path / "out").to_pylist()
    assert row["turns"][0]["speaker"] == "Anna"


def test_convert_then_inspect(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, log: Path, tmp_path: Path
) -> None:
    code, out, _ = run(capsys, monkeypatch, "convert", str(log), "--out", str(tmp_path / "corpus"))
    assert code == 0
    assert "turns, because its records have 'turns' with 'text'" in out
    assert "20 records accepted, 1 rejected, 21 in all." in out
    assert "20 dialogues with 40 turns" in out
    assert "Next: turnloom inspect" in out
    page, numbers = tmp_path / "page.html", tmp_path / "numbers.json"
    code, out, _ = run(
        capsys, monkeypatch, "inspect", str(tmp_path / "corpus"), "--html", str(page), "--json", str(numbers)
    )
    assert code == 0
    assert "words in a turn" in out
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(numbers.read_text())["turns"] == 40


def test_inspect_reads_logs_directly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    code, out, _ = run(capsys, monkeypatch, "inspect", str(log))
    assert code == 0
    assert "dialogues  20" in out


def test_templates_are_built_and_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = [("rome", "city"), ("bern", "city"), ("rome", "team"), ("oslo", "city")]
    rows = [{"text": f"go to {value}", "slots": ["O", "O", f"B-{name}"]} for value, name in said]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    slots = str(tmp_path / "slots")
    code, out, _ = run(capsys, monkeypatch, "templates", "build", str(tmp_path / "said.jsonl"), "--out", slots)
    assert code == 0
    assert "2 slots with 4 values; 2 templates of 4 utterances become 4 utterances, 2.0 a template" in out
    assert "Next: turnloom train tadse" in out
    code, out, _ = run(capsys, monkeypatch, "templates", "inspect", slots, "--top-k", "1", "--samples", "9")
    assert code == 0
    assert "noisy: 100% of what fills 'team' fills other slots too" in out
    assert "go to {TEAM}\n    go to rome" in out
    code, _, error = run(capsys, monkeypatch, "templates", "inspect", str(tmp_path))
    assert code == 2
    assert "holds no whole table" in error


def test_prepare_says_what_each_step_did(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, log: Path, tmp_path: Path
) -> None:
    out = tmp_path / "prepared"
    code, text, _ = run(capsys, monkeypatch, "prepare", str(log), "--out", str(out))
    assert code == 0
    assert "without near duplicates" in text
    assert "consecutive pairs with more than 3 words on both sides" in text
    code, text, _ = run(capsys, monkeypatch, "prepare", str(log), "--out", str(out))
    assert code == 0
    assert "Nothing to do" in text


def test_data_commands(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    (tmp_path / "sgd").mkdir()
    code, out, _ = run(capsys, monkeypatch, "data", "list", "--task", "corpus", "--use", "open")
    assert code == 0
    (sgd,) = [line for line in out.splitlines() if "sgd" in line]
    assert "acts, intents" in sgd
    assert "dailydialog" not in out
    _, out, _ = run(capsys, monkeypatch, "data", "info", "star")
    assert "by a hash of the dialogue's id: train 80 %, dev 10 %, test 10 %" in out
    assert "MIT (LICENSE.txt)" in out
    _, out, _ = run(capsys, monkeypatch, "data", "path", "sgd")
    assert out.strip() == str(tmp_path / "sgd")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "nope.csv", "--out", "{tmp}/o"], "nope.csv matches no file. Fix: check the path"),
        (["convert", "clinc15", "--out", "{tmp}/o"], "did you mean clinc150"),
        (["convert", "{log}", "--format", "xml", "--out", "{tmp}/o"], "there is no format 'xml'. Fix: choose one of"),
        (["convert", "{tmp}/rows.csv", "--out", "{tmp}/o"], "Fix: name it with --map text=COLUMN"),
        (["convert", "{tmp}/rows.csv", "--map", "text", "--out", "{tmp}/o"], "--map does not understand 'text'"),
        (["convert", "{tmp}/empty.csv", "--out", "{tmp}/o"], "empty.csv is empty"),
        (["convert", "{log}", "--out", "{log}/o"], "cannot be written"),
        (["convert", "{log}", "--strict", "--out", "{tmp}/o"], "--strict allows none. Fix: see"),
        (["inspect", "{tmp}"], "empty.csv is empty"),
        (["prepare", "{log}", "--hold-out", "cooking", "--out", "{tmp}/o"], "knows no suite or set 'cooking'"),
        (["prepare", "{log}", "--rows", "30", "--out", "{tmp}/o"], "use more bands or fewer rows"),
        (
            ["prepare", "{log}", "--runner", "spark", "--out", "{tmp}/o"],
            "there is no runner 'spark'. Fix: choose native",
        ),
        (["prepare", "{log}", "--min-turns", "0", "--out", "{tmp}/o"], "--min-turns: Input should be greater"),
        (["evaluate", "{tmp}"], "holds no model. Fix: give the folder of a SentenceTransformer"),
        (["evaluate", "{tmp}", "--suite", "everything"], "there is no suite 'everything'. Fix: choose one of dse"),
        (["evaluate", "static"], "the baseline 'static' needs a model. Fix: write it as static:FOLDER"),
        (["data", "info", "nothing"], "'turnloom data list' shows all names"),
        (["data", "list", "--task", "cooking"], "no set matches"),
        (["data", "fetch", "dailydialog"], "add --accept-noncommercial"),
        (["data", "path", "sgd", "--split", "valid"], "sgd has no split 'valid'. Fix: it has train, dev, test, all"),
    ],
)
def test_mistakes_are_one_line_with_the_fix(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    log: Path,
    arguments: list[str],
    message: str,
) -> None:
    (tmp_path / "rows.csv").write_text("conv,stuff\n1,hi\n")
    (tmp_path / "empty.csv").write_text("")
    filled = [argument.format(tmp=tmp_path, log=log) for argument in arguments]
    code, _, err = run(capsys, monkeypatch, *filled)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_mapping() -> None:
    assert parse_mapping("dialogue_id=conv, text=body") == {"dialogue_id": "conv", "text": "body"}
    assert parse_mapping(None) == {}
    with pytest.raises(TurnloomError):
        parse_mapping("text=")


def best_of(command: list[str], tries: int = 3) -> float:
    """Processor time of the fastest of a few runs: what a person waits for on a machine with nothing else to do."""
    seconds = []
    for _ in range(tries):
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        user = after.children_user - before.children_user
        seconds.append(user + after.children_system - before.children_system)
    return min(seconds)


def test_importing_is_quick() -> None:
    bare = best_of([sys.executable, "-c", "pass"])
    assert best_of([sys.executable, "-c", "import turnloom"]) - bare < 0.3


def test_help_is_quick() -> None:
    # What it is drawn with is most of it: measured beside it, so that the bound holds on any machine.
    drawn_with = best_of([sys.executable, "-c", "import typer, typer.rich_utils, rich.markdown, rich.traceback"])
    assert best_of([sys.executable, "-m", "turnloom.cli.main", "--help"]) < 2 * drawn_with


def every_command() -> list[list[str]]:
    found: list[list[str]] = []
    waiting: list[tuple[Any, list[str]]] = [(typer.main.get_command(app), [])]
    for command, words in waiting:
        parts = getattr(command, "commands", {})
        waiting += [(part, [*words, name]) for name, part in parts.items()]
        found += [] if parts else [words]
    return found


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_every_command_has_help_with_an_example(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    code, out, _ = run(capsys, monkeypatch, *command, "--help")
    assert code == 0
    assert f"turnloom {' '.join(command)} " in out
    assert "Example" in out


def test_heavy_packages_are_not_loaded_for_help() -> None:
    script = (
        "import sys; import turnloom.cli.main; print([m for m in ('daft', 'torch', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_dry_run_shows_dialogues_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "chat.txt"
    log.write_text("13/05/2024, 10:15 - Ann: hello [you]\n13/05/2024, 10:16 - Ben: hi\n")
    code, shown, _ = run(capsys, monkeypatch, "convert", str(log), "--dry-run")
    assert code == 0
    assert "  2024-05-13 10:15 Ann: hello [you]\n" in shown
    assert "Nothing was written" in shown
    assert [path.name for path in tmp_path.iterdir()] == ["chat.txt"]


def test_an_unknown_file_is_described_before_the_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "log.json"
    events = [{"by": "Ann", "says": "my card was stolen"}, {"by": "Ben", "says": "oh no, I block it"}]
    log.write_text(json.dumps([{"ref": "A1", "events": events}]))
    code, shown, error = run(capsys, monkeypatch, "convert", str(log), "--dry-run")
    assert code == 2
    assert "events[].says  'my card was stolen'  ← text" in shown
    assert "--map 'dialogue_id=ref,text=events[].says,speaker=events[].by' --out corpus" in " ".join(error.split())
