"""The counts of the source see what they count, and those that must be zero are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import house

BLOCK = "\n".join(f"value_{number} = {number} * 2" for number in range(12))


def test_a_cycle_is_found_and_later_imports_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`a`, `b` and `c` import each other; `d` and `e` do so in a function and for type checkers only."""
    files = {
        "__init__": "",
        "a": "from looped.b import one\n",
        "b": "if True:\n    import looped.c\n",
        "c": "import looped.a\n",
        "d": "import looped.e\n",
        "e": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import looped.d\n"
        "def later():\n    import looped.d\n    return looped.d\n",
    }
    (tmp_path / "looped").mkdir()
    for name, text in files.items():
        (tmp_path / "looped" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert house.import_cycles("looped", tmp_path) == [["looped.a", "looped.b", "looped.c"]]


def test_a_duplicated_block_is_found_and_imports_are_none(tmp_path: Path) -> None:
    pytest.importorskip("pylint")
    imports = "\n".join(f"import module_{number}" for number in range(20))
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"{imports}\n{name} = 1\n{BLOCK}\n")
    (tmp_path / "three.py").write_text(f"{imports}\n" + "\n".join(BLOCK.splitlines()[1:]) + "\n")
    (found,) = house.duplicate_blocks(tmp_path)
    assert found.startswith("12 similar lines in 2 files")


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert house.import_cycles() == []


def test_no_module_is_too_long() -> None:
    assert house.long_modules() == {}
