# Two commands on a fresh machine: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-slow lint bench fuzz clean

help:            ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.core   ## install into .venv and solve a small problem, with a proof
	$(BIN)/dsprog demo

test: $(VENV)/.test   ## lint, type check and run the tests
	$(BIN)/ruff check dsprog tests benchmarks examples fuzz
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	$(BIN)/pytest -n 2 -m "not slow"

test-slow: $(VENV)/.test   ## the tests that take minutes
	$(BIN)/pytest -n 2 -m slow

bench: $(VENV)/.test   ## the figures of benchmarks/README.md
	$(BIN)/python -m benchmarks.primitives

MINUTES ?= 10
SEED ?= 0
fuzz: $(VENV)/.test   ## random problems, killed runs and mutated files against a referee: MINUTES=10 SEED=0
	$(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED)

clean:           ## remove the environment and all caches
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@
