"""DSE's loss in a plain sentence-transformers script: a small random model learns which utterance follows which."""

from __future__ import annotations

import tempfile

from datasets import Dataset
from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from turnloom.objectives import HardNegativeContrast, small_transformer

DIALOGUES = [
    ["my parcel never arrived", "what is the order number", "it is 4471", "it comes tomorrow"],
    ["i need a table for two", "at what time", "at seven please", "booked for seven"],
    ["my card is lost", "shall i block it", "yes block it", "your card is blocked"],
    ["is there a train to Bern", "one leaves at noon", "one ticket please", "here is your ticket"],
]
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def word_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    words = dict.fromkeys([*SPECIAL.values(), *" ".join(texts).split()])
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


def main() -> None:
    turns = [turn for dialogue in DIALOGUES for turn in dialogue]
    model = small_transformer(word_tokenizer(turns), layers=2, width=32, dropout=0.0)
    pairs = [(dialogue[n], dialogue[n + 1]) for dialogue in DIALOGUES for n in range(3)]
    data = Dataset.from_dict({"utterance": [one for one, _ in pairs], "next": [other for _, other in pairs]})
    # mini_batch_size bounds the memory, not the number of negatives.
    loss = HardNegativeContrast(model, mini_batch_size=4)
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            folder, per_device_train_batch_size=12, max_steps=40, learning_rate=1e-2, logging_steps=10, report_to="none"
        )
        SentenceTransformerTrainer(model=model, args=arguments, train_dataset=data, loss=loss).train()
    vectors = model.encode(turns)
    nearest = model.similarity(vectors, vectors).fill_diagonal_(-1).argmax(1).tolist()
    found = sum(place // 4 == other // 4 for place, other in enumerate(nearest))
    print(f"{found} of {len(turns)} utterances are closest to one of their own dialogue")


if __name__ == "__main__":
    main()
