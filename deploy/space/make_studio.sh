#!/usr/bin/env bash
# Make the studio that app.py opens, of the chats of a made-up shop. Usage: make_studio.sh [CONVERSATIONS]
set -euo pipefail
model=${MODEL:-turnloom-mini}
python shop.py chats.csv "${1:-900}"
turnloom prepare chats.csv --out prepared
turnloom replies build prepared --model "$model" --out replies
turnloom studio studio --table prepared --model "$model" --first --replies replies --make-only
