"""UMS's tasks on turn vectors: insertion, deletion and search, as positions that a re-ranker's scores must find.

No weights are added: the score of a turn as a reply to what comes before it says how well it fits there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from turnloom.objectives.gathering import share_of
from turnloom.objectives.listwise import list_loss
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.runtime.rerank_network import RerankNetwork
from turnloom.training.conversation_data import ConversationBatch
from turnloom.training.rerank_data import contexts_of, read_dialogues
from turnloom.training.vector_recipe import UtteranceTask

Question = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
"""Changed dialogues (their turns' numbers, -1 for padding), the candidate after each turn, which of them count, the
column of the true one, and the sign of its score."""


def _padded(rows: list[list[int]]) -> Tensor:
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [-1] * (longest - len(row)) for row in rows])


def insertion(turns: list[list[int]], draw: np.random.Generator) -> Question:
    """One turn is taken out: after which turn did it stand?"""
    rows, truth, taken = [], [], []
    for own in turns:
        place = int(draw.integers(1, len(own)))
        rows.append(own[:place] + own[place + 1 :])
        taken.append(own[place])
        truth.append(place - 1)
    changed = _padded(rows)
    candidates = torch.tensor(taken)[:, None].expand_as(changed)
    return changed, candidates, changed >= 0, torch.tensor(truth), torch.tensor(1.0)


def deletion(turns: list[list[int]], draw: np.random.Generator) -> Question:
    """A turn of another dialogue is put in: which one fits worst?"""
    rows, truth = [], []
    for number, own in enumerate(turns):
        other = turns[(number + 1 + int(draw.integers(len(turns) - 1))) % len(turns)]
        place = int(draw.integers(1, len(own) + 1))
        rows.append([*own[:place], other[int(draw.integers(len(other)))], *own[place:]])
        truth.append(place - 1)
    changed = _padded(rows)
    following = torch.cat([changed[:, 1:], torch.full((len(rows), 1), -1)], dim=1)
    return changed, following.clamp(min=0), following >= 0, torch.tensor(truth), torch.tensor(-1.0)


def search(turns: list[list[int]], draw: np.random.Generator) -> Question:
    """All turns but the last are shuffled: which one came before the last?"""
    rows, truth = [], []
    for own in turns:
        order = draw.permutation(len(own) - 1).tolist()
        rows.append([own[place] for place in order])
        truth.append(order.index(len(own) - 2))
    changed = _padded(rows)
    candidates = torch.tensor([own[-1] for own in turns])[:, None].expand_as(changed)
    return changed, candidates, changed >= 0, torch.tensor(truth), torch.tensor(1.0)


QUESTIONS: dict[UtteranceTask, Callable[[list[list[int]], np.random.Generator], Question]] = {
    "insertion": insertion,
    "deletion": deletion,
    "search": search,
}


def utterance_loss(
    network: RerankNetwork,
    conversation: ConversationNetwork,
    batch: ConversationBatch,
    task: UtteranceTask,
    draw: np.random.Generator,
    *,
    bf16: bool = False,
    process: int = 0,
    processes: int = 1,
) -> Tensor:
    """Return the loss of a task: the mean over dialogues of at least three turns, divided among all processes."""
    count = batch.vectors.shape[1]
    lengths = (batch.speakers >= 0).sum(1).tolist()
    turns = [[row * count + place for place in range(length)] for row, length in enumerate(lengths) if length > 2]
    if len(turns) < 2:
        return network.log_scale.sum() * 0
    changed, candidates, usable, truth, sign = QUESTIONS[task](turns, draw)
    own = share_of(len(turns), process, processes)
    changed, candidates, usable, truth = (each[own] for each in (changed, candidates, usable, truth))
    vectors, speakers = batch.vectors.flatten(0, 1), batch.speakers.flatten()
    said = torch.where(changed >= 0, speakers[changed], -1)
    reading = read_dialogues(conversation, vectors[changed.clamp(min=0)], said, bf16=bf16)
    row, last = torch.nonzero(usable, as_tuple=True)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        replies = conversation.joint_reply(vectors[candidates[row, last]]).float()
    context = contexts_of(reading, row, last, network.shape.max_turns)
    found = (reading.queries[row, last] * replies).sum(-1, keepdim=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        scores = network(*context, replies[:, None], found)[:, 0].float()
    table = torch.zeros(usable.shape).index_put((row, last), sign * scores)
    return list_loss(table, usable, truth) / len(turns)
