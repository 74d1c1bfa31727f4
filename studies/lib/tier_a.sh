#!/usr/bin/env bash
# Prepares the conversations that the studies train on, unless they are there: eleven open sets, without what benchmarks test.
set -euo pipefail
corpus=runs/tier-a
[ -e "$corpus/manifest.json" ] || turnloom prepare sgd multiwoz21 taskmaster self_dialogue star ubuntu_irc casino smcalflow \
  synthetic_persona_chat dstc2_babi6 chatterbot_en --split train --hold-out dse,diaeval --out "$corpus"
