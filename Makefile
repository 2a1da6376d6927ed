# The commands of this project; `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin
INSTALL := $(BIN)/python scripts/install.py
# Two more than there are cores, because some tests wait; whoever is done takes tests from the others.
PYTEST := $(BIN)/python -m pytest -n $(shell expr $$(nproc) + 2) --dist worksteal
BENCH := $(BIN)/python -m benchmarks --results build/benchmarks
# Many processes are started from these files, and each of them would compile them all anew.
unexport PYTHONDONTWRITEBYTECODE
# Programs in Go share what is compiled for them, because all are built with the same flags; without inlining and what
# a debugger asks for, compiling takes a third less time.
export GOFLAGS := -trimpath '-gcflags=all=-l -dwarf=false'
# Compiling takes a third less time where it looks for memory that it could give back only when it runs short.
export GOGC := off
export GOMEMLIMIT := 1GiB

.PHONY: help
help: ## every target with a line
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 18

.PHONY: install
install: .venv/installed ## the virtual environment .venv from the lock file

.PHONY: run
run: install ## the service on http://localhost:8080 with config.yaml and the embedded store
	@sed "s/localhost:8080/localhost:$${SERVICE_PORT:-8080}/g" examples/requests.txt
	@exec $(BIN)/python -m service serve

.PHONY: tools
tools: ## the programs that tests need, installed or built where they are missing
	@scripts/system-packages

.PHONY: test
test: .venv/developing tools ## all tests, on the embedded store and on a real Redis, and in a real browser
	$(PYTEST)

# Where the tests are that one runs between two edits: the endpoints, the grants, the clients and the configuration.
QUICK := $(addprefix tests/,architecture authorize caching ciba claims clients config consent device discovery dpop \
	introspection jwt_bearer polling pushed_requests refusals request_objects revocation token token_exchange tokens userinfo)

# Tests that judge changes of the code: those of QUICK without the ones of the repository and its commands, and more.
JUDGES := $(filter-out %/architecture %/caching,$(QUICK)) $(addprefix tests/,account admin allowed_users check client_documents \
	client_keys encryption extension_grants factors global_revocation id_jag identity identity_providers jarm logout mutual_tls \
	pairwise path_aliases profiles properties races registration rich_requests safety session_management sessions \
	store/test_making_room.py taken_over tenants users webhooks workloads)

.PHONY: test-quick
test-quick: .venv/developing ## one row of each test in the folders of QUICK, on the embedded store: a minute, between two edits
	$(PYTEST) --quick $(QUICK)

.PHONY: mutants
mutants: .venv/developing ## small changes of FILES="service/protocol …", SAMPLE=20 of each file, that no test of JUDGES notices; goes on where it ended
	nice -n 15 $(BIN)/python -m scripts.mutants --sample $(or $(SAMPLE),10000) --files $(FILES) --tests $(JUDGES)

.PHONY: test-elsewhere
test-elsewhere: .venv/developing tools ## the tests of the store, or TESTS=…, on PYTHON=python3.13 or SERVER=/usr/bin/valkey-server
	PYTHON=$(PYTHON) SERVER=$(SERVER) TESTS="$(TESTS)" scripts/test-elsewhere

.PHONY: interop
interop: .venv/developing tools ## the real clients in other languages, against a running service
	$(BIN)/python -m tests.interop $(CLIENTS)

.PHONY: keycloak-test
keycloak-test: .venv/developing tools ## a real Keycloak to sign in at, as the issuer of assertions, for the kit for APIs, and taken over with its applications; minutes, and 300 MB of downloads
	PYTHONPATH=.:api $(BIN)/python -m tests.keycloak
	$(BIN)/python -m tests.keycloak.takeover

.PHONY: dex-test
dex-test: .venv/developing tools ## a real dex as the provider that users sign in at, and another one that is taken over; builds both, in minutes
	$(BIN)/python -m tests.dex
	$(BIN)/python -m tests.dex.takeover

.PHONY: spire-test
spire-test: .venv/developing tools ## a real SPIRE whose workloads are clients and APIs; builds it once, in minutes, and needs a C compiler
	@scripts/go-tools tests/spire
	$(BIN)/python -m tests.spire

.PHONY: traefik
traefik: ## Traefik in build/bin, built once, in minutes; the tests then take it in place of their stand-in
	@scripts/traefik || echo "going on with the stand-in for Traefik" >&2

.PHONY: traefik-test
traefik-test: .venv/developing tools ## the files for Traefik in the real program; builds it once, in minutes
	@scripts/traefik
	$(BIN)/python -m pytest tests/check/test_gateways.py tests/check/test_gateway_certificates.py tests/proxies -k traefik

.PHONY: guides
guides: .venv/developing tools ## the guides of docs/guides.md, installed and run from their own files
	$(BIN)/python -m tests.guides $(GUIDES)

.PHONY: chaos
chaos: .venv/developing tools ## replicas, Redis, registry and keys fail or change under load; all promises are checked
	$(BIN)/python -m tests.chaos $(SCENARIOS)

.PHONY: chaos-short
chaos-short: .venv/developing tools ## the same with some seconds for each fault, as CI does
	$(BIN)/python -m tests.chaos --short $(SCENARIOS)

.PHONY: image
image: ## the container image token-service, by docker, podman or buildah; BASE=… and LOCK=… as in the Dockerfile
	@scripts/image

# The kubectl of the release that is tested comes before any other on PATH.
.PHONY: k8s-test
k8s-test: .venv/developing ## k8s/ applied to a real API server, which is built once; that takes several minutes
	@scripts/system-packages
	@scripts/debian-program etcd-server etcd
	@scripts/go-tools tests/k8s/cluster
	PATH="$(CURDIR)/build/bin:$$PATH" REQUIRE_ALL=1 $(BIN)/python -m pytest tests/k8s/cluster

.PHONY: figures
figures: .venv/developing ## how much there is to read in service/: lines, files, imports, and the files that a change of a feature has to know
	@$(BIN)/python -m scripts.figures
	@$(BIN)/python -m scripts.path_of_a_request

LINTERS := format-check ruff mypy basedpyright import-contracts docs-check plain-words workflows
.PHONY: lint $(LINTERS)
lint: $(LINTERS) ## format, lint, types, import contracts, generated documents and workflows, nothing changed
$(LINTERS): .venv/developing
format-check:
	$(BIN)/ruff format --check .
ruff:
	$(BIN)/ruff check .
mypy:
	$(BIN)/mypy
basedpyright:
	$(BIN)/basedpyright
import-contracts:
	$(BIN)/lint-imports --no-cache
docs-check:
	$(BIN)/python -m scripts.docs --check
plain-words:
	$(BIN)/python -m scripts.plain_words
workflows:
	@scripts/go-tools tests/workflows
	build/bin/actionlint .github/workflows/*.yml

.PHONY: check
check: lint test ## format, lint, types and tests: what to run before each commit

.PHONY: bench
bench: .venv/benchmarking ## the benchmark table; with it JSON and charts in build/benchmarks
	$(BENCH)

.PHONY: bench-peers
bench-peers: .venv/benchmarking ## the same with node-oidc-provider in the same run, and how long both take
	@npm ci --prefix benchmarks/peers/node_oidc_provider --no-audit --no-fund --silent
	$(BENCH) --peers
	$(BENCH) --peers latency

.PHONY: bench-all
bench-all: bench ## round trips, latency, stalls, reload, cores, memory, capacity, start and flatness, too; some take minutes
	set -e; for topic in round-trips latency stalls reload cores memory capacity start flat api-kit tracking; do $(BENCH) $$topic; done

.PHONY: bench-docs
bench-docs: .venv/benchmarking ## everything beside node-oidc-provider, written into docs/performance.md; a quarter of an hour
	@npm ci --prefix benchmarks/peers/node_oidc_provider --no-audit --no-fund --silent
	$(BENCH) --peers --seconds 2
	$(BENCH) --peers latency
	set -e; for topic in stalls cores memory start flat tracking api-kit; do $(BENCH) --requests 500000 $$topic; done
	$(BIN)/python -m benchmarks.report build/benchmarks
	@if command -v py-spy >/dev/null; then $(BIN)/python -m benchmarks.flame docs/introspection-flamegraph.svg; fi

.PHONY: bench-table
bench-table: .venv/benchmarking ## the table with node-oidc-provider alone, written into docs/performance.md; about ten minutes
	@npm ci --prefix benchmarks/peers/node_oidc_provider --no-audit --no-fund --silent
	$(BENCH) --peers --seconds 1
	$(BIN)/python -m benchmarks.report build/benchmarks

.PHONY: bench-instructions
bench-instructions: .venv/benchmarking ## instructions of each request, whatever else the machine does; needs valgrind, some minutes
	@command -v valgrind >/dev/null || scripts/apt-install valgrind
	$(BENCH) instructions

.PHONY: bench-short
bench-short: .venv/benchmarking ## two works for a second each, only to be looked at
	$(BIN)/python -m benchmarks --rounds 1 --seconds 1 --only introspect

.PHONY: bench-check
bench-check: .venv/benchmarking ## fails where a ratio to the floor is below its bar by more than the noise
	$(BENCH) --check

.PHONY: .venv/benchmarking
.venv/benchmarking: .venv/developing
	@command -v wrk >/dev/null || scripts/apt-install wrk redis-server

.PHONY: docs
docs: .venv/developing ## the generated documentation
	$(BIN)/python -m scripts.docs

.PHONY: site
site: .venv/developing build/site/venv/installed ## the documentation as a searchable site in dist/site; REPOSITORY=https://… for links to the code
	$(BIN)/python -m scripts.site "$(REPOSITORY)"

# Buildah is installed by hand: a person's machine may have another engine, and no need of a second one.
.PHONY: release
release: .venv/developing build/site/venv/installed ## all that a release consists of, in dist/, from a checkout that is its commit; BASE=… and REPOSITORY=https://…
	BASE=$(BASE) $(BIN)/python -m scripts.release "$(REPOSITORY)"

.PHONY: release-test
release-test: .venv/developing build/site/venv/installed release-tools tools ## a release built twice and compared, its image started from the archive, as root
	$(BIN)/python -m tests.release

.PHONY: release-test-short
release-test-short: .venv/developing build/site/venv/installed release-tools tools ## the same with one image, as CI does
	$(BIN)/python -m tests.release --short

.PHONY: release-tools
release-tools: .venv/developing ## what release-test needs: Buildah, runc, and an image of Debian to build upon
	@command -v buildah >/dev/null && command -v runc >/dev/null || scripts/apt-install buildah runc
	@scripts/debian-base

build/site/venv/installed: requirements-site.lock | .venv/developing
	@[ -x build/site/venv/bin/pip ] || $(BIN)/python -m venv build/site/venv
	@build/site/venv/bin/pip install -q --require-hashes -r $<
	@touch $@

BILLS := build/sbom.json build/sbom-tracing.json
.PHONY: sbom $(BILLS)
sbom: $(BILLS) ## what the service is made of, as CycloneDX: build/sbom.json, and with tracing build/sbom-tracing.json
build/sbom.json: requirements.lock
build/sbom-tracing.json: requirements-tracing.lock
$(BILLS): | .venv/developing
	@mkdir -p build
	$(BIN)/python -m scripts.release.bills $< $@

.PHONY: coverage
coverage: .venv/developing ## the tests once more, with the branches of service/ that they run; fails below 95 %
	@scripts/system-packages
	$(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

.PHONY: texts
texts: .venv/developing ## the texts of the templates collected into all languages; what lacks a translation is asked for in build/texts.yaml
	$(BIN)/python -m scripts.texts

.PHONY: screenshots
screenshots: .venv/developing ## pictures of every page in build/screenshots, and those of docs/; LANGUAGES="de ja" for other languages
	@fc-list | grep -q NotoSansCJK || scripts/apt-install fonts-noto-cjk fonts-noto-core || echo "going on without fonts" >&2
	$(BIN)/python -m scripts.screenshots $(LANGUAGES)

.PHONY: format
format: .venv/developing ## the code in its one format, with what ruff can mend mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: lock
lock: .venv/developing ## the lock files anew, with hashes, from pyproject.toml
	$(BIN)/uv pip compile pyproject.toml $(LOCKING) --group install -o requirements.lock
	$(BIN)/uv pip compile pyproject.toml $(LOCKING) --extra tracing --group install -c requirements.lock -o requirements-tracing.lock
	$(BIN)/uv pip compile pyproject.toml $(LOCKING) $(WHEELS) --group install -c requirements-tracing.lock -o requirements-all.lock
	$(BIN)/uv pip compile pyproject.toml $(LOCKING) --all-extras --group install -c requirements-all.lock -o requirements-ldap.lock
	$(BIN)/uv pip compile pyproject.toml $(LOCKING) $(WHEELS) --group install --group dev -c requirements-all.lock -o requirements-dev.lock
	$(BIN)/uv pip compile $(LOCKING) --group uv -c requirements-dev.lock -o requirements-uv.lock
	$(BIN)/uv pip compile $(LOCKING) --group site -o requirements-site.lock
# All extras but ldap, which has to be compiled.
WHEELS := --extra bcrypt --extra sql --extra tracing
LOCKING := --quiet --upgrade --universal --generate-hashes --no-header

.venv/bin/python:
	@scripts/create-venv

.venv/installed: requirements.lock pyproject.toml | .venv/bin/python
	@echo "installing what the service needs into .venv"
	@$(INSTALL) requirements.lock
	@touch $@

# What the service needs is among it.
.venv/developing: requirements-dev.lock requirements.lock pyproject.toml | .venv/bin/python
	@echo "installing what the tests need into .venv"
	@$(INSTALL) requirements-dev.lock
	@touch .venv/installed $@
