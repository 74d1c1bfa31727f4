#!/usr/bin/env bash
# Make a studio of the chats of a made-up tea shop, and open it. Usage: bash examples/shop_studio.sh [FOLDER]
set -euo pipefail
folder=${1:-shop-studio}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
if [ ! -e "$folder/studio/studio.json" ]; then
  python "$here/shop.py" "$folder/chats.csv"
  turnloom prepare "$folder/chats.csv" --out "$folder/prepared"
  turnloom replies build "$folder/prepared" --model turnloom-mini --out "$folder/replies"
  turnloom studio "$folder/studio" --table "$folder/prepared" --first --replies "$folder/replies" --make-only
fi
turnloom studio "$folder/studio"
