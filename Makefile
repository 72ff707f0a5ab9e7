# The short way to everything: `make help` lists it. Set-up is part of every task that needs it
# and costs nothing when it is done.
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help setup up check lint test long images fix lock clean

BIN := .venv/bin
PYTEST := $(BIN)/pytest
POSTGRES_15 := /usr/lib/postgresql/15/bin
# Two workers, for what holds browsers and whole processes too: those mostly wait.
BESIDE := -n 2

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name words; do printf 'make %-8s %s\n' "$$name" "$$words"; done

setup: ## make .venv, node_modules and a browser ready; says what is missing
	@sh requirements/setup.sh

up: setup ## start everything, capture two builds of the example, print the link (ONCE=1 ends then, BROKEN=1 breaks a story)
	@ONCE="$(ONCE)" BROKEN="$(BROKEN)" exec $(BIN)/python -m examples.try_it

check: lint ## lint, then the quick tests: what to run before a commit
	@$(PYTEST) -q -m "not browser and not flow and not long" $(BESIDE)

lint: setup ## format, style, contracts, types, unused code, dependencies; fastest first
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/vulture
	$(BIN)/deptry .
	$(BIN)/mypy

test: setup ## all tests but the long ones
	@ended=0; \
	$(PYTEST) -m "not browser and not flow and not long" $(BESIDE) || ended=1; \
	$(PYTEST) -m "(browser or flow) and not long" $(BESIDE) || ended=1; \
	exit $$ended

long: setup ## the long tests, faults on purpose at length, and the database tests on a system PostgreSQL 15
	@test -x $(POSTGRES_15)/initdb || { echo "PostgreSQL 15 is missing. This mends it: apt-get install -y postgresql-15" >&2; exit 1; }
	@ended=0; \
	STORYSHELF_TEST_POSTGRES=system $(PYTEST) -m "database and not browser and not flow and not long" $(BESIDE) || ended=1; \
	$(PYTEST) -m long --timeout 1800 || ended=1; \
	$(BIN)/python -m bench chaos || ended=1; \
	exit $$ended

images: setup ## build the images of docker/, capture a build with them, print their sizes (STORAGE=DIR keeps buildah's)
	@STORAGE="$(STORAGE)" exec $(BIN)/python -m docker.images

fix: setup ## format, and mend what ruff can mend
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

lock: ## renew requirements/*.txt from pyproject.toml (needs uv on PATH: pip install uv)
	@command -v uv >/dev/null || { echo "uv is missing. This mends it: pip install uv" >&2; exit 1; }
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" -o requirements/runtime.txt
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" --extra dev -o requirements/dev.txt
	uv pip compile requirements/bench.in --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" -o requirements/bench.txt

clean: ## remove what set-up and the tools made
	rm -rf .venv node_modules .setup dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
