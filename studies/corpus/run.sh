#!/usr/bin/env bash
# Measures the corpus layer. Needs TURNWISE_DATA; skips what figures.json already holds (delete a line to measure it again).
set -euo pipefail
cd "$(dirname "$0")/../.."
have() { grep -q "\"$1\"" studies/corpus/figures.json 2>/dev/null; }
have tier_a_dialogues || python -m studies.corpus.sizes
have fuzz_records || python -m studies.corpus.fuzz
have import_seconds || python -m studies.corpus.startup
have ci_minutes || python -m studies.corpus.ci
