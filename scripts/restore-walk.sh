#!/usr/bin/env bash
# Backup and restore, walked from end to end on PostgreSQL servers of its own, as docs/operations.md describes them:
#
#   1. pg_dump of a database in use, pg_restore into an empty server, `ringi migrate`, `ringi history verify`;
#   2. point in time: a base backup and the archived log, somebody's DROP TABLE, and a new server as of the moment before.
#
# What was there before must be there afterwards, to the last row of history, and must serve. Leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/target/debug/ringi
[ -x "$bin" ] || cargo build --locked
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
export PATH=${pg:+$pg:}$PATH
export RINGI__AUTH__HS256_SECRET=a-secret-for-the-restore-walk-32-bytes-long RINGI__LOG__FILTER=warn
unset DATABASE_URL RINGI_CONFIG PORT
# Where the user who runs PostgreSQL can go, too.
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringi-restore-XXXXXX")
chmod 755 "$dir"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT

say() { echo "== $*"; }
# start NAME: a PostgreSQL of its own in $dir/NAME; its address in $url, its process in $postgres.
start() {
    : >"$dir/$1.out"
    "$bin" postgres --dir "$dir/$1" >"$dir/$1.out" 2>"$dir/$1.log" &
    postgres=$!
    pids+=("$postgres")
    until [ -s "$dir/$1.out" ]; do
        kill -0 "$postgres" 2>/dev/null || { cat "$dir/$1.log" >&2; exit 1; }
        sleep 0.1
    done
    url=$(head -n 1 "$dir/$1.out")
}
stop() {
    kill "$1"
    wait "$1" || true
}
ask() { psql -qAt -v ON_ERROR_STOP=1 "$url" -c "$1"; }
# Everything that people have written, as one number for each table.
inventory() {
    for table in $(ask "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"); do
        echo "$table $(ask "SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '-') FROM $table t")"
    done
}
# One decision over HTTP: what was restored works, as the less able role, on the old chain.
decide() {
    local out=$dir/serve.out server address request
    : >"$out" # Else the last one's word would be taken for this one's.
    DATABASE_URL=$url PORT=0 "$bin" serve >"$out" 2>"$dir/serve.log" &
    server=$!
    pids+=("$server")
    until grep -qs '^Ringi is ready' "$out"; do
        kill -0 $server 2>/dev/null || { cat "$dir/serve.log" >&2; exit 1; }
        sleep 0.1
    done
    address=$(sed -n 's/^Ringi is ready: open \(http:..[^/]*\).*/\1/p' "$out")
    as() {
        curl -sSf -H "Authorization: Bearer $("$bin" token --user "0197c0de-0000-7000-8000-000000000$1")" \
            -H 'Content-Type: application/json' "$address/api/v1/organizations/$org/requests$2" -d "$3"
    }
    request=$(as 101 "" "{\"title\": \"$1\", \"amount\": 5000, \"currency\": \"JPY\"}" | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    as 101 "/$request/submit" '{"version": 1}' >"$dir/answer"
    as 102 "/$request/approve" '{"version": 2}' | grep -q '"status":"approved"'
    stop $server
}
org=0197c0de-0000-7000-8000-000000000001

say "a server with the demo's people and their work"
start first
first=$postgres
ask "ALTER SYSTEM SET archive_mode = on" 2>/dev/null || true
archive=$dir/archive
mkdir "$archive"
owner=$(ask "SHOW data_directory" | xargs stat -c %u:%g)
chown "$owner" "$archive"
ask "ALTER SYSTEM SET archive_command = 'test ! -f $archive/%f && cp %p $archive/%f'"
stop "$first"
start first
first=$postgres
DATABASE_URL=$url "$bin" migrate
DATABASE_URL=$url "$bin" demo >"$dir/demo"
decide "Before the backup"

say "1. pg_dump, while it is in use"
inventory >"$dir/before"
pg_dump --format=custom --file="$dir/dump" "$url"

say "2. a base backup, for point in time"
base=$dir/second/data
mkdir -p "$dir/second"
pg_basebackup -d "$url" -D "$dir/base" --checkpoint=fast --wal-method=stream
decide "After the backup"
inventory >"$dir/moment"
moment=$(ask "SELECT clock_timestamp()")
sleep 1 # A point in time between two commits.
say "   somebody drops a table at $(date -u +%H:%M:%S)"
ask "DROP TABLE approval_history, approval_request CASCADE" 2>/dev/null
ask "SELECT pg_switch_wal()" >"$dir/switched"
last=$(ask "SELECT last_archived_wal FROM pg_stat_archiver")
until [ -n "$last" ] && [ "$(ask "SELECT count(*) FROM pg_stat_archiver WHERE last_archived_time > '$moment'")" = 1 ]; do
    sleep 0.2
    last=$(ask "SELECT last_archived_wal FROM pg_stat_archiver")
done
stop "$first"

say "1. restored from the dump into an empty server"
start third
third=$postgres
# A dump of one database has no roles: they belong to the whole server, and the tables' owner must be there before them.
ask "CREATE ROLE ringi_owner NOLOGIN" && ask "CREATE ROLE ringi_app NOLOGIN"
ask "GRANT CREATE, USAGE ON SCHEMA public TO ringi_owner"
pg_restore --dbname="$url" --exit-on-error "$dir/dump"
DATABASE_URL=$url "$bin" migrate
inventory | diff "$dir/before" - && echo "   every row is there"
DATABASE_URL=$url "$bin" history verify
DATABASE_URL=$url "$bin" doctor
decide "After the restore"
DATABASE_URL=$url "$bin" history verify
stop "$third"

say "2. recovered to $moment"
# `ringi postgres` runs on the folder `data` in its own: put there, it recovers by itself.
mv "$dir/base" "$base"
cat >>"$base/postgresql.auto.conf" <<CONF
restore_command = 'cp $archive/%f %p'
recovery_target_time = '$moment'
recovery_target_action = 'promote'
archive_mode = off
CONF
touch "$base/recovery.signal"
chown -R "$owner" "$base"
chmod 700 "$base"
start second
second=$postgres
until [ "$(ask "SELECT pg_is_in_recovery()")" = f ]; do sleep 0.2; done
DATABASE_URL=$url "$bin" migrate
inventory | diff "$dir/moment" - && echo "   every row of that moment is there"
DATABASE_URL=$url "$bin" history verify
decide "After the recovery"
DATABASE_URL=$url "$bin" history verify
stop "$second"
say "both ways back were walked: rows, history, roles and rights are as they were"
