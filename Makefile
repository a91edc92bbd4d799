# Two commands do everything on a fresh machine with Python 3.11: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-long test-pandas2 check benchmarks clean

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

# pandas 2 beside the pandas 3 that is installed.
test-pandas2: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --target .venv/pandas2 --upgrade --no-deps "pandas<3" pytz python-dateutil six tzdata
	PYTHONPATH=.venv/pandas2 $(BIN)/pytest tests/events

benchmarks: .venv/installed
	for file in benchmarks/[a-z]*.py; do $(BIN)/python $$file || exit 1; done

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache
