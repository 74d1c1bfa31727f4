"""A tiny CrossEncoder whose words are numbers, and marks that it knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turnloom.views.utterance_tasks import END_OF_TURN, MARKS

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", END_OF_TURN, *MARKS.values()]


def tiny_cross_encoder(
    folder: Path, words: list[str], *, width: int = 16, heads: int = 2, length: int = 48, spread: float = 0.02
) -> Any:
    """Two layers with random weights; only with a large `spread` does its output differ much from input to input."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(3)
    tokenizer = BertTokenizerFast(vocab={word: place for place, word in enumerate([*SPECIAL, *words])})
    tokenizer.add_tokens(SPECIAL[5:], special_tokens=True)
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=heads,
        intermediate_size=2 * width,
        max_position_embeddings=length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=spread,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return CrossEncoder(str(folder), device="cpu", local_files_only=True, max_length=length)
