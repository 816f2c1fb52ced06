#!/bin/sh
# Prepares a MySQL or MariaDB server for the consumers of the platform: databases, users and their grants.
#
# Every step can be repeated, and every step leaves the server usable, so a run that was killed is simply run again.
# Nothing is changed before all that can be checked is in order.
#
# Needs sh, cat, date, mktemp, rm and sleep, and the `mysql` client of MySQL 8 or the `mariadb` client of MariaDB.
#
#   DATABASE_HOSTS      hosts, separated by spaces; the first that takes writes is used
#   DATABASE_PORT       TCP port
#   TLS_MODE            disable, require, verify-ca or verify-full
#   TLS_CA              file with the certificates to trust; empty for those of the system
#   TLS_CERT, TLS_KEY   files with the client's certificate and key; empty for none
#   WAIT_SECONDS        how long to wait for a server that takes writes
#   and those of consumers.sh
job=bootstrap
# shellcheck source=common.sh
. "${0%/*}/common.sh"
# shellcheck source=consumers.sh
. "${0%/*}/consumers.sh"

PRIVILEGES="SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER"
NATIVE=mysql_native_password

# escaped TEXT QUOTE: prints TEXT as it stands between QUOTEs in SQL and in option files.
escaped() { replaced "$(replaced "$1" '\' '\\')" "$2" "\\$2"; }

# options FILE USER PASSWORD: writes what the client connects with, TLS included, so that no password is an argument.
options() {
    {
        printf '[client]\nuser="%s"\npassword="%s"\n' "$(escaped "$2" '"')" "$(escaped "$3" '"')"
        printf 'port=%s\nconnect_timeout=5\nprotocol=TCP\n' "$DATABASE_PORT"
        if [ "$client" = mariadb ]; then tls_of_mariadb; else tls_of_mysql; fi
        if [ "$TLS_MODE" != disable ]; then
            if [ -n "${TLS_CA:-}" ]; then printf 'ssl-ca="%s"\n' "$TLS_CA"; fi
            if [ -n "${TLS_CERT:-}" ]; then printf 'ssl-cert="%s"\nssl-key="%s"\n' "$TLS_CERT" "$TLS_KEY"; fi
        fi
    } >"$1"
}

tls_of_mysql() {
    case $TLS_MODE in
    # Without TLS, the server's key protects the password of caching_sha2_password.
    disable) printf 'ssl-mode=DISABLED\nget-server-public-key\n' ;;
    require) printf 'ssl-mode=REQUIRED\n' ;;
    verify-ca) printf 'ssl-mode=VERIFY_CA\n' ;;
    verify-full) printf 'ssl-mode=VERIFY_IDENTITY\n' ;;
    esac
}

tls_of_mariadb() {
    case $TLS_MODE in
    disable) printf 'skip-ssl\n' ;;
    require) printf 'ssl\ndisable-ssl-verify-server-cert\n' ;;
    # MariaDB's client checks the name as well, or nothing.
    verify-ca | verify-full) printf 'ssl\nssl-verify-server-cert\n' ;;
    esac
}

# query OPTIONS HOST: runs the SQL on its standard input and prints rows, or leaves what went wrong in $work/error.
# Messages end before any quoted part of a statement, which might hold a password.
query() {
    "$client" --defaults-file="$1" --host="$2" --default-character-set=utf8mb4 --batch --skip-column-names --raw \
        2>"$work/error"
}

# reason: prints the last message of the client, which warns before it fails.
reason() {
    error=
    while read -r line; do
        case $line in ?*) error=${line%% near *} ;; esac
    done <"$work/error"
    printf '%s' "${error:-no reason given}"
}

# sql: runs the SQL on its standard input as the administrator, on the writer.
sql() { { printf "SET SESSION sql_mode = '';\n" && cat; } | query "$work/admin" "$writer" || fail "$writer: ${name:+$name: }$(reason)"; }

# is NAME VALUE: tells whether the server's variable has that value; one that it does not know has none.
is() {
    value=$(printf "SELECT VARIABLE_VALUE FROM %s.global_variables WHERE VARIABLE_NAME = '%s';\n" "$catalog" "$1" | sql) ||
        exit 1
    [ "$value" = "$2" ]
}

find_writer() {
    deadline=$(($(date +%s) + WAIT_SECONDS))
    told=
    while :; do
        for host in $DATABASE_HOSTS; do
            if read_only=$(printf 'SELECT @@global.read_only;\n' | query "$work/admin" "$host"); then
                if [ "$read_only" = 0 ]; then
                    writer=$host
                    return
                fi
                why="$host: takes no writes (read_only is on)"
            else
                why="$host: $(reason)"
            fi
            if [ "$why" != "$told" ]; then say "waiting: $why"; fi
            told=$why
        done
        [ "$(date +%s)" -lt "$deadline" ] || fail "no server took writes for $WAIT_SECONDS s; the last said: $told"
        sleep 2
    done
}

check_consumer() {
    check_user 32
    if [ "$plugin" = "$NATIVE" ]; then check_native; fi
    if [ "$keys" = keyless ]; then check_keyless; fi
}

check_native() {
    [ "$brand" = mysql ] || return 0
    status=$(printf "SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = '%s';\n" "$NATIVE" | sql)
    [ "$status" = ACTIVE ] ||
        fail "$name: knows no plugin but $NATIVE, which $version at $writer has switched off. Set the server's option of" \
            "that name to ON, in my.cnf or the cloud's parameter group, and restart it; MySQL 9 has it no more, use 8.4"
}

check_keyless() {
    if is pxc_strict_mode ENFORCING || is pxc_strict_mode MASTER; then
        fail "$name: makes a table without a primary key, which pxc_strict_mode refuses; set it to PERMISSIVE"
    fi
    if is innodb_force_primary_key ON; then
        fail "$name: makes a table without a primary key, which innodb_force_primary_key refuses; set it to OFF"
    fi
    if is sql_generate_invisible_primary_key ON; then return; fi
    grouped=$(printf "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'group_replication'%s;\n" \
        " AND PLUGIN_STATUS = 'ACTIVE'" | sql)
    if is sql_require_primary_key ON || [ "$grouped" != 0 ]; then
        fail "$name: makes a table without a primary key, which $writer refuses. Set sql_generate_invisible_primary_key=ON" \
            "(MySQL 8.0.30 or newer) before $name starts for the first time, or use a server without that rule"
    fi
}

# prepare: makes the database, then the user without rights, then gives it rights, then takes what it should not have.
prepare() {
    account="'$user'@'%'"
    literal="'$(escaped "$password" "'")'"
    case $plugin in
    default) identified="IDENTIFIED BY $literal" ;;
    *) if [ "$brand" = mariadb ]; then
        identified="IDENTIFIED VIA $plugin USING PASSWORD($literal)"
    else
        identified="IDENTIFIED WITH $plugin BY $literal"
    fi ;;
    esac
    if [ "$TLS_MODE" = disable ]; then required=NONE; else required=SSL; fi
    # A bare _ stands for any character in a grant.
    scope="\`$(replaced "$schema" _ '\_')\`.*"

    printf 'CREATE DATABASE IF NOT EXISTS `%s` CHARACTER SET utf8mb4;\n' "$schema" | sql
    printf 'CREATE USER IF NOT EXISTS %s %s;\n' "$account" "$identified" | sql
    printf 'ALTER USER %s %s REQUIRE %s WITH MAX_USER_CONNECTIONS %s;\n' "$account" "$identified" "$required" "$limit" | sql
    printf 'GRANT %s ON %s TO %s;\n' "$PRIVILEGES" "$scope" "$account" | sql
    surplus | sql >"$work/surplus"
    printf 'SHOW GRANTS FOR %s;\n' "$account" | sql >"$work/grants"
    roles <"$work/grants" >>"$work/surplus"
    sql <"$work/surplus"
    verify
    say "$name: $user may use $schema on $writer, and nothing else"
}

# surplus: prints a query whose rows are the statements that take away every right but those above.
surplus() {
    wanted=$(replaced "'$(replaced "$PRIVILEGES" ', ' "', '")'" '""' '')
    cat <<SQL
SELECT CONCAT('REVOKE ', PRIVILEGE_TYPE, ' ON *.* FROM ', GRANTEE, ';')
  FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = "$account" AND PRIVILEGE_TYPE <> 'USAGE';
SELECT DISTINCT CONCAT('REVOKE GRANT OPTION ON *.* FROM ', GRANTEE, ';')
  FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = "$account" AND IS_GRANTABLE = 'YES';
SELECT CONCAT('REVOKE ', PRIVILEGE_TYPE, ' ON \`', TABLE_SCHEMA, '\`.* FROM ', GRANTEE, ';')
  FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = "$account"
   AND NOT (REPLACE(TABLE_SCHEMA, '\\\\', '') = '$schema' AND PRIVILEGE_TYPE IN ($wanted));
SELECT DISTINCT CONCAT('REVOKE GRANT OPTION ON \`', TABLE_SCHEMA, '\`.* FROM ', GRANTEE, ';')
  FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = "$account" AND IS_GRANTABLE = 'YES';
SELECT CONCAT('REVOKE ', PRIVILEGE_TYPE, ' ON \`', TABLE_SCHEMA, '\`.\`', TABLE_NAME, '\` FROM ', GRANTEE, ';')
  FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE = "$account";
SQL
}

# roles: turns the grants of roles among those on its standard input into statements that take them away.
roles() {
    while read -r grant; do
        case $grant in
        *" ON "*) ;;
        "GRANT "*" TO "*)
            role=${grant#GRANT }
            printf 'REVOKE %s FROM %s;\n' "${role%% TO *}" "$account"
            ;;
        esac
    done
}

# verify: connects as the consumer will.
verify() {
    options "$work/consumer" "$user" "$password"
    printf 'USE `%s`;\n' "$schema" | query "$work/consumer" "$writer" ||
        fail "$name: $user cannot use $schema on $writer: $(reason)"
}

client=mysql
if command -v mariadb >"$work/client"; then client=mariadb; fi
read_admin
options "$work/admin" "$admin" "$password"

find_writer
catalog=information_schema
version=$(printf 'SELECT VERSION();\n' | sql)
case $version in
*MariaDB*) brand=mariadb ;;
*) brand=mysql catalog=performance_schema version="MySQL $version" ;;
esac
say "$writer takes writes: $version"

prepare_consumers
