"""The network of the conversation encoder: a small transformer over the vectors of a conversation's turns."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, normalize

from turnloom.runtime.conversation import ConversationShape

MATCH = 64
"""The width of the keys that weight turns in the pooled meaning."""
DECAY = 0.6
"""Initially, each turn has this share of the next turn's weight in the pooled meaning."""
LAST_TURN = 0.4
"""The share of the last turn in the meaning of a conversation, beside what attention and recency give it: in long talk
about one topic, only the last turn tells what comes next. Chosen on validation splits (`studies/conversation`)."""
LARGEST_SHARE = 0.6
"""The share of similarity of meaning in a score for a conversation unlike all that was learned from."""
STEEPNESS, MIDDLE = 11.0, 0.88
"""How the share rises with strangeness, and where it is half: strangeness is 1 for the mean of what was learned from.
These three numbers were chosen on validation splits (`studies/conversation`)."""
SCALE = 25.0
"""The initial factor on similarities in training."""
HIDDEN = -1e4


def join(fit: Tensor, meaning: Tensor, share: Tensor) -> Tensor:
    """Join both halves of a query into one unit vector, in which the meaning has this share."""
    return normalize(torch.cat([(1 - share)[..., None] * fit, share[..., None] * meaning], dim=-1), dim=-1)


class _Layer(nn.Module):
    """Attention to earlier turns: by content, by how long ago each was said, and by whether its speaker is the same."""

    def __init__(self, shape: ConversationShape, dropout: float) -> None:
        super().__init__()
        size = shape.size
        self.heads, self.dropout = shape.heads, dropout
        self.before_attention, self.before_mixing = nn.LayerNorm(size), nn.LayerNorm(size)
        self.read, self.write = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.widen, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        # Each head starts with a memory twice as long as the previous one.
        slopes = 0.1 * 0.5 ** torch.arange(shape.heads, dtype=torch.float32)
        self.recency = nn.Parameter(-slopes[:, None] * torch.arange(shape.max_turns, dtype=torch.float32))
        self.same_speaker = nn.Parameter(torch.zeros(shape.heads))

    def forward(self, states: Tensor, visible: Tensor, same: Tensor, ago: Tensor) -> Tensor:
        rows, turns, size = states.shape
        read = self.read(self.before_attention(states)).view(rows, turns, 3, self.heads, size // self.heads)
        query, key, value = read.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) * (size // self.heads) ** -0.5
        scores = scores + self.recency[:, ago] + self.same_speaker[:, None, None] * same[:, None]
        attention = scores.masked_fill(~visible[:, None], HIDDEN).softmax(-1).to(value.dtype)
        attended = (attention @ value).transpose(1, 2).reshape(rows, turns, size)
        states = states + dropout(self.write(attended), self.dropout, self.training)
        mixed = self.narrow(gelu(self.widen(self.before_mixing(states))))
        return states + dropout(mixed, self.dropout, self.training)


class ConversationNetwork(nn.Module):
    """Predict from turn vectors what each turn calls for, considering all turns before it.

    It starts as the identity on the encoder's own heads: before training, the query is the context head's vector of the
    last turn, and a reply is the reply head's vector.

    Args:
        shape: The size of the network.
        query_head: The encoder's context head, which stays frozen; None to read the vectors directly.
        reply_head: The encoder's reply head.
        dropout: Dropout in training.
    """

    def __init__(
        self,
        shape: ConversationShape,
        query_head: nn.Module | None = None,
        reply_head: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        reads = shape.width * (2 if shape.uses_heads else 1)
        self.query_head, self.reply_head = query_head, reply_head
        for head in (query_head, reply_head):
            if head is not None:
                head.requires_grad_(False)
        self.enter = nn.Linear(reads, shape.size)
        self.layers = nn.ModuleList(_Layer(shape, dropout) for _ in range(shape.layers))
        self.norm, self.leave = nn.LayerNorm(shape.size), nn.Linear(shape.size, shape.width)
        self.reply_in = nn.Linear(reads, shape.reply_size)
        self.reply_out = nn.Linear(shape.reply_size, shape.width)
        self.ask = nn.Linear(shape.size, MATCH, bias=False)
        self.answer = nn.Linear(shape.size, MATCH, bias=False)
        decay = math.log(DECAY) * torch.arange(shape.max_turns, dtype=torch.float32)
        self.recency = nn.Parameter(decay)
        for identity in (self.leave, self.reply_out):
            nn.init.zeros_(identity.weight)
            nn.init.zeros_(identity.bias)
        nn.init.zeros_(self.ask.weight)
        # Set after training, by `training.conversation_loss.measure_familiarity`.
        self.familiar = nn.Parameter(torch.zeros(shape.size), requires_grad=False)
        self.whitening = nn.Parameter(torch.zeros(shape.size, shape.size), requires_grad=False)
        self.log_scale = nn.Parameter(torch.tensor(math.log(SCALE)))

    def set_dropout(self, dropout: float) -> None:
        """Set the dropout to continue training: a saved network has none."""
        self.dropout = dropout
        for layer in self.layers:
            layer.dropout = dropout  # type: ignore[assignment]

    def forward(self, vectors: Tensor, speakers: Tensor, window: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Return what each turn calls for, the meaning of the conversation so far, and the meaning's share of a score.

        The first two are unit vectors of shape (conversations, turns, width), the third is between 0 and 1.

        Args:
            vectors: The turns' vectors, of shape (conversations, turns, width).
            speakers: A number for each turn's speaker, -1 for padding.
            window: How many turns each turn sees, itself included; None for all before it.
        """
        base, states, visible, ago = self.contextualise(vectors, speakers, window)
        weights = self.ask(states) @ self.answer(states).transpose(1, 2) * MATCH**-0.5 + self.recency[ago]
        weights = weights.masked_fill(~visible, HIDDEN).float().softmax(-1)
        unit = normalize(vectors, dim=-1)
        meaning = normalize((1 - LAST_TURN) * normalize(weights @ unit, dim=-1) + LAST_TURN * unit, dim=-1)
        return normalize(base + self.leave(states).float(), dim=-1), meaning, self._share(states.float(), visible)

    def contextualise(
        self, vectors: Tensor, speakers: Tensor, window: int | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the vectors to add to, each turn's state, which turns it sees, and how long ago they were said."""
        place = torch.arange(vectors.shape[1], device=vectors.device)
        ago = place[:, None] - place
        seen = (ago >= 0) & (ago < (window or self.shape.max_turns))
        ago = ago.clamp(0, self.shape.max_turns - 1)
        visible = seen & (speakers >= 0)[:, None, :]
        visible = visible | (place == place[:, None])  # Padding sees itself: a softmax over nothing is NaN.
        same = (speakers[:, :, None] == speakers[:, None, :]).to(vectors.dtype)
        base, states = self._read(normalize(vectors, dim=-1), self.query_head)
        states = self.enter(states)
        for layer in self.layers:
            states = layer(states, visible, same, ago)
        return base, self.norm(states), visible, ago

    def _share(self, states: Tensor, visible: Tensor) -> Tensor:
        """Return meaning's share of a score: it rises with the mean Mahalanobis distance of the turns so far.

        One turn's distance is noisy; the mean over a conversation tells familiar conversations from others well.
        """
        strange = ((states - self.familiar) @ self.whitening).square().mean(-1)
        mean = (visible * strange[:, None, :]).sum(-1) / visible.sum(-1)
        return LARGEST_SHARE * (STEEPNESS * (mean - MIDDLE)).sigmoid()

    def reply(self, vectors: Tensor) -> Tensor:
        """Return what replies answer, as unit vectors, from their own vectors of shape (replies, width)."""
        base, states = self._read(normalize(vectors, dim=-1), self.reply_head)
        states = dropout(gelu(self.reply_in(states)), self.dropout, self.training)
        return normalize(base + self.reply_out(states).float(), dim=-1)

    def _read(self, vectors: Tensor, head: nn.Module | None) -> tuple[Tensor, Tensor]:
        """Return the vectors to add to, and the input: rescaled to about one, as a unit vector's numbers are small."""
        base, reads = vectors, vectors
        if head is not None:
            with torch.no_grad():
                base = normalize(head(vectors).float(), dim=-1)
            reads = torch.cat([vectors, base], dim=-1)
        return base, reads * self.shape.width**0.5

    def read(self, vectors: Tensor, speakers: Tensor) -> tuple[Tensor, Tensor]:
        """Return each turn's query for a reply, and its vector in context.

        The dot product of a query and `joint_reply` is the whole score: learned fit and similarity of meaning.
        """
        fit, meaning, share = self(vectors, speakers)
        return join(fit, meaning, share), torch.cat([fit, meaning], dim=-1)

    def joint_reply(self, vectors: Tensor) -> Tensor:
        """Return replies as an index stores them: what they answer, and what they mean."""
        return torch.cat([self.reply(vectors), normalize(vectors, dim=-1)], dim=-1)
