# What the scripts of the platform's Jobs share. A script sources it first, with the word that its lines begin with:
#
#   job=buckets
#   . "${0%/*}/common.sh"
#
# Needs cat, mktemp and rm.
set -eu
umask 077

# A folder that goes with the script, for what is needed only meanwhile.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM

say() { printf '%s: %s\n' "$job" "$*"; }
fail() {
    printf '%s: error: %s\n' "$job" "$*" >&2
    exit 1
}

# held FILE: prints the one line that a mounted Secret holds.
held() {
    [ -r "$1" ] || fail "$1 cannot be read: the Secret it comes from lacks the key, or is not there"
    value=$(cat "$1")
    [ -n "$value" ] || fail "$1 is empty"
    printf '%s' "$value"
}
