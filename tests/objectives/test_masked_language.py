"""Masked words: what is chosen, what becomes of it, and the loss against numbers worked out by hand."""

from __future__ import annotations

from math import log

import pytest
import torch

from tests.objectives.toy import SPECIAL, WORDS, FixedMasks, batch, column, toy_encoder
from tests.training.toy import VOCABULARY
from turnloom.errors import TurnloomError
from turnloom.objectives import MaskedLanguage, NTXent, Sum, small_transformer
from turnloom.objectives.masked_language import IGNORED, TARGETS


def test_what_is_masked() -> None:
    torch.manual_seed(0)
    features = column(6_000, seed=1)
    ids, mask = features["input_ids"], features["attention_mask"].bool()
    found = MaskedLanguage(toy_encoder()).corrupt(features)
    chosen = found[TARGETS] != IGNORED
    words = mask & (ids > 3)
    assert not chosen[~words].any()
    assert torch.equal(found[TARGETS][chosen], ids[chosen])
    assert torch.equal(found["input_ids"][~chosen], ids[~chosen])
    assert chosen.sum() / words.sum() == pytest.approx(0.15, abs=0.01)
    became = found["input_ids"][chosen]
    masked, kept = became == SPECIAL.mask_token_id, became == ids[chosen]
    # One word in 36 is drawn as another and is the same one.
    assert masked.float().mean() == pytest.approx(0.8, abs=0.03)
    assert kept.float().mean() == pytest.approx(0.1 + 0.1 / 36, abs=0.03)
    assert (became[~masked] > 3).all()


def test_added_marks_of_speakers_are_never_masked() -> None:
    """With a real tokenizer, whose `all_special_ids` leaves out what `add_tokens(special_tokens=True)` has added."""
    from transformers import BertTokenizerFast  # type: ignore[attr-defined]

    torch.manual_seed(0)
    tokenizer = BertTokenizerFast(vocab={word: place for place, word in enumerate(VOCABULARY)})
    tokenizer.add_tokens(["[USR]", "[SYS]"], special_tokens=True)
    tokenizer.add_tokens(["teapot"])  # An added word is a word.
    model = small_transformer(tokenizer, layers=1, width=8, heads=2, length=16)
    texts = ["[USR] tell me about the teapot [SYS] the teapot is that"] * 400
    features = tokenizer(texts, return_tensors="pt", padding=True)
    ids = features["input_ids"]
    chosen = MaskedLanguage(model).corrupt(dict(features))[TARGETS] != IGNORED
    marks = torch.isin(ids, torch.tensor(tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]", "[USR]", "[SYS]"])))
    assert marks.sum() == 4 * 400
    assert not chosen[marks].any()
    assert chosen[ids == tokenizer.convert_tokens_to_ids("teapot")].float().mean() == pytest.approx(0.15, abs=0.04)


def test_equal_words_by_hand() -> None:
    """With states that say nothing, every word has the same chance: log of their number."""
    loss = FixedMasks(toy_encoder())
    with torch.no_grad():
        loss.heads.transform[-1].weight.zero_()
    assert loss(batch(4)).item() == pytest.approx(log(WORDS), abs=1e-9)
    with torch.no_grad():
        loss.heads.bias[7] = log(WORDS + 1)  # word 7 now weighs 41 of 80
    features = {"input_ids": torch.tensor([[1, 8, 7, 2]]), "attention_mask": torch.ones(1, 4).long()}
    assert loss.corrupt(features)[TARGETS].tolist() == [[IGNORED, 8, 7, IGNORED]]
    assert loss([features]).item() == pytest.approx((log(80) + log(80 / 41)) / 2, abs=1e-9)


def test_against_a_loop_over_tokens() -> None:
    model = toy_encoder()
    loss = FixedMasks(model)
    columns = batch(5)
    value = loss(columns)
    table = model[0].words.weight
    terms = []
    for part in columns:
        seen = loss.corrupt(part)
        states = model({name: seen[name] for name in ("input_ids", "attention_mask")})["token_embeddings"]
        for row, places in enumerate(seen[TARGETS].tolist()):
            for place, word in enumerate(places):
                if word != IGNORED:
                    scores = [
                        loss.heads.transform(states[row, place]) @ table[w] + loss.heads.bias[w] for w in range(WORDS)
                    ]
                    terms.append(torch.stack(scores).logsumexp(0) - scores[word])
    expected = torch.stack(terms).mean()
    assert value.item() == pytest.approx(expected.item(), abs=1e-8)
    parameters = list(loss.parameters())
    for found, true in zip(
        torch.autograd.grad(value, parameters), torch.autograd.grad(expected, parameters), strict=True
    ):
        assert torch.allclose(found, true, atol=1e-8)


def test_a_batch_without_masked_words_has_no_loss() -> None:
    loss = MaskedLanguage(toy_encoder(), probability=0.0)
    value = loss(batch(3))
    value.backward()
    assert value.item() == 0


def test_columns_are_chosen() -> None:
    loss, first = FixedMasks(toy_encoder()), FixedMasks(toy_encoder(), columns=(0,))
    first.load_state_dict(loss.state_dict())
    columns = batch(4)
    assert first(columns).item() == pytest.approx(loss(columns[:1]).item())
    assert first(columns).item() != pytest.approx(loss(columns).item())


def test_a_sum_adds_up() -> None:
    model = toy_encoder()
    contrast, words = NTXent(model), FixedMasks(model, columns=(0,))
    both = Sum((contrast, 1.0), (words, 0.5))
    columns = batch(5)
    assert both(columns).item() == pytest.approx(contrast(columns).item() + 0.5 * words(columns).item(), abs=1e-12)
    assert both.get_config_dict()["FixedMasks"]["weight"] == 0.5
    assert "simcse" in both.citation
    assert "bert" in both.citation
    with pytest.raises(TurnloomError, match="different models"):
        Sum((contrast, 1.0), (NTXent(toy_encoder()), 1.0))
    with pytest.raises(TurnloomError, match="sum of no losses"):
        Sum()


def test_a_tokenizer_without_a_mask_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SPECIAL, "mask_token_id", None)
    with pytest.raises(TurnloomError, match="no mask token"):
        MaskedLanguage(toy_encoder())
