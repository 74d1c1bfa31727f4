#!/usr/bin/env bash
# Measures intents from names, examples and pools. Finished cells are skipped; about an hour of one core after the messages are encoded.
# Needs TURNLOOM_DATA (the public sets). Other tools: see peers_export.py and peers_run.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
python -m studies.intents.measure test
python -m studies.intents.measure held-out
python -m studies.intents.measure airline --shots 1,0
python -m studies.intents.speed
python -m studies.intents.summary
