"""The recipe of a conversation encoder: training on vectors that were made once."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.training.objective_options import Options


class ConversationModel(Options):
    """The model whose vectors are read, and the network over them.

    Attributes:
        start: The folder of the encoder that made the vectors; the trained model is a copy of it with more in it.
        adapt: Whether to go on from the conversation encoder that this folder has.
        size: Of the network's states.
        layers: How many there are.
        heads: Of its attention.
        reply_size: Of the hidden layer on the reply side.
        max_turns: So many of the last turns are read.
        dropout: In training.
    """

    start: str | None = None
    adapt: bool = False
    size: int = Field(256, ge=8)
    layers: int = Field(2, ge=1)
    heads: int = Field(4, ge=1)
    reply_size: int = Field(384, ge=8)
    max_turns: int = Field(64, ge=2)
    dropout: float = Field(0.1, ge=0, lt=1)


class ConversationData(Options):
    """How dialogues are drawn and cut.

    Attributes:
        dialogues: So many per step, all of one source: the replies of all others are negatives.
        max_turns: Longer dialogues are cut to a part of so many turns.
        short: How often a part that is cut has fewer turns, any number from two on.
        source_power: A source's share of the steps is its number of turns to this power: 1 proportional, 0 all equal.
        windows: Contexts have at most so many turns, in each step another of these numbers, as in WMDC; all
            turns if not given.
        unlike: Sources that are not trained on: the gate learns from them, and from dialogues held out of training, how
            much of a score similarity of meaning has to be for conversations of another kind.
    """

    dialogues: int = Field(64, ge=2)
    max_turns: int = Field(24, ge=2)
    short: float = Field(0.3, ge=0, le=1)
    source_power: float = Field(0.5, ge=0, le=1)
    windows: list[int] | None = None
    unlike: list[str] = Field(default_factory=list)


class ConversationRecipe(Options):
    """All that decides how a conversation encoder is trained.

    Attributes:
        name: Of the method.
        model: The encoder below, and the network.
        data: The batches.
        inverse_frequency: Whether pairs of frequent replies count less, as in WMDC.
        steps: How many there are, unless the command gives minutes.
        rate: Learning rate at its highest.
        weight_decay: Of AdamW.
        adapt: Settings that change when a trained conversation encoder goes on with other conversations (`--adapt`).
        seed: Of everything random.
        bf16: Whether to compute in bfloat16; `auto` for where the machine is fast at it.
        save_every: Steps between two checkpoints.
    """

    name: str
    trains: Literal["conversation"]
    model: ConversationModel = ConversationModel()
    data: ConversationData = ConversationData()
    inverse_frequency: bool = False
    steps: int = Field(12_000, ge=1)
    rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.01, ge=0)
    adapt: dict[str, str | int | float | bool] = Field(default_factory=dict)
    seed: int = 0
    bf16: bool | Literal["auto"] = "auto"
    save_every: int = Field(500, ge=1)

    @property
    def computes_in_bf16(self) -> bool:
        """Whether this machine will train in bfloat16."""
        return computes_bf16_fast() if self.bf16 == "auto" else self.bf16
