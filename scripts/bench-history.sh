#!/usr/bin/env bash
# Rows per second and memory of exports and verification, on a PostgreSQL of its own with ROWS rows of history
# (1,000,000 when left out). Builds in release; leaves nothing but target/bench-history behind.
set -euo pipefail
cd "$(dirname "$0")/.."
rows=${1:-1000000}
requests=$(((rows + 2) / 3))
dir=target/bench-history
port=18087
cargo build --release --locked
bin=target/release/ringi
export RINGI__AUTH__HS256_SECRET=a-secret-for-the-bench-alone-32-bytes RINGI__DATABASE__EMBEDDED_DURABLE=false RINGI__LOG__FILTER=warn
unset RINGI_CONFIG PORT
rm -rf "$dir"
mkdir -p "$dir"
coproc POSTGRES { exec env DATABASE_URL= $bin postgres --dir "$dir/postgres"; }
serve=
trap 'kill ${serve:-} "$POSTGRES_PID" 2>/dev/null && wait 2>/dev/null || true' EXIT
read -r url <&"${POSTGRES[0]}"
export DATABASE_URL=$url
$bin migrate
org=00000000-0000-4000-8000-0000000000aa admin=00000000-0000-4000-8000-0000000000ad
applicant=00000000-0000-4000-8000-0000000000a1 approver=00000000-0000-4000-8000-0000000000a2
$bin org create --id $org --name Bench --admin-id $admin --admin-name Dara >"$dir/org.json"
echo "== filling $((requests * 3)) rows"
{
    for person in "$applicant:Aiko Applicant" "$approver:Ben Approver"; do
        echo "INSERT INTO organization_member (organization_id, user_id, display_name, created_at, updated_at)
              VALUES ('$org', '${person%%:*}', '${person#*:}', '2025-01-01Z', '2025-01-01Z');"
    done
    sed "s/{organization}/$org/g; s/{applicant}/$applicant/g; s/{approver}/$approver/g; s/{requests}/$requests/g" \
        tests/it/bulk_history.sql
} >"$dir/fill.sql"
psql -q -v ON_ERROR_STOP=1 "$url" -f "$dir/fill.sql"
psql -q "$url" -c 'VACUUM ANALYZE' -c CHECKPOINT

RINGI__HTTP__LISTEN=127.0.0.1:$port $bin serve >"$dir/serve.log" 2>&1 &
serve=$!
api=http://127.0.0.1:$port/api/v1/organizations/$org
token=$($bin token --user $admin)
get() { curl -sSf -H "Authorization: Bearer $token" "$@"; }
until curl -sf -o "$dir/ready" http://127.0.0.1:$port/health/ready; do
    kill -0 $serve
done
kb() { awk -v name="$1:" '$1 == name { print $2 }' /proc/$serve/status; }
rate() { awk -v n="$1" -v from="$2" -v to="$3" 'BEGIN { printf "%d rows/s (%.1f s)", n / (to - from), to - from }'; }

get -H 'Accept: text/csv' "$api/history?kind=member" -o "$dir/warm.csv"
for type in text/csv application/x-ndjson; do
    echo 5 >/proc/$serve/clear_refs 2>/dev/null || true
    before=$(kb VmRSS) start=$EPOCHREALTIME
    n=$(get -H "Accept: $type" "$api/history?kind=request" | wc -l)
    echo "export $type: $n lines, $(rate "$n" "$start" "$EPOCHREALTIME"), peak memory +$((($(kb VmHWM) - before) / 1024)) MiB over $((before / 1024)) MiB"
done
start=$EPOCHREALTIME
$bin history verify --org $org --json
echo "verify, command line: $(rate $((requests * 3)) "$start" "$EPOCHREALTIME")"
echo 5 >/proc/$serve/clear_refs 2>/dev/null || true
before=$(kb VmRSS) start=$EPOCHREALTIME cursor= pages=0
while :; do
    page=$(get "$api/history/verify$cursor")
    pages=$((pages + 1))
    next=$(grep -o '"next_cursor":"[^"]*"' <<<"$page" | cut -d '"' -f 4 || true)
    [ -n "$next" ] || break
    cursor="?cursor=$next"
done
echo "verify, HTTP: $page after $pages pages, $(rate $((requests * 3)) "$start" "$EPOCHREALTIME"), peak memory +$((($(kb VmHWM) - before) / 1024)) MiB"
$bin history keygen --out "$dir/key" >"$dir/keys"
start=$EPOCHREALTIME
$bin history checkpoint --org $org --key "$dir/key" --out "$dir/checkpoint"
echo "checkpoint: $(rate "$requests" "$start" "$EPOCHREALTIME")"
start=$EPOCHREALTIME
$bin history verify --against "$dir/checkpoint" --public-key "$dir/key.pub" --json
echo "verify against the checkpoint: $(rate $((requests * 3)) "$start" "$EPOCHREALTIME")"
rm -f "$dir"/key "$dir"/key.pub "$dir"/checkpoint
