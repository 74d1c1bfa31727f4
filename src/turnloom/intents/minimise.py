"""L-BFGS in single precision, for the head: SciPy's keeps bounds and doubles, which took half of `fit`'s time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["minimise"]

Matrix = npt.NDArray[np.float32]
Loss = Callable[[Matrix], tuple[float, Matrix]]
MEMORY = 6
SUFFICIENT = 1e-4
"""Part of what the slope promises that a step has to gain (Armijo)."""
TRIALS = 30


def minimise(loss: Loss, start: Matrix, *, steps: int, enough: float) -> Matrix:
    """Where a smooth convex function is about least (Nocedal and Wright, algorithm 7.5).

    Args:
        loss: Gives a value and its gradient.
        start: Where to begin.
        steps: At most so many.
        enough: Stop when a step gains less than this part of the value.
    """
    place, (value, gradient) = start, loss(start)
    memory: deque[tuple[Matrix, Matrix]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        direction = -_newton_like(gradient, memory)
        slope = _dot(gradient, direction)
        if not slope < 0:
            break
        found = _step(loss, place, value, direction, slope, widen=not memory)
        if found is None:
            break
        new, new_value, new_gradient = found
        moved, turned = new - place, new_gradient - gradient
        if _dot(moved, turned) > 0:
            memory.append((moved, turned))
        gained = value - new_value
        place, value, gradient = new, new_value, new_gradient
        if gained < enough * max(abs(value), 1.0):
            break
    return place


def _newton_like(gradient: Matrix, memory: deque[tuple[Matrix, Matrix]]) -> Matrix:
    """The gradient times what is known of the inverse Hessian; of length one when nothing is."""
    if not memory:
        return np.asarray(gradient / max(np.sqrt(_dot(gradient, gradient)), 1e-12), np.float32)
    found: Matrix = gradient.copy()
    parts: list[float] = []
    for moved, turned in reversed(memory):
        part = _dot(moved, found) / _dot(moved, turned)
        parts.append(part)
        found -= np.float32(part) * turned
    moved, turned = memory[-1]
    found *= np.float32(_dot(moved, turned) / _dot(turned, turned))
    for (moved, turned), part in zip(memory, reversed(parts), strict=True):
        found += np.float32(part - _dot(turned, found) / _dot(moved, turned)) * moved
    return found


def _step(
    loss: Loss, place: Matrix, value: float, direction: Matrix, slope: float, *, widen: bool
) -> tuple[Matrix, float, Matrix] | None:
    """A step along a direction that gains enough; None if there is none.

    Where nothing is known of the curvature, a step that gains is doubled as long as that gains more.
    """
    size, best = 1.0, None
    for _ in range(TRIALS):
        new = place + np.float32(size) * direction
        new_value, gradient = loss(new)
        if new_value <= value + SUFFICIENT * size * slope:
            if best is not None and new_value >= best[1]:
                return best
            best = new, new_value, gradient
            if not widen:
                return best
            size *= 2
        elif best is not None:
            return best
        else:
            size, widen = size / 2, False
    return best


def _dot(one: Matrix, other: Matrix) -> float:
    return float(np.vdot(one, other))
