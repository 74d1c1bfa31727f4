#!/usr/bin/env bash
# All measurements of the service. Nothing else should compute meanwhile; `faults` needs root, to mount a small disk.
# Usage: studies/service/run.sh EXPORTED_INT8_ENCODER EXPORTED_INT8_RERANKER
set -euo pipefail
cd "$(dirname "$0")/../.."
work="$(mktemp -d)"
python -m studies.service.refusals "$1" --work "$work/plain"
python -m studies.service.load "$1" --work "$work/plain"
python -m studies.service.overload "$1" --work "$work/overload" --reranker "$2"
python -m studies.service.faults "$1" --work "$work/faults"
python -m studies.service.supervision
python -m studies.service.fuzz "$1" --work "$work/fuzz"
python -m studies.service.crossings "$1" --work "$work/crossings"
python -m studies.service.personal_data "$1" --work "$work/personal"
python -m studies.service.traced "$1" --work "$work/traced"
python -m studies.service.tenant_overhead "$1" --work "$work/plain"
python -m studies.service.memory "$1" --work "$work/memory"
python -m studies.service.soak "$1" --work "$work/soak" --reranker "$2"
python -m studies.service.erasure "$1" --work "$work/erasure"
python -m studies.service.flips "$1" --work "$work/flips"
python -m studies.service.restore "$1" --work "$work/restore"
