"""Draw lists of replies for a re-ranker: the true reply, others, mined ones, and turns of the same dialogue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from turnloom.objectives.gathering import share_of
from turnloom.runtime.conversation_network import ConversationNetwork, join
from turnloom.training.conversation_data import ConversationBatch
from turnloom.training.vector_recipe import RerankData


@dataclass(frozen=True)
class Reading:
    """Dialogues as the conversation encoder reads them; every turn is also a possible reply.

    Attributes:
        vectors: The turns' vectors, of shape (dialogues, turns, width).
        speakers: A number for each turn's speaker, -1 for padding.
        calls: What each turn calls for.
        queries: Each turn's query for a reply.
        replies: Each turn as an index stores it.
    """

    vectors: Tensor
    speakers: Tensor
    calls: Tensor
    queries: Tensor
    replies: Tensor


@dataclass(frozen=True)
class ReplyLists:
    """Contexts, each with a list of replies; see `RerankNetwork` for the first five.

    Attributes:
        usable: Whether each reply counts: not if it is padding or has the true reply's text.
    """

    turns: Tensor
    calls: Tensor
    speakers: Tensor
    replies: Tensor
    search: Tensor
    usable: Tensor


def with_noise(vectors: Tensor, noise: tuple[float, float], draw: np.random.Generator) -> Tensor:
    """Return dialogues' vectors, of unit length, with noise added; each dialogue has its own length of noise."""
    lengths = torch.from_numpy(draw.uniform(*noise, len(vectors)).astype(np.float32))
    drawn = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(int(draw.integers(2**62))))
    noisy = normalize(vectors, dim=-1) + lengths[:, None, None] * vectors.shape[-1] ** -0.5 * drawn
    return normalize(noisy, dim=-1)


def read_dialogues(
    network: ConversationNetwork,
    vectors: Tensor,
    speakers: Tensor,
    *,
    bf16: bool = False,
    noisy: Tensor | None = None,
) -> Reading:
    """Let a conversation encoder, which stays as it is, read dialogues.

    Args:
        network: The conversation encoder.
        vectors: The turns' vectors, of shape (dialogues, turns, width).
        speakers: A number for each turn's speaker, -1 for padding.
        bf16: Whether to compute in bfloat16.
        noisy: The same vectors with noise, from which learned fit is computed; what turns mean stays as it is.
    """
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        fit, meaning, share = (each.float() for each in network(vectors, speakers))
        replies = network.joint_reply(vectors.flatten(0, 1)).float()
        if noisy is not None:
            fit = network(noisy, speakers)[0].float()
            replies[:, : network.shape.width] = network.reply(noisy.flatten(0, 1)).float()
    return Reading(vectors, speakers, fit, join(fit, meaning, share), replies.unflatten(0, vectors.shape[:2]))


def contexts_of(reading: Reading, row: Tensor, last: Tensor, most: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the last turns of contexts, padded at the start: their vectors, what they call for, their speakers.

    Args:
        reading: The dialogues.
        row: Each context's dialogue.
        last: Its last turn.
        most: The number of turns to read.
    """
    place = last[:, None] - torch.arange(most - 1, -1, -1)
    there, place, rows = place >= 0, place.clamp(min=0), row[:, None]
    speakers = torch.where(there, reading.speakers[rows, place], -1)
    return reading.vectors[rows, place], reading.calls[rows, place], speakers


def draw_lists(
    reading: Reading,
    batch: ConversationBatch,
    options: RerankData,
    draw: np.random.Generator,
    *,
    most: int,
    process: int = 0,
    processes: int = 1,
) -> ReplyLists:
    """Return one process's contexts of a step, each with its true reply first.

    Args:
        reading: The batch as the conversation encoder reads it.
        batch: All dialogues of the step.
        options: What to draw.
        draw: The step's random numbers, the same in all processes.
        most: The number of turns to read.
        process: This process's number.
        processes: How many there are.
    """
    turns = reading.vectors.shape[1]
    drawn = torch.from_numpy(draw.permutation(len(batch.dialogue))[: options.lists])
    others = torch.from_numpy(draw.integers(0, len(batch.dialogue), (len(drawn), options.others)))
    mined_at = torch.from_numpy(draw.random((len(drawn), options.mined)))
    own_at = torch.from_numpy(draw.random((len(drawn), options.before + options.after)))
    own = share_of(len(drawn), process, processes)
    drawn, others, mined_at, own_at = drawn[own], others[own], mined_at[own], own_at[own]
    row, last = batch.dialogue[drawn], batch.last[drawn]
    number = batch.dialogue * turns + batch.last + 1
    texts = batch.texts.flatten()
    columns = [number[drawn][:, None], number[others]]
    if options.mined:
        columns.append(_mined(reading, batch, number, drawn, mined_at, options.mined_from))
    places, there = _own_turns(reading, row, last, own_at, options.before)
    columns.append(row[:, None] * turns + places)
    chosen = torch.cat(columns, dim=1)
    usable = texts[chosen] != texts[chosen[:, :1]]
    count = chosen.shape[1] - places.shape[1]
    usable[:, :count] &= row[:, None] != chosen[:, :count] // turns
    usable[:, count:] &= there
    usable[:, 0] = True
    replies = reading.replies.flatten(0, 1)[chosen]
    search = (reading.queries[row, last][:, None] * replies).sum(-1)
    return ReplyLists(*contexts_of(reading, row, last, most), replies, search, usable)


def _mined(
    reading: Reading,
    batch: ConversationBatch,
    number: Tensor,
    drawn: Tensor,
    at: Tensor,
    mined_from: int,
) -> Tensor:
    """Return replies of other dialogues that the search ranks high, drawn from the best few."""
    row, last = batch.dialogue[drawn], batch.last[drawn]
    scores = reading.queries[row, last] @ reading.replies.flatten(0, 1)[number].T
    text = batch.text
    scores = scores.masked_fill((row[:, None] == batch.dialogue) | (text[drawn][:, None] == text), -torch.inf)
    best = min(len(number), mined_from)
    ranked = scores.topk(best, dim=1).indices
    return number[ranked.gather(1, (at * best).long())]


def _own_turns(reading: Reading, row: Tensor, last: Tensor, at: Tensor, before: int) -> tuple[Tensor, Tensor]:
    """Return turns of the same dialogue, before and after the true reply, and whether each is there."""
    length = (reading.speakers[row] >= 0).sum(1)
    earlier = at[:, :before] * (last + 1)[:, None]
    later = (last + 2)[:, None] + at[:, before:] * (length - last - 2).clamp(min=0)[:, None]
    place = torch.cat([earlier, later], dim=1).long()
    there = place < length[:, None]
    return place.clamp(max=reading.vectors.shape[1] - 1), there
