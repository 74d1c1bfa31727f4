#!/usr/bin/env bash
# The steps of the Dockerfile in an empty environment, for where there is no container engine:
# a new virtual environment, the same installs from the same files, the same entry point, then one request.
# Usage: deploy/try-steps.sh MODEL_FOLDER [WORK_FOLDER]
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
model="$(realpath "$1")"
work="${2:-$(mktemp -d)}"
port="${PORT:-8765}"

mkdir -p "$work/context" "$work/serving"
cp "$here/pyproject.toml" "$here/README.md" "$here/LICENSE" "$work/context/"
cp -r "$here/src" "$work/context/"
cp -r "$model" "$work/serving/model"

run() { env -i HOME="$work/serving" PATH="$work/venv/bin:/usr/bin:/bin" HF_HUB_OFFLINE=1 DAFT_ANALYTICS_ENABLED=0 \
  PIP_DISABLE_PIP_VERSION_CHECK=1 ${PIP_CONFIG_FILE:+PIP_CONFIG_FILE="$PIP_CONFIG_FILE"} \
  ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} "$@"; }

python3 -m venv "$work/venv"
# A plain index has CPU builds of torch only under an exact version; TORCH names it.
run pip install -q "${TORCH:-torch==2.13.0}"
(cd "$work/context" && run pip install -q ".[serve]")

cd "$work/serving"
run turnloom serve --init | sed "s/^port: .*/port: $port/" > config.yaml
run turnloom serve config.yaml &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
  run python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$port/health/ready', timeout=2)" 2>/dev/null && break
  sleep 1
done
run python - "$port" <<'PYTHON'
import json, sys, urllib.request
asked = json.dumps({"model": "model", "input": "hello"}).encode()
request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/v1/embeddings", asked, {"Content-Type": "application/json"})
answer = json.load(urllib.request.urlopen(request, timeout=30))
print("dimensions:", len(answer["data"][0]["embedding"]))
PYTHON
kill -TERM "$server"
wait "$server" && echo "stopped cleanly"
