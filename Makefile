# The few commands people type. Everything else is `.venv/bin/flotilla --help`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help render up down test lint check golden docs preview bench clean

help: ## list these commands
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.base: requirements/base.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "flotilla: $(PYTHON) is older than Python 3.11. Run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Setting up $(VENV) with the locked Python packages ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --require-hashes -r requirements/base.txt
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	@echo "Adding the locked development packages ..."
	@$(BIN)/pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

render: $(VENV)/.base ## write and summarise an environment's manifests (ENV=prod-aws); needs no cluster
	@$(BIN)/flotilla render $(or $(ENV),prod-aws)

up: $(VENV)/.base ## bring up the environment `local`: embedded cluster, platform, example job
	@$(BIN)/flotilla up

down: $(VENV)/.base ## remove all that `make up` made
	@$(BIN)/flotilla down

test: $(VENV)/.dev ## run every test, from unit to end-to-end
	@$(BIN)/pytest -m 'not e2e' -n auto -q
	@$(BIN)/flotilla toolchain build
	@$(BIN)/python -m tests.servers
	@$(BIN)/pytest -m e2e -n 2 --dist loadfile -v

lint: $(VENV)/.dev ## lint, format and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/basedpyright

check: lint ## lint, format, types and fast tests
	@$(BIN)/pytest -m 'not e2e' -n auto -q

golden: $(VENV)/.dev ## rewrite the golden manifests after a change you meant
	@$(BIN)/python -m tests.golden.rewrite

docs: $(VENV)/.dev ## rewrite the generated reference pages
	@$(BIN)/flotilla settings schema
	@$(BIN)/flotilla settings reference
	@$(BIN)/python -m policies.reference
	@$(BIN)/python -m ops.doctor.reference
	@$(BIN)/typer ops.cli utils docs --name flotilla --title 'Commands' --output docs/reference/commands.md

preview: $(VENV)/.base ## what `up` would change on a running environment (STACK=local)
	@eval "$$($(BIN)/flotilla env)" && pulumi preview --stack $(or $(STACK),local) --diff --policy-pack policies

bench: $(VENV)/.dev ## measure pulumi against kubectl, side by side, into docs/reference/benchmarks.md
	@$(BIN)/python -m bench

clean: down ## also remove the virtual environment and rendered manifests
	@rm -rf $(VENV) rendered
