#!/usr/bin/env bash
# What is known against the crates and packages that are locked here: licences, advisories, sources. Each tool that is not
# there, or can't reach what it asks, is named at the end as not checked; what was found makes this fail.
#
#   scripts/audit.sh                 ADVISORIES=DIR: a clone of github.com/rustsec/advisory-db, in place of fetching it
set -uo pipefail
cd "$(dirname "$0")/.."
found=() unchecked=()

rust() {
    if ! command -v cargo-deny >/dev/null; then
        unchecked+=("crates: licences and sources (cargo install --locked cargo-deny)")
        return
    fi
    cargo deny --locked --offline check licenses sources bans || found+=("cargo deny: licences, sources")
    local log
    log=$(mktemp)
    if cargo deny --locked check advisories 2>&1 | tee "$log" | tail -n 40; [ "${PIPESTATUS[0]}" = 0 ]; then
        :
    elif grep -qiE 'failed to fetch|unable to (fetch|clone|open)|could not resolve|network' "$log"; then
        unchecked+=("crates: advisories by cargo deny (the advisory database could not be fetched)")
    else
        found+=("cargo deny: advisories")
    fi
    rm -f "$log"
}

# Without cargo-deny, or without the network, but with the database at hand.
advisories() {
    [ -n "${ADVISORIES:-}" ] || return 0
    echo "== advisories in $ADVISORIES"
    python3 scripts/advisories.py "$ADVISORIES" Cargo.lock || found+=("advisories in $ADVISORIES")
}

page() {
    if ! command -v npm >/dev/null; then
        unchecked+=("the page's packages (npm)")
        return
    fi
    local said
    if said=$(cd web && npm audit --audit-level=low 2>&1); then
        echo "$said" | tail -n 3
    elif grep -qiE 'audit endpoint returned an error|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|network' <<<"$said"; then
        unchecked+=("the page's packages (the registry does not answer npm audit)")
    else
        echo "$said"
        found+=("npm audit")
    fi
}

echo "== crates"
rust
advisories
echo "== the page's packages"
page
for what in "${unchecked[@]}"; do echo "not checked: $what"; done
for what in "${found[@]}"; do echo "FOUND: $what"; done
[ ${#found[@]} = 0 ]
