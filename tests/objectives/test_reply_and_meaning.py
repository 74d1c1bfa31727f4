"""Turnloom's own objective: each part against what it is made of, and gradients that go where they should."""

from __future__ import annotations

import pytest
import torch

from tests.objectives.toy import batch, toy_encoder
from turnloom.errors import TurnloomError
from turnloom.objectives import ContextReplyHeads, HardNegativeContrast, InverseFrequencyContrast, ReplyAndMeaning
from turnloom.objectives.columns import FrozenBase, pairwise_pull

FREQUENCIES = torch.tensor([1.0, 4.0, 1.0, 9.0, 2.0, 1.0], dtype=torch.float64)


def heads() -> ContextReplyHeads:
    torch.manual_seed(5)
    made = ContextReplyHeads(8).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made


def gradient(value: torch.Tensor, model: torch.nn.Module) -> torch.Tensor:
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    found = torch.autograd.grad(value, parameters, retain_graph=True, allow_unused=True)
    return torch.cat(
        [(torch.zeros_like(p) if g is None else g).flatten() for g, p in zip(found, parameters, strict=True)]
    )


def test_alone_it_is_the_loss_of_wmdc_with_two_heads() -> None:
    model, both = toy_encoder(), heads()
    ours = ReplyAndMeaning(model, head=both)(batch(6), FREQUENCIES)
    theirs = InverseFrequencyContrast(model, head=both)(batch(6), FREQUENCIES)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-12)
    assert torch.allclose(gradient(ours, model), gradient(theirs, model), atol=1e-10)
    assert torch.allclose(gradient(ours, both), gradient(theirs, both), atol=1e-10)


@pytest.mark.parametrize("factor", [0.0, 0.25])
def test_the_gradient_of_replies_reaches_the_encoder_in_part(factor: float) -> None:
    model, both = toy_encoder(), heads()
    whole = ReplyAndMeaning(model, head=both)(batch(6), FREQUENCIES)
    scaled = ReplyAndMeaning(model, head=both, reply_gradient=factor)(batch(6), FREQUENCIES)
    assert scaled.item() == pytest.approx(whole.item(), abs=1e-12)
    assert torch.allclose(gradient(scaled, both), gradient(whole, both), atol=1e-10)
    if factor:
        assert torch.allclose(gradient(scaled, model), factor * gradient(whole, model), atol=1e-10)
    else:
        assert not scaled.grad_fn or not gradient(scaled, model).any()


def test_the_parts_add_up() -> None:
    model, both = toy_encoder(), heads()
    loss = ReplyAndMeaning(model, head=both, meaning=0.5, pull=3.0).double()
    start = loss._base
    assert isinstance(start, FrozenBase)
    # Without moving, the pull is nothing; then the encoder moves.
    unmoved = pairwise_pull(model(dict(batch(6)[1]))["sentence_embedding"], start.vectors(batch(6)[1]))
    assert unmoved.item() == pytest.approx(0, abs=1e-12)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(
                0.1 * torch.randn(parameter.shape, dtype=parameter.dtype, generator=torch.Generator().manual_seed(1))
            )
    meaning: HardNegativeContrast = loss.losses["meaning"]  # type: ignore[assignment]
    replies = [model(dict(batch(6)[1]))["sentence_embedding"], start.vectors(batch(6)[1])]
    cosines = [torch.nn.functional.cosine_similarity(side[:, None], side[None], dim=2) for side in replies]
    pull = sum((cosines[0][i, j] - cosines[1][i, j]) ** 2 for i in range(6) for j in range(6) if i != j) / torch.tensor(
        30.0
    )
    expected = InverseFrequencyContrast(model, head=both)(batch(6), FREQUENCIES) + 0.5 * meaning(batch(6)) + 3 * pull
    ours = loss(batch(6), FREQUENCIES)
    assert ours.item() == pytest.approx(expected.item(), abs=1e-7)
    assert torch.allclose(gradient(ours, model), gradient(expected, model), atol=1e-6)
    assert pull.item() > 1e-6


def test_the_start_is_neither_trained_nor_saved() -> None:
    loss = ReplyAndMeaning(toy_encoder(), pull=1.0)
    assert not any("_start" in name for name, _ in loss.named_parameters())
    assert isinstance(loss._base, FrozenBase)
    assert not loss._base.vectors(batch(4)[0]).requires_grad


def test_mini_batches_change_nothing() -> None:
    model, both = toy_encoder(), heads()
    plain, small = (
        ReplyAndMeaning(model, head=both, pull=1.0, mini_batch_size=size)(batch(6), FREQUENCIES) for size in (None, 4)
    )
    assert small.item() == pytest.approx(plain.item(), abs=1e-10)
    assert torch.allclose(gradient(small, model), gradient(plain, model), atol=1e-10)


def test_pairs_of_one_text_pull_nothing() -> None:
    one = torch.ones(1, 3)
    assert pairwise_pull(one, one * 2).item() == 0


def test_mistakes_are_said() -> None:
    with pytest.raises(TurnloomError, match="negative weight"):
        ReplyAndMeaning(toy_encoder(), pull=-1)
    with pytest.raises(TurnloomError, match="two columns"):
        ReplyAndMeaning(toy_encoder())(batch(4, columns=3), torch.ones(4))
