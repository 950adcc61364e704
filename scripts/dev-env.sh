#!/usr/bin/env bash
# Makes .env for development, once, with keys of its own. Never touches one that is there.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -e .env ] && exit 0
key() { od -An -tx1 -N32 /dev/urandom | tr -d ' \n'; }
(umask 077 && sed "s/^\(RINGI__AUTH__HS256_SECRET\)=.*/\1=$(key)/; s/^\(RINGI__WEBHOOKS__SECRET_KEY\)=.*/\1=$(key)/" .env.example >.env)
echo "ringi: made .env with keys of its own"
