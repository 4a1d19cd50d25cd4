#!/bin/sh
# Make .venv here and install recsys into it, with the extras named: sh scripts/setup.sh model
# PYTHON names the interpreter. torch comes first and by itself, so that no other package chooses its build.
set -eu
cd "$(dirname "$0")/.."
[ -d .venv ] || "${PYTHON:-python3}" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$1]"
