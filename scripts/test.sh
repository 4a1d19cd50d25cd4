#!/bin/sh
# Set up, then run every check that CI runs. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
.venv/bin/pytest -n auto --cov --cov-report=term:skip-covered "$@"
