#!/usr/bin/env bash
# Tries what the studio promises, and spends the scripted afternoon in a real browser, on the made-up shop and the airline threads. Needs TURNLOOM_DATA and chromium.
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMP_NUM_THREADS=1
python -m studies.studio.proofs runs/studio/proofs
for what in shop airline; do python -m studies.studio.afternoon "$what" "runs/studio/$what"; done
