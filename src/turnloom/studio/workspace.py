"""What the studio shows of its messages and groups, as they are after the latest edit."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from turnloom.discovery.grouping import centred, centres_of
from turnloom.discovery.names import Namer
from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Encoder, Vectors, turn_encoder, unit_rows, wrong_model
from turnloom.studio.actions import LONGEST_NAME
from turnloom.studio.board import DISCARDED, NOWHERE, Board, Numbers
from turnloom.studio.edits import Edits
from turnloom.studio.folder import EDITS, StudioFiles, load_studio
from turnloom.studio.projection import points_shown

LABELS_ON_MAP = 28
SEED = 0


@dataclass(frozen=True)
class TreeRow:
    """A group in the hierarchy.

    Attributes:
        id: Its number.
        name: Its name.
        depth: 0 for the top level.
        count: How often its messages were said.
        leaf: Whether messages are in it directly.
        intent: Whether it is an intent.
    """

    id: int
    name: str
    depth: int
    count: int
    leaf: bool
    intent: bool


@dataclass(frozen=True)
class Centroids:
    """The centres of the open groups of the lowest level, as unit vectors, and which group each is of."""

    groups: Numbers
    vectors: Vectors


class Workspace:
    """A studio's folder, opened: its messages, its groups after the latest edit, and its encoder.

    Args:
        folder: The studio's folder.
        encoder: Its encoder; by default the one that it was made with, loaded when it is needed.

    Raises:
        TurnloomError: If the folder holds no studio, or the encoder is another one.
    """

    def __init__(self, folder: Path, encoder: Encoder | None = None) -> None:
        self.files: StudioFiles = load_studio(folder)
        self.texts = self.files.found.messages.texts
        self.occurrences = self.files.found.messages.occurrences
        self.edits = Edits(folder / EDITS, self.files.found)
        self.unit = centred(self.files.vectors)
        self.shown = points_shown(len(self.texts))
        self._lock = threading.Lock()
        self._encoder = encoder
        self._centroids: tuple[int, Centroids] | None = None

    @cached_property
    def mean(self) -> Vectors:
        """What all messages share."""
        return np.asarray(unit_rows(self.files.vectors).mean(axis=0), np.float32)

    @property
    def full_encoder(self) -> Encoder:
        """The encoder as it was given, with a conversation encoder if it has one."""
        with self._lock:
            if self._encoder is None:
                from turnloom.runtime import load_encoder

                self._encoder = load_encoder(self.files.settings.model)
            encoder, wanted = self._encoder, self.files.settings.fingerprint
            if turn_encoder(encoder).fingerprint != wanted:
                folder = self.files.folder
                raise wrong_model(folder, self.files.settings.model, wanted, encoder, "make the studio again with it")
            return encoder

    def warm_up(self) -> None:
        """Load the encoder before somebody waits for it; whoever needs it is told what is wrong with it."""
        with suppress(TurnloomError):
            self.full_encoder.encode(["hello"])

    @property
    def encoder(self) -> Encoder:
        """The encoder of messages."""
        return turn_encoder(self.full_encoder)

    @property
    def board(self) -> Board:
        """The groups after the latest edit."""
        return self.edits.board

    def counts(self, board: Board) -> dict[int, int]:
        """Return how often the messages of each group of the lowest level were said."""
        inside = board.group >= 0
        found = np.bincount(board.group[inside], self.occurrences[inside], minlength=board.next_group)
        return {leaf: int(found[leaf]) for leaf in board.leaves}

    def tree(self, board: Board) -> list[TreeRow]:
        """Return the groups as they are listed: each above those that it consists of, the largest first."""
        counts = self.counts(board)
        sizes = {group: sum(counts[leaf] for leaf in board.below(group)) for group in board.names}
        children: dict[int | None, list[int]] = {}
        for group in board.names:
            children.setdefault(board.parents[group], []).append(group)
        rows: list[TreeRow] = []

        def add(group: int, depth: int) -> None:
            leaf = group in board.leaves
            rows.append(TreeRow(group, board.names[group], depth, sizes[group], leaf, group in board.intents))
            for child in sorted(children.get(group, []), key=lambda child: (-sizes[child], child)):
                add(child, depth + 1)

        for group in sorted(children.get(None, []), key=lambda group: (-sizes[group], group)):
            add(group, 0)
        return rows

    def centroids(self) -> Centroids:
        """Return the centres of the open groups that have messages."""
        version, board = self.edits.version, self.board
        if self._centroids is None or self._centroids[0] != version:
            groups, number = np.unique(board.group[board.group >= 0], return_inverse=True)
            numbered = np.full(len(board.group), -1, np.int64)
            numbered[board.group >= 0] = number
            self._centroids = version, Centroids(groups, unit_rows(centres_of(self.unit, numbered).means))
        return self._centroids[1]

    def typical(self, board: Board, group: int) -> Numbers:
        """Return the messages of a group, those nearest to its centre first."""
        rows = self.members(board, group)
        if not len(rows):
            return rows
        near = self.unit[rows] @ unit_rows(self.unit[rows].mean(axis=0)[None])[0]
        return np.asarray(rows[np.argsort(-near, kind="stable")], np.int64)

    def boundary(self, board: Board, group: int) -> Numbers:
        """Return the messages of a group, those that are nearest to another group first."""
        rows, known = self.members(board, group), self.centroids()
        inside = np.isin(known.groups, board.below(group))
        if not len(rows) or inside.all() or not inside.any():
            return rows[::-1]
        scores = self.unit[rows] @ known.vectors.T
        margin = scores[:, inside].max(axis=1) - scores[:, ~inside].max(axis=1)
        return np.asarray(rows[np.argsort(margin, kind="stable")], np.int64)

    def members(self, board: Board, group: int) -> Numbers:
        """Return the messages of a group of any level."""
        return np.flatnonzero(np.isin(board.group, board.below(group))) if group in board.names else np.zeros(0, int)

    def outside(self, board: Board) -> Numbers:
        """Return the messages in no group, those that were said most often first."""
        rows = np.flatnonzero((board.group == NOWHERE) | (board.group == DISCARDED))
        return np.asarray(rows[np.argsort(-self.occurrences[rows], kind="stable")], np.int64)

    def search(self, query: str, count: int) -> Numbers:
        """Return the messages whose meaning is nearest to a text."""
        found = unit_rows(self.encoder.encode([query]))[0] - self.mean
        return np.asarray(np.argsort(-(self.unit @ found), kind="stable")[:count], np.int64)

    def halves(self, board: Board, group: int) -> tuple[Numbers, str]:
        """Propose to split a group: return the messages of the smaller half by meaning, and a name for it.

        Raises:
            TurnloomError: If it has too few messages.
        """
        from sklearn.cluster import KMeans

        rows = board.members(board.leaf(group))
        if len(rows) < 4:
            raise TurnloomError("the group is too small to split", "choose messages yourself, or another group")
        side = KMeans(2, n_init=4, random_state=SEED).fit_predict(self.unit[rows])
        smaller = rows[side == int((side == 1).sum() * 2 < len(rows))]
        return smaller, self.name_for(smaller, [row for row in rows.tolist() if row not in set(smaller.tolist())])

    def name_for(self, rows: Numbers, others: list[int]) -> str:
        """Return a name for messages that sets them apart from others."""
        order = rows[np.argsort(-(self.unit[rows] @ self.unit[rows].mean(axis=0)), kind="stable")]
        said = [[self.texts[row] for row in order], [self.texts[row] for row in others] or [""]]
        return Namer().name(said, None, list(self.board.names.values()))[0].name[:LONGEST_NAME]

    def labels_on_map(self, board: Board) -> list[tuple[int, float, float]]:
        """Return the largest groups and where on the map the middle of each is."""
        group, points = board.group[self.shown], self.files.points
        largest = sorted(self.counts(board).items(), key=lambda item: -item[1])[:LABELS_ON_MAP]
        middles = []
        for number, _ in largest:
            inside = points[group == number]
            if len(inside):
                x, y = np.median(inside, axis=0)
                middles.append((number, float(x), float(y)))
        return middles
