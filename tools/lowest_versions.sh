#!/usr/bin/env bash
# Do the lowest versions that pyproject.toml names really work? A virtual environment with exactly these, and the fast tests.
# Usage: tools/lowest_versions.sh [FOLDER]    FOLDER holds the environment and constraints.txt; a temporary one unless told.
#        PYTEST="tests/corpus tests/views"    which tests; all fast ones unless told.
#        DRY=1                                write constraints.txt and stop.
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 DAFT_ANALYTICS_ENABLED=0 PIP_DISABLE_PIP_VERSION_CHECK=1
place=${1:-$(mktemp -d)}
mkdir -p "$place"

# Direct dependencies only: pip chooses the newest of what these bring along that fits.
python3 -m tools.lowest_versions > "$place/constraints.txt"
echo "$(wc -l < "$place/constraints.txt") lower bounds in $place/constraints.txt"
[ -n "${DRY:-}" ] && exit 0

python3 -m venv "$place/venv"
. "$place/venv/bin/activate"
# torch first: a plain range would pull gigabytes of CUDA libraries with some of the others.
pip install -q -c "$place/constraints.txt" torch
pip install -q -c "$place/constraints.txt" -e '.[dev,serve]'
pip check
# The linters' and checkers' own bounds are not what users meet.
pytest -q -x ${PYTEST:-tests}
echo "the lowest versions work"
