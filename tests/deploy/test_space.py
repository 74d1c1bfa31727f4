"""The folder of the Space: what is in it, and the studio that it opens, made and served as the container does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
import yaml
from studies.service.lab import free_port
from tools.code_blocks import ROOT

SPACE = ROOT / "deploy" / "space"
HOST = "somebody-turnloom.hf.space"


def test_the_front_matter_fits_the_container() -> None:
    front = yaml.safe_load((SPACE / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    container = (SPACE / "Dockerfile").read_text(encoding="utf-8")
    assert front["sdk"] == "docker"
    assert f"EXPOSE {front['app_port']}" in container
    assert str(front["app_port"]) in (SPACE / "app.py").read_text(encoding="utf-8")
    assert len(front["short_description"]) <= 60, "the Hub refuses longer ones"
    copied = (SPACE / "build.sh").read_text(encoding="utf-8")
    for name in ("README.md", "Dockerfile", "requirements.txt", "app.py", "make_studio.sh"):
        assert name in copied


@contextmanager
def opened(folder: Path, **settings: str) -> Iterator[str]:
    """Yield the address of the Space's app in a process of its own."""
    port = str(free_port())
    environment = {**os.environ, "PORT": port, **settings}
    with subprocess.Popen([sys.executable, "app.py"], cwd=folder, env=environment) as process:
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


def ask(address: str, host: str | None = None) -> httpx.Response:
    """Return the page; waits until the app listens."""
    with httpx.Client(trust_env=False, timeout=30) as client:
        for _ in range(600):
            with suppress(httpx.ConnectError):
                return client.get(address, headers={"Host": host} if host else {})
            time.sleep(0.2)
    raise AssertionError("the app does not listen")


@pytest.mark.nightly
def test_the_studio_of_the_space_opens(tmp_path: Path) -> None:
    for path in (SPACE / "app.py", SPACE / "make_studio.sh", ROOT / "examples" / "shop.py"):
        shutil.copy(path, tmp_path)
    environment = {**os.environ, "MODEL": str(ROOT / "models" / "turnloom-mini")}
    subprocess.run(["bash", "make_studio.sh", "120"], cwd=tmp_path, env=environment, check=True)
    # It listens at all addresses only where a Space names one, so that this test stays on this machine.
    with opened(tmp_path) as address:
        page = ask(address)
        assert page.status_code == 200
        assert page.headers["Content-Security-Policy"].endswith("frame-ancestors 'self' https://huggingface.co")
        assert "Label next" in page.text
        assert "Address of a service" not in page.text, "it would ask any address for a visitor"
        assert ask(address, HOST).status_code == 403
