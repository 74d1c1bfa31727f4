"""What is erased is nowhere in the bytes on disk, uncompressed, and everything else is as before."""

from __future__ import annotations

import json
import shutil
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from studies.service.on_disk import files_with

from tests.cli.test_commands import run
from tests.replies.toy import THINGS, many, write_table
from tests.service.toy import INTENTS, HeadedEncoder, served, settings, with_intents
from turnloom.corpus.erasure import Erasure
from turnloom.corpus.schema import Dialogue, Turn
from turnloom.corpus.table import read_manifest, read_table
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.journal import locked
from turnloom.replies import ReplyIndex, ReplyOptions
from turnloom.replies.erasure import erase_from_index
from turnloom.replies.search import Mode
from turnloom.service.audit import AuditLog
from turnloom.service.folders import erase_from_folders, find_holdings
from turnloom.service.journal import Journal
from turnloom.service.live_intents import LiveIntents
from turnloom.service.routes import erasures
from turnloom.vectors import VectorOptions, VectorTable, build_vectors

MARK = "qzebraq"
"""In every text and id of what is erased; in no other byte."""


def marked(number: int = 0, speaker: str = "customer") -> Dialogue:
    texts = [f"hello {MARK} {number}", f"The {MARK} reply {number}", f"again {MARK} {number}", "You are welcome!"]
    turns = [Turn((speaker, "agent")[place % 2], text) for place, text in enumerate(texts)]
    return Dialogue(f"{MARK}-{number}", "chats", turns)


def as_json(one: Dialogue) -> dict[str, Any]:
    turns = [{"speaker": turn.speaker, "text": turn.text} for turn in one.turns]
    return {"id": one.dialogue_id, "source": one.source, "turns": turns}


def build_index(folder: Path, encoder: Any, **options: Any) -> ReplyIndex:
    table = write_table(folder.with_name("all"), [*many(20), marked(), marked(1, f"{MARK}-person")])
    return ReplyIndex.build(table, folder, encoder, ReplyOptions(**options))


@pytest.mark.parametrize("contexts", [False, True])
def test_an_index_forgets_all_versions(tmp_path: Path, contexts: bool) -> None:
    encoder = HeadedEncoder()
    index = build_index(tmp_path / "index", encoder, contexts=contexts)
    index.add(write_table(tmp_path / "more", many(5, first=50)))
    index.delete(conversations=[f"{MARK}-0"])
    assert files_with(tmp_path / "index", [MARK]), "older versions have it"
    erase_from_index(tmp_path / "index", Erasure(frozenset([f"{MARK}-0", f"{MARK}-1"])))
    assert not files_with(tmp_path / "index", [MARK])
    again = ReplyIndex(tmp_path / "index", encoder)
    assert [version.number for version in again.versions] == [4]
    assert not again.suggest([MARK], 50, mode="text")
    expected = ReplyIndex.build(
        write_table(tmp_path / "kept", [*many(20), *many(5, first=50)]), tmp_path / "expected", encoder, again.options
    )
    modes: list[Mode] = ["vector", "text", "contexts"]
    for mode in modes[: 2 + contexts]:
        asked = ["where is my lamp order 3"]
        found, wanted = (
            {
                (one.text, one.count, one.conversations, round(one.score, 5))
                for one in each.suggest(asked, 50, mode=mode)
            }
            for each in (again, expected)
        )
        assert found == wanted
    assert len(again) == len(expected)


def test_a_person_is_erased_with_the_conversations_they_spoke_in(tmp_path: Path) -> None:
    build_index(tmp_path / "index", HeadedEncoder())
    erase_from_index(tmp_path / "index", Erasure(speakers=frozenset([f"{MARK}-person"])))
    assert not files_with(tmp_path / "index", [f"{MARK}-1", f"{MARK} 1"])
    assert files_with(tmp_path / "index", [f"{MARK}-0"])


@pytest.mark.parametrize("source", ["chats", "mails"])
def test_an_erasure_can_be_of_one_source(tmp_path: Path, source: str) -> None:
    encoder = HeadedEncoder()
    index = build_index(tmp_path / "index", encoder)
    before = len(index)
    erase_from_index(tmp_path / "index", Erasure(frozenset([f"{MARK}-0"]), source=source))
    assert len(ReplyIndex(tmp_path / "index")) == before - (source == "chats")


def test_all_can_be_erased_and_something_added_again(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    index = ReplyIndex.build(write_table(tmp_path / "t", [marked()]), tmp_path / "index", encoder)
    erase_from_index(tmp_path / "index", Erasure(frozenset([f"{MARK}-0"])))
    assert not files_with(tmp_path / "index", [MARK])
    index.refresh()
    assert len(index) == 0
    assert not index.suggest(["hello"])
    index.add(write_table(tmp_path / "more", many(3)))
    assert index.suggest(["where is my lamp order 0"])


def test_a_role_is_no_person() -> None:
    with pytest.raises(TurnloomError, match="'Agent' is a role"):
        Erasure(speakers=frozenset(["Agent"]))
    with pytest.raises(TurnloomError, match="nothing to erase"):
        Erasure()


class Letters(HeadedEncoder):
    """Knows no model folder."""


def offline(folder: Path) -> Path:
    """All folders of a project, with marked conversations in each."""
    encoder = Letters()
    table = write_table(folder / "corpus", [*many(20), marked(), marked(1, f"{MARK}-person")])
    (folder / "corpus" / ".work").mkdir()
    (folder / "corpus" / ".work" / "left").write_text(MARK)
    build_vectors([table], folder / "vectors", VectorOptions(lambda: encoder))
    index = ReplyIndex.build(table, folder / "service" / "replies", encoder)
    index.delete(where="turn = 3")
    texts = [text for texts in INTENTS.values() for text in texts] + [f"hello {MARK} 0", "thanks"]
    labels = [name for name, texts in INTENTS.items() for _ in texts] + ["balance", "balance"]
    pool = [f"i lost my {thing} card" for thing in THINGS] + [f"again {MARK} 1", f"my balance of {THINGS[0]}"] * 3
    IntentClassifier(encoder, method="prototypes").fit(
        texts, labels, pool=pool, held_out=[f"Again {MARK} 0", "lost my card"], out_of_scope=["you are welcome!"]
    ).save(folder / "service" / "intents")
    state = folder / "service" / "state"
    (state / "replies").mkdir(parents=True)
    waiting = Journal(state / "replies" / "pending.jsonl")
    with waiting.writing():
        waiting.append([as_json(marked(2, f"{MARK}-person")), as_json(many(1, first=90)[0])])
    changes = Journal(state / "intents.jsonl")
    with changes.writing():
        added = [{"turns": [f"HELLO {MARK} 2"], "intents": ["balance"]}, {"turns": ["new one"], "intents": ["balance"]}]
        changes.append([{"do": "add", "examples": added, "names": {}}])
        changes.append([{"do": "remove", "messages": [[f"hello {MARK} 2"]], "intents": []}])
    (state / "replies" / "pending-00.damaged").write_text(MARK)
    return folder


def test_folders_are_erased_together(tmp_path: Path) -> None:
    folder, encoder = offline(tmp_path), Letters()
    before = VectorTable(folder / "vectors")
    kept = {text: before.vectors[before.rows([text])[0]].copy() for text in ("thanks", "The lamp costs ten")}
    assert {path.split("/")[0] for path in files_with(folder, [MARK])} == {"corpus", "service", "vectors"}
    erasure = Erasure(frozenset([f"{MARK}-0"]), frozenset([f"{MARK}-person"]))
    found, examples = erase_from_folders(find_holdings([folder]), erasure, lambda _: encoder)
    assert not files_with(folder, [MARK])
    assert len(found.conversations) == 3
    assert examples == 4, "one in the folder, one held out, one of the pool, one that was added and removed"
    assert read_table(folder / "corpus").count_rows() == read_manifest(folder / "corpus").dialogues == 20
    after = VectorTable(folder / "vectors")
    assert after.manifest.tables == [read_manifest(folder / "corpus").content_hash]
    for text, vector in kept.items():
        np.testing.assert_array_equal(after.vectors[after.rows([text])[0]], vector)
    assert (after.rows([f"hello {MARK} 0", f"The {MARK} reply 1"]) < 0).all()
    expected, _ = build_vectors([folder / "corpus"], folder / "expected", VectorOptions(lambda: encoder))
    assert after.manifest.content_hash == expected.content_hash
    np.testing.assert_array_equal(after.conversations.rows, VectorTable(folder / "expected").conversations.rows)
    live = LiveIntents(folder / "service" / "intents", encoder, Journal(folder / "service" / "state" / "intents.jsonl"))
    assert ["thanks"] in (live.examples("balance") or []), "others said it, too"
    assert ["new one"] in (live.examples("balance") or [])
    erase_from_folders(find_holdings([folder]), erasure, lambda _: encoder)  # Again is no error.


def test_what_a_service_is_indexing_is_waited_for(tmp_path: Path) -> None:
    folder, encoder = offline(tmp_path), Letters()
    waiting = folder / "service" / "state" / "replies"
    adding = write_table(waiting / "adding", [marked(7)])
    holdings, erasure = find_holdings([folder]), Erasure(frozenset([f"{MARK}-0"]), frozenset([f"{MARK}-person"]))
    erasing = threading.Thread(target=erase_from_folders, args=(holdings, erasure, lambda _: encoder))
    with locked(waiting / "indexing.lock"):
        shutil.rmtree(adding)
        erasing.start()
        erasing.join(0.5)
        assert erasing.is_alive()
    erasing.join(300)
    assert not files_with(folder, [MARK])


def test_the_command_erases_and_says_what_it_could_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_table(tmp_path / "corpus", [*many(5), marked()])
    (tmp_path / "view").mkdir()
    (tmp_path / "view" / "manifest.json").write_text("{}")
    code, out, errors = run(capsys, monkeypatch, "erase", str(tmp_path), "--conversation", f"{MARK}-0")
    assert code == 0
    assert "Erased: 1 conversations" in out
    assert "view was made from conversations" in errors
    assert not files_with(table, [MARK])


def test_journals_stay_whole_when_they_are_written_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    with journal.writing():
        journal.append([{"number": number} for number in range(5)])
        journal.rewrite(lambda record: None if record["number"] == 2 else record)
        journal.append([{"number": 9}])
    assert [record["number"] for record in journal.read()[0]] == [0, 1, 3, 4, 9]
    assert journal.count() == 5
    for line in journal.path.read_bytes().splitlines():
        text, checksum = line[:-22] + b"}", json.loads(line)["crc32"]
        assert zlib.crc32(text) == int(checksum, 16)
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_other_processes_notice_that_examples_were_erased(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    with_intents(tmp_path, encoder, pool=[f"card {thing} lost" for thing in THINGS] + [f"{MARK} card", "balance now"])
    one, two = (LiveIntents(tmp_path / "intents", encoder, Journal(tmp_path / "j.jsonl")) for _ in range(2))
    one.add([([f"{MARK} card"], ["lost card"]), (["kept here"], ["balance"])])
    assert two.listed()["lost card"] == 5
    assert one.erase([f"{MARK} CARD", "my card is gone"]) >= 2
    assert one.listed() == two.listed() == {"balance": 5, "lost card": 3}
    assert not files_with(tmp_path, [MARK, "my card is gone"])
    two.add([(["one more"], ["balance"])])
    assert one.listed()["balance"] == 6
    one.erase([text for texts in INTENTS.values() for text in texts] + ["kept here", "one more"])
    assert one.listed() == two.listed() == {"balance": 0, "lost card": 0}, "they are still known by their names"


def test_the_last_example_is_not_erased(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    texts, labels = ["my card is gone", "my balance"], ["card", "balance"]
    IntentClassifier(encoder, method="prototypes").fit(texts, labels, names=False).save(tmp_path / "intents")
    live = LiveIntents(tmp_path / "intents", encoder, Journal(tmp_path / "j.jsonl"))
    with pytest.raises(TurnloomError, match="no example would be left"):
        live.erase(texts)
    assert live.listed() == {"balance": 1, "card": 1}


def erased(client: TestClient, **asked: Any) -> Any:
    answer = client.post("/v1/erasures", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_service_erases_under_load_and_keeps_the_rest(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    table = write_table(tmp_path / "table", [*many(20), *(marked(number) for number in range(3))])
    ReplyIndex.build(table, tmp_path / "replies", encoder)
    with_intents(tmp_path, encoder)
    parts = {"intents": {"folder": "intents"}, "replies": {"folder": "replies", "add_every_seconds": 0.1}}
    added: list[int] = []
    stop = threading.Event()
    wrong: list[Any] = []
    with served(settings(tmp_path, **parts), encoder) as client:

        def load() -> None:
            while not stop.is_set():
                number = 1_000 + len(added)
                one = as_json(many(1, first=number)[0])
                if client.post("/v1/replies/conversations", json={"conversations": [one]}).status_code == 202:
                    added.append(number)
                answer = client.post("/v1/replies", json={"context": ["where is my lamp order 3"], "mode": "text"})
                if answer.status_code != 200:
                    wrong.append(answer.text)

        thread = threading.Thread(target=load)
        thread.start()
        for number in range(3, 6):
            one = {"conversations": [as_json(marked(number, f"{MARK}-person-{number}"))]}
            assert client.post("/v1/replies/conversations", json=one).status_code == 202
            example = {"examples": [{"message": f"Hello {MARK} {number}", "intent": "balance"}]}
            assert client.post("/v1/intents/examples", json=example).status_code == 200
            assert erased(client, speakers=[f"{MARK}-person-{number}"]) | {"pending": 0} == {
                "conversations": 1,
                "pending": 0,
                "examples": 1,
                "feedback": 0,
            }
            assert not files_with(tmp_path / "state", [MARK])
        assert erased(client, conversations=[f"{MARK}-{number}" for number in range(3)])["conversations"] == 3
        stop.set()
        thread.join()
        for part in ("state", "replies", "intents"):
            assert not files_with(tmp_path / part, [MARK])
        assert not wrong
        served_replies = client.app.state.service.resources.replies  # type: ignore[attr-defined]
        while served_replies.pending:
            served_replies.index_pending()
        asked = {"context": [f"number {added[-1]}"], "mode": "text", "k": 1}
        assert f"number {added[-1]} " in client.post("/v1/replies", json=asked).json()["replies"][0]["text"]
        assert len(read_ids(tmp_path / "replies")) == 20 + len(added)
        modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "state").rglob("*") if path.is_file()}
        assert modes == {0o600}
        refused = client.post("/v1/erasures", json={"speakers": ["agent"]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_erased")
        assert client.post("/v1/erasures", json={}).status_code == 422


def test_an_erasure_that_outlasts_its_request_goes_on_and_its_end_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = HeadedEncoder()
    table = write_table(tmp_path / "table", [*many(20), marked()])
    ReplyIndex.build(table, tmp_path / "replies", encoder)
    parts = {"replies": {"folder": "replies"}, "limits": {"request_seconds": 2}}
    going_on, locked_out, erase = threading.Event(), threading.Event(), erasures._erase

    def slowly(*arguments: Any) -> dict[str, int]:
        assert going_on.wait(60)
        if locked_out.is_set():
            raise TurnloomError("the index cannot be written", "give the service the right to")
        return erase(*arguments)

    monkeypatch.setattr(erasures, "_erase", slowly)
    with served(settings(tmp_path, **parts), encoder) as client:
        answer = client.post("/v1/erasures", json={"conversations": [f"{MARK}-0"]}, headers={"X-Request-Id": "one"})
        assert (answer.status_code, answer.json()) == (202, {"status": "erasing", "request_id": "one"})
        log = AuditLog(tmp_path / "state")
        assert ["done" in line for line in log.read()] == [False]
        going_on.set()
        assert erased(client, conversations=[f"{MARK}-0"])["conversations"] == 0, "the same request waited for it"
        assert not files_with(tmp_path / "replies", [MARK])
        ended = [line for line in log.read() if "done" in line]
        assert [(line["action"], line["request_id"], line["done"]) for line in ended] == [("erase", "one", True)]

        going_on.clear()
        locked_out.set()
        answer = client.post("/v1/erasures", json={"conversations": ["other"]}, headers={"X-Request-Id": "two"})
        assert answer.status_code == 202
        going_on.set()
        assert client.post("/v1/erasures", json={"conversations": ["other"]}).status_code == 409, "and says why"
        assert any("failed" in line and line["request_id"] == "two" for line in log.read())


def read_ids(folder: Path) -> set[str]:
    from turnloom.replies.store import Store

    last = ReplyIndex(folder).version.occurrences
    rows = Store.rows(Store(folder).open(last.name, last.version), "true", ["dialogue_id"])
    return set(rows["dialogue_id"].to_pylist())


def test_an_erasure_that_was_interrupted_is_finished_by_the_same_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, encoder = offline(tmp_path), Letters()
    erasure = Erasure(frozenset([f"{MARK}-0"]), frozenset([f"{MARK}-person"]))

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    steps = ("erase_from_table", "erase_from_waiting", "erase_from_index")
    for broken in [*(f"turnloom.service.folders.{name}" for name in steps), "turnloom.replies.manifest.write_whole"]:
        with monkeypatch.context() as patch:
            patch.setattr(broken, fail)
            with pytest.raises(KeyboardInterrupt):
                erase_from_folders(find_holdings([folder]), erasure, lambda _: encoder)
    erase_from_folders(find_holdings([folder]), erasure, lambda _: encoder)
    assert not files_with(folder, [MARK])
