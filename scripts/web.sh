#!/usr/bin/env bash
# The page: scripts/web.sh build | check | types | test | screenshots | measure. Needs Node.js 20.19 or newer; asks the
# network for packages only when the lock file changed.
set -euo pipefail
cd "$(dirname "$0")/../web"

install() {
    local lock=node_modules/.installed-lock.json
    cmp -s package-lock.json "$lock" && return
    echo "ringi: installing the page's packages"
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json "$lock"
}

# Nothing is built again whose sources did not change.
build() {
    install
    local built=dist/page/index.html sources=(src messages generated public index.html vite.config.ts package-lock.json scripts/compress.mjs)
    if [ -e "$built" ] && [ -z "$(find "${sources[@]}" -newer "$built" -print -quit)" ]; then
        return
    fi
    echo "ringi: building the page"
    npm run --silent build
}

# What the page knows of the API, from the program that is there.
types() {
    install
    local program=${RINGI_PROGRAM:-../target/debug/ringi}
    "$program" openapi | node scripts/types.mjs "$@"
}

case ${1:-} in
build) build ;;
check)
    install
    npm run --silent check
    types --check
    npm run --silent test
    ;;
types) types ;;
# In a real browser, against the program that is there, which holds the page that was built before it.
test | screenshots | measure)
    install
    [ "$1" = test ] && script=test:browser || script=$1
    npm run --silent "$script" -- "${@:2}"
    ;;
*)
    echo "usage: scripts/web.sh build | check | types | test | screenshots | measure" >&2
    exit 2
    ;;
esac
