"""What an index is (`index.json`), what is being done to it (`journal.json`), and who may write (`writer.lock`).

The manifest names the finished versions. A reader opens the tables at the last of these and keeps to it, so it never
sees half of a write, however many commits that takes. The journal says which part of a write is done; it is all that a
killed run leaves behind besides the commits themselves.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.corpus.table import engine_versions
from turnloom.errors import TurnloomError
from turnloom.files import write_whole
from turnloom.replies.occurrences import ReplyOptions, key_check

INDEX_VERSION = 1
MANIFEST, JOURNAL, LOCK = "index.json", "journal.json", "writer.lock"


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid")

    def write(self, path: Path) -> None:
        """Replace the file as a whole."""
        write_whole(path, self.model_dump_json(indent=1) + "\n")


class TableVersion(_Saved):
    """A table at one of its versions.

    Attributes:
        name: The table.
        version: LanceDB's number for its version.
        rows: How many rows it has there.
    """

    name: str
    version: int
    rows: int


class AnnPlan(BaseModel):
    """How one column of vectors is searched.

    Attributes:
        kind: "exact" compares all vectors, "ivf_pq" those of the nearest partitions by their codes.
        rows: How many rows there were when it was chosen.
        partitions: How many there are.
        sub_vectors: How many parts a vector's code has.
        bits: How many bits a part has.
        nprobes: How many partitions are looked into.
        recall: The part of the true ten nearest replies that is found, measured.
        probes: On how many contexts that was measured; 0 if there were none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["exact", "ivf_pq"] = "exact"
    rows: int = 0
    partitions: int = 0
    sub_vectors: int = 0
    bits: Literal[4, 8] = 8
    nprobes: int = 0
    recall: float | None = 1.0
    probes: int = 0


class IndexVersion(_Saved):
    """A finished state of an index.

    Attributes:
        number: Counts from 1.
        when: When it was finished.
        what: What was done, for people.
        job: What identifies the write: the same one is not done twice in a row.
        model: The name of the encoder.
        fingerprint: What identifies the encoder.
        dimension: The length of its vectors.
        replies: The distinct replies.
        occurrences: Every time that a reply was given.
        ann: How replies are searched, and with what recall.
        contexts_ann: The same for contexts; None if they are not indexed.
    """

    number: int
    when: str = Field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))
    what: str
    job: str
    model: str
    fingerprint: str
    dimension: int
    replies: TableVersion
    occurrences: TableVersion
    ann: AnnPlan
    contexts_ann: AnnPlan | None = None


class IndexManifest(_Saved):
    """An index and its finished versions.

    Attributes:
        index_version: The version of the layout.
        options: Which turns are replies.
        key_check: Equal for indices whose keys are made alike.
        versions: The finished states, oldest first; empty while the first one is being built.
        software: The versions of Turnloom, Python and the data engine that began it.
    """

    index_version: int = INDEX_VERSION
    options: ReplyOptions
    key_check: int = Field(default_factory=key_check)
    versions: list[IndexVersion] = Field(default_factory=list)
    software: dict[str, str] = Field(default_factory=engine_versions)


class PendingWrite(_Saved):
    """A write that is not finished.

    Attributes:
        operation: Which kind.
        job: What identifies it.
        what: The same for people.
        fingerprint: The encoder whose vectors are written; empty where none is needed.
        replies: The table of replies that is written to.
        occurrences: The table of occurrences that is written to.
        ranges: Into how many ranges of keys the work is cut.
        done: The ranges that are finished.
        condition: For a delete: which occurrences go.
        keys: For a delete: the replies that lose some.
    """

    operation: Literal["add", "delete", "reembed"]
    job: str
    what: str
    fingerprint: str = ""
    replies: str
    occurrences: str
    ranges: int = 1
    done: list[int] = Field(default_factory=list)
    condition: str = ""
    keys: list[int] = Field(default_factory=list)


def read_index_manifest(folder: Path) -> IndexManifest:
    """The manifest of an index.

    Raises:
        TurnloomError: If the folder holds no index, or one that this Turnloom cannot read.
    """
    path = folder / MANIFEST
    build = "build it with: turnloom replies build TABLE --model MODEL --out INDEX"
    if not path.exists():
        raise TurnloomError(f"{folder} holds no index of replies (it has no {MANIFEST})", build)
    try:
        manifest = IndexManifest.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise TurnloomError(f"{path} is not an index's manifest ({error.errors()[0]['msg']})", build) from error
    if manifest.index_version != INDEX_VERSION or manifest.key_check != key_check():
        raise TurnloomError(f"{folder} was built by another version of Turnloom or Daft", "build it again")
    return manifest


def read_pending(folder: Path) -> PendingWrite | None:
    """The write that is not finished, if there is one."""
    path = folder / JOURNAL
    return PendingWrite.model_validate_json(path.read_text(encoding="utf-8")) if path.exists() else None


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Within this context no other process writes to the index; the lock goes with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("w")
    except OSError as error:
        raise TurnloomError(f"{folder} cannot be written ({error.strerror})", "choose another folder") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TurnloomError(f"another process is writing to {folder}", "wait until it is done") from error
        yield
