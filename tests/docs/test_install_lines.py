"""The install lines of the README and the tutorial, run as they are written, in an empty environment."""

import os
import subprocess
from pathlib import Path

import pytest
from studies.onboarding.install import Environment, install_lines
from tools.code_blocks import ROOT


def test_pages_install_from_the_clone_and_from_no_index() -> None:
    assert install_lines() == ["pip install '.[serve]' ./models/turnloom-mini"]


@pytest.mark.slow
def test_what_the_install_lines_install_goes_from_chats_to_a_service_configuration(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    for line in install_lines():
        environment.run(line)
    tools = environment.place / "bin"
    settings = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": "", "HF_HUB_OFFLINE": "1"}

    def run(command: str) -> str:
        shown = subprocess.run(
            command.split(), cwd=tmp_path, env=settings, stdout=subprocess.PIPE, text=True, check=True
        )
        return shown.stdout

    run(f"python {ROOT / 'examples' / 'shop.py'} chats.csv 60")
    said = run("turnloom quickstart chats.csv --minutes 0.02")
    assert "turnloom serve quickstart/service.yaml" in said
    (tmp_path / "where.py").write_text("import turnloom; print(turnloom.__file__)")
    where = run("python where.py")
    assert Path(where.strip()).is_relative_to(environment.place)
