#!/usr/bin/env bash
# Measures groups, names, states and scale. Needs TURNLOOM_DATA, MODELS (all-MiniLM-L6-v2, gte-small), SPACY_PIPELINE (an English spaCy
# pipeline) and BERTOPIC (the Python of an environment with bertopic, umap-learn and hdbscan).
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMP_NUM_THREADS=1
folder=runs/discovery/bertopic
python -m studies.discovery.induction validation
python -m studies.discovery.induction test
python -m studies.discovery.induction kmeans
python -m studies.discovery.induction names
python -m studies.discovery.induction export "$folder"
"$BERTOPIC" studies/discovery/bertopic_run.py "$folder"
python -m studies.discovery.induction bertopic "$folder"
python -m studies.discovery.flow test
python -m studies.discovery.scale 100000
python -m studies.discovery.scale 1000000
