#!/usr/bin/env bash
# What stays flat as a corpus grows. FOLDER takes about 3 GB. Needs TURNLOOM_DATA. Nothing else should compute meanwhile.
# Usage: studies/scale/run.sh FOLDER
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")/../.."
python -m studies.corpus.near
python -m studies.corpus.on_ray
python -m studies.corpus.kill
python -m studies.scale.near "$folder"
