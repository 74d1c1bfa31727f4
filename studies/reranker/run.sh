#!/usr/bin/env bash
# Measures the re-ranker. Needs TURNLOOM_DATA, MODELS (the folder that holds all-MiniLM-L6-v2) and ENCODER (the folder of the
# encoder that retrieves). What is measured already is skipped; an arm that was interrupted goes on. All of it wants the machine
# for itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
have() { grep -q "\"$1\"" studies/reranker/figures.json 2>/dev/null; }
bash studies/lib/tier_a.sh
python -m studies.reranker.arms "$MODELS"
have bm25_rerank_top1 || python -m studies.reranker.retrieval "$ENCODER" runs/reranker/{selection,ums,self-adversarial}
have int8_reranker_r10_at_1_change || python -m studies.reranker.int8 "$ENCODER" runs/reranker/ums
if ! have turnloom.r10_at_1; then
  python -m studies.lib.results reranker turnloom models/turnloom-mini --suite ums
  rm -rf runs/reranker/turnloom-all-turns && cp -r models/turnloom-mini runs/reranker/turnloom-all-turns
  sed -i 's/"max_turns": 3/"max_turns": null/' runs/reranker/turnloom-all-turns/turnloom.json
  python -m studies.lib.results reranker turnloom-all-turns runs/reranker/turnloom-all-turns --suite ums
fi
if ! have rerank.r10_at_1; then
  # studies/conversation makes the vectors and the conversation encoders.
  for seed in 0 1 2; do
    turnloom train rerank runs/conversation/vectors --start "runs/conversation/seed$seed" --out "runs/reranker/rerank$seed" --set "seed=$seed"
  done
  python -m studies.reranker.turn_level suite runs/reranker/rerank{0,1,2}
  python -m studies.reranker.turn_level appropriate runs/reranker/rerank{0,1,2}
  python -m studies.reranker.turn_level speed runs/reranker/rerank0
fi
if ! have ums_tasks_gain; then
  # All over the conversation encoder of turnloom-mini: the tasks are all that differs.
  for seed in 0 1 2; do
    for name in plain tasks; do
      asked=$([ "$name" = tasks ] && echo "[insertion,deletion,search]" || echo "[]")
      [ -e "runs/reranker/$name$seed/training/result.json" ] || turnloom train rerank runs/conversation/vectors \
        --start models/turnloom-mini --out "runs/reranker/$name$seed" --set "seed=$seed" --set "tasks=$asked"
    done
  done
  python -m studies.reranker.turn_level tasks runs/reranker/plain{0,1,2} runs/reranker/tasks{0,1,2}
fi
python -m studies.reranker.plots runs/reranker/ums
python -m studies.reranker.figures
python -m studies.reranker.page
