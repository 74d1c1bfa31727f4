#!/usr/bin/env bash
# Measures intents. Needs TURNLOOM_DATA; MODEL: the encoder's folder; MODELS: the folder that holds all-MiniLM-L6-v2; and the
# extra 'bench' for SetFit. What is measured already is skipped. The speed wants the machine for itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
have() { grep -q "\"$1\"" studies/applications/figures.json 2>/dev/null; }
have false_reject_error_max || python -m studies.applications.intents_rates "$MODEL"
have fit_seconds || python -m studies.applications.intents_speed "$MODEL"
have context_gain_points || python -m studies.applications.intents_context "$MODEL"
have labels_suggested || python -m studies.applications.intents_growth "$MODEL"
have setfit.clinc150_in_accuracy || python -m studies.applications.intents_accuracy "$MODEL" "$MODELS/all-MiniLM-L6-v2"
