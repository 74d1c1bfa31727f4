"""The network of the turn-level re-ranker: it corrects the score of a search by comparing a reply with every turn."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, normalize

from turnloom.runtime.reranker import RerankShape

FEATURES = 32
"""The number of learned features of a reply and a turn."""
RECENCY = 8
"""The width of the code for how long ago a turn was said."""
NEARLY = 0.9
"""From this cosine on, a reply counts as a copy of a turn, in proportion to what is left to 1."""
SCALE = 20.0
"""The initial factor on the score of the search."""
HEARD = 5.0
"""The factor on the score of the search as an input of the correction: such scores differ little."""
HIDDEN = -1e4


class _Attention(nn.Module):
    """Replies attend to turns: by content, and by features of each pair."""

    def __init__(self, shape: RerankShape, dropout: float) -> None:
        super().__init__()
        size = shape.size
        self.heads, self.dropout = shape.heads, dropout
        self.before_attention, self.before_mixing = nn.LayerNorm(size), nn.LayerNorm(size)
        self.ask, self.read, self.write = nn.Linear(size, size), nn.Linear(size, 2 * size), nn.Linear(size, size)
        self.by_features = nn.Linear(FEATURES, shape.heads)
        self.widen, self.narrow = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)

    def forward(self, replies: Tensor, turns: Tensor, features: Tensor, said: Tensor) -> Tensor:
        rows, count, size = replies.shape
        each = size // self.heads
        key, value = self.read(turns).view(rows, -1, 2, self.heads, each).permute(2, 0, 3, 1, 4)
        query = self.ask(self.before_attention(replies)).view(rows, count, self.heads, each).transpose(1, 2)
        scores = query @ key.transpose(2, 3) * each**-0.5 + self.by_features(features).permute(0, 3, 1, 2)
        attention = scores.masked_fill(~said[:, None, None], HIDDEN).softmax(-1).to(value.dtype)
        attended = (attention @ value).transpose(1, 2).reshape(rows, count, size)
        replies = replies + dropout(self.write(attended), self.dropout, self.training)
        mixed = self.narrow(gelu(self.widen(self.before_mixing(replies))))
        return replies + dropout(mixed, self.dropout, self.training)


class RerankNetwork(nn.Module):
    """Score replies to contexts: the score of the search, plus a learned correction that starts at zero.

    Args:
        shape: The size of the network.
        dropout: Dropout in training.
    """

    def __init__(self, shape: RerankShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape, size = shape, shape.size
        self.enter_reply, self.enter_turn = nn.Linear(2 * shape.width, size), nn.Linear(2 * shape.width, size)
        self.recency = nn.Parameter(0.1 * torch.randn(shape.max_turns, RECENCY))
        self.compare_in, self.compare_out = nn.Linear(5 + RECENCY, FEATURES), nn.Linear(FEATURES, FEATURES)
        self.layers = nn.ModuleList(_Attention(shape, dropout) for _ in range(shape.layers))
        self.norm, self.pool = nn.LayerNorm(size), nn.Linear(2 * FEATURES, size)
        # Without a bias: the same number added to all scores changes no order.
        self.leave_in, self.leave_out = nn.Linear(3 * size + 1, size), nn.Linear(size, 1, bias=False)
        nn.init.zeros_(self.leave_out.weight)
        self.log_scale = nn.Parameter(torch.tensor(math.log(SCALE)))

    def forward(self, turns: Tensor, calls: Tensor, speakers: Tensor, replies: Tensor, search: Tensor) -> Tensor:
        """Return the scores of replies, of shape (contexts, replies).

        Args:
            turns: The turns' vectors by meaning, of shape (contexts, turns, width); shorter contexts are padded at
                the start, so that the last turn comes last.
            calls: What each turn calls for, of the same shape.
            speakers: A number for each turn's speaker, -1 for padding.
            replies: The replies as an index stores them, of shape (contexts, replies, 2 * width).
            search: The scores of the search, of shape (contexts, replies).
        """
        width, said = self.shape.width, speakers >= 0
        turns = normalize(turns, dim=-1)
        alike = replies[..., width:] @ turns.transpose(1, 2)
        features = self._features(alike, replies[..., :width] @ calls.transpose(1, 2), speakers)
        read = self.enter_turn(torch.cat([turns, calls], dim=-1) * width**0.5)
        states = entered = self.enter_reply(replies * width**0.5)
        for layer in self.layers:
            states = layer(states, read, features, said)
        visible = said[:, None, :, None]
        most = features.masked_fill(~visible, HIDDEN).amax(2)
        mean = (features * visible).sum(2) / visible.sum(2)
        last = entered * normalize(read[:, -1:], dim=-1)
        joined = torch.cat([self.norm(states), self.pool(torch.cat([most, mean], dim=-1)), last], dim=-1)
        correction = self.leave_out(gelu(self.leave_in(torch.cat([joined, HEARD * search[..., None]], dim=-1))))
        scores: Tensor = self.log_scale.exp() * search + correction[..., 0].float()
        return scores

    def _features(self, alike: Tensor, answers: Tensor, speakers: Tensor) -> Tensor:
        """Compare each reply with each turn: does it mean the same, answer or repeat it; who said it, and when?"""
        count = alike.shape[2]
        ago = torch.arange(count - 1, -1, -1, device=alike.device)
        same = (speakers == speakers[:, -1:]).to(alike.dtype)[:, None, :, None].expand(*alike.shape, 1)
        # Slopes, not steps: an export's vectors differ in the last digits.
        shared = [alike, answers, ((alike - NEARLY) / (1 - NEARLY)).relu(), 4 * (alike - 0.5).relu() ** 2]
        recency = self.recency[ago].expand(*alike.shape, RECENCY)
        pairs = torch.cat([*(each[..., None] for each in shared), recency, same], dim=-1)
        features: Tensor = self.compare_out(gelu(self.compare_in(pairs)))
        return features
