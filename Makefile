# `make run` and `make test` work in a fresh clone: they set up .venv by themselves.
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2

.PHONY: run example kernels test test-full check bench clean

run: .venv/ready ## run the main job: the auction example, from files through Spark to this terminal
	$(BIN)/ontosub run examples/auction/pipeline.toml --once --state "$$(mktemp -d)/state"

example: .venv/ready ## the auction example in one process: who is notified of what, and why
	$(BIN)/python -m examples.auction

kernels: .venv/ready ## compile the kernels of the index, once for this machine and version
	$(BIN)/ontosub warm

# The kernels come first: tests have time limits, which compiling on a busy machine would take up.
test: kernels ## all tests but the slow proofs
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup --durations=20 -m "not full"

test-full: kernels ## all tests
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

check: .venv/ready ## style, types, layers, and that all tests can be imported
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --collect-only -qq

bench: .venv/ready ## speed, as ratios against other engines in the same run; half an hour
	mkdir -p build
	$(BIN)/ontosub bench -w ops --size 1k --size 10k --size 100k --csv build/ops.csv --plot build/ops.png
	$(BIN)/ontosub bench -w mixed --size 1k --size 10k --size 100k --csv build/mixed.csv --plot build/mixed.png
	$(BIN)/ontosub bench -w templates --size 1k --size 10k --size 100k --size 1M --csv build/templates.csv --plot build/templates.png
	$(BIN)/ontosub bench -w mixed --size 1M -e compiled --csv build/million.csv
	$(BIN)/ontosub bench --pipeline | tee build/pipeline.txt
	$(BIN)/ontosub bench --shards 1 --shards 2 --shards 4 --shards 8 | tee build/shards.txt
	$(BIN)/ontosub bench --composite | tee build/composite.txt
	$(BIN)/ontosub bench --composite --pipeline | tee build/composing.txt
	$(BIN)/ontosub bench -w lubm --bindings -e compiled -e oxigraph --csv build/lubm.csv
	$(BIN)/ontosub bench -w residual --size 1k --size 10k --bindings -e compiled -e oxigraph --csv build/residual.csv
	$(BIN)/ontosub bench -w lubm-residual --bindings -e compiled -e oxigraph --csv build/lubm-residual.csv

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build
	find src -name '*.nb[ci]' -delete
	find src -path '*/__pycache__/kernels*' -delete

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench,run]'
	touch $@
