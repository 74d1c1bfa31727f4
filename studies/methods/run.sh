#!/usr/bin/env bash
# Measures training and the methods. Needs TURNLOOM_DATA, and MODELS: the folder that holds all-MiniLM-L6-v2 and a spaCy
# pipeline. What is measured already is skipped; an arm that was interrupted goes on. The arms want the machine for themselves.
set -euo pipefail
cd "$(dirname "$0")/../.."
start="$MODELS/all-MiniLM-L6-v2" pipeline="$MODELS/en_core_web_sm-3.6.0"
corpus=runs/tier-a
have() { grep -q "\"$1\"" studies/methods/figures.json 2>/dev/null; }
have gradient_max_relative_error_processes || python -m studies.methods.gradients
have cached_4096_peak_gib_above_model || python -m studies.methods.memory "$start"
have resume_runs || python -m studies.methods.resume
bash studies/lib/tier_a.sh
have view_rows_per_second || python -m studies.methods.view_speed "$corpus"
have train_speed_ratio_to_bare || python -m studies.methods.speed "$start" "$corpus"
have mge_cost_ratio || python -m studies.methods.matching_cost "$start" "$corpus"
[ -e runs/slots/manifest.json ] || python -m studies.methods.templates "$pipeline" runs/slots
python -m studies.methods.arms "$MODELS"
have compression.snips.tagger.weight || python -m studies.methods.compression runs/methods/tadse "$pipeline"
python -m studies.methods.figures
python -m studies.methods.page
