"""`turnloom embed`: messages to vectors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import typer

from turnloom.cli.console import BF16, FORMAT, MESSAGES, batches, counting, messages_from, note, write_lines
from turnloom.errors import TurnloomError
from turnloom.files import replacing

VIEWS = ("text", "context", "reply")


@contextmanager
def _writing(out: Path | None) -> Iterator[Callable[[list[str], Any], None]]:
    """Write texts with their vectors as they come; an incomplete run leaves no Parquet file."""
    if out is None or out.suffix == ".jsonl":
        with nullcontext(sys.stdout) if out is None else out.open("w", encoding="utf-8") as file:

            def write(texts: list[str], vectors: Any) -> None:
                rows = ([round(float(x), 6) for x in row] for row in vectors)
                write_lines(({"text": text, "vector": row} for text, row in zip(texts, rows, strict=True)), file)

            yield write
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        partial = stack.enter_context(replacing(out))
        writers: list[Any] = []

        def write_table(texts: list[str], vectors: Any) -> None:
            flat = pa.array(vectors.ravel(), pa.float32())
            table = pa.table({"text": texts, "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])})
            if not writers:
                writers.append(stack.enter_context(pq.ParquetWriter(partial, table.schema, compression="zstd")))
            writers[0].write_table(table)

        yield write_table


def embed(
    model: str = typer.Argument(..., help="A model's folder."),
    messages: str = MESSAGES,
    view: str = typer.Option(
        "text", help="The output: text (meaning), context (a conversation awaiting a reply) or reply."
    ),
    out: Path | None = typer.Option(None, help="A .parquet or .jsonl file instead of JSON lines on standard output."),
    format: str | None = FORMAT,
    bf16: bool = BF16,
) -> None:
    """Get the embeddings of messages: JSON lines with text and vector.

    For messages in a pipe. To encode whole conversations once and learn from them, use turnloom vectors.

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
    encode: Any = {"text": encoder.encode, "context": encoder.encode_query, "reply": encoder.encode_document}[view]
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    done = 0
    with counting("embedding") as count, _writing(out) as write:
        for batch in batches(messages_from(messages, format)):
            texts = [message.turns[-1] for message in batch]
            write(texts, encode([message.turns for message in batch] if view == "context" else texts))
            done += len(batch)
            count(len(batch))
        if not done:
            raise TurnloomError(f"{messages} holds no message", "give at least one")
    note(f"{done:,} messages by {encoder.name} ({encoder.fingerprint[:12]})" + (f" in {out}" if out else ""))
