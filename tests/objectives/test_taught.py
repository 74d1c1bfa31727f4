"""Similarities that teachers see: against a loop over pairs, against a known answer, and learned by a student."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

from tests.objectives.toy import batch, gradient, relative_error, teachers, toy_encoder, write_vectors
from turnloom.errors import TurnloomError
from turnloom.objectives import Taught
from turnloom.objectives.taught import Teachers

ROWS = torch.tensor([4, 0, 29, 7, 7, 12])


def loop(student: torch.Tensor, known: torch.Tensor, temperature: float, squares: float) -> torch.Tensor:
    """The formula, one text after the other."""
    terms, moved = [], []
    for one in range(len(student)):
        others = [other for other in range(len(student)) if other != one]
        now = torch.stack([cosine_similarity(student[one], student[other], dim=0) for other in others])
        then = torch.stack([cosine_similarity(known[one], known[other], dim=0) for other in others])
        target = (then / temperature).softmax(0)
        terms.append((target * (target.log() - (now / temperature).log_softmax(0))).sum())
        moved += list((now - then) ** 2)
    return torch.stack(terms).mean() + squares * torch.stack(moved).mean()


def test_it_is_the_loop_over_pairs() -> None:
    model, texts = toy_encoder(), batch(len(ROWS))[0]
    loss = Taught(model, teachers=teachers(), teacher_weights=[1.0, 2.0], temperature=0.2, squares=0.7)
    known = torch.from_numpy(Teachers(teachers(), [1.0, 2.0]).vectors(ROWS.numpy())).double()
    expected = loop(model(dict(texts))["sentence_embedding"], known, 0.2, 0.7)
    expected.backward()  # type: ignore[no-untyped-call]
    theirs = gradient(loss)
    model.zero_grad()
    ours = loss([texts, texts], ROWS)
    ours.backward()
    assert ours.item() == pytest.approx(expected.item(), abs=1e-6)  # Stored vectors have 32 bits.
    assert relative_error(gradient(loss), theirs) < 1e-6


def test_by_hand() -> None:
    """Three texts, of which the teacher finds the first two alike and the student the last two."""
    loss = Taught(toy_encoder(), teachers=teachers(), temperature=1.0)
    alike, apart = [1.0, 0.0], [0.0, 1.0]
    student, known = torch.tensor([alike, apart, apart]), torch.tensor([alike, alike, apart])
    near, far = exp(1) / (exp(1) + 1), 1 / (exp(1) + 1)
    first = near * log(near / 0.5) + far * log(far / 0.5)  # The student sees no difference.
    second = near * log(near / far) + far * log(far / near)  # It takes the one for the other.
    third = log(0.5 / near) / 2 + log(0.5 / far) / 2
    assert loss.compare(student, known).item() == pytest.approx((first + second + third) / 3, abs=1e-6)


def test_cosines_are_the_mean_of_the_centred_teachers() -> None:
    known = Teachers(teachers(), [3.0, 1.0])
    parts = []
    for table in known.tables:
        unit = table.vectors.astype(np.float64)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        unit -= unit.mean(axis=0)
        parts.append(unit / np.linalg.norm(unit, axis=1, keepdims=True))
    rows = np.array([3, 11, 25])
    expected = 0.75 * parts[0][rows] @ parts[0][rows].T + 0.25 * parts[1][rows] @ parts[1][rows].T
    found = known.vectors(rows)
    assert np.allclose(found @ found.T, expected, atol=1e-5)


def test_a_student_learns_what_the_teachers_see() -> None:
    model, texts, rows = toy_encoder().float(), batch(20, doubles=False)[0], torch.arange(20)
    loss = Taught(model, teachers=teachers(), temperature=0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    before = loss([texts], rows).item()
    for _ in range(60):
        optimizer.zero_grad()
        found = loss([texts], rows)
        found.backward()
        optimizer.step()
    assert found.item() < before / 3


def test_teachers_are_laid_into_the_students_space(tmp_path: Path) -> None:
    """Teachers that see what the student sees, turned and without a mean, lie where the student is."""
    draw = np.random.default_rng(5)
    seen = draw.standard_normal((400, 4))
    seen -= (seen / np.linalg.norm(seen, axis=1, keepdims=True)).mean(axis=0)
    turned = seen @ np.linalg.qr(draw.standard_normal((6, 6)))[0][:4]
    known = Teachers([write_vectors(tmp_path / "teacher", turned)])
    place = known.laid_into(write_vectors(tmp_path / "own", seen))
    assert place.shape == (6, 4)
    found = known.vectors(np.arange(400)) @ place
    cosines = (found * seen).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(seen, axis=1)
    assert cosines.min() > 0.98


def test_coordinates_are_the_distance_to_where_the_teachers_are_laid(tmp_path: Path) -> None:
    draw = np.random.default_rng(6)
    own = write_vectors(tmp_path / "own", draw.standard_normal((30, 8)))
    model, texts = toy_encoder(), batch(len(ROWS))[0]
    with_them = Taught(model, teachers=teachers(), coordinates=2.0, own=own)([texts], ROWS)
    without = Taught(model, teachers=teachers())([texts], ROWS)
    known = Teachers(teachers())
    apart = []
    for row, vector in zip(ROWS.tolist(), model(dict(texts))["sentence_embedding"], strict=True):
        wanted = torch.from_numpy(known.vectors(np.array([row]))[0] @ known.laid_into(own)).double()
        apart.append((vector / vector.norm() - wanted / wanted.norm()).norm() ** 2)
    assert (with_them - without).item() == pytest.approx(2 * torch.stack(apart).mean().item(), abs=1e-6)


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    other = write_vectors(tmp_path / "other", np.ones((30, 4)), np.arange(1, 31, dtype=np.uint64))
    with pytest.raises(TurnloomError, match="holds vectors of other texts"):
        Teachers([teachers()[0], other])
    with pytest.raises(TurnloomError, match="weight above 0"):
        Teachers(teachers(), [1.0])
    with pytest.raises(TurnloomError, match="there is no teacher"):
        Teachers([])
    with pytest.raises(TurnloomError, match="no vector of 'never said'"):
        Teachers(teachers()).rows(["never said"])
    with pytest.raises(TurnloomError, match="before training"):
        Taught(toy_encoder(), teachers=teachers(), coordinates=1.0)
    with pytest.raises(TurnloomError, match="holds vectors of other texts"):
        Teachers(teachers()).laid_into(other)
    with pytest.raises(TurnloomError, match="12 dimensions, the model has 13"):
        Teachers(teachers()).laid_into(write_vectors(tmp_path / "wide", np.ones((30, 13))))
    with pytest.raises(TurnloomError, match="row in the teachers"):
        Taught(toy_encoder(), teachers=teachers())([batch(4)[0]])
