"""A discovery on disk: `discovery.json`, `messages.parquet`, `centres.npy` and a page to read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from turnloom.discovery.hierarchy import Discovery, Summary
from turnloom.discovery.messages import Messages
from turnloom.discovery.page import discovery_page
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, write_whole

MARKER, MESSAGES, CENTRES, PAGE = "discovery.json", "messages.parquet", "centres.npy", "index.html"


def save_discovery(found: Discovery, out: Path) -> None:
    """Write a discovery to a folder.

    Raises:
        TurnloomError: If the folder contains other files.
    """
    whole = WholeFolder(out, MARKER, "a discovery")
    table = pa.table(
        {
            "text": pa.array(found.messages.texts, pa.large_string()),
            "before": pa.array(found.messages.before, pa.large_string()),
            "occurrences": pa.array(found.messages.occurrences),
            "group": pa.array(found.group, mask=found.group < 0),
            "similarity": pa.array(found.similarity, pa.float32()),
            "reason": pa.array([reason or None for reason in found.reasons], pa.string()),
        }
    )
    pq.write_table(table, whole.new / MESSAGES, compression="zstd")
    np.save(whole.new / CENTRES, np.concatenate([found.mean[None], found.centres]).astype(np.float32))
    write_whole(whole.new / PAGE, discovery_page(found.summary))
    write_whole(whole.new / MARKER, found.summary.model_dump_json(indent=2) + "\n")
    whole.commit()


def is_discovery(folder: str | Path) -> bool:
    """Whether a folder holds a discovery."""
    return (Path(folder) / MARKER).exists()


def load_discovery(folder: str | Path) -> Discovery:
    """Read a discovery.

    Raises:
        TurnloomError: If the folder holds none, or a damaged one.
    """
    path = Path(folder)
    fix = f"make one with: turnloom discover TABLE --out {folder}"
    if not is_discovery(path):
        raise TurnloomError(f"{folder} holds no discovery (it has no {MARKER})", fix)
    try:
        summary = Summary.model_validate_json((path / MARKER).read_text(encoding="utf-8"))
        table = pq.read_table(path / MESSAGES)
        vectors = np.load(path / CENTRES, allow_pickle=False)
    except (OSError, ValueError, ValidationError, pa.ArrowException) as error:
        raise TurnloomError(f"{folder} cannot be read ({str(error).splitlines()[0]})", fix) from error
    if len(vectors) != 1 + len(summary.leaves()) or len(table) != summary.messages:
        raise TurnloomError(f"{folder} is damaged: its files do not fit each other", fix)
    texts, before = table["text"].to_pylist(), table["before"].to_pylist()
    messages = Messages(texts, before, table["occurrences"].to_numpy(), summary.dialogues)
    group = table["group"].fill_null(-1).to_numpy()
    reasons = [reason or "" for reason in table["reason"].to_pylist()]
    return Discovery(summary, messages, group, reasons, table["similarity"].to_numpy(), vectors[0], vectors[1:])
