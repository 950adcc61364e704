# Ringi. `make help` lists what there is to do.

SHELL := /bin/bash
export PATH := $(HOME)/.cargo/bin:$(PATH)

.DEFAULT_GOAL := help
SECONDS ?= 60
PEOPLE ?= 12
EXAMPLES ?= 40
SECONDS_EACH ?= 60

.PHONY: help setup run connector test check torture mutants strangers audit restore-walk bench sqlx openapi page page-types page-test screenshots page-bench clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

setup: ## Install what is missing (Debian), or say what to install
	@scripts/setup.sh

run: setup ## Build everything, start a private PostgreSQL, load the demo, serve on 127.0.0.1:8080; CONNECTOR=1 asks `make connector`
	@scripts/dev-env.sh
	@scripts/web.sh build
	cargo build --locked
	exec env $(if $(CONNECTOR),$(ASKING)) target/debug/ringi serve --demo

# Slow enough for a person to watch, quick enough not to bore him.
ASKING := RINGI__PROCESSING__CONNECTOR_URL=http://127.0.0.1:8090/ \
	RINGI__PROCESSING__HEARTBEAT_INTERVAL_MS=5000 RINGI__PROCESSING__LEASE_TIMEOUT_MS=20000

connector: setup ## A slow outside system for `make run CONNECTOR=1`, on 127.0.0.1:8090
	cargo build --locked
	exec target/debug/ringi demo --connector

test: ## Everything that CI runs: format, lints, docs, all tests, also those in a browser
	@scripts/setup.sh test
	@scripts/test.sh

check: setup ## The quick half of `make test`: format, lints, unit tests
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo test --locked --lib

torture: setup ## Several servers, people, kill -9 and worse, and a proof afterwards: make torture SECONDS=60 [PEOPLE=12] [SEED=n]
	RINGI_TORTURE_SECONDS=$(SECONDS) RINGI_TORTURE_PEOPLE=$(PEOPLE) \
	$(if $(SEED),RINGI_TORTURE_SEED=$(SEED)) cargo test --locked --test it torture::every_promise -- --nocapture

mutants: setup ## Build Ringi broken on purpose, and see the torture test catch each by name
	@scripts/mutants.sh

strangers: setup ## Let schemathesis try all that /openapi.json says: EXAMPLES=40 SECONDS_EACH=60 [SEED=n] [WHO=admin]
	cargo build --locked
	@EXAMPLES=$(EXAMPLES) SECONDS_EACH=$(SECONDS_EACH) SEED=$(SEED) WHO="$(WHO)" scripts/strangers.sh

audit: ## Licences and known faults of crates and packages; says what it could not check
	@scripts/audit.sh

restore-walk: setup ## Backup and restore on servers of its own: pg_dump, and a point in time
	cargo build --locked
	@scripts/restore-walk.sh

bench: setup ## Measure, on a PostgreSQL of its own: PART=approve (latency, hot, reads, memory, lease, closing, webhooks) for one part
	cargo bench --locked --bench bench -- $(PART) $(ARGS)

sqlx: setup ## Refresh .sqlx after a change of SQL or of a migration
	@scripts/sqlx.sh

openapi: setup ## Print the OpenAPI document
	@cargo run --locked --quiet -- openapi

page: setup ## Build the page, and the program with it
	@scripts/web.sh build
	cargo build --locked

page-types: page ## Refresh what the page knows of the API, after a change of the OpenAPI document
	@scripts/web.sh types
	INSTA_UPDATE=always cargo test --locked --test it page::the_page_knows

page-test: ## The page's tests, alone
	@scripts/setup.sh test
	@scripts/web.sh build
	cargo build --locked
	@scripts/web.sh check
	@scripts/web.sh test

screenshots: ## Every view as people see it, into target/screenshots
	@scripts/setup.sh test
	@scripts/web.sh build
	cargo build --locked
	@scripts/web.sh screenshots

page-bench: ## How fast the page is, into target/bench/summary.json
	@scripts/setup.sh test
	@scripts/web.sh build
	cargo build --release --locked
	@RINGI_PROGRAM=$(CURDIR)/target/release/ringi scripts/web.sh measure

clean: ## Remove what was built and the private PostgreSQL with the demo's data
	cargo clean
	rm -rf .ringi web/dist/page web/node_modules
