#!/bin/sh
# Runs every check to its end, whether or not one before it failed, and says at the end which did.
cd "$(dirname "$0")/.." || exit 1
PATH="$PWD/.venv/bin:$PATH"
failed=

check() {
    name=$1
    shift
    "$@" || failed="$failed $name"
}

check format .venv/bin/python -m ruff format --check --quiet .
check format-javascript tests/js/node_modules/.bin/biome format --reporter=summary .
check lint .venv/bin/python -m ruff check --quiet .
check types .venv/bin/python -m mypy
check imports .venv/bin/lint-imports --no-logo
check javascript tests/js/node_modules/.bin/tsc -p tests/js/tsconfig.json
check files .venv/bin/python .make/files.py --check
check architecture .venv/bin/python -m pytest -q tests/test_architecture.py

[ -z "$failed" ] || { echo "Failed:$failed" >&2; exit 1; }
