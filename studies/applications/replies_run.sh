#!/usr/bin/env bash
# Measures reply search. Needs TURNLOOM_DATA; MODEL: the encoder's folder; CORPUS: a prepared dialogue table (tier A); perhaps
# RERANKER: a cross-encoder's folder; and about 8 GB in $SCALE_FOLDER, else runs/replies. Skips what is measured already.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder="${SCALE_FOLDER:-runs/replies}"
have() { grep -q "\"$1\"" studies/applications/figures.json 2>/dev/null; }
have replies_1m_recall_at_10 || python -m studies.applications.replies_scale "$MODEL" "$CORPUS" "$folder"
have kill_runs || python -m studies.applications.replies_kill "$MODEL"
have end_to_end_top1 || python -m studies.applications.replies_end_to_end "$MODEL" "$folder" ${RERANKER:+"$RERANKER"}
