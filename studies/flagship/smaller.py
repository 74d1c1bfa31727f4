"""The student's start: gte-small with fewer word pieces, so that twelve layers fit where six would.

Word pieces that conversations hardly use are left out: their words are then spelled by shorter pieces. What remains is
what the training texts use most, and after that the pieces that come first in BERT's vocabulary, which is in order of
frequency in books and encyclopedias.

Usage: python -m studies.flagship.smaller GTE_SMALL runs/flagship/start
"""

from __future__ import annotations

import json
import shutil
import string
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

TABLES = ("runs/flagship/texts", "runs/tier-a")
USED, KEPT, POSITIONS = 7_600, 9_250, 256
EMBEDDINGS, PLACES = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
SPELLED = string.ascii_lowercase + string.digits
AT_A_TIME = 10_000


def _texts() -> Iterator[list[str]]:
    for path in sorted(path for table in TABLES for path in Path(table).rglob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(AT_A_TIME, columns=["turns"]):
            yield [turn["text"] for dialogue in batch["turns"].to_pylist() for turn in dialogue]


def kept(tokenizer: object) -> list[str]:
    """The pieces that stay, in the order of their old numbers; every Latin word can still be spelled."""
    backend = tokenizer._tokenizer  # type: ignore[attr-defined]
    counts: Counter[int] = Counter()
    for texts in _texts():
        for encoding in backend.encode_batch(texts):
            counts.update(encoding.ids)
    vocabulary = {number: piece for piece, number in backend.get_vocab().items()}
    special = set(tokenizer.all_special_ids)  # type: ignore[attr-defined]
    spelled = {number for number, piece in vocabulary.items() if piece.removeprefix("##") in SPELLED}
    spelled |= {number for number, piece in vocabulary.items() if piece in set(string.punctuation)}
    chosen = special | spelled | {number for number, _ in counts.most_common(USED)}
    words = (number for number, piece in sorted(vocabulary.items()) if piece.removeprefix("##").isascii())
    for number in words:
        if len(chosen) >= KEPT:
            break
        if number not in chosen and len(vocabulary[number]) > 1 and not vocabulary[number].startswith("[unused"):
            chosen.add(number)
    return [vocabulary[number] for number in sorted(chosen)]


def main(model: str, out: str) -> None:
    folder = Path(out)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(model, folder, ignore=shutil.ignore_patterns("README.md", "onnx", "openvino", ".git*"))
    tokenizer = AutoTokenizer.from_pretrained(model)
    pieces = kept(tokenizer)
    old = tokenizer.get_vocab()
    rows = [old[piece] for piece in pieces]
    weights = load_file(folder / "model.safetensors")
    weights[EMBEDDINGS] = weights[EMBEDDINGS][rows].clone()
    weights[PLACES] = weights[PLACES][:POSITIONS].clone()
    weights.pop("embeddings.position_ids", None)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    numbers = {piece: number for number, piece in enumerate(pieces)}
    written = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    written["model"]["vocab"] = numbers
    for token in written["added_tokens"]:
        token["id"] = numbers[token["content"]]
    for token in written["post_processor"].get("special_tokens", {}).values():
        token["ids"] = [numbers[piece] for piece in token["tokens"]]
    (folder / "tokenizer.json").write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {
        "vocab_size": len(pieces),
        "max_position_embeddings": POSITIONS,
        "pad_token_id": numbers[tokenizer.pad_token],
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    used = sum(tensor.numel() for tensor in weights.values())
    print(f"{folder}: {len(pieces):,} of {len(old):,} word pieces, {used / 1e6:.1f} million weights")


if __name__ == "__main__":
    main(*sys.argv[1:])
