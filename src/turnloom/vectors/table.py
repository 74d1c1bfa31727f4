"""The vector table on disk: `keys.npy`, `vectors.npy`, `dialogues/`, and a `manifest.json` that completes it."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.corpus.table import engine_versions
from turnloom.corpus.turn_arrays import hash_strings
from turnloom.errors import TurnloomError
from turnloom.files import check_files

MANIFEST, KEYS, VECTORS, DIALOGUES = "manifest.json", "keys.npy", "vectors.npy", "dialogues"

Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]


def text_keys(texts: Sequence[str] | pa.Array) -> Keys:
    """Return the 64-bit hash that identifies each text."""
    return hash_strings(texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string()))


class VectorManifest(BaseModel):
    """The contents of a vector table.

    Attributes:
        version: The version of this layout.
        model: The encoder's name.
        fingerprint: Identifies the encoder's weights.
        width: The dimension of a vector.
        texts: The number of distinct texts, each with one vector.
        dialogues: The number of dialogues.
        turns: The number of turns in all dialogues.
        tables: The content hashes of the dialogue tables.
        scrubbed: Whether personal data was replaced in all of them.
        content_hash: Equal for equal vectors of equal dialogues, wherever and in however many runs they were made.
        command: The command line or call that made it.
        versions: The versions of Turnloom, Python and the data engine.
    """

    model_config = ConfigDict(extra="forbid")

    version: int = 1
    model: str
    fingerprint: str
    width: int
    texts: int
    dialogues: int
    turns: int
    tables: list[str]
    scrubbed: bool
    content_hash: str
    command: str
    versions: dict[str, str] = Field(default_factory=engine_versions)


@dataclass(frozen=True)
class Conversations:
    """Dialogues as rows of a vector table, in flat arrays.

    Attributes:
        rows: The row of each turn's vector.
        speakers: The speaker of each turn, numbered within its dialogue from 0 in order of appearance.
        offsets: Where each dialogue starts in both arrays, and where the last one ends.
        sources: The source of each dialogue, as an index into `names`.
        names: The names of the sources.
    """

    rows: Rows
    speakers: npt.NDArray[np.int16]
    offsets: Rows
    sources: npt.NDArray[np.int32]
    names: list[str]

    def __len__(self) -> int:
        return len(self.offsets) - 1


class VectorTable:
    """A memory-mapped vector table: opening one of any size is instant and takes little memory.

    Args:
        folder: The vector table's folder.

    Raises:
        TurnloomError: If the folder contains no complete vector table.

    Example:
        ``table = VectorTable("runs/vectors"); table.vectors[table.rows(["my card is lost"])]``
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        path = self.folder / MANIFEST
        if not path.exists():
            raise TurnloomError(
                f"{folder} holds no whole vector table (it has no {MANIFEST})",
                f"make one with: turnloom vectors TABLE --model MODEL --out {folder}",
            )
        try:
            self.manifest = VectorManifest.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(str(name) for name in problem["loc"]) or "its content"
            raise TurnloomError(
                f"{path} is not a vector table's manifest ({field}: {problem['msg']})",
                "make one with: turnloom vectors TABLE --model MODEL --out FOLDER",
            ) from error
        self.keys: Keys = self._mapped(KEYS, (self.manifest.texts,), np.uint64)
        self.vectors: npt.NDArray[np.float16] = self._mapped(
            VECTORS, (self.manifest.texts, self.manifest.width), np.float16
        )

    def _mapped(self, name: str, shape: tuple[int, ...], kind: type[np.generic]) -> Any:
        try:
            array = np.load(self.folder / name, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise TurnloomError(f"{self.folder / name} cannot be read ({error})", "make the vectors again") from error
        if array.shape != shape or array.dtype != kind:
            raise TurnloomError(f"{self.folder / name} does not fit its manifest", "make the vectors again")
        return array

    def __len__(self) -> int:
        return self.manifest.texts

    def rows(self, texts: Sequence[str] | pa.Array) -> Rows:
        """Return the row of each text's vector; -1 for a text that is not in the table."""
        return find_keys(self.keys, text_keys(texts))

    def read(self, rows: Rows) -> npt.NDArray[np.float16]:
        """Return the vectors of some rows; the disk is asked for all of them at once.

        Rows of a batch lie anywhere in the table. Read one after another, each would wait for the disk, and the system
        would read much around it that nobody needs.
        """
        memory = getattr(self.vectors, "_mmap", None)
        if memory is not None and hasattr(mmap, "MADV_WILLNEED"):
            bytes_each = self.manifest.width * self.vectors.itemsize
            begins = np.unique(rows) * bytes_each + self.vectors.offset % mmap.ALLOCATIONGRANULARITY  # type: ignore[attr-defined]
            pages = begins // mmap.PAGESIZE * mmap.PAGESIZE
            for begin, page in zip(begins.tolist(), pages.tolist(), strict=True):
                memory.madvise(mmap.MADV_WILLNEED, page, begin + bytes_each - page)
        return self.vectors[rows]

    @cached_property
    def conversations(self) -> Conversations:
        """Return the dialogues, ordered by their ids."""
        check_files(self.folder, f"{DIALOGUES}/*")
        parts = [pq.read_table(path) for path in sorted((self.folder / DIALOGUES).glob("*.parquet"))]
        table = (
            pa.concat_tables(parts).sort_by([("source", "ascending"), ("dialogue_id", "ascending")]).combine_chunks()
        )
        turns = table["rows"].chunk(0) if table["rows"].num_chunks else pa.array([], pa.large_list(pa.int64()))
        speakers = table["speakers"].chunk(0) if len(table) else pa.array([], pa.large_list(pa.int16()))
        sources = table["source"].combine_chunks().dictionary_encode() if len(table) else None
        return Conversations(
            rows=turns.flatten().to_numpy(zero_copy_only=False),
            speakers=speakers.flatten().to_numpy(zero_copy_only=False),
            offsets=(turns.offsets.to_numpy() - turns.offsets[0].as_py()).astype(np.int64),
            sources=sources.indices.to_numpy().astype(np.int32) if sources is not None else np.zeros(0, np.int32),
            names=sources.dictionary.to_pylist() if sources is not None else [],
        )


def find_keys(known: Keys, keys: Keys) -> Rows:
    """Return the index of each key among sorted ones; -1 for missing keys."""
    if not len(known):
        return np.full(len(keys), -1, np.int64)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, place, -1).astype(np.int64)
