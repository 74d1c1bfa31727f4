"""One gradient, however the batch is spread over processes, mini-batches and rows of similarities."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from tests.objectives.processes import (
    ROWS,
    Errors,
    Truth,
    cached_errors,
    drift,
    on_processes,
    own_rows,
    parallel_errors,
    whole_gradient,
)
from tests.objectives.toy import OBJECTIVES, batch, frequencies, gradient, make, relative_error, take, toy_encoder
from turnloom.objectives import MatchingGuided, NTXent, Siamese
from turnloom.objectives.gathering import from_first_process

pytestmark = pytest.mark.xdist_group("gradients")  # One process starts the others, once.

LARGEST = 1e-6


def _wrongly_gathered(column: Tensor, live: bool) -> Tensor:
    """All rows, with a gradient for the own ones at best: the loss is right, the gradient is not."""
    parts = [torch.empty_like(column) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, column.detach().contiguous())
    if live:
        parts[dist.get_rank()] = column
    return torch.cat(parts)


def _wrong_cosine(live: bool, true: Tensor) -> float:
    """Contexts against replies, the replies gathered in a wrong way, gradients averaged over processes."""
    columns, _ = take(batch(ROWS, doubles=False), frequencies(ROWS), own_rows(even=True))
    model = toy_encoder()
    contexts, replies = (torch.nn.functional.normalize(model(column)["sentence_embedding"]) for column in columns)
    scores = contexts @ _wrongly_gathered(replies, live).T
    targets = torch.arange(len(scores)) + dist.get_rank() * len(scores)
    torch.nn.functional.cross_entropy(scores, targets).backward()
    found = gradient(model)
    dist.all_reduce(found)
    return float(torch.nn.functional.cosine_similarity(found, true, dim=0))


def _all_checks(truth: Truth) -> Errors:
    found = parallel_errors(truth)
    if dist.get_world_size() == 2:
        siamese, matching = Siamese(toy_encoder()), MatchingGuided(toy_encoder(), aggregation="attention")
        assert matching.attention is not None
        found["drift/siamese"] = drift(siamese, siamese.matching, batch(ROWS))
        found["drift/attention"] = drift(matching, matching.attention, batch(ROWS, 3))
        found["drift/clock"] = from_first_process(float(dist.get_rank()), torch.device("cpu"))
        model = toy_encoder()
        NTXent(model, form="forward", temperature=1, gather=False)(batch(ROWS, doubles=False)).backward()
        found["wrong/live"] = _wrong_cosine(live=True, true=gradient(model))
        found["wrong/detached"] = _wrong_cosine(live=False, true=gradient(model))
    return found


@pytest.fixture(scope="module")
def spread() -> Errors:
    return on_processes(_all_checks)


def test_processes_have_the_gradient_of_the_whole_batch(spread: Errors) -> None:
    errors = {name: error for name, error in spread.items() if "wrong" not in name and "drift" not in name}
    assert {name for name, error in errors.items() if not error <= LARGEST} == set()
    assert len(errors) == len(OBJECTIVES) * (2 * (2 + 3) + 3 * 2)


def test_heads_of_losses_that_do_not_gather_and_clocks_stay_the_same(spread: Errors) -> None:
    drifts = {name: error for name, error in spread.items() if "drift" in name}
    assert len(drifts) == 6
    assert max(drifts.values()) <= LARGEST


def test_this_test_would_notice_wrong_gathering(spread: Errors) -> None:
    cosines = [value for name, value in spread.items() if "wrong" in name]
    assert len(cosines) == 4
    assert all(cosine < 0.9 for cosine in cosines)


def test_mini_batches_have_the_gradient_of_the_whole_batch() -> None:
    assert {name for name, error in cached_errors().items() if not error <= LARGEST} == set()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_dropout_is_the_same_in_both_passes(name: str) -> None:
    """The loss of the first pass, differentiated numerically along its gradient, with the same random numbers."""
    model = toy_encoder(dropout=0.5).train()
    loss = make(name, model, mini_batch_size=3)
    columns, labels = batch(8), frequencies(8)

    def value() -> Tensor:
        torch.manual_seed(5)
        return loss(columns, labels)  # type: ignore[no-any-return]

    value().backward()
    direction = [parameter.grad for parameter in model.parameters()]
    slope = sum(float((step * step).sum()) for step in direction if step is not None)
    ends = []
    for sign in (1, -1):
        with torch.no_grad():
            for parameter, step in zip(model.parameters(), direction, strict=True):
                parameter += 1e-6 * sign * step
            ends.append(value().item())
            for parameter, step in zip(model.parameters(), direction, strict=True):
                parameter -= 1e-6 * sign * step
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(slope, rel=1e-5)


def test_accumulated_and_scaled() -> None:
    """Two batches, each divided by two and scaled, as a trainer with gradient accumulation does it."""
    true = whole_gradient("outside")
    loss = make("outside", toy_encoder(), mini_batch_size=4)
    for _ in range(2):
        (loss(batch(ROWS, 3), frequencies(ROWS)) / 2 * 1024).backward()
    assert relative_error(gradient(loss) / 1024, true) <= LARGEST


def test_low_precision_sums_mini_batches_in_full_precision() -> None:
    """Under autocast a sum over mini-batches in 16 bits would lose the small ones."""
    columns = batch(64)
    exact = make("simclr", toy_encoder().float())
    exact(columns).backward()
    errors = []
    for size in (1, 64):
        loss = make("simclr", toy_encoder().float(), mini_batch_size=size)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            value = loss(columns)
        value.backward()
        errors.append(relative_error(gradient(loss), gradient(exact)))
    assert errors[0] <= 1.2 * errors[1]


def test_without_gradient_nothing_is_kept() -> None:
    with torch.no_grad():
        cached = make("outside", toy_encoder(), mini_batch_size=3)(batch(8, 3))
    assert not cached.requires_grad
    assert cached.item() == pytest.approx(make("outside", toy_encoder())(batch(8, 3)).item(), abs=1e-12)
