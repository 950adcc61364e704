#!/usr/bin/env bash
# Makes sure that what Ringi needs is on this machine: installs it on Debian and its kin, elsewhere says what to
# install. Asks the network for nothing when everything is there.
set -euo pipefail

rust_needed=1.94
node_needed=20.19

missing=()
command -v cc >/dev/null || missing+=(build-essential)
command -v setpriv >/dev/null || missing+=(util-linux)

has_postgres() {
    [ -n "${DATABASE_URL:-}" ] && [ "${1:-}" != test ] && return 0
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null ||
        { command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/initdb" ]; }
}
has_postgres "$@" || missing+=(postgresql)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
# Only the tests make a certificate.
[ "${1:-}" != test ] || command -v openssl >/dev/null || missing+=(openssl)
# Only the tests look at the page by themselves.
[ "${1:-}" != test ] || command -v chromium >/dev/null || [ -n "${CHROMIUM:-}" ] || missing+=(chromium)

if [ ${#missing[@]} -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        as_root=(sudo -n)
    fi
    if ! command -v apt-get >/dev/null; then
        echo "ringi: please install ${missing[*]} (PostgreSQL 14 or newer with its server programs; a C compiler; util-linux; Node.js $node_needed or newer with npm; for the tests Chromium, whose path CHROMIUM names where it is not /usr/bin/chromium), then run this again." >&2
        exit 1
    fi
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        echo "ringi: please run: sudo apt-get install ${missing[*]}   and then this again." >&2
        exit 1
    fi
    echo "ringi: installing ${missing[*]}"
    if [[ " ${missing[*]} " == *" postgresql "* ]] && [ ! -e /etc/postgresql-common ]; then
        # Only the programs are wanted: without this Debian also starts a server of its own.
        "${as_root[@]}" mkdir -p /etc/postgresql-common/createcluster.d
        echo "create_main_cluster = false" | "${as_root[@]}" tee /etc/postgresql-common/createcluster.d/ringi.conf >/dev/null
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if ! command -v cargo >/dev/null; then
    echo "ringi: please install Rust $rust_needed or newer (https://rustup.rs; on Debian 13 also: apt-get install rustup && rustup default stable), then run this again." >&2
    exit 1
fi
rust_here=$(rustc --version | awk '{print $2}')
if [ "$(printf '%s\n%s\n' "$rust_needed" "$rust_here" | sort -V | head -n 1)" != "$rust_needed" ]; then
    echo "ringi: Rust $rust_here is too old: please update to $rust_needed or newer (rustup update stable)." >&2
    exit 1
fi
node_here=$(node --version | tr -d v)
if [ "$(printf '%s\n%s\n' "$node_needed" "$node_here" | sort -V | head -n 1)" != "$node_needed" ]; then
    echo "ringi: Node.js $node_here is too old for building the page: please install $node_needed or newer (https://nodejs.org), then run this again." >&2
    exit 1
fi
