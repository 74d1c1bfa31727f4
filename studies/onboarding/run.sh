#!/usr/bin/env bash
# What a newcomer meets. Usage: studies/onboarding/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
python -m studies.onboarding.mistakes
python -m studies.onboarding.accessibility
