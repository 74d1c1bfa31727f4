"""Taught: the student takes over the similarities that larger models see, from vectors that were made once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, all_cosines, sentence_vectors
from turnloom.objectives.gathering import own_offset, world_size
from turnloom.objectives.loss import Loss, Temperature, Weight
from turnloom.vectors import VectorTable

SAMPLE = 20_000
"""The number of vectors that a teacher's mean is taken from."""
FITTED_BY = 50_000
"""The number of texts by which the teachers' vectors are laid into the student's space."""


class Teachers:
    """Vector tables of the same texts by several models, read side by side.

    Each teacher's vectors are centred by their own mean: otherwise a model whose cosines all lie close together, as
    gte-small's do, would have no say.

    Args:
        folders: The vector tables, each made by one teacher from the same dialogue tables.
        weights: How much each teacher counts; by default, all the same.

    Raises:
        TurnloomError: If there is no table, the tables hold different texts, or the weights do not fit.
    """

    def __init__(self, folders: Sequence[str | Path], weights: Sequence[float] | None = None) -> None:
        self.tables = [VectorTable(folder) for folder in folders]
        self._weights = [1.0] * len(self.tables) if weights is None else list(weights)
        if not self.tables:
            raise TurnloomError(
                "there is no teacher", "--set 'stages.0.objective.teachers=[VECTORS]' names its vectors"
            )
        if len(self._weights) != len(self.tables) or min(self._weights) <= 0:
            raise TurnloomError("each teacher needs a weight above 0", "give as many weights as teachers, or none")
        first, *others = self.tables
        for other in others:
            if not np.array_equal(first.keys, other.keys):
                raise TurnloomError(
                    f"{other.folder} holds vectors of other texts than {first.folder}",
                    "make both with 'turnloom vectors' from the same tables",
                )
        sample = _sample(len(first), SAMPLE)
        self._means = [_unit(table.vectors[sample]).mean(axis=0) for table in self.tables]

    def rows(self, texts: Sequence[str]) -> list[int]:
        """Return the row of each text.

        Raises:
            TurnloomError: If the teachers have no vector of a text.
        """
        rows = self.tables[0].rows(texts)
        if (missing := np.flatnonzero(rows < 0)).size:
            raise TurnloomError(
                f"the teachers have no vector of {texts[missing[0]][:60]!r}",
                "make their vectors from the tables that you train on, with: turnloom vectors TABLE --model TEACHER",
            )
        return rows.tolist()  # type: ignore[no-any-return]

    def vectors(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return unit vectors of all teachers side by side: their dot products are the weighted mean of the cosines."""
        total = sum(self._weights)
        parts = [
            (weight / total) ** 0.5 * _unit(_unit(table.vectors[rows]) - mean)
            for table, mean, weight in zip(self.tables, self._means, self._weights, strict=True)
        ]
        return np.concatenate(parts, axis=1)

    def laid_into(self, own: str | Path) -> npt.NDArray[np.float32]:
        """Return a matrix that takes vectors of all teachers into the space of another model's vectors of the texts.

        It keeps the directions in which the teachers' vectors vary most, as many as the other model has, and turns them
        as close as possible to its vectors (orthogonal Procrustes): cosines stay, and the model has little to move.

        Raises:
            TurnloomError: If the other table holds different texts, or has a greater width than the teachers together.
        """
        table = VectorTable(own)
        if not np.array_equal(table.keys, self.tables[0].keys):
            raise TurnloomError(
                f"{table.folder} holds vectors of other texts than {self.tables[0].folder}",
                "make both with 'turnloom vectors' from the same tables",
            )
        rows = _sample(len(table), FITTED_BY)
        known, student = self.vectors(rows), _unit(table.vectors[rows])
        if known.shape[1] < student.shape[1]:
            raise TurnloomError(
                f"the teachers have {known.shape[1]} dimensions, the model has {student.shape[1]}",
                "add a teacher, or set stages.0.objective.coordinates=0",
            )
        _, directions = np.linalg.eigh(known.T @ known)
        kept = directions[:, ::-1][:, : student.shape[1]]
        left, _, right = np.linalg.svd(_unit(known @ kept).T @ student)
        return np.ascontiguousarray(kept @ (left @ right), np.float32)


def _sample(count: int, most: int) -> npt.NDArray[np.int64]:
    """Return some rows, in the order in which a memory-mapped file is read."""
    return np.sort(np.random.default_rng(0).permutation(count)[:most])


def _unit(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    vectors = np.asarray(vectors, np.float32)
    unit: npt.NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


class Taught(Loss):
    """Learn the similarities between texts that larger models see (relational distillation; Park et al. 2019).

    Formula:
        With the student's cosines `s_ij` and the teachers' mean cosines `t_ij` between the texts of a batch,
        `mean_i KL(softmax_j(t_ij / tau) || softmax_j(s_ij / tau)) + squares * mean_ij (s_ij - t_ij)^2 +
        coordinates * mean_i |s_i - t_i|^2`, the first two over `j != i`. The first term is about each text's nearest
        texts, the second about all. The third compares the vectors themselves, the teachers' laid into the student's
        space (see `Teachers.laid_into`), so that each text says much, however few others are in its batch.

    Inputs:
        One column of texts; others are ignored, so that the view `dropout` fits. Labels: each text's row in the
        teachers' vector tables, which training adds.

    When to use:
        To bring a small model close to one that is too slow to serve, or to several side by side, without labels. The
        teachers' width does not matter, and they are never loaded: their vectors were made once.

    Where it differs:
        Park et al. match distances within a batch. Neighbours matter more for intents and search, hence the divergence
        at a low temperature, as in SEED (Fang et al. 2021), but over the batch instead of a queue.

    Args:
        model: The SentenceTransformer to train.
        teachers: Vector tables of the same texts, one per teacher, made by `turnloom vectors`.
        teacher_weights: How much each teacher counts; by default, all the same.
        temperature: Divides the cosines of both sides.
        squares: The weight of the second term.
        coordinates: The weight of the third term.
        own: A vector table of the same texts by the student before training; the third term needs it.
    """

    kind = "taught"
    labels_are_rows = True
    settings = ("teachers", "teacher_weights", "temperature", "squares", "coordinates")

    def __init__(
        self,
        model: Any,
        *,
        teachers: list[str],
        teacher_weights: list[float] | None = None,
        temperature: Temperature = 0.05,
        squares: Weight = 0.0,
        coordinates: Weight = 0.0,
        own: str | None = None,
        mini_batch_size: int | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.teachers, self.teacher_weights = teachers, teacher_weights
        self.temperature, self.squares, self.coordinates = temperature, squares, coordinates
        self.mini_batch_size = mini_batch_size
        self._taught_by = Teachers(teachers, teacher_weights)
        if coordinates and own is None:
            raise TurnloomError(
                "coordinates need vectors of the student before training",
                "name them, made by 'turnloom vectors', with --set stages.0.objective.own=VECTORS",
            )
        self._placed = torch.from_numpy(self._taught_by.laid_into(own)) if coordinates and own else None

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch, as a trainer calls it."""
        if labels is None:
            raise TurnloomError("Taught needs each text's row in the teachers' tables", "add a column 'label'")
        texts = next(iter(sentence_features))
        known = torch.from_numpy(self._taught_by.vectors(labels.cpu().numpy().astype(np.int64))).to(labels.device)
        return self.compare(sentence_vectors(self.model, texts, self.mini_batch_size), known)

    def compare(self, student: Tensor, teachers: Tensor) -> Tensor:
        """Compute the loss from the vectors of both sides; with several processes, their mean is that of the batch."""
        with torch.autocast(student.device.type, enabled=False):
            # In the precision of the student: stored vectors have fewer digits than a test of order wants.
            teachers = teachers.to(torch.promote_types(teachers.dtype, student.dtype))
            now, known = all_cosines(student), all_cosines(teachers)
            rows = torch.arange(len(now), device=now.device)
            if world_size() > 1:
                rows = rows + own_offset(len(now), now.device)
            own = nn.functional.one_hot(rows, now.shape[1]).bool()
            now_log, known_log = (
                (each / self.temperature).masked_fill(own, -torch.inf).log_softmax(1).masked_fill(own, 0)
                for each in (now, known)
            )
            target = known_log.exp().masked_fill(own, 0)
            # Per process, so that the mean over processes is that of all texts, however they are distributed.
            count = now.shape[1] / world_size()
            loss = (target * (known_log - now_log)).sum() / count
            if self.squares:
                moved = (now - known).square().masked_fill(own, 0)
                loss = loss + self.squares * moved.sum() / (count * (now.shape[1] - 1))
            if self._placed is not None:
                wanted = nn.functional.normalize(teachers @ self._placed.to(teachers), dim=1)
                apart = (nn.functional.normalize(student.to(wanted.dtype), dim=1) - wanted).square().sum()
                loss = loss + self.coordinates * apart / count
            return loss
