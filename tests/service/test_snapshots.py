"""A snapshot of a service that is written to has all that was acknowledged before, and comes back as it was."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from studies.service.on_disk import files_with

from tests.cli.test_commands import run
from tests.replies.toy import many, write_table
from tests.service.test_erasure import as_json, read_ids
from tests.service.test_tenants import headers, tenant_keys, write_data
from tests.service.toy import HeadedEncoder, bearer, keys, served, settings, with_intents
from turnloom.corpus.erasure import Erasure
from turnloom.errors import TurnloomError
from turnloom.replies import ReplyIndex
from turnloom.service import snapshots
from turnloom.service.config import ServiceConfig
from turnloom.service.folders import erase_from_folders, find_holdings
from turnloom.service.snapshots import restore_snapshot, take_snapshot
from turnloom.service.verify import verify


def project(folder: Path, encoder: HeadedEncoder) -> ServiceConfig:
    ReplyIndex.build(write_table(folder / "table", many(10)), folder / "replies", encoder)
    with_intents(folder, encoder)
    write_data(folder / "tenants" / "acme", "acme", encoder)
    for name in ("model", "reranker"):
        (folder / name).mkdir()
        (folder / name / "weights").write_text(f"{name} 1")
    parts = {"intents": {"folder": "intents"}, "replies": {"folder": "replies", "add_every_seconds": 0.1}}
    return settings(folder, keys=[*keys(), tenant_keys()[0]], **parts)


def add(client: TestClient, number: int, who: dict[str, str]) -> None:
    one = {"conversations": [as_json(many(1, first=number)[0])]}
    assert client.post("/v1/replies/conversations", json=one, headers=who).status_code == 202
    example = {"examples": [{"message": f"example number {number}", "intent": "balance"}]}
    assert client.post("/v1/intents/examples", json=example, headers=who).status_code == 200


def held(client: TestClient, config: ServiceConfig, tenant: str = "") -> tuple[set[str], set[str]]:
    """The conversations and examples that the service has, also those that wait."""
    resources: Any = client.app.state.service.resources  # type: ignore[attr-defined]
    resources = resources.tenants[tenant] if tenant else resources
    while resources.replies.pending:
        resources.replies.index_pending()
    found = config.for_tenant(tenant) if tenant else config
    assert found.replies is not None
    examples = resources.intents.examples("balance") or []
    return read_ids(found.replies.folder), {turns[0] for turns in examples}


def test_everything_comes_back_as_it_was_when_the_snapshot_was_taken(tmp_path: Path) -> None:
    encoder, stop, added = HeadedEncoder(), threading.Event(), [500]
    config = project(tmp_path, encoder)
    with served(config, encoder) as client:

        def write() -> None:
            while not stop.is_set():
                for who in (bearer("all"), headers("acme")):
                    add(client, added[-1] + 1, who)
                added.append(added[-1] + 1)

        thread = threading.Thread(target=write)
        thread.start()
        while len(added) < 5:
            stop.wait(0.05)
        before = list(added[1:])
        taken = client.post("/admin/snapshots", headers=bearer("all"))
        assert taken.status_code == 201, taken.text
        after = added[-1] + 2
        while added[-1] <= after:
            stop.wait(0.05)
        stop.set()
        thread.join()
        out = config.snapshots / taken.json()["snapshot"]
        with pytest.raises(TurnloomError, match="the service is running"):
            restore_snapshot(out, config)
    assert not verify(out).problems
    (tmp_path / "model" / "weights").write_text("model 2")
    restore_snapshot(out, config)
    assert (tmp_path / "model" / "weights").read_text() == "model 1"
    with served(config, encoder) as client:
        for tenant in ("", "acme"):
            ids, examples = held(client, config, tenant)
            assert {f"d{number}" for number in before} <= ids
            assert {f"example number {number}" for number in before} <= examples
            assert f"d{after}" not in ids
            assert f"example number {after}" not in examples
        asked = {"context": ["where is my lamp order 3"], "k": 3}
        assert client.post("/v1/replies", json=asked, headers=bearer("all")).status_code == 200


def test_a_restore_that_was_interrupted_keeps_the_service_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = HeadedEncoder()
    config = project(tmp_path, encoder)
    out = take_snapshot(config)
    swap, swapped = snapshots._swap, []

    def fail_late(*paths: Path) -> None:
        if len(swapped) == 2:
            raise KeyboardInterrupt
        swapped.append(swap(*paths))

    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "_swap", fail_late)
        with pytest.raises(KeyboardInterrupt):
            restore_snapshot(out, config)
    with pytest.raises(TurnloomError, match="a restore was interrupted"), served(config, encoder):
        pass
    restore_snapshot(out, config)
    with served(config, encoder) as client:
        assert client.get("/health/ready").status_code == 200
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_snapshot_can_be_restored_where_there_is_nothing(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    config = project(tmp_path, encoder)
    out = take_snapshot(config).rename(tmp_path / "copy")
    for name in ("model", "reranker", "intents", "replies", "tenants", "state", "snapshots"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    restore_snapshot(out, config)
    with served(config, encoder) as client:
        for tenant in ("", "acme"):
            assert held(client, config, tenant)[0]


def test_what_is_erased_from_a_snapshot_does_not_come_back(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    config = project(tmp_path, encoder)
    out = take_snapshot(config)
    erase_from_folders(find_holdings([config.snapshots]), Erasure(frozenset(["d3"])), lambda _: encoder)
    assert not verify(out).problems
    restore_snapshot(out, config)
    assert read_ids(tmp_path / "replies") == {f"d{number}" for number in range(10)} - {"d3"}


def test_a_restore_says_what_it_brings_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = HeadedEncoder()
    config = project(tmp_path, encoder)

    def erase(*names: str) -> None:
        with served(config, encoder) as client:
            asked = {"conversations": list(names)}
            assert client.post("/v1/erasures", json=asked, headers=bearer("all")).status_code == 200

    def restored(out: Path) -> str:
        code, _, said = run(capsys, monkeypatch, "restore", str(out), str(written))
        assert code == 0
        return said

    written = tmp_path / "service.yaml"
    written.write_text(json.dumps(config.model_dump(mode="json", exclude_none=True)), encoding="utf-8")
    erase("d3")
    out = take_snapshot(config)
    assert "erasures" not in restored(out)
    erase("d4", "d5")
    assert "1 erasures came after this snapshot" in restored(out)
    assert read_ids(tmp_path / "replies") == {f"d{number}" for number in range(10)} - {"d3"}


def test_a_damaged_or_foreign_snapshot_is_refused(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    config = project(tmp_path, encoder)
    out = take_snapshot(config)
    with pytest.raises(TurnloomError, match="holds no whole snapshot"):
        restore_snapshot(tmp_path, config)
    with pytest.raises(TurnloomError, match="other parts than the configuration"):
        restore_snapshot(out, config.model_copy(update={"reranker": None}))
    (out / "model" / "weights").write_text("model 3")
    with pytest.raises(TurnloomError, match="weights is damaged"):
        restore_snapshot(out, config)
    shutil.rmtree(out)
    assert files_with(tmp_path, ["model 1"])
