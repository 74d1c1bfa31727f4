"""The objectives in a plain SentenceTransformerTrainer, on a tiny random BERT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.objectives.toy import relative_error
from turnloom.objectives import (
    HardNegativeContrast,
    InverseFrequencyContrast,
    MaskedLanguage,
    NTXent,
    ResponseContrast,
    Sum,
    small_transformer,
)

TOPICS = ["card", "flight", "hotel", "pizza", "train", "phone", "music", "visa"]
CONTEXTS = [f"my {topic} please" for topic in TOPICS]
REPLIES = [f"which {topic} now" for topic in TOPICS]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tiny_bert(**options: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = [*SPECIAL, "my", "please", "which", "now", *TOPICS]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{name}_token": word for name, word in names.items()}
    )
    torch.manual_seed(0)
    return small_transformer(fast, **{"layers": 2, "width": 16, "length": 16, "dropout": 0.0, **options}).to("cpu")


def features(model: Any, texts: list[str]) -> dict[str, Any]:
    return dict(model.preprocess(texts))


def train(model: Any, loss: Any, folder: Path, labels: bool = False, **options: Any) -> list[float]:
    from datasets import Dataset, DatasetDict
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments

    columns: dict[str, Any] = {"context": CONTEXTS, "reply": REPLIES}
    if labels:
        columns["label"] = list(range(1, len(TOPICS) + 1))
    data: Any = Dataset.from_dict(columns)
    if isinstance(loss, dict):
        data = DatasetDict({name: Dataset.from_dict(columns) for name in loss})
    settings = {"max_steps": 3, "learning_rate": 1e-2, **options}
    arguments = SentenceTransformerTrainingArguments(
        str(folder),
        per_device_train_batch_size=8,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        **settings,
    )
    trainer = SentenceTransformerTrainer(model=model, args=arguments, train_dataset=data, loss=loss)
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_dse_falls_and_trains_its_head(tmp_path: Path) -> None:
    model = tiny_bert()
    loss = HardNegativeContrast(model)
    head = [parameter.clone() for parameter in loss.head.parameters()]  # type: ignore[union-attr]
    found = train(model, loss, tmp_path, max_steps=30)
    assert found[-1] < 0.5 * found[0]
    assert all(not torch.equal(old, new) for old, new in zip(head, loss.head.parameters(), strict=True))  # type: ignore[union-attr]
    vectors = model.encode([*CONTEXTS, *REPLIES], convert_to_tensor=True, normalize_embeddings=True)
    assert (vectors[:8] @ vectors[8:].T).argmax(1).tolist() == list(range(8))


def test_low_precision_with_mini_batches_and_accumulation(tmp_path: Path) -> None:
    model = tiny_bert()
    loss = NTXent(model, head="context-reply", mini_batch_size=3)
    found = train(model, loss, tmp_path, bf16=True, gradient_accumulation_steps=2, max_steps=15)
    assert found[-1] < 0.7 * found[0]


def test_tod_bert(tmp_path: Path) -> None:
    model = tiny_bert(pooling="cls")
    loss = Sum((ResponseContrast(model), 1.0), (MaskedLanguage(model, probability=0.5), 1.0))
    found = train(model, loss, tmp_path, max_steps=30)
    assert sum(found[-5:]) < 0.8 * sum(found[:5])


def test_one_head_a_window(tmp_path: Path) -> None:
    """WMDC: a data set and a loss for each window size, weights from the column `label`."""
    model = tiny_bert()
    losses = {f"window-{size}": InverseFrequencyContrast(model) for size in (1, 2)}
    heads = [next(loss.head.parameters()).clone() for loss in losses.values()]  # type: ignore[union-attr]
    train(model, losses, tmp_path, labels=True, max_steps=2)
    after = [next(loss.head.parameters()) for loss in losses.values()]  # type: ignore[union-attr]
    assert all(not torch.equal(old, new) for old, new in zip(heads, after, strict=True))


@pytest.mark.parametrize("size", [1, 3, 32])
def test_mini_batches_of_a_real_encoder(size: int) -> None:
    """Mini-batches are padded to their own length."""
    found = []
    for mini_batch_size in (None, size):
        model = tiny_bert().double()
        loss = HardNegativeContrast(model, head="none", mini_batch_size=mini_batch_size)
        long = ["my card please which flight now", *REPLIES[1:]]
        loss([features(model, CONTEXTS), features(model, long)]).backward()
        gradients = [parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None]
        found.append(torch.cat(gradients))
    assert relative_error(found[1], found[0]) <= 1e-6


def test_the_model_card_can_tell() -> None:
    model = tiny_bert()
    for loss in (HardNegativeContrast(model), ResponseContrast(model), MaskedLanguage(model)):
        assert "@inproceedings" in loss.citation
        assert loss.get_config_dict()["mini_batch_size"] is None
    assert HardNegativeContrast(model).get_config_dict()["weighting"] == "outside"
    assert ResponseContrast(model).get_config_dict()["pooling"] == "cls"
