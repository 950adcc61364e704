#!/usr/bin/env bash
# The packages of the programs that the tests speak with (tests/peers). Asks the network only when the lock file changed.
set -euo pipefail
cd "$(dirname "$0")/../tests/peers"
lock=node_modules/.installed-lock.json
cmp -s package-lock.json "$lock" && exit
echo "ringi: installing the packages of the tests' peers"
npm ci --no-audit --no-fund --loglevel=error
cp package-lock.json "$lock"
