"""The three commands on a table, with turnloom-mini."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.training.toy import write_table
from turnloom.cli.main import app
from turnloom.errors import TurnloomError

MODEL = str(Path(__file__).parents[2] / "models" / "turnloom-mini")
ASKED = {
    "cancel": "please cancel my order {}|i want to cancel an order {}|can you cancel order {}|cancel the order {}",
    "refund": "i want to request a refund {}|how do i request a refund {}|please refund me {}|i need a refund for {}",
    "parcel": "where is my parcel {}|my parcel {} has not arrived|track my parcel {}|when does my parcel {} arrive",
    "password": "reset my password {}|i forgot my password {}|how do i reset a password {}|my password {} fails",
}
THINGS = ("shoes", "a lamp", "the table", "two books", "a phone", "my jacket", "a chair", "the clock")


def dialogues(*topics: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for topic in topics:
        for number, thing in enumerate(THINGS):
            text = ASKED[topic].split("|")[number % 4].format(f"for {thing}")
            turns = [
                ("user", text),
                ("system", "what is the number?"),
                ("user", f"it is {number}"),
                ("system", "done"),
            ]
            said = [{"speaker": speaker, "text": turn} for speaker, turn in turns]
            found.append({"dialogue_id": f"{topic}{number}", "turns": said})
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("found")
    table = write_table(folder / "t", dialogues("cancel", "refund", "parcel"))
    command = ["discover", str(table), "--out", str(folder / "d"), "--model", MODEL, "--first"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "24 messages (24 distinct)" in done.stdout
    return table, folder / "d"


def test_discover_writes_groups_messages_and_a_page(found: tuple[Path, Path]) -> None:
    _, folder = found
    summary = json.loads((folder / "discovery.json").read_text())
    assert summary["role"] == "customer"
    assert summary["first"] is True
    assert summary["model"] == "turnloom-mini"
    assert summary["occurrences"] == 24
    rows = pq.read_table(folder / "messages.parquet").to_pylist()
    assert len(rows) == 24
    assert all((row["group"] is None) == (row["reason"] is not None) for row in rows)
    by_group: dict[int, set[str]] = {}
    for row in rows:
        topic = next((topic for topic in ASKED if topic in row["text"]), "")
        by_group.setdefault(row["group"], set()).add(topic)
    assert sorted(map(sorted, by_group.values())) == [["cancel"], ["parcel"], ["refund"]]
    assert (folder / "index.html").exists()


def test_flow_writes_what_the_ending_says(found: tuple[Path, Path], tmp_path: Path) -> None:
    table, _ = found
    for ending, begins in ((".json", "{"), (".html", "<!doctype")):
        out = tmp_path / f"flow{ending}"
        done = CliRunner().invoke(app, ["flow", str(table), "--model", MODEL, "--out", str(out), "--states", "2"])
        assert done.exit_code == 0, done.output
        assert out.read_text().startswith(begins)
    flow = json.loads((tmp_path / "flow.json").read_text())
    assert flow["dialogues"] == 24
    assert flow["turns"] == 96


@pytest.mark.parametrize("grouped", [True, False])
def test_drift_finds_what_is_new(found: tuple[Path, Path], tmp_path: Path, grouped: bool) -> None:
    table, folder = found
    new = write_table(tmp_path / "n", dialogues("cancel", "refund", "password"))
    old = [str(folder)] if grouped else ["--first", str(table)]
    done = CliRunner().invoke(app, ["drift", *old, str(new), "--model", MODEL, "--out", str(tmp_path / "x")])
    assert done.exit_code == 0, done.output
    drift = json.loads((tmp_path / "x" / "drift.json").read_text())
    assert drift["old_messages"] == drift["new_messages"] == 24
    assert any("password" in one["name"] for one in drift["groups"] if one["verdict"] == "appeared")
    assert any("parcel" in one["name"] for one in drift["groups"] if one["verdict"] == "disappeared")
    assert "Appeared" in (tmp_path / "x" / "index.html").read_text()


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["discover", "{table}", "--out", "{out}", "--role", "nobody"], "no message of 'nobody'"),
        (["discover", "{out}", "--out", "{out}"], "is not a folder"),
        (["flow", "{table}", "--out", "flow.png"], "no known ending"),
        (["flow", "{table}", "--since", "May"], "no date"),
        (["drift", "{out}", "{table}"], "is not a folder"),
        (["drift", "{found}", "{table}", "--role", "agent"], "grouped already"),
    ],
)
def test_mistakes_are_explained(
    found: tuple[Path, Path], tmp_path: Path, command: list[str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    filled = [word.format(table=found[0], found=found[1], out=tmp_path / "o") for word in command]
    done = CliRunner().invoke(app, [*filled, "--model", MODEL])
    assert isinstance(done.exception, TurnloomError), done.output
    assert problem in str(done.exception.problem)
    assert done.exception.fix
