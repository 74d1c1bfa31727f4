#!/usr/bin/env bash
# Make what deploy/compose.yaml serves, in the current folder, unless it is there: the chats of a made-up shop, a model,
# intents, replies, a studio, and keys. Then print the addresses.
# Variables: HOST (the service listens at), SHOP (examples/shop.py), MODEL (turnloom-mini), CHATS, MINUTES (of training).
set -euo pipefail

new_key() { # NAME SCOPES: write the key to keys/NAME and its entry to keys/entries.
  turnloom serve --new-key "$1" --scopes "$2" >keys/new
  sed -n 's/^key: //p' keys/new | tr -d '\n' >"keys/$1"
  sed 1d keys/new >>keys/entries
  rm keys/new
}

if [ ! -e ready ]; then
  rm -rf keys && mkdir keys
  new_key page embeddings,intents,replies,intents:write,replies:write,feedback
  new_key prometheus metrics
  python -c 'import secrets; print(end=secrets.token_urlsafe(32))' >keys/studio

  python "$SHOP" chats.csv "$CHATS"
  turnloom quickstart chats.csv --start "$MODEL" --minutes "$MINUTES"
  # Quickstart keeps the better of two models; its configuration says which.
  model=$(sed -n 's/^  path: //p' quickstart/service.yaml | head -n 1)
  sed -i -e "s/^host: 127.0.0.1/host: $HOST/" -e 's/^keys: \[\].*/keys:/' -e '/^keys:/r keys/entries' quickstart/service.yaml
  turnloom studio studio --table quickstart/prepared --first --make-only --replies quickstart/replies \
    --model "quickstart/$model" --vectors "quickstart/vectors/$model"
  touch ready
fi

cat <<ADDRESSES
Service:    http://127.0.0.1:8000/  with the key $(cat keys/page)
Studio:     http://127.0.0.1:7860/?key=$(cat keys/studio)
Prometheus: http://127.0.0.1:9090/
Grafana:    http://127.0.0.1:3000/
ADDRESSES
