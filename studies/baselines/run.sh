#!/usr/bin/env bash
# Measures the baselines that need no training. Needs TURNLOOM_DATA, and MODELS: the folder that holds all-MiniLM-L6-v2
# and gte-small. Tasks whose result is there are not run again.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=studies/baselines
mini="$MODELS/all-MiniLM-L6-v2"
measure() { python -m studies.lib.results baselines "$2" "$1" --suite all --bf16; }
measure "$mini" all-MiniLM-L6-v2
measure bm25 bm25
measure "static:$mini" static
measure "$MODELS/gte-small" gte-small
measure "whitening:$mini" whitening
measure "cls:$mini" cls
measure tfidf tfidf
python -m studies.baselines.figures
python -m studies.baselines.known_answers
have() { grep -q "\"$1\"" $here/figures.json 2>/dev/null; }
have quick_suite_minutes || python -m studies.baselines.speed "$mini"
have probe_minutes || python -m studies.baselines.probes "$mini"
have interval_coverage || python -m studies.baselines.intervals
python -m studies.baselines.report
