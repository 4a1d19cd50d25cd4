#!/bin/sh
# Set up, then do the main job on the sample corpus: ingest, embed, index, print one related list.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh model
.venv/bin/recsys demo "$@"
