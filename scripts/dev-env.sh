#!/usr/bin/env bash
# Makes .env for development, once, with a local key of its own. Never touches one that is there.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -e .env ] && exit 0
secret=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && sed "s/^RINGI__AUTH__HS256_SECRET=.*/RINGI__AUTH__HS256_SECRET=$secret/" .env.example >.env)
echo "ringi: made .env with a local key"
