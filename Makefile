# The one list of verbs: people, continuous integration and the documentation call only these.
# Every verb does its own set-up: a virtual environment in .venv and a release build of the core.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Rebuilt when any of these changed.
CORE_SOURCES := Cargo.toml $(wildcard Cargo.lock) $(shell find crates -name '*.rs' -o -name 'Cargo.toml') pyproject.toml
STAMPS := $(VENV)/.stamps

.DEFAULT_GOAL := help
.PHONY: help build demo reproduce check test test-rust test-python coverage lint verify resolved same same-store pages pages-check bench peers docs lite wheel clean

help: ## Print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

$(STAMPS)/venv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: $(STAMPS)/venv pyproject.toml
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

# maturin develop installs the package in place: Python changes need no rebuild, Rust changes do.
$(STAMPS)/build: $(STAMPS)/dev $(CORE_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet
	@touch $@

# Scenarios of the benchmarks with every key, which tests and benchmarks of the core read.
RESOLVED := target/resolved/.made
$(RESOLVED): $(STAMPS)/build benches/resolve.py $(wildcard benches/scenarios/*.toml python/airtcp/*.py) \
		$(shell find python/airtcp/scenario -name '*.py')
	$(BIN)/python benches/resolve.py
	@touch $@

build: $(STAMPS)/build $(RESOLVED) ## Build the core and install airtcp into .venv

demo: build ## Predict and simulate a hot spot with real web traffic
	$(BIN)/airtcp run python/airtcp/examples/web-hotspot.toml --out out/demo
	@echo "The report: file://$(CURDIR)/out/demo/report.html"

reproduce: build ## Make the papers' figures, tables and claims again, at full length (hours)
	$(BIN)/airtcp reproduce all claims
	@echo "The pages: file://$(CURDIR)/out/reproduce/index.html"

# What the one who edits wants to know at once: units, scenarios and models, without children processes.
FAST_TESTS := tests/scenario tests/models tests/test_rooms.py tests/test_results.py tests/test_records.py \
	tests/test_metrics.py tests/test_stats.py tests/test_units.py tests/test_standards.py tests/test_summary.py

check: build ## Run the unit tests of Rust and the quick tests of Python (under a minute)
	cargo test --workspace --exclude airtcp-py --quiet --lib
	$(BIN)/python -m pytest -q -n 2 -m 'not verify' $(FAST_TESTS)

test: test-rust test-python ## Run every fast test (minutes)

test-rust: $(RESOLVED)
	cargo test --workspace --exclude airtcp-py --quiet
	cargo test --package airtcp-tcp --lib --quiet -- --ignored

# Wireshark's reader is a witness of captures; without it those tests are skipped, and say so.
$(STAMPS)/tshark: $(STAMPS)/venv
	@command -v tshark > /dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get -qq update \
			&& DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends tshark > /dev/null; } \
		|| echo 'tshark is not there and cannot be installed: captures are not tested against it.' >&2
	@touch $@

# What people see of `airtcp web` is tested in a browser, and axe-core looks for what some cannot see or reach;
# without one of them those tests are skipped, and say so.
AXE := 4.14.1

$(STAMPS)/chromium: $(STAMPS)/venv
	@command -v chromium > /dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get -qq update \
			&& DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends chromium > /dev/null; } \
		|| echo 'chromium is not there and cannot be installed: the page is not tested in a browser.' >&2
	@touch $@

$(STAMPS)/axe-$(AXE): $(STAMPS)/venv
	@mkdir -p $(VENV)/axe && cd $(VENV)/axe \
		&& { npm pack --silent axe-core@$(AXE) > /dev/null && tar xzf axe-core-$(AXE).tgz --strip-components=1 package/axe.min.js \
			|| echo 'axe-core cannot be had from npm: the page is not tested for what some cannot see or reach.' >&2; }
	@touch $@

# Programs of the testbed; without them, or without rights, its tests are skipped, and say so.
TESTBED_PACKAGES := iperf3 iproute2 nginx-light proftpd-core
$(STAMPS)/testbed: $(STAMPS)/venv
	@(for program in iperf3 ip nginx proftpd; do PATH="$$PATH:/usr/sbin:/sbin" command -v $$program > /dev/null || exit 1; done) \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get -qq update \
			&& DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq install --no-install-recommends $(TESTBED_PACKAGES) > /dev/null; } \
		|| echo 'Programs of the testbed are not there and cannot be installed: it is not tested.' >&2
	@touch $@

test-python: build $(STAMPS)/tshark $(STAMPS)/chromium $(STAMPS)/axe-$(AXE) $(STAMPS)/testbed
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m 'not verify'

# Of Python, tests in child processes included; Rust is held by its own tests and by what these run. Left out are tests
# of what a process imports and of a full disk, where the measurement itself is in the way.
coverage: build ## Run the fast tests of Python and say which lines they reach (longer than make test)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m 'not verify' --deselect tests/test_imports.py \
		--deselect tests/test_trace.py::test_a_full_disk_leaves_what_was_there --cov=airtcp --cov-report=term --cov-report=html:out/coverage

verify: build ## Compare with the reference results at length, and try many more random scenarios
	AIRTCP_CASES=20000 cargo test --package airtcp-sim --test property --quiet
	AIRTCP_CASES=2000 cargo test --package airtcp-flow --test property --quiet
	cargo test --release --package airtcp-tcp --test scripts --quiet -- --ignored
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m verify
	$(BIN)/python validation/compare.py
	@if [ -n "$$AIRTCP_PACKETDRILL" ]; then cargo build --release --quiet --package airtcp-packetdrill \
		&& find "$$AIRTCP_PACKETDRILL" -name '*.pkt' -print0 | sort -z | xargs -0 target/release/airtcp-packetdrill \
		|| echo 'Which scripts are expected to fail, and why, is in docs/packetdrill.md.'; fi

resolved: $(RESOLVED) ## Write the resolved scenarios that tests of the core read, as build does

same: build ## Check that simulations give the same outcomes bit for bit as when they were stored
	$(BIN)/python validation/same/same.py

same-store: build ## Store the digests that `make same` compares with, for a commit that changes results
	$(BIN)/python validation/same/same.py --store

lint: build ## Check style, types and documentation comments
	cargo fmt --all --check
	RUSTFLAGS=-Dwarnings cargo clippy --workspace --all-targets --quiet
	RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --quiet
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/python validation/words/words.py

bench: build ## Measure speed (benches/README.md)
	$(BIN)/python benches/run.py
	$(BIN)/python benches/models.py
	$(BIN)/python benches/flow.py
	$(BIN)/python benches/fq_codel.py
	$(BIN)/python benches/around.py
	$(BIN)/python benches/sweep.py
	$(BIN)/python benches/web.py

peers: build ## Compare with ns-2 and ns-3 on 20 points: what they say, and how much longer they take (minutes)
	@command -v ns > /dev/null || { echo 'ns-2 is not here: apt-get install ns2' >&2; exit 1; }
	@[ -x validation/ns3/cell ] || sh validation/ns3/build.sh
	$(BIN)/python benches/side_by_side.py --write

# All of them, or those that are named: make pages PAGES="docs/make_acks.py docs/make_readme.py".
PAGES ?= $(wildcard docs/make_*.py)

pages: build ## Make every stored table of the documentation again (an hour; PAGES=... for some)
	set -e; for page in $(PAGES); do echo $$page; $(BIN)/python $$page; done

pages-check: build ## Check the stored tables that take seconds; make test does, too (LONG=--long for all)
	$(BIN)/python docs/pages.py --check $(LONG)

$(STAMPS)/docs: $(STAMPS)/build
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

docs: $(STAMPS)/docs ## Build the documentation into docs/_build, with the tables that follow from code
	$(BIN)/python docs/pages.py
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build

# Of its own, for it brings half a Jupyter along.
$(STAMPS)/lite: $(STAMPS)/venv
	$(PYTHON) -m venv $(VENV)/lite
	$(VENV)/lite/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)/lite/bin/python -m pip install --quiet --group lite
	@touch $@

# Pyodide itself comes from a CDN when a browser opens the site.
lite: $(STAMPS)/lite ## Build the site that predicts in the browser, without a server, into out/lite
	rm -rf out/lite out/lite-wheel
	$(BIN)/python docs/lite/wheel.py out/lite-wheel
	cd docs/lite && ../../$(VENV)/lite/bin/jupyter lite build --piplite-wheels ../../out/lite-wheel/*.whl --output-dir ../../out/lite

wheel: $(STAMPS)/dev ## Build the abi3 wheel into dist
	$(BIN)/maturin build --release --quiet --out dist
	@ls dist/*.whl

clean: ## Remove everything that was built
	rm -rf $(VENV) target dist out docs/_build docs/_generated docs/jupyter_execute
