"""Runs what a page shows in one folder: its files are written, its Python is run, its commands are run."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml
from tools.code_blocks import ROOT, Block, Command, commands

from tests.service.test_processes import ENVIRONMENT, free_port, wait_ready
from tests.test_plugins import EXAMPLE, entry_points, install
from turnloom.cli.main import main
from turnloom.corpus import read_manifest

ENOUGH = 12
ADDRESS = "127.0.0.1:8000"
FEWER = {"900": "200", "200": "40"}
"""How many conversations the made-up shop has, for how many on the page."""
SMALL_TRAINING = ["--set", "stages.0.batch_size=8", "--set", "report_to=none", "--set", "bf16=false"]


def split_command(text: str) -> tuple[str, list[str], str, str]:
    """What is piped in, the words, the file read and the file written."""
    given, _, command = text.rpartition(" | ")
    words = shlex.split(command, comments=True)
    read = write = ""
    for mark in ("<", ">"):
        if mark in words:
            place = words.index(mark)
            read, write = (words[place + 1], write) if mark == "<" else (read, words[place + 1])
            del words[place : place + 2]
    return given, words, read, write


def ask_over_http(words: list[str], address: str) -> bytes:
    """What `curl URL -H HEADER -d BODY` does; anything but success is an error."""
    url = next(word for word in words[1:] if word.startswith("http"))
    values = {word: words[place + 1] for place, word in enumerate(words[:-1])}
    name, _, value = values["-H"].partition(": ")
    request = Request(url.replace(ADDRESS, address), values["-d"].encode(), {name: value})
    with urlopen(request, timeout=60) as answer:
        found: bytes = answer.read()
    return found


def check_pip(words: list[str]) -> None:
    """`pip install '.[extra]'` names extras that there are, and does not ask an index for Turnloom."""
    known = set(metadata("turnloom").get_all("Provides-Extra") or [])
    assert not any(word.startswith("turnloom") for word in words), words
    for extra in re.findall(r"\.\[([\w,]+)\]", " ".join(words)):
        assert set(extra.split(",")) <= known, extra


class Shell:
    """A folder with what pages speak of, and one page's state in it."""

    def __init__(
        self, place: Path, spare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.place, self.spare, self.monkeypatch, self.capsys = place, spare, monkeypatch, capsys
        self.names: dict[str, Any] = {}
        self.printed: dict[str, str] = {}
        self.service: subprocess.Popen[bytes] | None = None
        self.address = ADDRESS
        self.said = ""

    def run_block(self, block: Block) -> None:
        if block.title == "output":
            assert self.said == block.body, f"{block.page}:{block.line} shows something else"
        elif block.title:
            Path(block.title).write_text(block.body, encoding="utf-8")
        if block.kind == "python":
            code = block.body.replace(ADDRESS, self.address)
            self.capsys.readouterr()
            exec(compile(code, f"{block.page}:{block.line}", "exec"), self.names)
            self.said = self.capsys.readouterr().out
        elif block.kind == "json":
            for line in block.body.splitlines():
                json.loads(line)
        elif block.kind == "yaml":
            list(yaml.safe_load_all(block.body))
        elif block.kind == "console":
            for command in commands(block):
                self.run(command)

    def run(self, command: Command) -> None:
        given, words, read, write = split_command(command.text)
        if words[0] == "cat":
            Path(words[1]).write_text("\n".join(command.shown) + "\n", encoding="utf-8")
        elif words[0] == "pip":
            check_pip(words)
            if "./examples/plugin" in words:
                install(self.monkeypatch, self.place / "site", entry_points())
                self.monkeypatch.syspath_prepend(str(EXAMPLE))
        elif words[0] == "curl":
            self.printed[command.text] = ask_over_http(words, self.address).decode()
        elif words[0] == "head":
            assert Path(words[2]).read_text(encoding="utf-8").splitlines()[: len(command.shown)] == list(command.shown)
        elif words[0] == "python":
            script, *options = words[1:]  # Pages start it in the clone, and with nothing but Python.
            options = [FEWER.get(word, word) for word in options]
            subprocess.run([sys.executable, "-I", ROOT / script, *options], check=True)
        elif words[:2] == ["turnloom", "serve"] and len(words) == 3 and not words[2].startswith("-"):
            self.serve(Path(words[2]))
        elif words[:2] == ["turnloom", "studio"] and len(words) == 3:
            self.open_studio(words[2])
        else:
            assert words[0] == "turnloom", command.text
            said = f"{shlex.split(given)[1]}\n" if given else Path(read).read_text(encoding="utf-8") if read else ""
            out = self.turnloom(words, said)
            self.printed[command.text] = out
            if write:
                Path(write).write_text(out, encoding="utf-8")
            if words[1] == "convert":
                missing = [line for line in command.shown if " ".join(line.split()) not in " ".join(out.split())]
                assert not missing, out

    def turnloom(self, words: list[str], said: str) -> str:
        """A command in this process; training is cut short, and what is made replaces what was there."""
        if "--out" in words:
            # A page shows several ways to one place; each finds it empty.
            shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
        if words[1:3] in (["train", "conversation"], ["train", "rerank"]):
            words = [*words, "--set", "steps=2", "--set", "data.dialogues=8"]
        elif words[1] == "train":
            self.enlarge(Path(words[3]))
            if "--minutes" in words:
                place = words.index("--minutes")
                del words[place : place + 2]
            words = [*words, "--set", "stages.0.steps=2", *SMALL_TRAINING]
        if words[1] == "quickstart":
            # The model's package, which a page installs, is installed by `tools.first_install` alone.
            words = [*words, "--minutes", "0.02", "--start", "turnloom-mini"]
        if words[1] == "serve" and "--check" in words:
            self.configure(Path(words[2]))  # It takes the port, as a start does.
        if words[1] == "restore":
            self.close()
            words = [*words[:2], str(max(Path(words[2]).parent.iterdir())), *words[3:]]
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        self.monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as stop:
            main()
        captured = self.capsys.readouterr()
        assert stop.value.code in (0, None), f"{shlex.join(words)}\n{captured.out}\n{captured.err}"
        return captured.out

    def enlarge(self, table: Path) -> None:
        """A table of a handful of dialogues, as a page shows, is too small to train on: another one stands in."""
        if read_manifest(table).dialogues < ENOUGH:
            shutil.rmtree(table)
            shutil.copytree(self.spare, table)

    def serve(self, config: Path) -> None:
        """The service in a process of its own, on a free port, with the page's models named in its configuration."""
        self.close()
        self.configure(config)
        wait_ready(f"http://{self.address}", self.start(["serve", str(config)]), seconds=600)  # On a busy machine.

    def open_studio(self, folder: str) -> None:
        """The studio, as a process of its own."""
        self.close()
        port = free_port()
        wait_ready(f"http://127.0.0.1:{port}", self.start(["studio", folder, "--port", str(port)]), 600, path="/")

    def start(self, words: list[str]) -> subprocess.Popen[bytes]:
        with Path("service.log").open("wb") as log:
            command = [sys.executable, "-m", "turnloom.cli.main", *words]
            self.service = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log)
        return self.service

    def configure(self, config: Path) -> None:
        """Set a free port, and a model that there is."""
        settings = yaml.safe_load(config.read_text(encoding="utf-8"))
        port = free_port()
        named, stands_in = config.parent / settings["model"]["path"], self.place / "my-model"
        model = named if named.is_dir() else stands_in
        settings |= {"port": port, "model": {"path": str(model.resolve()), "name": "model"}}
        config.write_text(yaml.safe_dump(settings), encoding="utf-8")
        self.address = f"127.0.0.1:{port}"

    def close(self) -> None:
        if self.service is not None:
            self.service.terminate()
            self.service.wait(300)
