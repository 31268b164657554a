# Two commands on a fresh machine: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-slow test-oldest wheel docs test-docs bench fuzz clean

help:            ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.core   ## install into .venv and solve a small problem, with a proof
	$(BIN)/dsprog demo

test: $(VENV)/.test   ## lint, type check and run the tests
	$(BIN)/ruff check dsprog dsprog_command.py tests benchmarks examples fuzz docs
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	$(BIN)/pytest -n 2 -m "not slow and not site"

test-slow: $(VENV)/.test   ## the tests that take minutes
	$(BIN)/pytest -n 2 -m slow

test-oldest:     ## the tests on the oldest supported dependencies, in an environment of their own
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test]" -c oldest.txt
	$(VENV)-oldest/bin/pytest -n 2 -m "not slow and not site"

wheel: $(VENV)/.test   ## build a wheel and an sdist, check them, and try the wheel in an empty environment
	rm -rf dist $(VENV)-wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd / && $(CURDIR)/$(VENV)-wheel/bin/python -m dsprog demo

docs: $(VENV)/.docs   ## build the site, with its gallery, into docs/_build/html
	cd docs && ../$(BIN)/python -m sphinx -b html -W --keep-going -q . _build/html
	@echo "the site is docs/_build/html/index.html"

test-docs: docs   ## look at every page of the site in Chromium (Debian's package chromium, or Chrome)
	$(BIN)/pytest -m site tests/site

bench: $(VENV)/.test   ## the figures of benchmarks/README.md
	$(BIN)/python -m benchmarks.primitives

MINUTES ?= 10
SEED ?= 0
fuzz: $(VENV)/.test   ## random problems, killed runs and mutated files against a referee: MINUTES=10 SEED=0
	$(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED)

clean:           ## remove the environment and all caches
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-wheel build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@

$(VENV)/.docs: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@
