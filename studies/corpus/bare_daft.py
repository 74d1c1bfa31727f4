"""The steps of `prepare` (normalise, exact duplicates, scrub, frequencies) by hand in bare Daft, with its defaults.

No stages, no manifest, no resuming, no content hash: what a person would write once. It shares with Turnloom only what
is done to a text (normalising and scrubbing), so that both do the same work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import daft
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from daft import DataType, col

from turnloom.corpus.cleaning.normalise import normalise_texts
from turnloom.corpus.privacy.patterns import scrub_texts
from turnloom.corpus.schema import ARROW_SCHEMA

TURNS = DataType.from_arrow_type(ARROW_SCHEMA.field("turns").type)


def _replace_text(turns: pa.Array, texts: pa.Array) -> pa.Array:
    flat = turns.flatten()
    names = [field.name for field in flat.type]
    columns = [texts if name == "text" else flat.field(name) for name in names]
    return pa.LargeListArray.from_arrays(_offsets(turns), pa.StructArray.from_arrays(columns, names=names))


def _offsets(turns: pa.Array) -> pa.Array:
    offsets = turns.offsets.to_numpy()
    return pa.array(offsets - offsets[0])


@daft.func.batch(return_dtype=TURNS)
def normalise(turns: daft.Series) -> pa.Array:
    array = turns.to_arrow()
    return _replace_text(array, normalise_texts(array.flatten().field("text")))


@daft.func.batch(return_dtype=DataType.string())
def joined(turns: daft.Series) -> pa.Array:
    array = turns.to_arrow()
    lists = pa.ListArray.from_arrays(_offsets(array).cast(pa.int32()), pc.utf8_lower(array.flatten().field("text")))
    return pc.binary_join(lists, pa.scalar("\n", pa.large_string()))


@daft.func.batch(return_dtype=TURNS)
def scrub(turns: daft.Series) -> pa.Array:
    array = turns.to_arrow()
    return _replace_text(array, scrub_texts(array.flatten().field("text"))[0])


@daft.func.batch(return_dtype=DataType.list(DataType.string()))
def responses(turns: daft.Series) -> pa.Array:
    array = turns.to_arrow()
    offsets = _offsets(array).to_numpy()
    texts = pc.utf8_lower(array.flatten().field("text"))
    later = np.ones(len(texts), bool)
    later[offsets[:-1]] = False
    return pa.LargeListArray.from_arrays(pa.array(offsets - np.arange(len(offsets))), texts.filter(pa.array(later)))


def run(source: Path, out: Path) -> None:
    table: Any = daft.read_parquet(f"{source}/*.parquet").with_column("turns", normalise(col("turns")))
    table = table.with_column("key", joined(col("turns")).hash())
    first = table.groupby("key").agg(col("dialogue_id").min()).select("dialogue_id")
    first.write_parquet(str(out / "first"))
    kept = table.join(daft.read_parquet(f"{out}/first/*.parquet"), on="dialogue_id", how="semi").exclude("key")
    kept.with_column("turns", scrub(col("turns"))).write_parquet(str(out / "table"), compression="zstd")
    written = daft.read_parquet(f"{out}/table/*.parquet")
    said = written.select(responses(col("turns")).alias("response")).explode("response")
    counted: Any = said.groupby("response").agg(col("response").count().alias("count"))
    counted.where("count > 1").write_parquet(str(out / "frequencies"))
