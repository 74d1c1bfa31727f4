from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.service.toy import HeadedEncoder, served, settings, with_intents, with_replies


@pytest.fixture(autouse=True, scope="session")
def _no_regular_checks() -> Iterator[None]:
    """The service asks itself regularly; tests count what the model is asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("turnloom.service.app.CHECK_SECONDS", 3_600)
        yield


@pytest.fixture(scope="module")
def encoder() -> HeadedEncoder:
    return HeadedEncoder()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, encoder: HeadedEncoder) -> Iterator[TestClient]:
    """A service with everything and no keys."""
    folder: Path = tmp_path_factory.mktemp("service")
    config = settings(folder, **with_intents(folder, encoder), **with_replies(folder, encoder))
    with served(config, encoder) as found:
        yield found
