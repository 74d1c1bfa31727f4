"""Every contrastive objective against numbers worked out by hand and against the naive loop, value and gradient."""

from __future__ import annotations

from math import e, exp, log
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.objectives.reference import naive, wmdc
from tests.objectives.toy import batch, frequencies, toy_encoder
from turnloom.errors import TurnloomError
from turnloom.objectives import (
    ContextReplyHeads,
    Contrast,
    HardNegativeContrast,
    InverseFrequencyContrast,
    NTXent,
    ResponseContrast,
)
from turnloom.objectives import contrast as core
from turnloom.objectives.columns import text_keys

# The second context stands apart, the second reply lies on the first context: one easy and one hard negative.
CONTEXTS = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
REPLIES = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)


def by_hand(loss: Contrast, weights: Tensor | None = None) -> float:
    return loss.contrast([CONTEXTS, REPLIES], weights=weights).item()


def mean(*terms: float) -> float:
    return sum(terms) / len(terms)


def test_dse_by_hand() -> None:
    model = toy_encoder()
    # Anchors in the order c1, c2, r1, r2: the positive's similarity, and those of the two negatives.
    rows = [(1, (1, 0)), (0, (0, 0)), (1, (1, 0)), (0, (1, 1))]
    outside = [log(1 + sum(exp(s) ** 2 for s in n) / mean(*(exp(s) for s in n)) / exp(p)) for p, n in rows]
    assert by_hand(HardNegativeContrast(model, temperature=1, head=None)) == pytest.approx(mean(*outside), abs=1e-12)
    assert outside[0] == pytest.approx(log(1 + (e * e + 1) / ((e + 1) / 2) / e))
    inside = [
        log(
            1 + (exp(2 * e / (e + 1)) + 1) / e
        ),  # the hard negative's weight is 2e / (e + 1), the easy one's product is 0
        log(1 + 2),
        log(1 + (exp(2 * e / (e + 1)) + 1) / e),
        log(1 + 2 * e),
    ]
    found = by_hand(HardNegativeContrast(model, weighting="inside", temperature=1, head=None))
    assert found == pytest.approx(mean(*inside), abs=1e-12)
    plain = [log(1 + (e + 1) / e), log(3), log(1 + (e + 1) / e), log(1 + 2 * e)]
    found = by_hand(HardNegativeContrast(model, weighting="none", temperature=1, head=None))
    assert found == pytest.approx(mean(*plain), abs=1e-12)


def test_nt_xent_by_hand() -> None:
    model = toy_encoder()
    simclr = [log(1 + (e + 1) / e), log(3), log(1 + (e + 1) / e), log(1 + 2 * e)]
    assert by_hand(NTXent(model, temperature=1)) == pytest.approx(mean(*simclr), abs=1e-12)
    # Across only: contexts see the other reply, replies the other context.
    symmetric = [log(2), log(2), log(1 + 1 / e), log(1 + e)]
    assert by_hand(NTXent(model, form="symmetric", temperature=1)) == pytest.approx(mean(*symmetric), abs=1e-12)
    assert by_hand(NTXent(model, form="forward", temperature=1)) == pytest.approx(log(2), abs=1e-12)


def test_inverse_frequency_by_hand() -> None:
    loss = InverseFrequencyContrast(toy_encoder(), temperature=1, head=None)
    weights = loss.pair_weights(torch.tensor([1.0, e**3], dtype=torch.float64))
    assert weights is not None
    assert weights.tolist() == pytest.approx([1, 1 / 4])
    expected = mean(log(2), log(2) / 4, log(1 + 1 / e), log(1 + e) / 4)
    assert by_hand(loss, weights) == pytest.approx(expected, abs=1e-12)


def test_response_contrast_by_hand() -> None:
    loss = ResponseContrast(toy_encoder())
    # Lengths count: the dot products are 3 and 6 for the first context, 0 and 0 for the second.
    found = loss.contrast([CONTEXTS * 3, REPLIES * torch.tensor([[1.0], [2.0]])])
    assert found.item() == pytest.approx(mean(log(1 + e**3), log(2)), abs=1e-12)


FORMS: dict[str, dict[str, Any]] = {
    "outside": {"weighting": "outside", "form": "simclr"},
    "inside": {"weighting": "inside", "form": "simclr"},
    "simclr": {"form": "simclr"},
    "symmetric": {"form": "symmetric"},
    "forward": {"form": "forward"},
    "dot": {"form": "forward", "similarity": "dot", "temperature": 1.0},
}


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("mask", ["text", "none"])
@pytest.mark.parametrize("head", ["none", "mlp", "linear", "context-reply"])
@pytest.mark.parametrize("setting", FORMS)
def test_value_and_gradient_are_those_of_the_naive_loop(setting: str, head: Any, mask: Any, columns: int) -> None:
    options = {"temperature": 0.3, **FORMS[setting]}
    loss = Contrast(toy_encoder(), head=head, mask=mask, weighted=True, **options)
    features = batch(5, columns)
    labels = frequencies(5) / 3
    parameters = list(loss.parameters())
    value = loss(features, labels)
    gradients = torch.autograd.grad(value, parameters)
    keys = [text_keys(column).tolist() for column in features] if mask == "text" else None
    cosine = options.pop("similarity", "cosine") == "cosine"
    expected = naive(loss.embed(features), keys, labels.tolist(), cosine=cosine, **options)
    assert value.item() == pytest.approx(expected.item(), abs=1e-8)
    for found, true in zip(gradients, torch.autograd.grad(expected, parameters), strict=True):
        assert torch.allclose(found, true, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("setting", FORMS)
def test_what_has_the_same_label_is_no_negative(setting: str) -> None:
    options = {"temperature": 0.3, **FORMS[setting]}
    loss = Contrast(toy_encoder(), mask="label", **options)
    features, labels = batch(6), torch.tensor([7, 8, 7, 9, 2**62, 8])
    cosine = options.pop("similarity", "cosine") == "cosine"
    expected = naive(loss.embed(features), [labels.tolist()] * 2, None, cosine=cosine, **options)
    assert loss(features, labels).item() == pytest.approx(expected.item(), abs=1e-8)
    assert abs(loss(features, torch.arange(6)).item() - expected.item()) > 1e-3


def test_labels_are_asked_for_once() -> None:
    with pytest.raises(TurnloomError, match="needs labels"):
        Contrast(toy_encoder(), mask="label")(batch(4))
    for made in (
        lambda: NTXent(toy_encoder(), mask="label", weighted=True),
        lambda: InverseFrequencyContrast(toy_encoder(), mask="label"),
    ):
        with pytest.raises(TurnloomError, match="weights and masks"):
            made()


def test_wmdc_is_its_appendix() -> None:
    loss = InverseFrequencyContrast(toy_encoder(), mask="none")
    features, labels = batch(6), frequencies(6)
    value = loss(features, labels)
    contexts, responses = loss.embed(features)
    expected = wmdc(contexts, responses, labels)
    assert value.item() == pytest.approx(expected.item(), abs=1e-8)
    parameters = list(loss.parameters())
    for found, true in zip(
        torch.autograd.grad(value, parameters), torch.autograd.grad(expected, parameters), strict=True
    ):
        assert torch.allclose(found, true, atol=1e-8)


def test_normalised_weights() -> None:
    labels = frequencies(5)
    plain, normalised = (
        NTXent(toy_encoder(), weighted=True, normalize_weights=choice)(batch(5), labels) for choice in (False, True)
    )
    assert normalised.item() == pytest.approx(plain.item() * 5 / labels.sum().item())


def test_low_precision_is_raised_and_extremes_stay_finite() -> None:
    loss = NTXent(toy_encoder(), temperature=0.001)
    vectors = [torch.randn(4, 8).bfloat16().requires_grad_() for _ in range(2)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = loss.contrast(vectors)
    assert value.dtype == torch.float32
    value.backward()
    assert all(torch.isfinite(column.grad).all() for column in vectors if column.grad is not None)
    exact = loss.contrast([column.detach().double() for column in vectors])
    assert value.item() == pytest.approx(exact.item(), rel=1e-5)


@pytest.mark.parametrize("weighting", ["outside", "inside", "none"])
def test_an_anchor_without_negatives_has_no_loss(weighting: Any) -> None:
    loss = HardNegativeContrast(toy_encoder(), weighting=weighting, head=None)
    vectors = [CONTEXTS.clone().requires_grad_(), REPLIES.clone().requires_grad_()]
    value = loss.contrast(vectors, keys=[torch.zeros(2).long()] * 2)
    value.backward()
    assert value.item() == 0
    assert all(float(column.grad.abs().sum()) == 0 for column in vectors if column.grad is not None)


def test_mistakes_are_said() -> None:
    model = toy_encoder()
    with pytest.raises(TurnloomError, match="form cannot be 'triangle'"):
        NTXent(model, form="triangle")  # type: ignore[arg-type]
    with pytest.raises(TurnloomError, match="there is no head 'crown'"):
        NTXent(model, head="crown")  # type: ignore[arg-type]
    with pytest.raises(TurnloomError, match="temperature cannot be 0"):
        NTXent(model, temperature=0)
    with pytest.raises(TurnloomError, match=r"^a contrastive loss compares two columns: give contexts and replies$"):
        NTXent(model)(batch(4, 1, doubles=False))
    with pytest.raises(
        TurnloomError, match=r"^InverseFrequencyContrast needs weights: add a column 'label' to the training data$"
    ):
        InverseFrequencyContrast(model)(batch(4))
    with pytest.raises(TurnloomError, match="less than once"):
        InverseFrequencyContrast(model)(batch(4), torch.zeros(4))
    with pytest.raises(TurnloomError, match="padded token ids"):
        NTXent(model)([{"input_ids": torch.ones(2, 3).long()}] * 2)


def test_the_settings_are_those_of_the_model_card() -> None:
    usual = {
        "temperature": 0.05,
        "similarity": "cosine",
        "form": "simclr",
        "weighting": "none",
        "head": "none",
        "mask": "text",
        "weighted": False,
        "normalize_weights": False,
        "gather": True,
        "mini_batch_size": None,
    }
    assert Contrast(toy_encoder()).get_config_dict() == usual
    changed: dict[str, Any] = {
        "temperature": 0.5,
        "similarity": "dot",
        "form": "forward",
        "weighting": "inside",
        "mask": "none",
        "weighted": True,
        "normalize_weights": True,
        "gather": False,
        "mini_batch_size": 7,
    }
    found = Contrast(toy_encoder(), head="mlp", **changed).get_config_dict()
    assert {**found, "head": None} == {**changed, "head": None}
    assert found["head"] not in ("none", "NoneType")


@pytest.mark.parametrize(
    ("option", "choices"),
    [
        ("form", "simclr, symmetric, forward"),
        ("similarity", "cosine, dot"),
        ("weighting", "outside, inside, none"),
        ("mask", "text, label, none"),
    ],
)
def test_a_choice_that_is_none_is_said_with_those_there_are(option: str, choices: str) -> None:
    wrong: dict[str, Any] = {option: "sideways"}
    with pytest.raises(TurnloomError) as error:
        Contrast(toy_encoder(), **wrong)
    assert error.value.problem == f"{option} cannot be 'sideways'"
    assert error.value.fix == f"choose one of {choices}"


@pytest.mark.parametrize("temperature", [0, -0.1])
def test_a_temperature_is_above_0(temperature: float) -> None:
    with pytest.raises(TurnloomError) as error:
        Contrast(toy_encoder(), temperature=temperature)
    assert error.value.problem == f"the temperature cannot be {temperature}"
    assert error.value.fix == "give a number above 0, such as 0.05"


def test_vectors_through_a_head_by_column() -> None:
    heads = ContextReplyHeads(2).double()
    with torch.no_grad():
        for parameter in heads.reply.parameters():
            parameter += 0.5
    loss = NTXent(toy_encoder(), head=heads)
    contexts, replies = loss.through_head([CONTEXTS, REPLIES])
    assert torch.equal(contexts, heads.context(CONTEXTS))
    assert torch.equal(replies, heads.reply(REPLIES))
    assert not torch.allclose(replies, REPLIES)


@pytest.mark.parametrize("form", ["forward", "symmetric", "simclr"])
def test_each_process_has_its_part_of_the_whole(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes as one of them sees it: the other's rows are gathered, before or after its own."""
    draw = torch.Generator().manual_seed(3)
    columns = [torch.randn(7, 4, generator=draw, dtype=torch.float64) for _ in range(3)]
    keys = [torch.randint(5, (7,), generator=draw) for _ in range(3)]
    weights = torch.rand(7, generator=draw, dtype=torch.float64)
    loss = NTXent(toy_encoder(), form=form, weighted=True, normalize_weights=True)
    whole = loss.contrast(columns, keys=keys, weights=weights)
    everything = [*(loss._scaled(column) for column in columns), *keys]
    cut, found = 3, []
    for own in (slice(0, cut), slice(cut, 7)):

        def gathered(part: Tensor, own: slice = own) -> Tensor:
            return next(full for full in everything if full.dtype == part.dtype and torch.equal(full[own], part))

        with monkeypatch.context() as patched:
            patched.setattr(core, "world_size", lambda: 2)
            patched.setattr(core, "gather_rows", gathered)
            patched.setattr(core, "own_offset", lambda _rows, _device, own=own: own.start)
            patched.setattr(core, "total", lambda _: weights.sum())
            found.append(loss.contrast([c[own] for c in columns], keys=[k[own] for k in keys], weights=weights[own]))
    assert torch.stack(found).mean().item() == pytest.approx(whole.item(), abs=1e-12)
    assert found[0].item() != pytest.approx(found[1].item(), abs=1e-3)
