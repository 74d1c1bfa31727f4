"""A table on disk: Parquet files, and a `manifest.json` that is written last and marks the table as complete.

A hash of the dialogue id defines splits: for sets without their own splits, and for splitting a table in two.
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
from turnloom.files import WholeFolder, check_files

MANIFEST = "manifest.json"
WORK = ".work"
"""The folder beside a table's files for a command's intermediate results."""


def engine_versions() -> dict[str, str]:
    """The versions of Turnloom, Python and the data engine."""
    engine = {package: metadata.version(package) for package in ("daft", "pyarrow")}
    return {"turnloom": turnloom.__version__, "python": platform.python_version(), **engine}


class Manifest(BaseModel):
    """What a table contains and where it comes from.

    Attributes:
        content_hash: Equal for tables with equal rows, whatever their order and files.
        command: The command line or call that made it.
        counts: The command's counts, by name.
        versions: The versions of Turnloom, Python and the data engine.
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
    """Read the manifest of a table.

    Raises:
        TurnloomError: If the folder holds no complete table, or one with another schema version.
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
    """Read the dialogue table of a folder as a lazy Daft DataFrame.

    Raises:
        TurnloomError: If the folder holds no complete table, or a damaged one: the message names the file.

    Example:
        ``read_table("runs/corpus").count_rows()``
    """
    read_manifest(folder)
    check_files(Path(folder))
    return daft().read_parquet(f"{folder}/part-*.parquet").select(*ARROW_SCHEMA.names)


def read_tables(folders: Sequence[str | Path]) -> Any:
    """Read the dialogue tables of several folders as one lazy Daft DataFrame."""
    return reduce(lambda table, folder: table.concat(read_table(folder)), folders[1:], read_table(folders[0]))


def count_by_source(table: Any) -> dict[str, dict[str, int]]:
    """Count dialogues and turns per source."""
    col = daft().col
    sizes = table.select(col("source"), col("turns").length().alias("turns"))
    totals = sizes.groupby("source").agg(col("turns").count().alias("dialogues"), col("turns").sum())
    return {row.pop("source"): row for row in totals.sort("source").to_pylist()}


class TableWriter:
    """Writes a table atomically: a killed run leaves no manifest.

    `partial` is a scratch folder that is removed at the end. Files in `new` are moved beside the finished table.
    """

    def __init__(self, folder: str | Path, *, overwrite: bool = False) -> None:
        self.folder = Path(folder)
        if (self.folder / MANIFEST).exists() and not overwrite:
            raise TurnloomError(f"{folder} holds a table already", "choose another --out, or add --overwrite")
        self._whole = WholeFolder(self.folder, MANIFEST, "a table", beside=[WORK])
        self.partial, self.new = self._whole.partial, self._whole.new

    def write(self, table: Any) -> None:
        """Write a Daft DataFrame of dialogues to the partial folder."""
        # The keys are stored beside the rows, so that the content hash needs no second read.
        others = [name for name in table.column_names if name not in ARROW_SCHEMA.names]
        keyed = with_row_keys(table, *others)
        with frugally():
            keyed.write_parquet(str(self.partial / "table"), compression="zstd")

    def staged(self) -> Any:
        """Return the rows written so far as a Daft DataFrame."""
        files = sorted(str(path) for path in (self.partial / "table").glob("*.parquet"))
        return daft().read_parquet(files) if files else with_row_keys(daft().from_arrow(ARROW_SCHEMA.empty_table()))

    def publish(self, name: str) -> Path:
        """Move a file from `new` into the folder now, whether or not the table gets finished."""
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
    """A folder for one job's intermediate results; those of other inputs or options are removed."""

    def __init__(self, folder: Path, job: str) -> None:
        self.folder = folder
        mark = folder / "job"
        if not mark.exists() or mark.read_text() != job:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            mark.write_text(job)

    def step(self, name: str, build: Callable[[Path], object]) -> Path:
        """Return the result of a step: reused if it is finished, else built from scratch.

        A step is finished when its mark exists, which is written last.
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
    """Remove a workspace, and the folder of workspaces if it is empty."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # Others are still there, or there were none.
        folder.parent.rmdir()


_SALT = "held out"


def bucket(salt: str, dialogue_id: str) -> int:
    """Return a number from 0 to 99 that depends only on the set's name and the dialogue's id.

    A dialogue keeps its split when the set grows, is read in another order, or is split again elsewhere.

    Example:
        >>> bucket("star", "1")
        55
    """
    digest = hashlib.sha256(f"{salt}\x00{dialogue_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % 100


def falls_into(part: tuple[str, int, int], dialogue_id: str) -> bool:
    """Whether a dialogue belongs to a split, given as (salt, first bucket, end bucket)."""
    salt, first, stop = part
    return first <= bucket(salt, dialogue_id) < stop


def split_table(source: Path, train: Path, held_out: Path, percent: int) -> None:
    """Split a table into two by a hash of the dialogue ids; an existing table stays.

    About `percent` percent of the dialogues are held out. A dialogue stays on its side when the table grows.
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
