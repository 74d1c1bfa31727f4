#!/usr/bin/env bash
# What stays flat as a corpus grows. FOLDER takes up to 60 GB for ten million replies. Needs TURNLOOM_DATA, and MODELS (a folder with all-MiniLM-L6-v2).
# VECTORS: a vector table of the open sets (studies/conversation/run.sh makes runs/conversation/vectors). Nothing else should compute meanwhile.
# Skips what figures.json already holds; delete a line there to measure it again.
# Usage: studies/scale/run.sh FOLDER VECTORS
set -euo pipefail
folder=$(realpath "$1") vectors=$(realpath "$2")
cd "$(dirname "$0")/../.."
base="$MODELS/all-MiniLM-L6-v2"
have() { grep -q "\"$1\"" studies/scale/figures.json 2>/dev/null; }
have near_recall || python -m studies.corpus.near
have near_ray_hash_equals_native || python -m studies.corpus.on_ray
have near_kill_runs || python -m studies.corpus.kill
have near_flatness || python -m studies.scale.near "$folder"
have encode_ratio_to_bare || python -m studies.scale.encode ratio "$folder" "$base"
have encode_kill_resume_equal || python -m studies.scale.encode kill "$folder" "$base"
have encode_ray_equals_native || python -m studies.scale.encode ray "$folder" "$base"
have encode_10m_done || python -m studies.scale.encode many "$folder" "$base"
have replies_10m_p95_ms || python -m studies.scale.replies "$vectors" "$folder/replies" 1000000 3000000 10000000
have conversation_stream_ratio_to_memory || python -m studies.scale.stream "$vectors"
have data_curve_points || python -m studies.scale.data_curve "$vectors" models/turnloom-mini "$folder/curve"
