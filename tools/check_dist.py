"""Check that a build is ready to publish: both files, the version, the readme, the licence, the data files.

Usage: python -m tools.check_dist FOLDER VERSION
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

NEEDED = (
    "turnloom/py.typed",
    "turnloom/corpus/catalog/catalog.yaml",
    "turnloom/recipes/dse.yaml",
    "turnloom/service/config.yaml",
    "turnloom/cli/main.py",
)
"""Files whose absence would not show in a source tree."""


def problems(folder: Path, version: str) -> list[str]:
    """Explain what is wrong with the files of a release."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        return [f"{len(wheels)} wheels and {len(sdists)} sdists in {folder}; there should be one of each"]
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = wheel.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        meta = Parser().parsestr(wheel.read(metadata).decode("utf-8"))
    with tarfile.open(sdists[0]) as sdist:
        packed = [name.partition("/")[2] for name in sdist.getnames()]
    wrong = [f"{name} is not in the wheel" for name in NEEDED if name not in names]
    wrong += [f"src/{name} is not in the sdist" for name in NEEDED if f"src/{name}" not in packed]
    if meta["Version"] != version:
        wrong.append(f"the wheel says version {meta['Version']}, not {version}")
    if meta["Description-Content-Type"] != "text/markdown" or len(str(meta.get_payload())) < 500:
        wrong.append("the readme is not in the metadata")
    if not any(name.endswith("LICENSE") for name in names):
        wrong.append("the licence is not in the wheel")
    foreign = [name for name in names if not name.startswith("turnloom")]
    return wrong + [f"{name} does not belong in the wheel" for name in foreign]


def main(folder: str, version: str) -> None:
    found = problems(Path(folder), version)
    print("\n".join(found or [f"wheel and sdist of {version} are whole"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*sys.argv[1:3])
