"""`turnloom embed`: messages to vectors."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.console import BF16, FORMAT, MESSAGES, batches, counting, messages_from, note, write_lines
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.intents import LabelledMessage
    from turnloom.runtime import Encoder

VIEWS = ("text", "context", "reply")


def _vectors(encoder: Encoder, batch: list[LabelledMessage], view: str) -> Any:
    if view == "context":
        return encoder.encode_query([message.turns for message in batch])
    texts = [message.turns[-1] for message in batch]
    return encoder.encode_document(texts) if view == "reply" else encoder.encode(texts)


class _Parquet:
    """Rows of vectors in a Parquet file, written as they come; without a whole run there is no file."""

    def __init__(self, path: Path) -> None:
        self._path, self._partial = path, path.with_name(f".{path.name}.partial")
        self._writer: Any = None

    def write(self, texts: list[str], vectors: Any) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        flat = pa.array(vectors.ravel(), pa.float32())
        table = pa.table({"text": texts, "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])})
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._partial, table.schema, compression="zstd")
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._partial.rename(self._path)


def embed(
    model: str = typer.Argument(..., help="A model's folder."),
    messages: str = MESSAGES,
    view: str = typer.Option(
        "text", help="text for meaning; context for what turns call for; reply for what answers them."
    ),
    out: Path | None = typer.Option(None, help="A .parquet or .jsonl file instead of JSON lines on standard output."),
    format: str | None = FORMAT,
    bf16: bool = BF16,
) -> None:
    """Turn messages into vectors: JSON lines with text and vector.

    [bold]Examples[/]

    turnloom embed my-model messages.csv --out vectors.parquet

    echo "my card is lost" | turnloom embed my-model | jq -c .vector
    """
    from turnloom.runtime import load_encoder

    if view not in VIEWS:
        raise TurnloomError(f"there is no view {view!r}", f"choose one of {', '.join(VIEWS)}")
    if out is not None and out.suffix not in (".parquet", ".jsonl"):
        raise TurnloomError(f"{out} is neither .parquet nor .jsonl", "choose one of these endings")
    encoder = load_encoder(model, bf16=bf16)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    done = 0
    with ExitStack() as stack:
        count = stack.enter_context(counting("embedding"))
        parquet = _Parquet(out) if out is not None and out.suffix == ".parquet" else None
        lines = stack.enter_context(out.open("w", encoding="utf-8")) if out and parquet is None else sys.stdout
        for batch in batches(messages_from(messages, format)):
            vectors = _vectors(encoder, batch, view)
            texts = [message.turns[-1] for message in batch]
            if parquet is not None:
                parquet.write(texts, vectors)
            else:
                rows = zip(texts, vectors, strict=True)
                write_lines(({"text": text, "vector": [round(float(x), 6) for x in row]} for text, row in rows), lines)
            done += len(batch)
            count(len(batch))
        if parquet is not None:
            parquet.close()
    if not done:
        raise TurnloomError(f"{messages} holds no message", "give at least one")
    note(f"{done:,} messages by {encoder.name} ({encoder.fingerprint[:12]})" + (f" in {out}" if out else ""))
