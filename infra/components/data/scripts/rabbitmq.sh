#!/bin/sh
# Creates the platform's virtual hosts, queues, users and permissions on a RabbitMQ cluster, by its management interface.
#
# Every step can be repeated, so a run that was killed is simply run again; nothing is ever deleted.
#
# Needs sh, cat, date, grep, mktemp, rm, sed and sleep, and curl.
#
#   MANAGEMENT           address of the management interface, such as https://rabbitmq.example.com:15671
#   TLS_CA               file with the certificates to trust; empty for those of the image
#   TLS_CERT, TLS_KEY    files with the administrator's certificate and key; empty for none
#   ADMIN_USERNAME_FILE  file that holds the administrator's name
#   ADMIN_PASSWORD_FILE  file that holds the administrator's password
#   USERS_FILE           a line for each user: name, and the file that holds its password; a user without a file is
#                        made without a password, so that nobody can log in as it, and never changed
#   REQUESTS_FILE        a line for each thing to make: what it is, path below /api and body, separated by tabs
#   WAIT_SECONDS         how long to wait for a server that answers
job=events
# shellcheck source=common.sh
. "${0%/*}/common.sh"

TAB=$(printf '\t')

# escaped TEXT: prints TEXT as it stands between quotes, in JSON and in curl's own file.
escaped() { printf '%s\n' "$1" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g'; }

user=$(held "$ADMIN_USERNAME_FILE")
password=$(held "$ADMIN_PASSWORD_FILE")
{
    printf 'user = "%s:%s"\n' "$(escaped "$user")" "$(escaped "$password")"
    printf 'silent\nshow-error\nconnect-timeout = 5\nmax-time = 30\nheader = "content-type: application/json"\n'
    [ -z "$TLS_CA" ] || printf 'cacert = "%s"\n' "$TLS_CA"
    [ -z "$TLS_CERT" ] || printf 'cert = "%s"\nkey = "%s"\n' "$TLS_CERT" "$TLS_KEY"
} >"$work/curl"

# call METHOD PATH BODY_FILE: sets `status` to what the server answered, 000 where none did, and keeps its words.
call() {
    status=$(curl --config "$work/curl" --request "$1" --data-binary "@$3" --output "$work/answer" \
        --write-out '%{http_code}' "$MANAGEMENT/api/$2" 2>"$work/errors") || status=000
}

# reason: prints why the last call failed.
reason() {
    case $status in
        000) cat "$work/errors" ;;
        401) printf 'the administrator is refused (401): the name or the password is wrong' ;;
        *) printf '%s (%s)' "$(sed -e 's/.*"reason":"\([^"]*\)".*/\1/' -e 's/\\n/ /g' "$work/answer")" "$status" ;;
    esac
}

: >"$work/nothing"
say "waiting for $MANAGEMENT"
deadline=$(($(date +%s) + WAIT_SECONDS))
while :; do
    call GET whoami "$work/nothing"
    case $status in
        200) break ;;
        401 | 403) fail "$(reason)" ;;
    esac
    [ "$(date +%s)" -lt "$deadline" ] || fail "no answer within $WAIT_SECONDS s: $(reason)"
    sleep 2
done
grep -q administrator "$work/answer" ||
    fail "user $user lacks the tag administrator: rabbitmqctl set_user_tags $user administrator"

# put WHAT PATH BODY_FILE: makes something, or leaves what is there as it is.
put() {
    call PUT "$2" "$3"
    case $status in
        201) say "created $1" ;;
        204) ;;
        *) fail "cannot create $1: $(reason)" ;;
    esac
}

while read -r name file; do
    body=$work/body
    if [ -n "${file:-}" ]; then
        printf '{"password":"%s","tags":""}' "$(escaped "$(held "$file")")" >"$body"
    else
        call GET "users/$name" "$work/nothing"
        [ "$status" != 200 ] || continue
        printf '{"password_hash":"","tags":""}' >"$body"
    fi
    put "user $name" "users/$name" "$body"
done <"$USERS_FILE"
while IFS=$TAB read -r what path body; do
    printf '%s' "$body" >"$work/body"
    put "$what" "$path" "$work/body"
done <"$REQUESTS_FILE"
say "queues and permissions are as declared"
