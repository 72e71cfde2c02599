# Tasks for working on semcache. `just --list` shows them.

# make .venv, with everything, semcache itself as an editable install
setup:
    python3 -m venv .venv
    .venv/bin/pip install -c constraints.txt -e '.[dev]'

# run the tests; arguments go to pytest: just test -m 'not model'
test *args:
    .venv/bin/pytest -n 2 {{args}}

# put reported faults back, one at a time, and see that the tests notice; arguments are kinds
mutants *kinds:
    .venv/bin/python -m tests.mutants {{kinds}}

# look for what ruff can see
lint:
    .venv/bin/ruff check
    .venv/bin/ruff format --check

# check the types with two checkers
type:
    .venv/bin/mypy --strict semcache tests/typing
    .venv/bin/pyright semcache tests/typing

# measure speed; results go to benchmarks/results
bench *args:
    .venv/bin/pytest benchmarks -p no:randomly {{args}}

# replay real questions through a simulated model
demo *args:
    .venv/bin/semcache demo {{args}}

# run what the CI runs, in a copy of the tracked files and a fresh virtual environment
ci:
    .ci/run
