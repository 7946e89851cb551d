# Every target makes .venv first if it has to: Python >= 3.11 with pip, and make, are all that must be there.

PYTHON    ?= python3
JOBS      ?= 2
ARGS      ?=
SECONDS   ?= 60
COUNT     ?=
PIP_FLAGS ?= -qq --disable-pip-version-check

# Bytecode is kept whatever the environment says: tests start many processes.
export PYTHONDONTWRITEBYTECODE :=

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.ready-docs
WILD_READY := $(VENV)/.ready-wild

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-quick test-verify test-wild test-gpu fuzz lint format bench docs docs-serve clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: PYTHON=$(PYTHON)  JOBS=$(JOBS) (test processes)  ARGS= (more arguments for pytest or the benchmarks)"

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/python" if sys.version_info < (3, 11) else 0)'
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[dev]'
	@touch $@

demo: $(READY) ## a short tour: derivatives, native code, and a page that explains one
	@$(BIN)/python examples/demo.py $(ARGS)

test: $(READY) ## every test, with a few of its cases where it has many (others each time), and the doctests of the package
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --sample 2 $(ARGS)

test-all: $(READY) ## every case of every test, with twice as many random examples
	WENGERT_TEST_PROFILE=full $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(ARGS)

test-quick: $(READY) ## one case of each test that is not marked slow, with few random examples and little optimisation
	WENGERT_TEST_PROFILE=quick WENGERT_OPT=0 \
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not slow" --sample 1 $(ARGS)

$(WILD_READY): $(READY)
	@$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[wild]'
	@touch $@

test-verify: $(READY) ## as test, with every compiled function compared with plain Python at its first call
	WENGERT_VERIFY=1 WENGERT_OPT=0 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --sample 2 $(ARGS)

test-wild: $(WILD_READY) ## functions of public packages, eagerly and compiled, against differences
	WENGERT_WILD=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal tests/wild $(ARGS)

test-gpu: $(READY) ## the walk over ops and modes, programs and kernels on a GPU, with CuPy (which must be installed)
	$(BIN)/python -m pytest -q tests/gpu tests/test_device_math.py tests/test_device_programs.py $(ARGS)

fuzz: $(READY) ## random programs in every composition: make fuzz SECONDS=600, or COUNT=1000 programs; shrinks what fails
	cd tests && PYTHONPATH=.. ../$(BIN)/python -m fuzz hunt --jobs $(JOBS) $(if $(COUNT),--count $(COUNT),--seconds $(SECONDS)) $(ARGS)

lint: $(READY) ## ruff (lint and format) and mypy; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## let ruff mend and format the source
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## benchmarks, side by side with other packages (which get a venv of their own)
	$(BIN)/python benchmarks/run.py $(ARGS)

$(DOCS_READY): $(READY)
	@$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[docs]'
	@touch $@

docs: $(DOCS_READY) ## build the documentation into site/; fails on a broken link
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

docs-serve: $(DOCS_READY) ## the documentation in a browser, built anew whenever a page changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

clean: ## remove everything that the other targets made
	rm -rf $(VENV) .venv-* benchmarks/.venv* build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
