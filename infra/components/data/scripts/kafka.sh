#!/bin/sh
# Creates the platform's topics and permissions on a Kafka cluster, and brings those that exist in line.
#
# Every step can be repeated, so a run that was killed is simply run again. Nothing is changed before all that can be
# checked is in order, and nothing is ever deleted.
#
# Needs sh, awk, cat, date, grep, mktemp, rm, sed and sleep, and Kafka's own tools.
#
#   BOOTSTRAP_SERVERS    host:port of brokers, separated by commas
#   TLS                  true or false
#   TLS_CA               file with the certificates to trust; empty for those of the image
#   TLS_CERT, TLS_KEY    files with the administrator's certificate and key; empty for none
#   SASL_MECHANISM       how the administrator's password is proven; empty for no password
#   ADMIN_USERNAME_FILE  file that holds the administrator's name
#   ADMIN_PASSWORD_FILE  file that holds the administrator's password
#   TOPICS_FILE          a line for each topic: name, partitions, replication, and its settings as k=v,k=v
#   GRANTS_FILE          a line for each permission: principal, resource, pattern, name and operations as A,B;
#                        separated by tabs, as principals can hold spaces
#   WAIT_SECONDS         how long to wait for a broker that answers
#   KAFKA_BIN            folder of Kafka's tools
job=events
# shellcheck source=common.sh
. "${0%/*}/common.sh"

KAFKA_BIN=${KAFKA_BIN:-/opt/kafka/bin}
TAB=$(printf '\t')
export LOG_DIR="$work/logs" KAFKA_HEAP_OPTS="${KAFKA_HEAP_OPTS:--Xmx192m}"

# quoted TEXT: prints TEXT as it stands between quotes in JAAS, in a file of properties, which eats backslashes too.
quoted() { printf '%s\n' "$1" | sed -e 's/\\/\\\\\\\\/g' -e 's/"/\\\\"/g'; }

properties=$work/admin.properties
protocol=PLAINTEXT
[ "$TLS" != true ] || protocol=SSL
[ -z "$SASL_MECHANISM" ] || protocol=SASL_$protocol
{
    printf 'security.protocol=%s\n' "$protocol"
    printf 'request.timeout.ms=10000\ndefault.api.timeout.ms=30000\n'
    if [ -n "$SASL_MECHANISM" ]; then
        case $SASL_MECHANISM in
            PLAIN) module=org.apache.kafka.common.security.plain.PlainLoginModule ;;
            *) module=org.apache.kafka.common.security.scram.ScramLoginModule ;;
        esac
        user=$(held "$ADMIN_USERNAME_FILE")
        password=$(held "$ADMIN_PASSWORD_FILE")
        printf 'sasl.mechanism=%s\n' "$SASL_MECHANISM"
        printf 'sasl.jaas.config=%s required username="%s" password="%s";\n' \
            "$module" "$(quoted "$user")" "$(quoted "$password")"
    fi
    if [ "$TLS" = true ] && [ -n "$TLS_CA" ]; then
        printf 'ssl.truststore.type=PEM\nssl.truststore.location=%s\n' "$TLS_CA"
    fi
    if [ -n "$TLS_CERT" ]; then
        cat "$TLS_KEY" "$TLS_CERT" >"$work/admin.pem"
        printf 'ssl.keystore.type=PEM\nssl.keystore.location=%s\n' "$work/admin.pem"
    fi
} >"$properties"

# tool NAME ARGUMENT…: runs one of Kafka's tools as the administrator; keeps what it says in $work/said. The tools write
# errors to either output.
tool() {
    command=$1
    shift
    "$KAFKA_BIN/kafka-$command.sh" --bootstrap-server "$BOOTSTRAP_SERVERS" --command-config "$properties" "$@" \
        >"$work/said" 2>"$work/errors" </dev/null
}

# reason: prints what the last tool says went wrong.
reason() {
    cat "$work/said" "$work/errors" | grep -v '^[[:space:]]*at ' | awk '
        sub(/^Error while executing [a-zA-Z]+ command *: */, "") && !told { told = $0 }
        /Exception|Error|error/ && !other { other = $0 }
        END { print told ? told : other ? other : "no reason given" }'
}

say "waiting for $BOOTSTRAP_SERVERS"
deadline=$(($(date +%s) + WAIT_SECONDS))
until tool topics --describe; do
    case $(cat "$work/said" "$work/errors") in
        *SaslAuthentication* | *SslAuthentication* | *"SSL handshake failed"*) fail "$(reason)" ;;
    esac
    [ "$(date +%s)" -lt "$deadline" ] || fail "no answer within $WAIT_SECONDS s: $(reason)"
    sleep 2
done

# One line for each topic that exists: name, partitions, replication, settings.
awk '/PartitionCount:/ {
    name = partitions = replication = configs = ""
    for (i = 1; i <= NF; i++) {
        if ($i == "Topic:") name = $(i + 1)
        if ($i == "PartitionCount:") partitions = $(i + 1)
        if ($i == "ReplicationFactor:") replication = $(i + 1)
        if ($i == "Configs:") configs = $(i + 1)
    }
    print name, partitions, replication, configs
}' "$work/said" >"$work/topics"

# differing WANTED LIVE: prints those of the settings WANTED that LIVE does not have.
differing() {
    printf '%s\n%s\n' "$2" "$1" | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) live[$i] = 1 }
        NR == 2 { for (i = 1; i <= NF; i++) if (!($i in live)) { printf "%s%s", sep, $i; sep = "," } }'
}

: >"$work/create"
: >"$work/grow"
: >"$work/alter"
while read -r name partitions replication settings; do
    live=$(awk -v name="$name" '$1 == name' "$work/topics")
    if [ -z "$live" ]; then
        printf '%s %s %s %s\n' "$name" "$partitions" "$replication" "$settings" >>"$work/create"
        continue
    fi
    # shellcheck disable=SC2086 # the line's words
    set -- $live
    [ "$3" = "$replication" ] || fail "topic $name has $3 copies, wanted are $replication:" \
        "move its partitions with kafka-reassign-partitions.sh first"
    [ "$2" -le "$partitions" ] || fail "topic $name has $2 partitions, wanted are $partitions:" \
        "partitions cannot be taken away, so raise the setting"
    [ "$2" = "$partitions" ] || printf '%s %s\n' "$name" "$partitions" >>"$work/grow"
    changed=$(differing "$settings" "${4:-}")
    [ -z "$changed" ] || printf '%s %s\n' "$name" "$changed" >>"$work/alter"
done <"$TOPICS_FILE"

if ! tool acls --list; then
    case $(cat "$work/said" "$work/errors") in
        *SecurityDisabled*) fail "the brokers have no authorizer, so nobody can be kept out of a topic:" \
            "set authorizer.class.name" ;;
        *) fail "cannot list permissions: $(reason)" ;;
    esac
fi
# One line for each permission that exists: principal, resource, pattern, name, operation.
awk -v OFS="$TAB" '
    /ResourcePattern\(/ {
        resource = name = pattern = $0
        sub(/.*resourceType=/, "", resource); sub(/,.*/, "", resource)
        sub(/.*, name=/, "", name); sub(/, patternType=.*/, "", name)
        sub(/.*patternType=/, "", pattern); sub(/\).*/, "", pattern)
    }
    /\(principal=/ && /permissionType=ALLOW/ && /host=\*/ {
        principal = operation = $0
        sub(/.*\(principal=/, "", principal); sub(/, host=.*/, "", principal)
        sub(/.*operation=/, "", operation); sub(/,.*/, "", operation)
        print principal, resource, pattern, name, operation
    }' "$work/said" >"$work/grants"

# granted PRINCIPAL RESOURCE PATTERN NAME OPERATIONS: tells whether all of it is permitted already.
granted() {
    kind=$(printf '%s\n' "$2" | awk '{ gsub("-", "_"); print toupper($0) }')
    match=$(printf '%s\n' "$3" | awk '{ print toupper($0) }')
    for each in $(printf '%s\n' "$5" | awk '{ gsub(",", " "); print toupper($0) }'); do
        grep -qxF "$1$TAB$kind$TAB$match$TAB$4$TAB$each" "$work/grants" || return 1
    done
}

while read -r name partitions replication settings; do
    configs=$(printf '%s' "$settings" | awk -F, '{ for (i = 1; i <= NF; i++) printf "--config %s ", $i }')
    # shellcheck disable=SC2086 # one word for each setting
    tool topics --create --if-not-exists --topic "$name" --partitions "$partitions" \
        --replication-factor "$replication" $configs || fail "cannot create topic $name: $(reason)"
    say "created topic $name"
done <"$work/create"
while read -r name partitions; do
    tool topics --alter --topic "$name" --partitions "$partitions" ||
        fail "cannot give topic $name $partitions partitions: $(reason)"
    say "gave topic $name $partitions partitions"
done <"$work/grow"
while read -r name settings; do
    tool configs --alter --entity-type topics --entity-name "$name" --add-config "$settings" ||
        fail "cannot set $settings of topic $name: $(reason)"
    say "set $settings of topic $name"
done <"$work/alter"
while IFS=$TAB read -r principal resource pattern name operations; do
    granted "$principal" "$resource" "$pattern" "$name" "$operations" && continue
    wanted=$(printf '%s' "$operations" | awk -F, '{ for (i = 1; i <= NF; i++) printf "--operation %s ", $i }')
    # shellcheck disable=SC2086 # one word for each operation
    tool acls --add --allow-principal "$principal" "--$resource" "$name" --resource-pattern-type "$pattern" $wanted \
        || fail "cannot permit $principal $operations on $resource $name: $(reason)"
    say "permitted $principal $operations on $resource $name"
done <"$GRANTS_FILE"
say "topics and permissions are as declared"
