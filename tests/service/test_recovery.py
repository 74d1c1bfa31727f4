"""Damage: what can be served is, readiness says what cannot, and nothing is thrown away."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.toy import HeadedEncoder, served, settings, with_intents, with_replies
from turnloom.errors import TurnloomError
from turnloom.service.app import create_app
from turnloom.service.journal import Journal
from turnloom.service.live_intents import LiveIntents
from turnloom.service.monitoring import JsonFormatter, set_up_logs

ASK = {"messages": ["zeppelin please"], "examples": 0}
SUGGEST = {"context": ["what does the sofa cost"]}


@pytest.mark.parametrize("damaged", [b'{"do": "add", "exam\n', b"\0" * 50 + b"\n", b"[1]\n", b"\xff\xfe{}\n"])
def test_a_damaged_line_is_skipped_reported_and_kept_aside(
    tmp_path: Path, damaged: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = HeadedEncoder()
    with_intents(tmp_path, encoder)
    journal = Journal(tmp_path / "intents.jsonl")
    live = LiveIntents(tmp_path / "intents", encoder, journal)
    live.add([(["zeppelin please"], ["zeppelin"])])
    before = journal.path.read_bytes()
    live.add([(["zeppelin now"], ["zeppelin"])])
    after = journal.path.read_bytes()[len(before) :]
    journal.path.write_bytes(before + damaged + after)
    for _ in range(2):
        again = LiveIntents(tmp_path / "intents", encoder, Journal(journal.path))
        assert again.examples("zeppelin") == [["zeppelin please"], ["zeppelin now"]]
        assert again.damaged == 1
    (aside,) = tmp_path.glob("intents-*.damaged")
    assert aside.read_bytes() == damaged
    reports = [record.__dict__ for record in caplog.records if record.message == "damaged line skipped"]
    assert [(report["byte"], report["kept_in"]) for report in reports] == [(len(before), aside.name)] * 2
    assert again.add([(["zeppelin soon"], ["zeppelin"])]) == 11
    assert len(list(tmp_path.glob("*.damaged"))) == 1


def test_no_flipped_bit_changes_what_is_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    known = [{"do": "add", "examples": [{"turns": ["héllo"], "intents": ["a"]}], "names": {}}]
    journal.append(known)
    whole = journal.path.read_bytes()
    skipped = 0
    for place in range(len(whole) - 1):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            journal.path.write_bytes(flipped)
            records, _ = Journal(journal.path).read()
            for record in records:
                assert {name: record.get(name) for name in known[0]} == known[0], (place, bit)
            skipped += not records
    assert skipped > 6 * len(whole)


def test_lines_of_older_versions_are_read(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_text('{"id": "a"}\n')
    journal = Journal(tmp_path / "j.jsonl")
    journal.append([{"id": "b"}])
    assert journal.read()[0] == [{"id": "a"}, {"id": "b"}]


def test_readiness_asks_the_replies(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder), **with_replies(tmp_path, encoder))
    with served(config, encoder) as client:
        service = client.app.state.service  # type: ignore[attr-defined]
        assert client.get("/health/ready").status_code == 200
        shutil.move(tmp_path / "replies", tmp_path / "away")
        service.check()
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.json()["error"]["message"]) == (503, "Not ready; in recovery: replies.")
        answer = client.post("/v1/replies", json=SUGGEST)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert client.post("/v1/intents", json=ASK).status_code == 200
        assert any(problem.startswith("replies: ") for problem in client.get("/info").json()["problems"])
        shutil.move(tmp_path / "away", tmp_path / "replies")
        service.check()
        assert client.get("/health/ready").status_code == 200
        assert client.get("/info").json()["problems"] == []


@pytest.mark.parametrize("part", ["intents", "replies"])
def test_what_cannot_be_loaded_is_said_and_the_rest_is_served(
    tmp_path: Path, part: str, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder), **with_replies(tmp_path, encoder))
    name = {"intents": "intents.safetensors", "replies": "index.json"}[part]
    whole = (tmp_path / part / name).read_bytes()
    (tmp_path / part / name).write_bytes(whole[:100])
    with served(config, encoder) as client:
        assert client.get("/health/live").status_code == 200
        assert client.get("/health/ready").json()["error"]["message"] == f"Not ready; in recovery: {part}."
        (problem,) = client.get("/info").json()["problems"]
        assert problem.startswith(f"{part}: ")
        assert str(tmp_path) not in problem
        statuses = {
            "intents": client.post("/v1/intents", json=ASK),
            "replies": client.post("/v1/replies", json=SUGGEST),
        }
        broken = statuses.pop(part)
        assert (broken.status_code, broken.json()["error"]["code"]) == (503, "in_recovery")
        assert [answer.status_code for answer in statuses.values()] == [200]
        lines = [JsonFormatter().format(record) for record in caplog.records if record.name == "turnloom.service"]
        assert any('"event":"in recovery"' in line and '"fix"' in line for line in lines)
        assert not any("Traceback" in line or '"trace"' in line for line in lines)
        (tmp_path / part / name).write_bytes(whole)
        client.app.state.service.wish_reload()  # type: ignore[attr-defined]
        client.app.state.service.reload_if_asked()  # type: ignore[attr-defined]
        assert client.get("/health/ready").status_code == 200
        assert client.post("/v1/intents", json=ASK).status_code == 200
        assert client.post("/v1/replies", json=SUGGEST).status_code == 200


def test_a_check_before_a_start_is_strict(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder))
    (tmp_path / "intents" / "intents.safetensors").write_bytes(b"")
    from tests.service.toy import loaders

    with pytest.raises(TurnloomError, match="intents"):
        create_app(config, loaders(encoder), recover=False).state.service.load(recover=False)


NOISY = """
import logging, threading, warnings
import transformers.models.auto.tokenization_auto  # As supervisor.PRELOADED says.
from turnloom.service.monitoring import log_all_as_json, set_up_logs
set_up_logs("info")
log_all_as_json()
warnings.warn("a warning", stacklevel=1)
logging.getLogger("asyncio").error("a library")
transformers.utils.logging.get_logger("transformers.models").warning("another library")
thread = threading.Thread(target=lambda: 1 / 0, name="counting")
thread.start(); thread.join()
"""


def test_what_libraries_say_is_json() -> None:
    said = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, timeout=300, check=True)
    lines = [json.loads(line) for line in said.stderr.splitlines()]
    assert [line["logger"] for line in lines] == ["py.warnings", "asyncio", "transformers.models", "turnloom.service"]
    assert lines[3]["of_thread"] == "counting"
    assert lines[3]["trace"][0] == "ZeroDivisionError"


def test_the_stack_that_uvicorn_prints_is_kept_back(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        set_up_logs("info")
        logging.getLogger("uvicorn.error").error("Traceback (most recent call last):\n ...")
        logging.getLogger("uvicorn.error").error("Application startup failed. Exiting.")
        assert "Traceback" not in (said := capsys.readouterr().err)
        assert "startup failed" in said
    finally:
        for name in ("turnloom.service", "uvicorn", "uvicorn.error"):
            logging.getLogger(name).handlers, logging.getLogger(name).filters = [], []
            logging.getLogger(name).propagate = True
