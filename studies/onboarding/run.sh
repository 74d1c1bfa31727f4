#!/usr/bin/env bash
# What a newcomer meets. Usage: MODELS=FOLDER TURNLOOM_DATA=FOLDER studies/onboarding/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
python -m studies.onboarding.install
python -m studies.onboarding.tutorial --pictures docs/images
python -m tools.code_blocks
python -m tools.notebooks
python -m tools.site_check
python -m studies.onboarding.mistakes
python -m studies.onboarding.quickstart_intents models/turnloom-mini "$MODELS/all-MiniLM-L6-v2"
python -m studies.onboarding.hostile
python -m studies.onboarding.int8 models/turnloom-mini
python -m studies.onboarding.accessibility
python -m studies.onboarding.minutes
python -m studies.onboarding.mutants
python -m studies.onboarding.ci
python -m tools.house
