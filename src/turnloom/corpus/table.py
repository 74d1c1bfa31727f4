"""A table on disk: Parquet files and a `manifest.json`, which is written last and makes the table whole.

Splits go by a hash of a dialogue's id: of sets without splits of their own, and of a table in two.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import turnloom
from turnloom.corpus.engine import daft, frugally, with_columns
from turnloom.corpus.schema import ARROW_SCHEMA, SCHEMA_VERSION
from turnloom.corpus.turn_arrays import content_hash, with_row_keys
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder

MANIFEST = "manifest.json"
WORK = ".work"
"""The folder beside a table's files in which a command keeps what it has done so far."""


def engine_versions() -> dict[str, str]:
    """The versions of Turnloom, Python and the data engine."""
    engine = {package: metadata.version(package) for package in ("daft", "pyarrow")}
    return {"turnloom": turnloom.__version__, "python": platform.python_version(), **engine}


class Manifest(BaseModel):
    """What a table is and where it comes from.

    Attributes:
        content_hash: Equal for tables with equal rows, in whatever order and files.
        command: The command line or call that made it.
        counts: What the command counted on the way, by name.
        versions: Of Turnloom, Python and the data engine.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA_VERSION
    dialogues: int
    turns: int
    content_hash: str
    command: str
    counts: dict[str, Any] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=engine_versions)


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a table.

    Raises:
        TurnloomError: If the folder holds no whole table, or one of another schema version.
    """
    path = Path(folder) / MANIFEST
    if not Path(folder).is_dir():
        raise TurnloomError(f"{folder} is not a folder", "make a table with: turnloom convert LOGS --out FOLDER")
    if not path.exists():
        raise TurnloomError(
            f"{folder} holds no whole table (it has no {MANIFEST})",
            "run the command that makes it again, or make one with: turnloom convert LOGS --out FOLDER",
        )
    try:
        manifest = Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(str(name) for name in problem["loc"]) or "its content"
        reason = f"{path} is not a table's manifest ({field}: {problem['msg']})"
        raise TurnloomError(reason, "make the table again") from error
    if manifest.schema_version != SCHEMA_VERSION:
        raise TurnloomError(
            f"{folder} has schema version {manifest.schema_version}, this Turnloom reads {SCHEMA_VERSION}",
            "convert the logs again",
        )
    return manifest


def read_table(folder: str | Path) -> Any:
    """The dialogue table of a folder as a lazy Daft DataFrame.

    Example:
        ``read_table("runs/corpus").count_rows()``
    """
    read_manifest(folder)
    return daft().read_parquet(f"{folder}/part-*.parquet").select(*ARROW_SCHEMA.names)


def read_tables(folders: Sequence[str | Path]) -> Any:
    """The dialogue tables of several folders as one lazy Daft DataFrame."""
    return reduce(lambda table, folder: table.concat(read_table(folder)), folders[1:], read_table(folders[0]))


def count_by_source(table: Any) -> dict[str, dict[str, int]]:
    """Dialogues and turns of each source."""
    col = daft().col
    sizes = table.select(col("source"), col("turns").length().alias("turns"))
    totals = sizes.groupby("source").agg(col("turns").count().alias("dialogues"), col("turns").sum())
    return {row.pop("source"): row for row in totals.sort("source").to_pylist()}


class TableWriter:
    """Writes a table so that it is either whole or not there: a run that is killed leaves no manifest.

    `partial` is a scratch folder that is removed at the end; what is put into `new` stands beside the table when it is
    finished.
    """

    def __init__(self, folder: str | Path, *, overwrite: bool = False) -> None:
        self.folder = Path(folder)
        if (self.folder / MANIFEST).exists() and not overwrite:
            raise TurnloomError(f"{folder} holds a table already", "choose another --out, or add --overwrite")
        self._whole = WholeFolder(self.folder, MANIFEST, "a table", beside=[WORK])
        self.partial, self.new = self._whole.partial, self._whole.new

    def write(self, table: Any) -> None:
        """Write a Daft DataFrame of dialogues into the partial folder."""
        # The keys are stored beside the rows: the content hash is made of them without reading the rows again.
        others = [name for name in table.column_names if name not in ARROW_SCHEMA.names]
        keyed = with_row_keys(table, *others)
        with frugally():
            keyed.write_parquet(str(self.partial / "table"), compression="zstd")

    def staged(self) -> Any:
        """What was written so far, as a Daft DataFrame."""
        files = sorted(str(path) for path in (self.partial / "table").glob("*.parquet"))
        return daft().read_parquet(files) if files else with_row_keys(daft().from_arrow(ARROW_SCHEMA.empty_table()))

    def publish(self, name: str) -> Path:
        """Move a file from `new` into the folder now, whether or not the table will be finished."""
        return self._whole.publish(name)

    def finish(self, command: str, counts: dict[str, Any]) -> Manifest:
        """Move the files into place and write the manifest."""
        keys = self.staged().select("row_key", "turn_count").collect()
        turns = keys.agg(daft().col("turn_count").sum()).to_pydict()["turn_count"][0]
        manifest = Manifest(
            dialogues=len(keys), turns=turns or 0, content_hash=content_hash(keys), command=command, counts=counts
        )
        for number, path in enumerate(sorted((self.partial / "table").glob("*.parquet"))):
            path.rename(self.new / f"part-{number:05}.parquet")
        (self.new / MANIFEST).write_text(json.dumps(manifest.model_dump(), indent=2) + "\n", encoding="utf-8")
        self._whole.commit()
        return manifest


class Workspace:
    """A folder of intermediate results of one job; what a job with other inputs or options left there is removed."""

    def __init__(self, folder: Path, job: str) -> None:
        self.folder = folder
        mark = folder / "job"
        if not mark.exists() or mark.read_text() != job:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            mark.write_text(job)

    def step(self, name: str, build: Callable[[Path], object]) -> Path:
        """The result of a step: as it was left if it was finished, else built from scratch.

        A step counts as finished when its mark is written, which is the last thing that happens.
        """
        result, mark = self.folder / name, self.folder / f"{name}.done"
        if not mark.exists():
            shutil.rmtree(result, ignore_errors=True)
            result.mkdir()
            build(result)
            mark.touch()
        return result

    def remove(self) -> None:
        """Remove all intermediate results."""
        remove_workspace(self.folder)


def remove_workspace(folder: Path) -> None:
    """Remove a workspace, and the folder of workspaces if it was the last."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # Others are still there, or none was.
        folder.parent.rmdir()


_SALT = "held out"


def bucket(salt: str, dialogue_id: str) -> int:
    """A number from 0 to 99 that depends on nothing but the set's name and the dialogue's id.

    A dialogue keeps its split when the set grows, is read in another order, or is split again elsewhere.

    Example:
        >>> bucket("star", "1")
        55
    """
    digest = hashlib.sha256(f"{salt}\x00{dialogue_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % 100


def falls_into(part: tuple[str, int, int], dialogue_id: str) -> bool:
    """Whether a dialogue belongs to a part of a set: its salt, its first bucket and the one after its last."""
    salt, first, stop = part
    return first <= bucket(salt, dialogue_id) < stop


def split_table(source: Path, train: Path, held_out: Path, percent: int) -> None:
    """Write a table's dialogues into two tables, by a hash of their ids; a table that is there already stays.

    About `percent` of a hundred dialogues are kept apart. A dialogue keeps its part when more dialogues come in.
    """

    def is_held(ids: pa.Array) -> list[pa.Array]:
        return [pa.array([bucket(_SALT, name) < percent for name in ids.to_pylist()], pa.bool_())]

    marked = with_columns(read_table(source), {"held": pa.bool_()}, is_held, "dialogue_id")
    held = daft().col("held")
    for folder, condition in ((train, ~held), (held_out, held)):
        if not (folder / MANIFEST).exists():
            writer = TableWriter(folder)
            writer.write(marked.where(condition).exclude("held"))
            writer.finish("turnloom.corpus.split_table", {"sources": count_by_source(writer.staged())})
