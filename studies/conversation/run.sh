#!/usr/bin/env bash
# Trains conversation encoders over turnloom-mini with three seeds, and measures them. Each run takes at most 45 minutes on one core; finished steps are skipped.
# Needs TURNLOOM_DATA (the public sets) and MODELS (a folder with all-MiniLM-L6-v2, gte-small and all-mpnet-base-v2).
set -euo pipefail
cd "$(dirname "$0")/../.."
mini=runs/conversation/today
runs=runs/conversation
mkdir -p "$runs"
[ -e "$mini/config.json" ] || python -c "from studies.conversation.measure import without_conversation as copy; copy('models/turnloom-mini', '$mini')"
[ -e "$runs/tier-a/manifest.json" ] || turnloom prepare sgd multiwoz21 taskmaster self_dialogue star ubuntu_irc smcalflow \
  dstc2_babi6 chatterbot_en --split train --hold-out dse,diaeval,ums --out "$runs/tier-a"
turnloom vectors "$runs/tier-a" --model "$mini" --bf16 --out "$runs/vectors"
for seed in 0 1 2; do
  [ -e "$runs/seed$seed/training/result.json" ] || turnloom train conversation "$runs/vectors" --start "$mini" \
    --set "seed=$seed" --out "$runs/seed$seed" \
    $([ -e "$runs/seed$seed/training" ] && echo --resume)
done
models=("$MODELS/all-MiniLM-L6-v2" "$mini" "$runs/seed0" "$runs/seed1" "$runs/seed2")
python -m studies.conversation.measure seen "${models[@]}"
python -m studies.conversation.measure unseen "${models[@]}"
python -m studies.conversation.measure figures "${models[@]}"
for corpus in airline dailydialog mudoco; do python -m studies.conversation.adapt "$corpus" "${models[@]}"; done
python -m studies.conversation.encoders minilm="$MODELS/all-MiniLM-L6-v2" gte="$MODELS/gte-small" mpnet="$MODELS/all-mpnet-base-v2"
python -m studies.conversation.speed incremental "$runs/seed0"
python -m studies.conversation.speed training "$runs"/seed?
for what in ratio ray kill; do python -m studies.conversation.vectors "$what" "$runs/slices"; done
