# Every target makes its own virtual environment in .venv first and installs what it needs.
# All paths are relative: the checkout may lie anywhere.

PYTHON = .venv/bin/python
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Where a machine sets it, the suite takes half as long again: each process compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-codemode test check lint types slow nightly bench bench-demo clean setup

setup:
	@sh scripts/setup.sh

demo: setup
	@$(PYTHON) -m pi_batch run examples/fix-failing-test/task.yaml -m replay/examples/fix-failing-test/session.jsonl

demo-codemode: setup
	@sh examples/codemode-audit/run.sh

test: setup
	@$(PYTHON) -m pytest -q -n auto

check: lint types test slow

lint: setup
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m ruff check .
	@.venv/bin/lint-imports

types: setup
	@$(PYTHON) -m mypy

slow: setup
	@$(PYTHON) -m pytest -q -n auto -m "slow or fuzz or peer"
	@$(PYTHON) -m pytest -q -n auto -m "hypothesis and not slow and not fuzz and not peer and not live" --hypothesis-profile thorough

nightly: setup
	@PI_BATCH_FUZZ_S=600 $(PYTHON) -m pytest -q -m fuzz tests/codemode
	@PI_BATCH_SUITE_REPEAT=5 $(PYTHON) -m pytest -q -m slow tests/test_bench_suite.py

bench-demo: setup
	@$(PYTHON) -m scripts.bench_demo $(if $(FILTER),--filter '$(FILTER)')

bench: setup
	@$(PYTHON) -m scripts.bench

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
