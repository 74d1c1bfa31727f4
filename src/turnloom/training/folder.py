"""The model folder: an ordinary SentenceTransformer or CrossEncoder that other servers read too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from turnloom.files import WholeFolder
from turnloom.runtime.context_format import FILE, ContextFormat

__all__ = ["add_older_keys", "save_model"]

CONFIG = "config.json"
"""Every model's folder has it, and none can be loaded without."""
_POOLINGS = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
_OLDER_NAMES = {
    "cls": "cls_token",
    "mean": "mean_tokens",
    "max": "max_tokens",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "weightedmean": "weightedmean_tokens",
    "lasttoken": "lasttoken",
}


def _change_json(path: Path, more: dict[str, Any]) -> None:
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**found, **more}, indent=2) + "\n", encoding="utf-8")


def add_older_keys(folder: Path, max_length: int) -> None:
    """Write what servers look for that know older folders: one key a pooling, and the length.

    text-embeddings-inference reads `pooling_mode_*` in `1_Pooling/config.json` and `max_seq_length` in
    `sentence_bert_config.json`; sentence-transformers 6.2 no longer writes either.
    """
    for path in folder.glob("*_Pooling/config.json"):
        config = json.loads(path.read_text(encoding="utf-8"))
        mode = config.get("pooling_mode")
        if isinstance(mode, str) and mode in _OLDER_NAMES:
            older = {f"pooling_mode_{name}": name == _OLDER_NAMES[mode] for name in _POOLINGS}
            _change_json(path, older)
    _change_json(folder / "sentence_bert_config.json", {"max_seq_length": max_length, "do_lower_case": False})


def save_model(
    model: Any, folder: Path, *, max_length: int, context: ContextFormat, card: str, older_keys: bool = True
) -> None:
    """Write a model's folder so that it is either whole or not there.

    Args:
        model: The SentenceTransformer or CrossEncoder.
        folder: Where it goes; an older model that was saved there is replaced, other files stay.
        max_length: How many tokens it reads.
        context: How contexts become text.
        card: The text of its README.md.
        older_keys: Whether to write what servers of embeddings look for, see `add_older_keys`.
    """
    # What somebody put beside a run while it went on is no reason to lose the model: `train` has looked before.
    whole = WholeFolder(folder, CONFIG, "a model", keep_others=True)
    model.max_seq_length = max_length
    model.save_pretrained(str(whole.new), create_model_card=False)
    if older_keys:
        add_older_keys(whole.new, max_length)
    (whole.new / FILE).write_text(context.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (whole.new / "README.md").write_text(card, encoding="utf-8")
    whole.commit()
