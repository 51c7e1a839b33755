PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# A Python that is named, by command line or environment, must be the one behind the environment.
WHICH := import sys; print(sys.base_prefix, sys.version)
ifneq ($(origin PYTHON),file)
CHANGED := $(shell test ! -e $(INSTALLED) || \
	test "$$($(PYTHON) -c '$(WHICH)')" = "$$($(BIN)/python -c '$(WHICH)')" || echo ANEW)
endif

.PHONY: ANEW venv test test-fast check benchmark benchmark-full clean

venv: $(INSTALLED)

$(INSTALLED): setup.cfg setup.py pyproject.toml $(CHANGED)
	@command -v $(PYTHON) >/dev/null || \
		{ echo "error: $(PYTHON) was not found; name one with make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: Python 3.11 or newer is needed, but $(PYTHON) is" \
		"$$($(PYTHON) -V 2>&1); name another with make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@echo "installing gym_codefix and what it needs into $(VENV)"
	@# compat: a path entry, which a folder named gym_codefix beside a script cannot shadow
	$(BIN)/python -m pip install --quiet --config-settings editable_mode=compat --editable '.[dev]'
	@touch $@

test: $(INSTALLED)
	$(BIN)/python -m pytest

test-fast: $(INSTALLED)
	$(BIN)/python -m pytest -m 'not slow and not redteam'

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: $(INSTALLED)
	$(BIN)/python benchmarks/run.py

benchmark-full: $(INSTALLED)
	$(BIN)/python benchmarks/run.py --agents noop random search@1 search@10 search@100 gold \
		--loop-agents noop random scripted gold
	$(BIN)/python benchmarks/run.py --env simple --suite full --agents noop search@1 gold
	$(BIN)/python benchmarks/run.py --env full --suite dependency-lite --loop-agents noop random scripted gold

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
