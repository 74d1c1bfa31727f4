"""What another package adds is found by its entry points, used by its name, and named when it fails."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_commands import run
from tests.training.toy import conversations, write_start
from turnloom.benchmarks import tasks_named
from turnloom.corpus import convert, find_logs, read_manifest
from turnloom.errors import TurnloomError
from turnloom.training import load_recipe
from turnloom.views import build_view, read_view_manifest

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"
RECIPE = """
name: mine
stages:
  - view: {kind: questions, mark: "%s"}
    objective: {kind: margin, margin: 0.3}
    batch_size: 16
    steps: 3
bf16: false
report_to: none
"""


def entry_points() -> str:
    """Those of the example's pyproject.toml, as an installed package has them."""
    text = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    text = text[text.index("[project.entry-points") :]
    return re.sub(r'= "(.+)"', r"= \1", re.sub(r'\[project\.entry-points\."(.+)"\]', r"[\1]", text))


def install(
    monkeypatch: pytest.MonkeyPatch, site: Path, entries: str, name: str = "turnloom-example", version: str = "0.1.0"
) -> None:
    """Make a package visible as pip would, without its help."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(entries, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))


@pytest.fixture
def _example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "site", entry_points())
    monkeypatch.syspath_prepend(str(EXAMPLE))


def write_log(path: Path, count: int = 40) -> Path:
    """Conversations whose questions end with a question mark, in the example's own format."""
    lines = []
    for row in conversations(count):
        asked, told = (turn["text"] for turn in row["turns"])  # type: ignore[attr-defined]
        lines.append(f"anna > {asked}?\nben > {told}\nanna > thanks\n\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.usefixtures("_example")
def test_a_loss_a_view_a_reader_and_a_task_of_another_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log, corpus, model = write_log(tmp_path / "chats.log"), tmp_path / "corpus", tmp_path / "model"
    code, out, _ = run(capsys, monkeypatch, "convert", str(log), "--out", str(corpus))
    assert code == 0
    assert "arrows, because each of its lines has ' > '" in out
    assert (read_manifest(corpus).dialogues, read_manifest(corpus).turns) == (40, 120)

    (tmp_path / "mine.yaml").write_text(RECIPE % "?", encoding="utf-8")
    start = write_start(tmp_path / "start")
    arguments = ["train", str(tmp_path / "mine.yaml"), str(corpus), "--start", str(start), "--out", str(model)]
    code, out, _ = run(capsys, monkeypatch, *arguments)
    assert code == 0
    assert "3 steps, 48 pairs" in out
    view = read_view_manifest(model / "training" / "stage-0" / "view")
    assert view.options == {"kind": "questions", "mark": "?"}
    # Each question has one answer; thanks answer nothing.
    assert view.count() == 40
    assert "margin: 0.3" in (model / "training" / "recipe.yaml").read_text(encoding="utf-8")

    scores = tmp_path / "scores"
    arguments = ["evaluate", str(model), "--tasks", "same-wish", "--out", str(scores), "--cache", str(tmp_path / "c")]
    code, out, _ = run(capsys, monkeypatch, *arguments)
    assert code == 0
    found = json.loads((scores / "results.json").read_text(encoding="utf-8"))["tasks"]["same-wish"]
    assert found["error"] is None
    assert found["info"]["main_score"] == "accuracy"


@pytest.mark.usefixtures("_example")
def test_options_of_a_plugged_loss_are_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(RECIPE % "?", encoding="utf-8")
    for change, problem in {
        "stages.0.objective.margni": r"objective\.margni: there is no such option; did you mean margin\?",
        "stages.0.objective.margin": r"objective\.margin: Input should be a valid number",
        "stages.0.view.x": r"view\.x: there is no such option; its options are mark",
        "stages.0.view.mark": r"view\.mark: Input should be a valid string",
    }.items():
        with pytest.raises(TurnloomError, match=problem):
            load_recipe(str(tmp_path / "mine.yaml"), {change: "[much]"})


def test_a_view_is_built_again_for_another_version_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    (tmp_path / "mine.yaml").write_text(RECIPE % "?", encoding="utf-8")
    install(monkeypatch, tmp_path / "old", entry_points(), version="0.1.0")
    convert(find_logs([str(write_log(tmp_path / "chats.log"))]), tmp_path / "corpus")
    fingerprints = []
    for version in ("0.1.0", "0.2.0"):
        if version == "0.2.0":
            install(monkeypatch, tmp_path / "new", entry_points(), version=version)
        view = load_recipe(str(tmp_path / "mine.yaml")).stages[0].view
        fingerprints.append(build_view(tmp_path / "corpus", tmp_path / "view", view).fingerprint)
    assert fingerprints[0] != fingerprints[1]


MODULE = """
from turnloom.corpus.readers import READERS
from turnloom.views import Windows
nothing, csv = None, READERS["csv"]
def seven(): return 7
def loss(model, *, weight: "Undefined" = 1): ...
"""


def ask_for(use: dict[str, str] | str | list[str]) -> None:
    """Changes of a recipe, a format, or names of tasks."""
    if isinstance(use, dict):
        load_recipe("wmdc", use)
    elif isinstance(use, str):
        find_logs([__file__], format=use)
    else:
        tasks_named(use)


VIEW, LOSS = {"stages.0.view": "{kind: wide}"}, {"stages.0.objective": "{kind: steep}"}


@pytest.mark.parametrize(
    ("entries", "use", "problem"),
    [
        ("[turnloom.views]\nwide = no_such_module:View", VIEW, "view 'wide' .*cannot be loaded: ModuleNotFoundError"),
        ("[turnloom.views]\nwide = broken_plugin:nothing", VIEW, "is no subclass of turnloom.views.DialogueView"),
        ("[turnloom.views]\nwide = broken_plugin:Windows", VIEW, r"needs kind: Literal\['wide'\]"),
        ("[turnloom.views]\nwindows = broken_plugin:Windows", {}, "Turnloom and broken both have the view 'windows'"),
        ("[turnloom.objectives]\nsteep = broken_plugin:nothing", LOSS, "objective 'steep' .*is no loss"),
        ("[turnloom.objectives]\nsteep = broken_plugin:loss", LOSS, "options that cannot be understood: .*Undefined"),
        ("[turnloom.readers]\nodd = broken_plugin:nothing", "odd", "reader 'odd' .*lacks recognise, check, read"),
        ("[turnloom.readers]\nodd = broken_plugin:csv", "odd", "reader 'odd' .*is no object whose name is 'odd'"),
        ("[turnloom.readers]\ncsv = broken_plugin:nothing", "csv", "Turnloom and broken both have the reader 'csv'"),
        ("[turnloom.tasks]\nodd = broken_plugin:nothing", ["odd"], "task 'odd' .*cannot be made without arguments"),
        ("[turnloom.tasks]\nodd = broken_plugin:seven", ["odd"], "task 'odd' .*makes no turnloom.benchmarks.Task"),
    ],
)
def test_a_broken_package_is_named_with_its_fix(
    entries: str, use: dict[str, str] | str | list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    install(monkeypatch, site, entries, name="broken")
    (site / "broken_plugin.py").write_text(MODULE, encoding="utf-8")
    with pytest.raises(TurnloomError, match=problem) as raised:
        ask_for(use)
    assert "\n" not in str(raised.value)
    assert "pip uninstall broken" in raised.value.fix


def test_two_packages_with_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        install(monkeypatch, tmp_path / name, "[turnloom.tasks]\nsame = anywhere:Task", name=name)
    with pytest.raises(TurnloomError, match=r"first and second both have the task 'same'.*rename it in second"):
        tasks_named(["same"])


def test_a_broken_package_harms_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = (
        "[turnloom.views]\nwide = nowhere:View\n[turnloom.readers]\nodd = nowhere:R\n[turnloom.tasks]\nodd = nowhere:T"
    )
    install(monkeypatch, tmp_path / "site", entries, name="broken")
    (tmp_path / "chats.csv").write_text("conversation_id,message\n1,hello there\n", encoding="utf-8")
    assert find_logs([str(tmp_path / "chats.csv")])[0].format == "csv"
    assert load_recipe("dse").stages[0].view.model_dump()["kind"] == "consecutive"
    with pytest.raises(TurnloomError, match=r"there is no task 'even'.* odd$"):
        tasks_named(["even"])
