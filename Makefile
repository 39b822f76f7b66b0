# Everything happens in .venv, which .make/setup.sh makes, fills and repairs as needed.
# PYTHON names the Python to make it with; HOST and PORT say where `make run` serves.

.DEFAULT_GOAL := help
.PHONY: help run test test-slow check bench format clean

setup := sh .make/setup.sh
python := .venv/bin/python

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: ## Serve PageWalk on this machine (HOST, PORT; default http://127.0.0.1:8000)
	@$(setup) run
	@exec $(python) -m app

test: check ## Run every check and every test, the browser's too
	@cd tests/js && PATH="$(CURDIR)/.venv/bin:$$PATH" node --test
	@$(python) -m pytest -n 2 --dist worksteal

test-slow: ## Run the tests that take minutes: thousands of generated scenarios
	@$(setup) test
	@$(python) -m pytest -m slow

check: ## Check format, style, types and dependency rules, Python and JavaScript
	@$(setup) test
	@sh .make/check.sh

bench: ## Print figures of speed, as ratios taken in one run
	@$(setup) bench
	@$(python) -m tests.bench
	@$(python) -m tests.bench_links
	@$(python) -m tests.bench_page

format: ## Lay the code out, and write the list of files in CONTRIBUTING.md
	@$(setup) test
	@$(python) -m ruff check --quiet --fix-only --select I .
	@$(python) -m ruff format .
	@tests/js/node_modules/.bin/biome format --write .
	@$(python) .make/files.py

clean: ## Remove what the other targets made
	@rm -rf .venv tests/js/node_modules .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	@find app tests .make -name __pycache__ -type d -prune -exec rm -rf {} +
