"""Numbers on pages come from a study's figures: `numbers.yaml` says from which, and leaves no measured one out."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
import yaml
from tools.charts import drawings, read_figures
from tools.code_blocks import ROOT, pages

SOURCES: dict[str, list[list[str]]] = yaml.safe_load((Path(__file__).parent / "numbers.yaml").read_text("utf-8"))
MODEL_CARD = "models/turnloom-mini/README.md"
ELSEWHERE = {
    "docs/dependencies.md",  # Versions, and results.json of studies/onboarding.
    "docs/how-evaluation-fools-you.md",  # Single draws and protocols: results.json of studies/baselines.
    "docs/scale.md",  # Points of a curve and plans: results.json of studies/corpus.
    "docs/decisions/one-row-per-dialogue.md",
    "docs/decisions/onnx-without-optimum.md",
    "docs/decisions/plain-attention-on-cpus.md",
}
"""Pages with numbers that are in no figures.json yet; let it get shorter."""

_NOT_PROSE = re.compile(
    r"^ *```.*?^ *```|<!-- tables: begin -->.*?<!-- tables: end -->|<!--.*?-->|^---\n.*?^---\n|\]\([^)]*\)",
    re.MULTILINE | re.DOTALL,
)
_VERSION = re.compile(
    r"(?:Python|Apache-|GPL-|MultiWOZ|MTEB|DSTC|CC BY(?:-SA)?|version|Turnloom) ?\d+(?:\.\d+)+|, 2\.\d |`[^`]*`"
)
_FIGURE = re.compile(r"([a-z]+)/([\w.-]*\w)")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MEASURED = re.compile(r"(?<![\w.])\d[\d,]*\.\d+\b|(?<![\w.])\d+ %")


def prose(name: str) -> str:
    return _NOT_PROSE.sub(" ", (ROOT / name).read_text(encoding="utf-8"))


def value_of(text: str) -> float:
    """A figure, or a difference, ratio or multiple of figures and numbers."""
    numbers = _FIGURE.sub(lambda match: repr(read_figures(match[1])[match[2]]), text)
    return _compute(ast.parse(numbers, mode="eval").body)


def _compute(node: ast.expr) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_compute(node.operand)
    assert isinstance(node, ast.BinOp), ast.dump(node)
    one, other = _compute(node.left), _compute(node.right)
    return {ast.Sub: one - other, ast.Div: one / other if other else 0.0, ast.Mult: one * other}[type(node.op)]


def agrees(shown: str, source: str) -> bool:
    """Whether a number is its figure, rounded as it is shown; `~ 50` lets a round number be so far away."""
    digits = len(shown.partition(".")[2])
    expression, _, slack = source.partition(" ~ ")
    allowed = float(slack) if slack else 0.5 * 10**-digits
    return abs(float(shown.replace(",", "")) - value_of(expression)) <= allowed + 1e-6


@pytest.mark.parametrize("page", SOURCES)
def test_numbers_are_what_the_studies_say(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for words, *sources in SOURCES[page]:
        assert words in text, f"{page} no longer says: {words}"
        shown = _NUMBER.findall(words)
        assert len(shown) == len(sources), f"{page}: {words}: {shown}"
        wrong = [
            (number, source)
            for number, source in zip(shown, sources, strict=True)
            if source != "=" and not agrees(number, source)
        ]
        assert not wrong, f"{page}: {words}"


@pytest.mark.parametrize("page", [path.relative_to(ROOT).as_posix() for path in [*pages(), ROOT / MODEL_CARD]])
def test_no_measured_number_is_without_a_source(page: str) -> None:
    if page in ELSEWHERE:
        return
    text = prose(page)
    for words, *_ in SOURCES.get(page, []):
        text = text.replace(words, " ")
    left = _MEASURED.findall(_VERSION.sub(" ", text))
    assert not left, f"{page}: say in tests/docs/numbers.yaml where {left} come from"


def test_a_wrong_number_is_seen() -> None:
    right = json.loads((ROOT / "studies" / "flagship" / "figures.json").read_text())["turnloom.sgd_next_top1"]
    assert agrees(f"{right:.1f}", "flagship/turnloom.sgd_next_top1")
    assert not agrees(f"{right + 0.2:.1f}", "flagship/turnloom.sgd_next_top1")
    assert agrees("58", "100 - 42")
    assert agrees("2.5", "5 / 2")
    assert not agrees("2.4", "5 / 2")


def test_charts_are_up_to_date() -> None:
    assert not [path for path, text in drawings().items() if path.read_text(encoding="utf-8") != text], (
        "run: python -m tools.charts"
    )
