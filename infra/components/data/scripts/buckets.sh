#!/bin/sh
# Makes the buckets of the platform, and sets how long each keeps its objects.
#
# Every step can be repeated, so a run that was killed is simply run again. No object is ever touched, and a bucket
# that is no longer declared stays as it is.
#
# Needs sh, cat, date, mktemp, rm, sleep, and `aws` of the AWS command line, version 1 or 2.
#
#   AWS_REGION, AWS_ENDPOINT_URL, AWS_CA_BUNDLE   as the command line knows them
#   ACCESS_KEY_FILE, SECRET_KEY_FILE              files with the access key; empty where the pod has a role
#   BUCKETS_FILE     a line for each bucket: name, and days after which its objects are deleted or `keep`
#   AMAZON           `yes` on S3 itself, whose buckets are closed to the public and rid of abandoned uploads
#   WAIT_SECONDS     how long to wait for the server
job=buckets
# shellcheck source=common.sh
. "${0%/*}/common.sh"

ABANDONED_DAYS=7

# s3 COMMAND ...: runs a command, its output in $work/out and its errors in $work/err.
s3() { aws s3api "$@" </dev/null >"$work/out" 2>"$work/err"; }

reason() { tr '\n' ' ' <"$work/err"; }

if [ -n "${ACCESS_KEY_FILE:-}" ]; then
    AWS_ACCESS_KEY_ID=$(held "$ACCESS_KEY_FILE")
    AWS_SECRET_ACCESS_KEY=$(held "$SECRET_KEY_FILE")
    export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
fi
export AWS_DEFAULT_REGION="$AWS_REGION" AWS_EC2_METADATA_DISABLED="${AWS_EC2_METADATA_DISABLED:-true}"
export AWS_MAX_ATTEMPTS=3 AWS_RETRY_MODE=standard AWS_PAGER= HOME="$work"
if [ "$AMAZON" != yes ]; then
    # Others need neither resolve a bucket as a host name nor know Amazon's newest checksums.
    AWS_CONFIG_FILE=$work/config
    export AWS_CONFIG_FILE AWS_REQUEST_CHECKSUM_CALCULATION=when_required
    printf '[default]\ns3 =\n    addressing_style = path\n' >"$AWS_CONFIG_FILE"
fi

# look BUCKET: prints here, missing or refused; waits while the server does not answer.
look() {
    until=$(($(date +%s) + WAIT_SECONDS))
    while ! s3 head-bucket --bucket "$1"; do
        case $(reason) in
        *404* | *NoSuchBucket* | *"Not Found"*) echo missing && return ;;
        *403* | *Forbidden* | *AccessDenied* | *InvalidAccessKeyId* | *SignatureDoesNotMatch*) echo refused && return ;;
        esac
        [ "$(date +%s)" -lt "$until" ] || fail "the object store does not answer: $(reason)"
        sleep 2
    done
    echo here
}

# create BUCKET: makes it; one that we own already is as good.
create() {
    set -- --bucket "$1"
    if [ "$AMAZON" = yes ] && [ "$AWS_REGION" != us-east-1 ]; then
        set -- "$@" --create-bucket-configuration "LocationConstraint=$AWS_REGION"
    fi
    s3 create-bucket "$@" && return
    case $(reason) in
    *BucketAlreadyOwnedByYou*) ;;
    *BucketAlreadyExists*) fail "$2 belongs to somebody else: names of buckets are shared by everybody, choose another" ;;
    *) fail "$2 cannot be made: $(reason)" ;;
    esac
}

# rules DAYS: prints what lifecycle a bucket has; nothing where it has none.
rules() {
    list=
    if [ "$1" != keep ]; then
        list="{\"ID\":\"expire\",\"Status\":\"Enabled\",\"Filter\":{\"Prefix\":\"\"},\"Expiration\":{\"Days\":$1}}"
    fi
    if [ "$AMAZON" = yes ]; then
        abandoned="\"AbortIncompleteMultipartUpload\":{\"DaysAfterInitiation\":$ABANDONED_DAYS}"
        list="${list:+$list,}{\"ID\":\"abandoned\",\"Status\":\"Enabled\",\"Filter\":{\"Prefix\":\"\"},$abandoned}"
    fi
    [ -z "$list" ] || printf '{"Rules":[%s]}' "$list"
}

# keep BUCKET DAYS: sets its lifecycle.
keep() {
    rules "$2" >"$work/lifecycle.json"
    if [ -s "$work/lifecycle.json" ]; then
        s3 put-bucket-lifecycle-configuration --bucket "$1" \
            --lifecycle-configuration "file://$work/lifecycle.json" || fail "$1 takes no lifecycle: $(reason)"
    else
        s3 delete-bucket-lifecycle --bucket "$1" || fail "$1 does not let go of its lifecycle: $(reason)"
    fi
}

# close BUCKET: lets nothing in it ever become public.
close() {
    [ "$AMAZON" = yes ] || return 0
    s3 put-public-access-block --bucket "$1" --public-access-block-configuration \
        BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true ||
        fail "$1 cannot be closed to the public: $(reason)"
}

while read -r bucket days; do
    case $bucket in '' | '#'*) continue ;; esac
    state=$(look "$bucket")
    case $state in
    missing)
        create "$bucket"
        say "$bucket is made"
        ;;
    refused) fail "$bucket refuses us: $(reason)" ;;
    here) say "$bucket is there" ;;
    esac
    close "$bucket"
    keep "$bucket" "$days"
    say "$bucket keeps its objects $([ "$days" = keep ] && echo for ever || echo "$days days")"
done <"$BUCKETS_FILE"
say done
