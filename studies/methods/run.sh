#!/usr/bin/env bash
# Measures the training methods themselves. Needs MODELS: the folder that holds all-MiniLM-L6-v2.
set -euo pipefail
cd "$(dirname "$0")/../.."
python -m studies.methods.gradients
python -m studies.methods.memory "$MODELS/all-MiniLM-L6-v2"
