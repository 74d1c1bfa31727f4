"""Writes that are cut off at every commit, and killed at any moment: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.replies.test_index import naive_counts, stored
from tests.replies.toy import WordEncoder, many, write_table
from turnloom.errors import TurnloomError
from turnloom.replies import ReplyIndex, ReplyOptions
from turnloom.replies.manifest import IndexManifest, PendingWrite, sole_writer
from turnloom.replies.store import Store

ENCODER = WordEncoder()
OPTIONS = ReplyOptions(contexts=True)


class PowerCutError(BaseException):
    """Nothing catches it."""


def cut_off(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """The process ends right after its so-manieth write of any kind."""
    left = [after]

    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        def write(*arguments: Any) -> Any:
            result = call(*arguments)
            left[0] -= 1
            if left[0] == 0:
                raise PowerCutError
            return result

        return write

    for name in ("upsert", "delete_with", "compact", "tag"):
        monkeypatch.setattr(Store, name, staticmethod(wrapped(getattr(Store, name))))
    for kind in (PendingWrite, IndexManifest):
        monkeypatch.setattr(kind, "write", wrapped(kind.write))


def until_done(monkeypatch: pytest.MonkeyPatch, work: Callable[[], ReplyIndex | None], reader: Path | None) -> int:
    """Cut the work off after 1 write, then after 2 more, 3 more, …; a reader sees no difference until the end."""
    seen = stored(ReplyIndex(reader)) if reader else None
    for after in range(1, 100):
        with monkeypatch.context() as patch:
            cut_off(patch, after)
            try:
                work()
                return after
            except PowerCutError:
                pass
        if reader and after < 3:
            assert stored(ReplyIndex(reader)) == seen
    raise AssertionError("it is never done")


def test_every_write_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "index"
    first, second = write_table(tmp_path / "one", many(8)), write_table(tmp_path / "two", many(8, first=4))
    steps = until_done(
        monkeypatch, lambda: ReplyIndex.build(first, place, ENCODER, OPTIONS, shard_size=16) and None, None
    )
    assert steps > 3
    index = ReplyIndex(place, ENCODER)
    assert stored(index) == naive_counts(many(8))
    assert [version.number for version in index.versions] == [1]
    until_done(monkeypatch, lambda: index.add(second, shard_size=16) and None, place)
    assert stored(index) == naive_counts(many(12))
    until_done(monkeypatch, lambda: index.delete(conversations=["d2", "d5"]) and None, place)
    left = [each for each in many(12) if each.dialogue_id not in ("d2", "d5")]
    assert stored(index) == naive_counts(left)
    other = WordEncoder("other", 8)
    until_done(monkeypatch, lambda: ReplyIndex.reembed(place, other, shard_size=8) and None, place)
    assert stored(ReplyIndex(place, other)) == naive_counts(left)
    assert [version.number for version in ReplyIndex(place, other).versions] == [1, 2, 3, 4]
    assert not (place / "journal.json").exists()
    assert not (place / ".work").exists()


def test_an_unfinished_write_is_finished_or_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "index"
    first, second = write_table(tmp_path / "one", many(8)), write_table(tmp_path / "two", many(8, first=4))
    index = ReplyIndex.build(first, place, ENCODER)
    with monkeypatch.context() as patch:
        cut_off(patch, 3)
        with pytest.raises(PowerCutError):
            index.add(second)
    with pytest.raises(TurnloomError, match=r"not finished \(add of .*two with words\): run it again, or undo it"):
        index.delete(conversations=["d1"])
    assert str(ReplyIndex.rollback(place)).startswith("add of")
    assert ReplyIndex.rollback(place) is None
    assert index.delete(conversations=["d1"]).number == 2
    assert stored(index) == naive_counts([each for each in many(8) if each.dialogue_id != "d1"])
    with monkeypatch.context() as patch:
        cut_off(patch, 3)
        with pytest.raises(PowerCutError):
            ReplyIndex.build(first, tmp_path / "other", ENCODER)
    with pytest.raises(TurnloomError, match="is not built yet"):
        ReplyIndex(tmp_path / "other", ENCODER)
    ReplyIndex.rollback(tmp_path / "other")
    assert stored(ReplyIndex.build(second, tmp_path / "other", ENCODER)) == naive_counts(many(8, first=4))


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    index = ReplyIndex.build(write_table(tmp_path / "one", many(3)), tmp_path / "index", ENCODER)
    with sole_writer(tmp_path / "index"), pytest.raises(TurnloomError, match="another process is writing"):
        index.delete(conversations=["d1"])


SCRIPT = """
import sys
from pathlib import Path
from tests.replies.toy import WordEncoder
from turnloom.replies import ReplyIndex
ReplyIndex.build(sys.argv[1], sys.argv[2], WordEncoder(), shard_size=50)
ReplyIndex(sys.argv[2], WordEncoder()).add(sys.argv[3], shard_size=50)
"""


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    first, second = write_table(tmp_path / "one", many(200)), write_table(tmp_path / "two", many(200, first=100))
    place = tmp_path / "index"
    command = [sys.executable, "-c", SCRIPT, str(first), str(place), str(second)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    kills = 0
    for wait in (0.2, 0.3, 0.4, 0.5):
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        while not (place / "journal.json").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    subprocess.run(command, env=environment, check=True)
    assert kills
    assert stored(ReplyIndex(place, ENCODER)) == naive_counts(many(300))
    assert [version.number for version in ReplyIndex(place).versions] == [1, 2]
