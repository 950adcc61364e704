#!/bin/sh
# Builds broken servers, each with one promise taken out of the sources (tests/mutations/*.patch), and expects the
# torture test to fail on each of them and to name the broken rule. A checker that never fails proves nothing.
#
#   scripts/mutants.sh [name...]     such as: scripts/mutants.sh no-guard
#
# The sources are changed in a copy below the target folder; what was built of the dependencies is shared.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
built=${CARGO_TARGET_DIR:-$root/target}
work=$built/mutants
tries=3

cargo build --quiet --tests
mkdir -p "$work/target/debug"
for part in build deps; do
    # Hard links: no copy, and the compiler replaces files instead of writing into them.
    [ -e "$work/target/debug/$part" ] || cp -al "$built/debug/$part" "$work/target/debug/$part"
done
# Cargo does write into these. Of our own package nothing counts as built.
[ -e "$work/target/debug/.fingerprint" ] || cp -a "$built/debug/.fingerprint" "$work/target/debug/.fingerprint"
rm -rf "$work/target/debug/.fingerprint/ringi-"*

# Changed SQL is checked at compile time against a real schema.
"$built/debug/ringi" postgres --dir "$work/postgres" >"$work/url" &
postgres=$!
trap 'kill "$postgres" 2>/dev/null; wait "$postgres" 2>/dev/null || true' EXIT
until [ -s "$work/url" ]; do
    kill -0 "$postgres"
    sleep 0.1
done
url=$(cat "$work/url")
DATABASE_URL=$url "$built/debug/ringi" migrate

# fresh: an unchanged copy of the sources, all of them newer than what was built of the last one.
fresh() {
    rm -rf "$work/sources"
    mkdir "$work/sources"
    tar -cf - .cargo .sqlx bench Cargo.lock Cargo.toml build.rs config migrations src tests web/dist | tar -xmf - -C "$work/sources"
}

# cargo_test ARGUMENT...: in the copy, with its own target folder.
cargo_test() (
    cd "$work/sources"
    SQLX_OFFLINE=false DATABASE_URL=$url CARGO_TARGET_DIR="$work/target" cargo test --quiet --test it "$@"
)

escaped=
for patch in tests/mutations/*.patch; do
    name=$(basename "$patch" .patch)
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    rule=$(sed -n 's/^Expect: //p' "$patch")
    fresh
    patch --quiet --strip=1 --directory="$work/sources" <"$patch"
    cargo_test --no-run
    try=1
    while :; do
        # Whether a kill meets the gap is a matter of chance.
        if ! cargo_test torture::every_promise -- --nocapture >"$work/$name.log" 2>&1 &&
            grep -qF "broken: $rule" "$work/$name.log"; then
            echo "caught  $name (try $try): $rule"
            break
        fi
        if [ "$try" = "$tries" ]; then
            echo "ESCAPED $name: see $work/$name.log"
            escaped="$escaped $name"
            break
        fi
        try=$((try + 1))
    done
done
[ -z "$escaped" ]
