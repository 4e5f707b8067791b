# `make demo` and `make test` need nothing but Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DATA ?= ../shared/data
SECONDS ?= 60
NEW_ENOUGH := 'import sys; sys.version_info >= (3, 11) or sys.exit( \
    "Python 3.11 or newer is needed, and this is " + sys.version.split()[0] \
    + ". If there is one by another name: make PYTHON=python3.12 ...")'

.PHONY: install dev demo serve test test-slow docs docs-serve fuzz bench clean

install: .venv/installed
dev: .venv/installed-dev

# What is not compiled here Python compiles when it is imported: half the time.
.venv/installed: pyproject.toml
	@$(PYTHON) -c $(NEW_ENOUGH)
	@echo "Installing NumPy, SciPy, scikit-learn, Numba and others into .venv: about half a minute."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) --no-compile --editable .
	@touch $@

.venv/installed-dev: pyproject.toml
	@$(PYTHON) -c $(NEW_ENOUGH)
	@echo "Installing the library and its development tools into .venv: about a minute."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) --editable '.[dev]'
	@touch .venv/installed $@

.venv/installed-docs: .venv/installed
	$(PIP) --editable '.[docs]'
	@touch $@

.venv/installed-fuzz: .venv/installed
	$(PIP) --editable '.[fuzz]'
	@touch $@

.venv/installed-recipes: .venv/installed
	$(PIP) --editable '.[recipes]'
	@touch $@

.venv/installed-serve: .venv/installed
	@echo "Installing FastAPI and what else the service needs: some seconds."
	@$(PIP) --no-compile --editable '.[serve]'
	@touch $@

demo: install
	$(BIN)/manylabel demo

serve: .venv/installed-serve
	$(BIN)/manylabel serve models/ --example

test: dev
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check

# Where an engine does not install, its tests are skipped and say so.
.venv/installed-cluster: .venv/installed
	for engine in dask ray spark; do \
	    $(PIP) --editable ".[$$engine]" || true; \
	done
	@touch $@

test-slow: dev .venv/installed-docs .venv/installed-fuzz .venv/installed-cluster \
		.venv/installed-recipes
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check-slow

docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open site/index.html, or run: make docs-serve"

docs-serve: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

fuzz: dev .venv/installed-fuzz
	$(BIN)/python -m fuzz --seconds $(SECONDS)

bench: dev
	$(BIN)/python -m benchmarks peers --quick --data $(DATA)

clean:
	rm -rf .venv build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
