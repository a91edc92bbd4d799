# Two commands do everything on a fresh machine with Python 3.11: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-long check benchmarks clean

.venv/installed: pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@

demo: .venv/installed
	$(BIN)/beforehand demo --out demo

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/pytest

test-long: .venv/installed
	$(BIN)/pytest -m "long or not long"

benchmarks: .venv/installed
	for file in benchmarks/[a-z]*.py; do $(BIN)/python $$file || exit 1; done

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache
