# All targets that developers, continuous integration and the documentation use. Each sets up .venv and the core itself,
# and installs developers' packages only if it needs them.

PYTHON ?= python3
# uv installs in seconds, pip in half a minute. Use INSTALLER=pip if only pip is configured for your package index.
INSTALLER ?= uv
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
# Rebuilt when any of these changed.
CORE_SOURCES := Cargo.toml $(wildcard Cargo.lock) $(shell find crates -name '*.rs' -o -name 'Cargo.toml') pyproject.toml

UV := $(filter uv,$(INSTALLER))
# uv.lock pins package versions; `make lock` updates them. requirements.lock has the same versions for pip. `make` builds
# the core itself, so uv does not install the project.
SYNC := UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv sync --quiet --frozen --inexact --no-install-project --no-default-groups --extra web
PIP := $(BIN)/python -m pip install --quiet --constraint requirements.lock

# Targets run one after another; the prerequisites of one run in parallel (the core builds while packages install).
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
MADE = @$(MAKE) --no-print-directory --quiet SIDE_BY_SIDE=1 STARTED=$(STARTED) $(if $(UV),-j3)
STARTED := $(shell date +%s)
SAY = @printf '%4d s  %s\n' "$$(( $$(date +%s) - $(STARTED) ))"

.DEFAULT_GOAL := help
.PHONY: help runs build demo reproduce build-tests check units-of-rust units-of-python lint lint-of-rust lint-of-python words types test test-rust test-python tests-of-rust tests-of-python test-slow verify snapshots setup-system coverage resolved same same-store pages pages-check bench peers docs lite wheel man lock clean

help: ## Print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

$(STAMPS)/tools:
	$(SAY) 'an environment for Python in $(VENV), with $(if $(UV),uv and )maturin'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile $(if $(UV),uv,--upgrade 'pip>=25.1') 'maturin>=1.13,<2'
	@mkdir -p $(STAMPS) && touch $@

# Only the packages for running airtcp, including airtcp web.
$(STAMPS)/packages: $(STAMPS)/tools pyproject.toml uv.lock requirements.lock
	$(SAY) 'packages that airtcp needs: about 100 MB to fetch'
ifdef UV
	@$(SYNC)
else
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*p["dependencies"], *p["optional-dependencies"]["web"], sep="\n")' > $(STAMPS)/packages.txt
	@$(PIP) --requirement $(STAMPS)/packages.txt
endif
	$(SAY) 'packages are there'
	@touch $@

# Build the package of the papers after the other packages, because it needs some of them.
$(STAMPS)/hatchling: $(STAMPS)/packages
	@$(BIN)/python -m pip install --quiet --no-compile 'hatchling>=1.26'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/packages $(STAMPS)/hatchling
	$(SAY) 'packages for developers: about 400 MB to fetch'
	@$(if $(UV),$(SYNC) --compile-bytecode,$(PIP)) --group dev
	$(SAY) 'packages for developers are there'
	@touch $@

$(STAMPS)/core: $(STAMPS)/tools $(CORE_SOURCES)
	$(SAY) 'the core, by Rust: a minute of a processor'
	+@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --skip-install > $(STAMPS)/core.log 2>&1 || { cat $(STAMPS)/core.log >&2; exit 1; }
	$(SAY) 'the core is there'
	@touch $@

# Editable install with the built core: Python changes need no installation, and Rust changes only a new core. Without
# --skip-install, `maturin develop` would also install the developers' packages.
$(STAMPS)/airtcp: $(STAMPS)/packages $(STAMPS)/hatchling pyproject.toml papers/pyproject.toml Cargo.toml | $(STAMPS)/core
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(if $(UV),$(BIN)/uv pip install --quiet --python $(BIN)/python,$(PIP)) \
		--no-deps --no-build-isolation --editable . --editable papers
	@touch $@

# Compiling its modules makes a command 50 % slower; with PYTHONDONTWRITEBYTECODE that happens on every start.
COMPILE := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -q
$(STAMPS)/compiled: $(STAMPS)/tools $(shell find python papers -name '*.py')
	@$(COMPILE) python papers
	@touch $@

# Resolved scenarios of the benchmarks, which tests and benchmarks of the core read.
RESOLVED := target/resolved/.made
$(RESOLVED): $(STAMPS)/airtcp $(STAMPS)/core benches/resolve.py $(wildcard benches/scenarios/*.toml python/airtcp/*.py) \
		$(shell find python/airtcp/scenario -name '*.py')
	@$(BIN)/python benches/resolve.py
	@touch $@

runs: # install airtcp and the papers for use
	$(MADE) $(STAMPS)/airtcp $(STAMPS)/core $(STAMPS)/compiled

build: ## Build the core and install airtcp and the papers into .venv, with what developers need
	$(MADE) $(STAMPS)/dev $(STAMPS)/compiled $(RESOLVED)

demo: runs ## Predict and simulate a hot spot with real web traffic (a minute the first time)
	$(SAY) 'the demo: models, and twenty hours of ten laptops that browse, simulated'
	@$(BIN)/airtcp run python/airtcp/examples/web-hotspot.toml --out out/demo
	$(SAY) 'The report: file://$(CURDIR)/out/demo/report.html'

reproduce: runs ## Make the papers' figures, tables and claims again, at full length (hours)
	$(BIN)/airtcp reproduce all claims
	@echo "The pages: file://$(CURDIR)/out/reproduce/index.html"

# Levels of tests: `make check` runs while you edit, `make test` decides whether a change is right, `make test-slow`
# needs browsers, servers, captures or minutes of simulation, `make verify` takes hours. The markers `slow` and `verify`
# (pyproject.toml) set the level of each Python test; tests/conftest.py lists the folders that are slow as a whole.
# Unset PYTHONDONTWRITEBYTECODE so that pytest stores compiled modules: compiling is two thirds of collection.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile
WORKERS ?= 2
UNIT_TESTS := tests/models tests/scenario $(addprefix tests/judge/test_,causes.py document.py outcome.py) tests/test_rooms.py tests/test_results.py tests/test_records.py \
	tests/test_metrics.py tests/test_stats.py tests/test_units.py tests/test_standards.py
CARGO_TEST := cargo test --workspace --exclude airtcp-py --exclude airtcp-wasm --quiet

# Build several targets in parallel, without mixing their output.
BESIDE = $(MAKE) --no-print-directory --quiet --output-sync=target SIDE_BY_SIDE=1 STARTED=$(STARTED)

check: build ## Check style and types, and run the unit tests (40 s if no Rust changed)
	+@$(BESIDE) -j3 units-of-python types lint-of-python lint-of-rust units-of-rust
	$(SAY) 'style, types and unit tests are right'

units-of-rust:
	+@mkdir -p out && $(CARGO_TEST) --lib > out/check-rust.log 2>&1 || { cat out/check-rust.log; exit 1; }
	$(SAY) 'unit tests of Rust have passed'

units-of-python:
	@$(PYTEST) -m 'not slow and not verify' $(UNIT_TESTS)
	$(SAY) 'unit tests of Python have passed'

test: build-tests ## Run the tests that decide whether a change is right: all of Rust, most of Python (5 minutes)
	+@$(MAKE) --no-print-directory --quiet SIDE_BY_SIDE=1 STARTED=$(STARTED) -j2 tests-of-rust tests-of-python
	$(SAY) 'all tests have passed; make test-slow has the rest'

# Slow tests spend a third of their time waiting for browsers, servers and signals.
test-slow: WORKERS := 3
test-slow: build ## Run the slow tests: browser, testbed, witnesses, documents, captures (15 minutes)
	$(PYTEST) -m 'slow and not verify'
	$(SAY) 'all slow tests have passed'

snapshots: build ## Write the snapshots of screens and reports anew; review them as a difference
	$(PYTEST) tests/test_snapshots.py --snapshot-update

test-rust: build-tests tests-of-rust
test-python: build tests-of-python

build-tests: build ## Build the test binaries of Rust, which make test does by itself
	$(SAY) 'test binaries of Rust'
	+@mkdir -p out && $(CARGO_TEST) --no-run > out/build-tests.log 2>&1 || { cat out/build-tests.log; exit 1; }
	$(SAY) 'test binaries of Rust are there'

# Print their output at the end, separate from that of the Python tests.
tests-of-rust:
	$(SAY) 'tests of Rust'
	+@mkdir -p out && { $(CARGO_TEST) \
		&& cargo test --package airtcp-tcp --lib --quiet -- --ignored; } > out/test-rust.log 2>&1 \
		|| { cat out/test-rust.log; exit 1; }
	@grep '^test result' out/test-rust.log
	$(SAY) 'tests of Rust have passed'

tests-of-python:
	$(SAY) 'tests of Python'
	@$(PYTEST) -m 'not slow and not verify'
	$(SAY) 'tests of Python have passed'

# Programs outside .venv: tshark for captures, two browsers and axe-core for the page, the programs of the testbed, and
# those that parse configuration lines of remedies. Tests whose program is missing are skipped with a message.
SYSTEM_PROGRAMS := tshark chromium firefox-esr iperf3 ip nginx proftpd hostapd iw nft tc sysctl
SYSTEM_PACKAGES := tshark chromium firefox-esr iperf3 iproute2 nginx-light proftpd-core hostapd iw nftables procps
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
AXE := 4.14.1

setup-system: $(VENV)/axe/axe-$(AXE).tgz ## Install the programs that slow tests use (Debian, by apt-get)
	@missing=; for program in $(SYSTEM_PROGRAMS); do \
		PATH="$$PATH:/usr/sbin:/sbin" command -v $$program > /dev/null || missing="$$missing $$program"; done; \
	[ -z "$$missing" ] || { echo "installing what has$$missing" && $(SUDO) apt-get -qq update \
		&& $(SUDO) env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq install --no-install-recommends $(SYSTEM_PACKAGES) > /dev/null; } \
		|| echo "cannot be installed here:$$missing; tests that need them are skipped" >&2

$(VENV)/axe/axe-$(AXE).tgz: | $(STAMPS)/tools
	@mkdir -p $(VENV)/axe && cd $(VENV)/axe \
		&& { npm pack --silent axe-core@$(AXE) > /dev/null && tar xzf axe-core-$(AXE).tgz --strip-components=1 package/axe.min.js \
			&& mv axe-core-$(AXE).tgz axe-$(AXE).tgz \
			|| echo 'axe-core cannot be had from npm: the accessibility of the page is not tested.' >&2; }

# Python only, including child processes of tests. Excludes tests of imports and of a full disk, which measuring coverage
# would disturb.
coverage: build ## Run the fast tests of Python and say which lines they reach (longer than make test)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m 'not verify' --deselect tests/test_imports.py \
		--deselect tests/test_trace.py::test_a_full_disk_leaves_what_was_there --cov=airtcp --cov=airtcp_papers --cov-report=term --cov-report=html:out/coverage

verify: build ## Compare with the reference results at length, and try many more random scenarios
	+AIRTCP_CASES=20000 cargo test --package airtcp-sim --test property --quiet
	+AIRTCP_CASES=2000 cargo test --package airtcp-flow --test property --quiet
	+AIRTCP_CASES=10000 cargo test --package airtcp-wlan --lib --quiet reference
	+AIRTCP_CASES=20000000 cargo test --release --package airtcp-testbed --lib --quiet any_bytes
	+cargo test --release --package airtcp-tcp --test scripts --quiet -- --ignored
	$(PYTEST) -m verify
	AIRTCP_EXTENSIONS=0 $(PYTEST) -m 'not slow and not verify' tests
	$(BIN)/python validation/compare.py
	@if [ -n "$$AIRTCP_PACKETDRILL" ]; then cargo build --release --quiet --package airtcp-packetdrill \
		&& find "$$AIRTCP_PACKETDRILL" -name '*.pkt' -print0 | sort -z | xargs -0 target/release/airtcp-packetdrill \
		|| echo 'Which scripts are expected to fail, and why, is in docs/explanation/accuracy.md.'; fi

resolved: build ## Write the resolved scenarios that tests of the core read, as build does

same: build ## Check that simulations give the same outcomes bit for bit as when they were stored
	$(BIN)/python validation/same/same.py

same-store: build ## Store the digests that `make same` compares with, for a commit that changes results
	$(BIN)/python validation/same/same.py --store

lint: build ## Check style, types and documentation comments
	+@$(BESIDE) -j2 types lint-of-python lint-of-rust

lint-of-rust:
	+cargo fmt --all --check
	+cargo clippy --workspace --all-targets --quiet -- -Dwarnings
	+RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --quiet

lint-of-python:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

words: $(STAMPS)/tools ## Check the spelling, and the terms of documentation and screens (with npm)
	$(BIN)/uv tool run codespell@2.4.3
	@npm install --silent --no-audit --no-fund --prefix $(VENV)/words textlint@15.8.0 textlint-rule-terminology@5
	NODE_PATH=$(CURDIR)/$(VENV)/words/node_modules $(VENV)/words/node_modules/.bin/textlint \
		README.md CONTRIBUTING.md CHANGELOG.md 'docs/**/*.md' 'tests/__snapshots__/**/*.txt'

types:
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

bench: build ## Measure speed (benches/README.md)
	$(BIN)/python benches/run.py
	$(BIN)/python benches/models.py
	$(BIN)/python benches/flow.py
	$(BIN)/python benches/fq_codel.py
	$(BIN)/python benches/around.py
	$(BIN)/python benches/sweep.py
	$(BIN)/python benches/web.py
	$(BIN)/python benches/classroom.py
	$(BIN)/python benches/plugins.py

peers: build ## Compare with ns-2 and ns-3 on 20 points, in an office and on several cells: results and speed (minutes)
	@command -v ns > /dev/null || { echo 'ns-2 is not here: apt-get install ns2' >&2; exit 1; }
	@[ -x validation/ns3/cells ] || sh validation/ns3/build.sh
	$(BIN)/python benches/side_by_side.py --write
	$(BIN)/python benches/office.py --write
	$(BIN)/python benches/several_cells.py --write

# All by default; for some: make pages PAGES="docs/make_acks.py docs/make_readme.py".
PAGES ?= $(wildcard docs/make_*.py)

pages: build ## Make every stored table of the documentation again (an hour; PAGES=... for some)
	set -e; for page in $(PAGES); do echo $$page; $(BIN)/python $$page; done

pages-check: build ## Check the stored tables that take seconds; make test-slow does, too (LONG=--long for all)
	$(BIN)/python docs/pages.py --check $(LONG)

$(STAMPS)/docs: $(STAMPS)/dev
	@$(if $(UV),$(SYNC),$(PIP)) --group docs
	@touch $@

docs: build $(STAMPS)/docs ## Build the documentation into docs/_build, with the tables that follow from code
	$(BIN)/python docs/pages.py
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build
	@if [ -d out/lite ]; then rm -rf docs/_build/try && cp -r out/lite docs/_build/try; fi

WASM := wasm32-unknown-unknown

# rustup installs the target; other Rust installations must include it.
lite: build ## Build the page that needs no server, with the simulator in the browser, into out/lite
	@if command -v rustup > /dev/null; then rustup --quiet target add $(WASM); fi
	cargo build --quiet --release --target $(WASM) -p airtcp-wasm --config profile.release.strip=true
	rm -rf out/lite
	$(BIN)/python docs/lite/build.py target/$(WASM)/release/airtcp_wasm.wasm out/lite

# Builds the core twice in a separate folder, the second time with a profile of the branches that benches/train.py takes.
# Its results must be bit-identical to those of `make build`.
wheel: build ## Build the abi3 wheel into dist, with a profile of the core (minutes)
	@rm -rf out/wheel && mkdir -p out/wheel
	$(SAY) 'a core that counts its branches, what it is trained with, and the core that follows'
	@PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_TARGET_DIR=target/profiled \
		$(BIN)/maturin build --release --pgo --out out/wheel > out/wheel.log 2>&1 || { cat out/wheel.log >&2; exit 1; }
	@mkdir -p dist && cp out/wheel/*.whl dist && $(BIN)/python -m zipfile -e out/wheel/*.whl out/wheel && rm out/wheel/*.whl
	$(SAY) 'does it give the outcomes that are stored?'
	@PYTHONPATH=out/wheel $(BIN)/python validation/same/same.py
	@ls dist/*.whl

man: build ## Write manual pages into out/man; man -M out/man airtcp-run shows one
	$(BIN)/python docs/man.py out/man

lock: build ## Take the newest versions of all packages into uv.lock, and list them in requirements.lock
	$(BIN)/uv lock --upgrade
	$(BIN)/uv export --quiet --frozen --all-extras --all-groups --no-hashes --no-emit-project --no-annotate \
		--output-file requirements.lock > /dev/null

clean: ## Remove everything that was built
	rm -rf $(VENV) target dist out docs/_build docs/jupyter_execute
