"""The head's minimiser against SciPy's, on functions whose least value is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from turnloom.intents.minimise import minimise

Matrix = npt.NDArray[np.float32]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_bowl_of_any_size(scale: float) -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(20, 20)).astype(np.float32)
    bowl, bottom = root @ root.T + np.eye(20, dtype=np.float32), rng.normal(size=(20, 3)).astype(np.float32)

    def loss(place: Matrix) -> tuple[float, Matrix]:
        away = place - bottom
        return scale * float((away * (bowl @ away)).sum()) / 2, np.float32(scale) * (bowl @ away)

    found = minimise(loss, np.zeros((20, 3), np.float32), steps=500, enough=0.0)
    assert np.abs(found - bottom).max() < 1e-2


def test_a_logistic_regression_as_scipy_has_it() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(300, 12)).astype(np.float32)
    truth = np.eye(5, dtype=np.float32)[(features @ rng.normal(size=(12, 5)) + rng.normal(size=(300, 5))).argmax(1)]

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        logits = features @ weights
        raised = np.exp(logits - logits.max(1, keepdims=True))
        chance = raised / raised.sum(1, keepdims=True)
        value = -np.log(chance[truth > 0]).sum() + (weights**2).sum()
        return float(value), np.asarray(features.T @ (chance - truth) + 2 * weights, np.float32)

    def flat(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        value, gradient = loss(weights.reshape(12, 5).astype(np.float32))
        return value, gradient.ravel().astype(np.float64)

    least = minimize(flat, np.zeros(60), jac=True, method="L-BFGS-B")
    calls = [0]

    def counted(weights: Matrix) -> tuple[float, Matrix]:
        calls[0] += 1
        return loss(weights)

    found = minimise(counted, np.zeros((12, 5), np.float32), steps=200, enough=1e-7)
    assert loss(found)[0] == pytest.approx(least.fun, rel=1e-5)
    assert calls[0] < 60
    # Where it is least already, it stays.
    assert np.allclose(minimise(loss, found, steps=5, enough=1e-3), found, atol=1e-3)
