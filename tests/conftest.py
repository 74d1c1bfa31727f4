from __future__ import annotations

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# A cluster of Ray may take a while to start beside other tests; it waits for 30 seconds otherwise.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")
# Its workers give way to all other processes by default: to the other tests, for minutes.
os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
settings.register_profile("turnloom", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("turnloom")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first: a long one that begins last would leave the other processes idle."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests to 127.0.0.1 must not leave through a proxy."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")


@pytest.fixture
def bars_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress bars as in a program whose environment does not switch them off."""
    from huggingface_hub.utils import disable_progress_bars
    from transformers.utils import logging

    monkeypatch.delenv("HF_HUB_DISABLE_PROGRESS_BARS")
    monkeypatch.setattr(sys.modules[disable_progress_bars.__module__], "HF_HUB_DISABLE_PROGRESS_BARS", None)
    monkeypatch.setattr(logging, "_tqdm_active", True)
