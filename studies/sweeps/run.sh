#!/usr/bin/env bash
# Trains and measures the points of the sweeps, ten minutes each, and answers the questions. Needs TURNLOOM_DATA, MODELS, and
# the tables that studies/methods/run.sh makes. What is there is skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
python -m studies.sweeps.points "$MODELS"
python -m studies.sweeps.questions
