#!/usr/bin/env bash
# Other languages: made-up shops, Chinese similarity, retrieval, replies and intents, and intents across languages.
# Needs TURNLOOM_DATA (the public sets) and turnloom[bench]. Finished steps are skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=runs/languages
base=universal-sentence-encoder
mkdir -p "$runs"
python -m studies.languages.scripts "$runs/shops"
for name in crosswoz_zh xdailydialog_zh; do
  [ -e "$runs/$name-train/manifest.json" ] || turnloom prepare "$name" --split train \
    --hold-out dialoguecse,cdconv_zh,crosswoz_zh,xdailydialog_zh --out "$runs/$name-train"
  turnloom vectors "$runs/$name-train" --model "$base" --out "$runs/vectors-$name"
done
[ -e "$runs/crosswoz_zh-test/manifest.json" ] || turnloom prepare crosswoz_zh --split test --out "$runs/crosswoz_zh-test"
vectors=("$runs/vectors-crosswoz_zh" "$runs/vectors-xdailydialog_zh")
python -m studies.languages.chinese "${vectors[@]}" --cache "$runs/cache"
for seed in 0 1 2; do
  [ -e "$runs/conversation-$seed/training/result.json" ] || turnloom train conversation "${vectors[@]}" --start "$base" \
    --set "seed=$seed" --set steps=600 --out "$runs/conversation-$seed" \
    $([ -e "$runs/conversation-$seed/training" ] && echo --resume)
done
python -m studies.languages.conversations "$runs" "$runs"/conversation-?
python -m studies.languages.intents --cache "$runs/cache"
