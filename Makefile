# `make run` and `make test` work in a fresh clone: they set up .venv by themselves.
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2

.PHONY: run test test-full check bench clean

run: .venv/ready ## run the main job: the auction example, who is notified of what and why
	$(BIN)/python -m examples.auction

test: .venv/ready ## all tests but the slow proofs
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "not full"

test-full: .venv/ready ## all tests
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

check: .venv/ready ## style, types, layers, docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/ready ## speed, as ratios against other engines in the same run
	$(BIN)/ontosub bench

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	touch $@
