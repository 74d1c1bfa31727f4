#!/usr/bin/env bash
# Measures the corpus layer. Needs TURNLOOM_DATA and about 6 GB for the scale study (in $SCALE_FOLDER, else runs/scale).
# Skips what figures.json already holds; delete a line there to measure it again.
set -euo pipefail
cd "$(dirname "$0")/../.."
have() { grep -q "\"$1\"" studies/corpus/figures.json 2>/dev/null; }
have tier_a_dialogues || python -m studies.corpus.sizes
have export_formats_read || python -m studies.corpus.exports
have fuzz_records_per_reader || python -m studies.corpus.fuzz
have import_seconds || python -m studies.corpus.startup
have pairs_over_3_words || python -m studies.corpus.on_ray
have near_duplicate_recall || python -m studies.corpus.near
have scrub_recall || python -m studies.corpus.scrubbing
have pii_own_recall || python -m studies.corpus.privacy "${SPACY_MODEL:-en_core_web_sm}"
have kill_runs || python -m studies.corpus.kill
have scale_37m_peak_gib || python -m studies.corpus.scale "${SCALE_FOLDER:-runs/scale}"
