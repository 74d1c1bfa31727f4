"""The pages do what they show: every block of code is run, every command and option exists, links hold."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tools.code_blocks import KINDS, ROOT, Block, blocks, commands, pages

from tests.docs.fixtures import write_place
from tests.docs.shell import Shell, split_command
from turnloom.cli.main import app

PAGES = {path.relative_to(ROOT).as_posix(): list(blocks(path)) for path in pages()}
EVERY = [block for found in PAGES.values() for block in found]
QUICK = {"docs/guides/intents.md", "docs/guides/replies.md", "docs/guides/read-your-logs.md", "docs/guides/views.md"}
"""Pages that take a few seconds; the others train, measure or serve, and are slow."""
LONG = {
    "docs/quickstart.md",  # README.md runs the same command.
    "docs/tutorial.md",
    "docs/deploy/backup.md",
    "docs/guides/evaluate.md",
    "docs/guides/rerank.md",
    "docs/guides/serve.md",
    "docs/guides/train.md",
}
"""Pages that take most of a minute: their code is run at night, their commands and options are checked each time."""
BEFORE = {
    "docs/guides/export.md": ("turnloom replies build corpus --model my-model --out replies",),
    "docs/guides/compare.md": (
        "turnloom evaluate all-MiniLM-L6-v2 --suite quick --draws 3",
        "turnloom evaluate gte-small --suite quick --draws 3",
    ),
}
"""What a page takes for done."""
COMMAND = typer.main.get_command(app)


def runnable() -> list[Any]:
    names = [name for name, found in PAGES.items() if any(block.kind != "text" for block in found)]
    noisy = pytest.mark.filterwarnings("ignore")  # MTEB warns about missing model cards and its own old names.
    marks = {name: [] if name in QUICK else [pytest.mark.slow] for name in names}
    marks["docs/guides/evaluate.md"].append(noisy)
    for name in LONG:
        marks[name].append(pytest.mark.nightly)
    return [pytest.param(name, marks=marks[name]) for name in names]


def turnloom_words(text: str) -> list[str] | None:
    """The words after `turnloom` in a command, however it is started; None if it is another command."""
    words = split_command(text)[1]
    return words[words.index("turnloom") + 1 :] if "turnloom" in words and words[0] != "pip" else None


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("prepared")
    write_place(place)
    return place


@pytest.fixture
def shell(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    place = tmp_path / "place"
    shutil.copytree(prepared, place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("TURNLOOM_DATA", str(place / "sets"))
    found = Shell(place, prepared / "corpus", monkeypatch, capsys)
    yield found
    found.close()


@pytest.mark.parametrize("page", runnable())
def test_a_page_does_what_it_shows(page: str, shell: Shell) -> None:
    for text in BEFORE.get(page, ()):
        shell.turnloom(text.split(), "")
    for block in PAGES[page]:
        shell.run_block(block)
    RESULTS.get(page, lambda _: None)(shell)


def _intents(shell: Shell) -> None:
    assert (shell.place / "scores.json").exists()
    assert (shell.place / "vectors.parquet").exists()


def _replies(shell: Shell) -> None:
    printed = {text.split("replies ", 1)[1]: out for text, out in shell.printed.items() if " replies " in text}
    by_name = {text.split()[0]: out for text, out in printed.items()}
    assert {"build", "search", "evaluate", "add", "delete", "versions", "prune", "reembed"} <= set(by_name)
    first = next(out for text, out in printed.items() if text.startswith("build corpus"))
    assert "Version 1: 26 replies, given 42 times, vectors of my-model" in first
    assert "Next: turnloom replies search replies --model my-model" in first
    lines = [
        json.loads(line) for line in printed[next(text for text in printed if "contexts.jsonl" in text)].splitlines()
    ]
    assert [line["id"] for line in lines] == [1, 2]
    assert all(len(line["replies"]) == 5 for line in lines)
    assert "re-ranked   Top-1" in by_name["evaluate"]
    assert "the index holds the given reply for 100.0 %" in by_name["evaluate"]
    assert "Removed: version 1, 2" in by_name["prune"]
    assert "vectors of better-model" in by_name["reembed"]
    assert len(shell.names["index"].version.what) > 0


RESULTS: dict[str, Callable[[Shell], None]] = {"docs/guides/intents.md": _intents, "docs/guides/replies.md": _replies}


def test_every_block_says_what_it_is() -> None:
    assert len(EVERY) > 60
    assert not [f"{block.page}:{block.line}" for block in EVERY if block.kind not in KINDS]
    hidden = [
        block for block in EVERY if block.kind == "text" and re.search(r"^(\$ |turnloom )", block.body, re.MULTILINE)
    ]
    assert not hidden, "a command in a block of text is never run"


@pytest.mark.parametrize(
    "block", [block for block in EVERY if block.kind == "console"], ids=lambda b: f"{b.page}:{b.line}"
)
def test_commands_and_options_exist(block: Block) -> None:
    found = commands(block)
    assert found, "a console block shows a command after '$ '"
    for command in found:
        words = turnloom_words(command.text)
        if words is not None:
            parse(words)


def parse(words: list[str]) -> None:
    """What the command line itself does with these words, up to running it."""
    command: Any = COMMAND
    while hasattr(command, "commands") and words != ["--version"]:
        assert words[0] in command.commands, f"turnloom has no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    if words != ["--version"]:  # Which prints and ends.
        command.make_context(command.name, list(words)).close()


def test_parse_refuses_what_is_not_there() -> None:
    parse(["replies", "search", "replies", "--model", "m"])
    with pytest.raises(AssertionError, match="no command replay"):
        parse(["replay"])
    with pytest.raises(Exception, match="No such option: --modle"):
        parse(["replies", "search", "replies", "--modle", "m"])


@pytest.mark.parametrize(
    "block", [block for block in EVERY if block.kind == "python"], ids=lambda b: f"{b.page}:{b.line}"
)
def test_python_compiles_and_names_of_turnloom_exist(block: Block) -> None:
    for node in ast.walk(ast.parse(block.body)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("turnloom"):
            module = importlib.import_module(str(node.module))
            assert not [name.name for name in node.names if not hasattr(module, name.name)]


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {name.removeprefix("docs/") for name in PAGES if name.startswith("docs/")}


def test_every_study_has_a_page_and_is_listed() -> None:
    studies = {folder.parent.name for folder in (ROOT / "studies").glob("*/run.sh")} | {"applications"}
    listed = set(re.findall(r"\]\((\w+)/README\.md\)", (ROOT / "studies" / "README.md").read_text(encoding="utf-8")))
    assert listed == studies
    for study in studies:
        page = (ROOT / "studies" / study / "README.md").read_text(encoding="utf-8")
        top = r"# .+\n\n\*\*Question:\*\* .+\?\n\n\*\*Answer:\*\* [^`]*(?:`[^`\n]+`[^`]*)*\n\n```\n(?:.+\n)+```\n"
        assert re.match(top, page), f"{study}: a page begins with its question, its answer and its command"
