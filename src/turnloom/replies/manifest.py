"""The state of an index: its manifest (`index.json`), a pending write (`journal.json`), the lock (`writer.lock`).

The manifest lists the finished versions. A reader opens the tables at the last one and stays there, so it never sees
half of a write, however many commits that takes. The journal records which ranges of a write are done; besides the
commits themselves, it is all that a killed run leaves behind.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.checksums import CHECKSUMS, checksum, is_whole, listing_text, read_listing, sealed
from turnloom.corpus.table import engine_versions
from turnloom.errors import TurnloomError
from turnloom.files import write_whole
from turnloom.replies.occurrences import ReplyOptions, key_check

INDEX_VERSION = 1
MANIFEST, JOURNAL, LOCK = "index.json", "journal.json", "writer.lock"
_CHANGING = ("_refs/", "latest_version_hint.json")
"""The only files of LanceDB's that change after they are written."""


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid")

    def write(self, path: Path) -> None:
        """Replace the file atomically."""
        write_whole(path, self.model_dump_json(indent=1) + "\n")


class TableVersion(_Saved):
    """One version of a table.

    Attributes:
        name: The table.
        version: LanceDB's version number.
        rows: The number of rows in that version.
    """

    name: str
    version: int
    rows: int


class AnnPlan(BaseModel):
    """How one vector column is searched.

    Attributes:
        kind: "exact" compares all vectors; "ivf_pq" compares the compressed vectors of the nearest partitions.
        rows: The number of rows when the plan was chosen.
        partitions: The number of partitions.
        sub_vectors: The number of segments in a compressed vector.
        bits: The number of bits per segment.
        nprobes: The number of partitions that a search probes.
        recall: The measured share of the true ten nearest replies that a search finds.
        probes: The number of contexts that recall was measured on; 0 if there were none.
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
        what: A description of the write, for people.
        job: Identifies the write, so that the same one is not repeated right away.
        model: The name of the encoder.
        fingerprint: Identifies the encoder.
        dimension: The length of its vectors.
        replies: The number of distinct replies.
        occurrences: The number of times that a reply was given.
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
        key_check: Equal for indices that compute keys in the same way.
        versions: The finished states, oldest first; empty during the first build.
        software: The versions of Turnloom, Python and the data engine that created the index.
        seal: A checksum of all of this; empty from an older version.
    """

    index_version: int = INDEX_VERSION
    options: ReplyOptions
    key_check: int = Field(default_factory=key_check)
    versions: list[IndexVersion] = Field(default_factory=list)
    software: dict[str, str] = Field(default_factory=engine_versions)
    seal: str = ""

    def write(self, path: Path) -> None:
        """Replace the file atomically."""
        self.seal = ""
        write_whole(path, sealed(self.model_dump_json(indent=1) + "\n"))


class PendingWrite(_Saved):
    """An unfinished write.

    Attributes:
        operation: The type of write.
        job: Identifies the write.
        what: A description of the write, for people.
        fingerprint: The fingerprint of the encoder that makes the vectors; empty if none is needed.
        replies: The replies table being written.
        occurrences: The occurrences table being written.
        ranges: The number of key ranges that the work is split into.
        done: The finished ranges.
        condition: For a delete: which occurrences to remove.
        keys: For a delete: the affected replies.
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
    """Read the manifest of an index.

    Raises:
        TurnloomError: If the folder holds no index, or one that this Turnloom cannot read.
    """
    path = folder / MANIFEST
    build = "build it with: turnloom replies build TABLE --model MODEL --out INDEX"
    if not path.exists():
        raise TurnloomError(f"{folder} holds no index of replies (it has no {MANIFEST})", build)
    try:
        content = path.read_bytes()
        manifest = IndexManifest.model_validate_json(content)
    except ValidationError as error:
        raise TurnloomError(f"{path} is not an index's manifest ({error.errors()[0]['msg']})", build) from error
    if manifest.seal and not is_whole(content):
        raise TurnloomError(f"{path} is damaged", "restore the index from a backup")
    if manifest.index_version != INDEX_VERSION or manifest.key_check != key_check():
        raise TurnloomError(f"{folder} was built by another version of Turnloom or Daft", "build it again")
    return manifest


def chosen_version(folder: Path, manifest: IndexManifest, number: int | None) -> IndexVersion:
    """Return a version of an index, or the newest one.

    Raises:
        TurnloomError: If there is no finished index, or no such version.
    """
    versions = {version.number: version for version in manifest.versions}
    if not versions:
        raise TurnloomError(f"{folder} is not built yet", "finish it with: turnloom replies build")
    chosen = versions.get(max(versions) if number is None else number)
    if chosen is None:
        there = ", ".join(map(str, versions))
        raise TurnloomError(f"{folder} has no version {number}", f"it has {there}")
    return chosen


def read_pending(folder: Path) -> PendingWrite | None:
    """Read the unfinished write, if there is one."""
    path = folder / JOURNAL
    return PendingWrite.model_validate_json(path.read_text(encoding="utf-8")) if path.exists() else None


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Hold the write lock of an index. It is released with the process, however that ends."""
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


def write_checksums(folder: Path) -> None:
    """Note the checksums of what was written to an index since the last time, with the write lock held."""
    path = folder / CHECKSUMS
    try:
        known = read_listing(path)
    except TurnloomError:  # It protects files, and is not needed to read them.
        known = {}
    files = [found for table in folder.glob("*.lance") for found in table.rglob("*") if found.is_file()]
    names = {found.relative_to(folder).as_posix(): found for found in files}
    fixed = {name for name in names if name in known and not any(part in name for part in _CHANGING)}
    write_whole(path, listing_text({name: known[name] if name in fixed else checksum(names[name]) for name in names}))
