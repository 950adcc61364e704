#!/usr/bin/env bash
# Refreshes .sqlx, the committed answers of the database to every statement: a clone builds without a database.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=target/sqlx-postgres
mkdir -p "$dir"
# The program that is there starts the database; it need not be built from the statements of this moment.
[ -x target/debug/ringi ] || cargo build --locked
coproc POSTGRES { exec env DATABASE_URL= RINGI__DATABASE__EMBEDDED_DURABLE=false target/debug/ringi postgres --dir "$dir"; }
trap 'kill "$POSTGRES_PID" 2>/dev/null && wait "$POSTGRES_PID" 2>/dev/null || true' EXIT
read -r url <&"${POSTGRES[0]}"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
PATH=${bin:+$bin:}$PATH
psql -q "$url" -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public'
for file in migrations/*.sql; do
    psql -q -v ON_ERROR_STOP=1 "$url" -f "$file"
done
rm -rf .sqlx
mkdir .sqlx
touch src/lib.rs
SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$PWD/.sqlx" DATABASE_URL="$url" cargo check --locked --all-targets
echo "ringi: .sqlx has $(ls .sqlx | wc -l) statements; commit them with the SQL"
