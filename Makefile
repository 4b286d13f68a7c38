# Two commands for a fresh clone: `make demo` and `make test`. Everything else is for those who work on Naru.
.PHONY: demo test test-fast check format reference lock clean bench model-1.5b
.DEFAULT_GOAL := help
PY := .venv/bin/python
# Two workers a core of a small machine, since they wait as long as they work; three where nothing waits for programs.
# What shares an engine or a database stays in one of them (tests/conftest.py).
DEALT = --dist loadgroup --no-loadscope-reorder
WORKERS = -n 4 $(DEALT)
test-fast: WORKERS = -n 3 $(DEALT)
export PYTHONUTF8 := 1
# Images of Python often forbid byte code; each process that tests and demo start would compile its modules anew.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make demo       the main job: a real small model answers from real tools"
	@echo "make test       every test"
	@echo "make test-fast  those without the engine, browsers, databases and npm"
	@echo "make check      lint, types, layers, sizes, the same tests everywhere"
	@echo "make model-1.5b the better model (1.1 GB), for --model qwen2.5-coder-1.5b"
	@echo "make reference  docs/reference from the code"
	@echo "make lock       resolve requirements.lock anew"

.venv/.ready: requirements.lock requirements-uv.lock pyproject.toml scripts/bootstrap
	@scripts/bootstrap

demo: .venv/.ready
	@.venv/bin/naru demo

model-1.5b: .venv/.ready
	.venv/bin/uv pip install --require-hashes -r requirements-1.5b.lock

test: .venv/.ready
	$(PY) -m pytest $(WORKERS) $(ARGS)

test-fast: .venv/.ready
	$(PY) -m pytest -m "not slow" $(WORKERS) $(ARGS)

check: .venv/.ready
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(PY) -S -c "import sys; sys.path.insert(0, 'src'); import naru.dialects"
	$(PY) scripts/reference.py --check
	$(PY) -m pytest -q tests/test_structure.py
	$(PY) scripts/collection.py

format: .venv/.ready
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

reference: .venv/.ready
	$(PY) scripts/reference.py
	$(PY) -m tests.web.openai.provider_table

lock:
	@scripts/bootstrap --lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis output
