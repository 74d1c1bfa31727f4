"""A language of eighty words, conversations that can be learned, and a small random model that knows nothing yet."""

from __future__ import annotations

import json
import random
from pathlib import Path

from turnloom.corpus import convert, find_logs

TOPICS = 40
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*["please", "tell", "me", "more", "about", "and", "the", "is", "that", "was", "thanks", "bye"]]
VOCABULARY = [*SPECIAL, *WORDS, *[f"q{n}" for n in range(TOPICS)], *[f"a{n}" for n in range(TOPICS)]]


def conversations(count: int, *, seed: int = 0, shuffled: bool = False) -> list[dict[str, object]]:
    """Questions about two topics, each answered in words that no question has; shuffled, answers belong to others."""
    rng = random.Random(seed)
    topics = [(rng.randrange(TOPICS), rng.randrange(TOPICS)) for _ in range(count)]
    answers = list(topics)
    if shuffled:
        rng.shuffle(answers)
    return [
        {
            "id": f"{seed}-{n}",
            "turns": [
                {"speaker": "user", "text": f"please tell me about q{asked[0]} and q{asked[1]}"},
                {"speaker": "system", "text": f"the a{told[0]} is that a{told[1]} was"},
            ],
        }
        for n, (asked, told) in enumerate(zip(topics, answers, strict=True))
    ]


def write_table(folder: Path, dialogues: list[dict[str, object]]) -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    logs = folder.with_suffix(".jsonl")
    logs.write_text("".join(json.dumps(row) + "\n" for row in dialogues), encoding="utf-8")
    convert(find_logs([str(logs)]), folder)
    return folder


def write_start(folder: Path, *, layers: int = 1, width: int = 32) -> Path:
    import torch
    from transformers import BertTokenizerFast  # type: ignore[attr-defined]

    from turnloom.objectives import small_transformer

    torch.manual_seed(0)
    tokenizer = BertTokenizerFast(vocab={word: place for place, word in enumerate(VOCABULARY)})
    model = small_transformer(tokenizer, layers=layers, width=width, heads=2, dropout=0.0, length=48)
    model.save_pretrained(str(folder), create_model_card=False)
    return folder


def write_headed(folder: Path) -> Path:
    """A model whose context head and reply head read its unit vector for meaning, as `turnloom-mini` has them."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize

    from turnloom.objectives import ContextReplyHeads
    from turnloom.training.losses import keep_heads

    plain, heads = SentenceTransformer(str(write_start(folder / "plain"))), ContextReplyHeads(32)
    plain.append(Normalize())
    torch.manual_seed(0)
    for weight in heads.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    keep_heads(plain, {"query": heads.context, "document": heads.reply}).save_pretrained(
        str(folder), create_model_card=False
    )
    return folder
