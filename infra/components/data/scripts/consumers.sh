# What the scripts share that prepare a database server for its consumers. A script sources it after common.sh, and
# defines what differs between servers: check_consumer and prepare.
#
#   ADMIN_USER          the administrator's name; ADMIN_USER_FILE instead names a file that holds it
#   ADMIN_PASSWORD_FILE file that holds the administrator's password
#   CONSUMERS_FILE      a line for each consumer: name, schema, authentication plugin or `default`, most connections,
#                       `keyless` where it makes tables without a primary key or else `keyed`, and the files of its
#                       name and password
#   CREDENTIALS         folder with those files, below a folder of the consumer's name

# replaced TEXT FROM TO: prints TEXT with every FROM replaced by TO.
replaced() {
    rest=$1
    result=
    while [ "${rest#*"$2"}" != "$rest" ]; do
        result=$result${rest%%"$2"*}$3
        rest=${rest#*"$2"}
    done
    printf '%s' "$result$rest"
}

# read_admin: sets admin and password.
read_admin() {
    admin=${ADMIN_USER:-}
    [ -n "$admin" ] || admin=$(held "$ADMIN_USER_FILE")
    password=$(held "$ADMIN_PASSWORD_FILE")
}

# each_consumer COMMAND: runs COMMAND with name, schema, plugin, limit, keys, user and password of every consumer.
each_consumer() {
    while read -r name schema plugin limit keys user_file password_file; do
        case $name in '' | '#'*) continue ;; esac
        user=$(held "$CREDENTIALS/$name/$user_file")
        password=$(held "$CREDENTIALS/$name/$password_file")
        "$1" </dev/null
    done <"$CONSUMERS_FILE"
}

# check_user LONGEST: refuses a consumer's user that the server would not take, or that is somebody else's.
check_user() {
    case $user in *[!A-Za-z0-9_.-]*) fail "$name: the user's name has other characters than letters, digits and _.-" ;; esac
    [ "${#user}" -le "$1" ] || fail "$name: the user's name has ${#user} characters; at most $1 are allowed"
    [ "$user" != "$admin" ] || fail "$name: its user is the administrator; give it one of its own"
    case " $users " in *" $user "*) fail "$name: shares the user $user with another consumer; give each its own" ;; esac
    users="$users $user"
}

# prepare_consumers: checks every consumer before it prepares the first.
prepare_consumers() {
    [ -r "$CONSUMERS_FILE" ] || fail "$CONSUMERS_FILE cannot be read"
    users=
    each_consumer check_consumer
    each_consumer prepare
    say "done"
}
