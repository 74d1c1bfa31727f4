#!/usr/bin/env bash
# The flagship from nothing: corpus, three seeds, ablation, held-out sets, adaptation, tables. Needs TURNLOOM_DATA and MODELS (the folder
# that holds all-MiniLM-L6-v2). What is there is skipped; an arm that was interrupted goes on.
set -euo pipefail
cd "$(dirname "$0")/../.."
held="intent-1shot-dstc11_intent,intent-5shot-dstc11_intent,intent-1shot-bitext_support,intent-5shot-bitext_support"
next="select-topical_chat-next,select-topical_chat-next-heads"
bash studies/lib/tier_a.sh
python -m studies.flagship.arms "$MODELS"
python -m studies.flagship.ablation "$MODELS"
python -m studies.lib.results flagship start "$MODELS/all-MiniLM-L6-v2" --tasks "$held,$next" --bf16
for seed in 0 1 2; do
  python -m studies.lib.results flagship "final-seed$seed" "runs/flagship/final-seed$seed" --tasks "$held,$next" --bf16
done
python -m studies.flagship.package runs/flagship/final-seed0 models/turnloom-mini
python -m studies.flagship.adapt "$MODELS/all-MiniLM-L6-v2" models/turnloom-mini
python -m studies.flagship.figures
python -m studies.flagship.page
