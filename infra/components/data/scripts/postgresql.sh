#!/bin/sh
# Prepares a PostgreSQL server for the consumers of the platform: databases, roles and their grants.
#
# Every step can be repeated, and every step leaves the server usable, so a run that was killed is simply run again.
# Nothing is changed before all that can be checked is in order.
#
# Needs sh, cat, date, mktemp, rm and sleep, and `psql` of PostgreSQL 13 or newer.
#
#   DATABASE_HOSTS      hosts, separated by spaces; the first that takes writes is used
#   DATABASE_PORT       TCP port
#   TLS_MODE            disable, require, verify-ca or verify-full
#   TLS_CA              file with the certificates to trust; empty for those of the system
#   TLS_CERT, TLS_KEY   files with the client's certificate and key; empty for none
#   WAIT_SECONDS        how long to wait for a server that takes writes
#   and those of consumers.sh; plugin and keys matter to MySQL only
job=bootstrap
# shellcheck source=common.sh
. "${0%/*}/common.sh"
# shellcheck source=consumers.sh
. "${0%/*}/consumers.sh"

# passfile FILE PASSWORD: writes what the client finds the password in, so that it is no argument.
passfile() { printf '*:*:*:*:%s\n' "$(replaced "$(replaced "$2" '\' '\\')" : '\:')" >"$1"; }

# query DATABASE [ARGUMENT...]: runs the SQL on its standard input as the administrator, or leaves what went wrong in
# $work/error: the server's first message and never the statement, which might hold a password.
query() {
    database=$1
    shift
    PGPASSFILE=$work/admin psql --no-psqlrc --no-password --quiet --tuples-only --no-align \
        --set ON_ERROR_STOP=1 --set VERBOSITY=terse --set SHOW_CONTEXT=never \
        --username "$admin" --dbname "$database" "$@" 2>"$work/error"
}

reason() {
    read -r error <"$work/error" || :
    error=${error##*"again: "}
    printf '%s' "${error:-no reason given}"
}

sql() { query "$@" || fail "${name:+$name: }$(reason)"; }

wait_for_writer() {
    deadline=$(($(date +%s) + WAIT_SECONDS))
    told=
    until version=$(printf 'SHOW server_version;\n' | query postgres); do
        why=$(reason)
        if [ "$why" != "$told" ]; then say "waiting: $why"; fi
        told=$why
        [ "$(date +%s)" -lt "$deadline" ] || fail "no server took writes for $WAIT_SECONDS s; the last said: $told"
        sleep 2
    done
}

check_consumer() {
    check_user 63
}

# prepare: makes the role without rights, then the database, then gives rights, then takes what it should not have.
prepare() {
    sql postgres --set user="$user" --set schema="$schema" --set limit="$limit" <<'SQL'
SELECT format('CREATE ROLE %I LOGIN', :'user')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'user') \gexec
ALTER ROLE :"user" LOGIN CONNECTION LIMIT :limit;
SELECT format('CREATE DATABASE %I ENCODING ''UTF8'' TEMPLATE template0', :'schema')
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'schema') \gexec
GRANT CONNECT, TEMPORARY ON DATABASE :"schema" TO :"user";
REVOKE ALL ON DATABASE :"schema" FROM PUBLIC;
SELECT format('REVOKE CREATE ON DATABASE %I FROM %I', :'schema', :'user') \gexec
-- What an earlier user of this name had beyond that.
SELECT format('ALTER ROLE %I %s', rolname, concat_ws(' ',
         CASE WHEN rolsuper THEN 'NOSUPERUSER' END, CASE WHEN rolcreatedb THEN 'NOCREATEDB' END,
         CASE WHEN rolcreaterole THEN 'NOCREATEROLE' END, CASE WHEN rolreplication THEN 'NOREPLICATION' END,
         CASE WHEN rolbypassrls THEN 'NOBYPASSRLS' END))
  FROM pg_roles
 WHERE rolname = :'user' AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls) \gexec
SELECT format('REVOKE %I FROM %I', whole.rolname, :'user')
  FROM pg_auth_members JOIN pg_roles whole ON whole.oid = roleid JOIN pg_roles part ON part.oid = member
 WHERE part.rolname = :'user' \gexec
SELECT DISTINCT format('REVOKE ALL ON DATABASE %I FROM %I', datname, :'user')
  FROM pg_database, aclexplode(datacl) AS acl JOIN pg_roles ON pg_roles.oid = acl.grantee
 WHERE datname <> :'schema' AND rolname = :'user' \gexec
SQL
    set_password
    sql "$schema" --set user="$user" <<'SQL'
GRANT USAGE, CREATE ON SCHEMA public TO :"user";
REVOKE ALL ON SCHEMA public FROM PUBLIC;
SQL
    verify
    say "$name: $user may use $schema, and nothing else"
}

# set_password: sends the password's SCRAM verifier, so that no statement, logged or not, holds the password itself.
# psql asks for it twice, on the terminal if the session has one.
set_password() {
    if command -v setsid >/dev/null; then detached=setsid; else detached=; fi
    printf '%s\n%s\n' "$password" "$password" |
        PGPASSFILE=$work/admin $detached psql --no-psqlrc --no-password --quiet --username "$admin" --dbname postgres \
            --set ON_ERROR_STOP=1 --command "SET password_encryption = 'scram-sha-256'" \
            --command "\\password \"$user\"" 2>"$work/error" || fail "$name: $(reason)"
}

# verify: connects as the consumer will.
verify() {
    passfile "$work/consumer" "$password"
    printf 'SELECT 1;\n' | PGPASSFILE=$work/consumer psql --no-psqlrc --no-password --quiet \
        --username "$user" --dbname "$schema" >/dev/null 2>"$work/error" ||
        fail "$name: $user cannot use $schema: $(reason)"
}

PGHOST=$(replaced "$DATABASE_HOSTS" ' ' ,)
PGPORT=$DATABASE_PORT
PGTARGETSESSIONATTRS=read-write
PGCONNECT_TIMEOUT=5
PGSSLMODE=$TLS_MODE
PGAPPNAME=flotilla-bootstrap
export PGHOST PGPORT PGTARGETSESSIONATTRS PGCONNECT_TIMEOUT PGSSLMODE PGAPPNAME
if [ -n "${TLS_CA:-}" ]; then
    export PGSSLROOTCERT="$TLS_CA"
else
    case $TLS_MODE in
    # libpq checks the name as well where it trusts the system's authorities (from version 16 on).
    verify-*) export PGSSLROOTCERT=system PGSSLMODE=verify-full ;;
    esac
fi
if [ -n "${TLS_CERT:-}" ]; then
    # libpq refuses a key that others may read, which mounted Secrets are.
    cat "$TLS_KEY" >"$work/key"
    export PGSSLCERT="$TLS_CERT" PGSSLKEY="$work/key"
fi

read_admin
passfile "$work/admin" "$password"

wait_for_writer
say "a server takes writes: PostgreSQL $version"

prepare_consumers
