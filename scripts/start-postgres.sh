#!/usr/bin/env bash
# Starts a throw-away PostgreSQL on a free port of 127.0.0.1 and prints only its URL on stdout.
# Installs PostgreSQL first if possible. If not, says why on stderr, prints nothing and exits with 0.
#   start-postgres.sh              starts one and prints the URL
#   start-postgres.sh --stop URL   stops that one and removes its data
set -euo pipefail

# Prints the data folder of the server at a port.
home_of() {
  echo "${TMPDIR:-/tmp}/keyhole-postgres-$1"
}

home=""
give_up() {
  echo "No PostgreSQL for the tests: $1" >&2
  if [ -n "$home" ]; then rm -rf "$home"; fi
  exit 0
}

find_binaries() {
  local path
  for path in $(ls -d /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql*/bin 2>/dev/null | sort -rV); do
    if [ -x "$path/initdb" ] && [ -x "$path/pg_ctl" ]; then echo "$path" && return; fi
  done
  if command -v initdb >/dev/null && command -v pg_ctl >/dev/null; then dirname "$(command -v initdb)"; fi
}

install_it() {
  [ "$(id -u)" = 0 ] || give_up "it is not installed, and only root may install it."
  command -v apt-get >/dev/null || give_up "it is not installed, and there is no apt-get."
  mkdir -p /etc/postgresql-common
  # Without this the package starts a server of its own.
  [ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
  export DEBIAN_FRONTEND=noninteractive
  {
    timeout 120 apt-get update -q && timeout 300 apt-get install -q -y --no-install-recommends postgresql
  } >"$home/install.log" 2>&1 || give_up "apt-get could not install it: $(tail -n 1 "$home/install.log")"
}

# The server refuses to run as root.
as_owner() {
  if [ "$(id -u)" = 0 ]; then
    (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp "$@")
  else
    "$@"
  fi
}

stop() {
  local binaries port
  port="$(sed -nE 's#^postgres://keyhole@127\.0\.0\.1:([0-9]+)/postgres$#\1#p' <<<"$1")"
  if [ -z "$port" ]; then echo "Not a server that this script started: $1" >&2 && exit 1; fi
  home="$(home_of "$port")"
  binaries="$(find_binaries)"
  if [ -f "$home/data/postmaster.pid" ] && [ -n "$binaries" ]; then
    as_owner "$binaries/pg_ctl" stop -D "$home/data" -m immediate >/dev/null 2>&1 || true
  fi
  rm -rf "$home"
}

free_port() {
  node -e 'const s = require("node:net").createServer(); s.listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}

start() {
  local binaries port
  port="$(free_port)"
  home="$(home_of "$port")"
  mkdir -m 755 "$home"
  [ -n "$(find_binaries)" ] || install_it
  binaries="$(find_binaries)"
  [ -n "$binaries" ] || give_up "it was installed, but initdb and pg_ctl are not to be found."
  mkdir -p "$home/data"
  if [ "$(id -u)" = 0 ]; then
    id postgres >/dev/null 2>&1 || give_up "there is no user postgres to run it as."
    chown postgres: "$home" "$home/data"
  fi
  as_owner "$binaries/initdb" -D "$home/data" -U keyhole -A trust -E UTF8 --locale=C --no-sync \
    >"$home/initdb.log" 2>&1 || give_up "initdb failed: $(tail -n 1 "$home/initdb.log")"
  as_owner "$binaries/pg_ctl" start -D "$home/data" -w -t 30 -l "$home/data/server.log" -o \
    "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=100" \
    >/dev/null 2>&1 || give_up "the server did not start: $(tail -n 1 "$home/data/server.log" 2>/dev/null)"
  echo "postgres://keyhole@127.0.0.1:$port/postgres"
}

if [ "${1:-}" = "--stop" ]; then stop "${2:-}"; else start; fi
