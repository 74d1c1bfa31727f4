from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.toy import conversations, write_start, write_table


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("corpus") / "table", conversations(300))


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_start(tmp_path_factory.mktemp("model") / "start")
