#!/usr/bin/env bash
# Everything that must be green, each step timed. Starts the PostgreSQL that it needs by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
# What the surroundings say must not decide a test.
unset DATABASE_URL PORT RINGI_CONFIG
# Hundreds of connections at once, of both sides, in one process: the usual soft limit of 1024 files is too low.
ulimit -n 8192 2>/dev/null || ulimit -n "$(ulimit -Hn)" || true
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}

step() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    "$@"
    echo "== $name: $((SECONDS - start)) s"
}

step "page: build" scripts/web.sh build
step "format" cargo fmt --check
step "lints" cargo clippy --locked --all-targets -- -D warnings
step "docs" env RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet
if command -v cargo-deny >/dev/null; then
    step "licences and advisories" cargo deny --locked check
fi
step "build" cargo build --locked
step "page: lints, types, messages" scripts/web.sh check
step "page: in a browser" scripts/web.sh test
step "peers of the tests" scripts/peers.sh
step "tests" cargo test --locked
echo "== all: $SECONDS s"
