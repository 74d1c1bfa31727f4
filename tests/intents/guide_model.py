"""A model's folder that knows the words of a text and nothing of their meaning: enough to run what a guide shows."""

from __future__ import annotations

import re
from pathlib import Path

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_model(folder: Path, text: str) -> Path:
    import torch
    from transformers import BertTokenizerFast  # type: ignore[attr-defined]

    from turnloom.objectives import small_transformer

    torch.manual_seed(0)
    words = dict.fromkeys([*SPECIAL, *re.findall(r"\w+|[^\w\s]", text.lower())])
    tokenizer = BertTokenizerFast(vocab={word: place for place, word in enumerate(words)})
    model = small_transformer(tokenizer, layers=1, width=32, heads=2, dropout=0.0, length=48)
    model.save_pretrained(str(folder), create_model_card=False)
    return folder
