"""The tools of maintainers: the drawing is up to date, licences and bounds are read right, a release is checked."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from tools.check_dist import NEEDED, problems
from tools.code_blocks import ROOT

from tools import architecture


def test_the_drawing_is_up_to_date() -> None:
    assert architecture.DRAWING.read_text(encoding="utf-8") == architecture.draw(), "run: python -m tools.architecture"


def test_the_drawing_knows_layers_and_imports() -> None:
    layers = architecture.contract_layers()
    assert layers[0] == ["cli"]
    assert ["corpus", "runtime"] in layers
    found = architecture.packages({name for layer in layers for name in layer})
    assert found["errors"].imports == {}
    assert found["training"].imports["objectives"] > 0
    below = {name: place for place, layer in enumerate(layers) for name in layer}
    assert all(below[other] > below[name] for name, package in found.items() for other in package.imports)


def test_lower_bounds_come_from_the_project(tmp_path: Path) -> None:
    pytest.importorskip("tomllib")
    from tools.lowest_versions import constraints
    from tools.requirements import wanted

    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\nname = "turnloom"\ndependencies = ["rich>=13.7", "torch>=2.6"]\n'
        '[project.optional-dependencies]\nserve = ["rich>=14", "turnloom[onnx]"]\ncluster = ["ray[default]>=2.50"]\n'
    )
    rows = list(wanted(project))
    assert [(row.name, row.lowest, row.extra) for row in rows][2:] == [
        ("rich", "14", "serve"),
        ("ray", "2.50", "cluster"),
    ]
    assert constraints(rows) == ["rich==14.*", "torch==2.6.*"]


def test_the_page_lists_every_direct_dependency() -> None:
    pytest.importorskip("tomllib")
    from tools.requirements import wanted

    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    listed = {
        (name, lowest, extra) for name, lowest, extra in re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| (\w+) \|", page, re.M)
    }
    assert listed == {(row.name, row.lowest, row.extra or "always") for row in wanted()}, (
        "run: python -m tools.licences"
    )


def test_licences_are_read_and_refused() -> None:
    pytest.importorskip("tomllib")
    from tools.licences import ACCEPTED, accepted, brought_along, installed, licence

    pytest_package = installed("pytest")
    assert pytest_package is not None
    assert licence(pytest_package) == "MIT"
    assert installed("no-such-package") is None
    assert {"pytest", "pluggy"} <= set(brought_along(["pytest"]))
    assert not ACCEPTED.search("GNU General Public License v3 (GPLv3)")
    assert not ACCEPTED.search("unknown")
    assert not ACCEPTED.search("limited to research")
    assert ACCEPTED.search("BSD-3-Clause")
    assert accepted("MPL-2.0 AND (Apache-2.0 OR GPL-3.0-only)")
    assert not accepted("MIT AND SSPL-1.0")


def test_everything_that_is_installed_may_be() -> None:
    pytest.importorskip("tomllib")
    from tools.licences import TOOLS, brought_along, refused
    from tools.requirements import wanted

    packages = brought_along(row.wish for row in wanted() if row.extra not in TOOLS)
    assert {"torch", "tokenizers"} <= set(packages), "with what dependencies bring along"
    assert refused(packages) == []
    assert "pylint: GPL-2.0-or-later" in refused(brought_along(["pylint"]))


def test_the_bill_of_materials_lists_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tomllib")
    pytest.importorskip("cyclonedx")
    from tools.requirements import Wanted

    from tools import sbom

    rows = [Wanted("pydantic", "2.7", "", "pydantic"), Wanted("pytest", "8", "dev", "pytest")]
    monkeypatch.setattr(sbom, "wanted", lambda: rows)
    sbom.main([str(tmp_path / "bill.json")])  # Checks it against the schema, too.
    bill = json.loads((tmp_path / "bill.json").read_text())
    parts = {part["name"]: part for part in bill["components"]}
    assert {"pydantic", "pydantic-core", "annotated-types"} <= set(parts)
    assert "pytest" not in parts
    assert parts["pydantic"]["version"] == version("pydantic")
    assert parts["pydantic"]["licenses"] == [{"license": {"id": "MIT"}}]
    edges = {edge["ref"]: edge.get("dependsOn", []) for edge in bill["dependencies"]}
    assert edges[bill["metadata"]["component"]["bom-ref"]] == [parts["pydantic"]["bom-ref"]]
    assert parts["pydantic-core"]["bom-ref"] in edges[parts["pydantic"]["bom-ref"]]
    rows.append(Wanted("no-such-package", "1", "", "no-such-package"))
    with pytest.raises(SystemExit, match="no-such-package"):
        sbom.main([str(tmp_path / "bill.json")])


def test_every_upper_bound_is_explained() -> None:
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [line for lines in (project["dependencies"], *project["optional-dependencies"].values()) for line in lines]
    bounded = {re.match(r"[\w-]+", line)[0] for line in lines if re.search(r"<|!=", line.split(";")[0])}  # type: ignore[index]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    explained = page.partition("## Upper bounds")[2].partition("\n## ")[0]
    assert bounded == set(re.findall(r"^\| ([\w-]+) \| [<!]", explained, re.M))


def write_dist(folder: Path, version: str, names: tuple[str, ...] = NEEDED) -> None:
    with zipfile.ZipFile(folder / "turnloom-1.0.0-py3-none-any.whl", "w") as wheel:
        for name in (*names, "turnloom-1.0.0.dist-info/licenses/LICENSE"):
            wheel.writestr(name, "")
        header = f"Metadata-Version: 2.4\nVersion: {version}\nDescription-Content-Type: text/markdown\n\n"
        wheel.writestr("turnloom-1.0.0.dist-info/METADATA", header + "readme " * 100)
    with tarfile.open(folder / "turnloom-1.0.0.tar.gz", "w:gz") as sdist:
        for name in names:
            sdist.addfile(tarfile.TarInfo(f"turnloom-1.0.0/src/{name}"), io.BytesIO())


def test_a_whole_release_and_a_broken_one(tmp_path: Path) -> None:
    assert "there should be one of each" in problems(tmp_path, "1.0.0")[0]
    write_dist(tmp_path, "1.0.0")
    assert problems(tmp_path, "1.0.0") == []
    assert problems(tmp_path, "1.0.1") == ["the wheel says version 1.0.0, not 1.0.1"]
    write_dist(tmp_path, "1.0.0", (*NEEDED[1:], "studies/figures.json"))
    assert problems(tmp_path, "1.0.0") == [
        "turnloom/py.typed is not in the wheel",
        "src/turnloom/py.typed is not in the sdist",
        "studies/figures.json does not belong in the wheel",
    ]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A small repository with the release script in it."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "src" / "turnloom").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "release.sh", tmp_path / "tools")
    (tmp_path / "src" / "turnloom" / "__init__.py").write_text('__version__ = "1.0.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\n- new\n\n## [1.0.0]\n\n## [0.9.0]\n\n- old\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command], cwd=tmp_path, check=True
        )
    return tmp_path


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.0", "is no version"),
        ("1.0.1", "says 1.0.0; set __version__ to 1.0.1"),
        ("1.0.0", "no section '## [1.0.0]' with something in it"),
    ],
)
def test_a_release_is_refused_with_a_reason(clone: Path, version: str, reason: str) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["bash", "tools/release.sh", version]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert reason in done.stderr
    (clone / "stray").write_text("")
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert reason in done.stderr if version == "1.0" else "the tree is not clean" in done.stderr
