#!/usr/bin/env bash
# Measures the re-ranker. Needs TURNWISE_DATA, MODELS (the folder that holds all-MiniLM-L6-v2) and ENCODER (the folder of the
# encoder that retrieves). What is measured already is skipped; an arm that was interrupted goes on. All of it wants the machine
# for itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
start="$MODELS/all-MiniLM-L6-v2"
corpus=runs/tier-a
have() { grep -q "\"$1\"" studies/reranker/figures.json 2>/dev/null; }
[ -e "$corpus/manifest.json" ] || turnwise prepare sgd multiwoz21 taskmaster self_dialogue star ubuntu_irc casino smcalflow \
  synthetic_persona_chat dstc2_babi6 chatterbot_en --split train --hold-out dse,diaeval --out "$corpus"
python -m studies.reranker.arms "$start" "$corpus"
have bm25_rerank_top1 || python -m studies.reranker.retrieval "$ENCODER" runs/reranker/ums
have int8_reranker_p95_ms_50 || python -m studies.reranker.int8 "$ENCODER" runs/reranker/ums
python -m studies.reranker.plots runs/reranker/ums
python -m studies.reranker.figures
