#!/usr/bin/env bash
# A stranger reads /openapi.json and tries everything that it says, in every order: schemathesis (PyPI), with its stateful
# phase and a token, against a server and a PostgreSQL of their own. Nothing may be a 5xx, and no answer other than documented.
#
#   scripts/strangers.sh [install]     SECONDS_EACH=60 EXAMPLES=40 SEED=n, WHO=admin|applicant|outsider
#
# `install` puts it into target/strangers; after that no network is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
version=4.32.5
dir=$PWD/target/strangers
tool=$dir/venv/bin/schemathesis

install() {
    if "$tool" --version 2>/dev/null | grep -qF "$version"; then return; fi
    echo "ringi: installing schemathesis $version into $dir"
    python3 -m venv "$dir/venv"
    "$dir/venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
}
if ! install; then
    echo "ringi: schemathesis could not be installed: it needs Python 3.10 or newer with venv, and PyPI once." >&2
    exit 1
fi
[ "${1:-}" != install ] || exit 0

bin=$PWD/target/debug/ringi
[ -x $bin ] || cargo build --locked
export RINGI__AUTH__HS256_SECRET=a-secret-for-the-strangers-32-bytes-or-more RINGI__DATABASE__EMBEDDED_DURABLE=false
export RINGI__DATABASE__EMBEDDED_DIR=$dir/postgres RINGI__LOG__FILTER=warn,actix_http::h1::dispatcher=off RINGI__LOG__FORMAT=json PORT=0
# A stranger is quicker than people.
export RINGI__LIMITS__USER_PER_S=0 RINGI__LIMITS__ORGANIZATION_PER_S=0 RINGI__LIMITS__ADDRESS_PER_S=0
unset DATABASE_URL RINGI_CONFIG
rm -rf "$dir/postgres"
$bin serve --demo >"$dir/serve.out" 2>"$dir/serve.log" &
serve=$!
trap 'kill $serve 2>/dev/null || true; wait $serve 2>/dev/null || true' EXIT
until grep -qs '^Ringi is ready' "$dir/serve.out"; do
    kill -0 $serve || { cat "$dir/serve.log" >&2; exit 1; }
    sleep 0.1
done
address=$(sed -n 's/^Ringi is ready: open \(http:..[^/]*\).*/\1/p' "$dir/serve.out")

# It keeps what it found beside itself.
cd "$dir"
# Known things to begin with: invented ids would meet nothing but 404.
org=0197c0de-0000-7000-8000-000000000001
user() {
    case $1 in
    admin) echo 0197c0de-0000-7000-8000-000000000104 ;;
    applicant) echo 0197c0de-0000-7000-8000-000000000101 ;;
    outsider) echo 0197c0de-0000-7000-8000-0000000009ff ;;
    esac
}
failed=
for who in ${WHO:-admin applicant outsider}; do
    token=$($bin token --user "$(user "$who")")
    id=$(curl -sf -H "Authorization: Bearer $token" "$address/api/v1/organizations/$org/requests?limit=1" |
        grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4 || true)
    cat >"$dir/schemathesis.toml" <<TOML
[parameters]
org = "$org"
${id:+id = \"$id\"}
TOML
    echo "== $who"
    # One worker: Python 3.11 can't read sources from two threads at once. Left out are what can't be asked of this interface: a value that the schema allows may break a rule that no schema
    # can say (a version that somebody else has changed, a right that the person lacks), and is refused with its code.
    "$tool" --config-file "$dir/schemathesis.toml" run "$address/openapi.json" \
        --header "Authorization: Bearer $token" \
        --phases examples,coverage,fuzzing,stateful \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection,unsupported_method,use_after_free,ignored_auth \
        --max-examples "${EXAMPLES:-40}" --max-time "${SECONDS_EACH:-60}" ${SEED:+--seed "$SEED"} \
        --continue-on-failure --suppress-health-check all --request-timeout 20 --workers 1 \
        --report-junit-path "$dir/$who.xml" --warnings off || failed="$failed $who"
done
if grep -q '"level":"ERROR"' "$dir/serve.log"; then
    grep '"level":"ERROR"' "$dir/serve.log" | head >&2
    failed="$failed (errors in $dir/serve.log)"
fi
[ -z "$failed" ] || { echo "ringi: found something as:$failed" >&2; exit 1; }
