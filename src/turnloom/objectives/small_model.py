"""A small transformer with random weights, to train from nothing."""

from __future__ import annotations

import tempfile
from typing import Any, Literal


def small_transformer(
    tokenizer: Any,
    *,
    layers: int = 2,
    width: int = 128,
    heads: int = 2,
    length: int = 128,
    dropout: float = 0.1,
    pooling: Literal["mean", "cls", "max"] = "mean",
) -> Any:
    """A SentenceTransformer of BERT's shape with random weights, whose words are those of a fast tokenizer.

    `heads` divide the `width`; `length` is the most tokens a text may have.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=length,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=tokenizer.pad_token_id,
    )
    with tempfile.TemporaryDirectory() as folder:
        BertModel(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        transformer = Transformer(folder, max_seq_length=length)
    return SentenceTransformer(modules=[transformer, Pooling(width, pooling)])
