"""Whether buckets are there, keep old versions and let objects expire as declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minio.commonconfig import ENABLED
from minio.error import S3Error

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.network.reach import side_by_side
from ops.doctor.object_store.probe import DENIED, MISSING_BUCKET, ObjectStoreProbe, refusal

if TYPE_CHECKING:
    from ops.doctor.targets import Bucket


@check(
    "object-store-buckets",
    "object-store",
    why="A component whose bucket is missing starts, and fails at the first artifact.",
    run="Create the bucket, in the region of the settings: aws s3api create-bucket.",
    needs=("object-store-login",),
)
def buckets(probe: ObjectStoreProbe) -> Verdicts:
    """Whether each bucket is there, and may be listed."""
    verdicts = list(side_by_side(probe.target.buckets, lambda bucket: _list(probe, bucket)))
    both = zip(probe.target.buckets, verdicts, strict=True)
    probe.reachable = tuple(bucket for bucket, verdict in both if verdict.status == "ok")
    return verdicts


def _list(probe: ObjectStoreProbe, bucket: Bucket) -> Verdict:
    subject = probe.about(bucket)
    try:
        next(iter(probe.s3.list_objects(bucket.name)), None)
    except S3Error as error:
        if error.code == MISSING_BUCKET and bucket.made:
            return skip("is not there yet: the bucket Job makes it", subject=subject)
        if error.code == MISSING_BUCKET:
            return fail(
                f"there is no bucket {bucket.name}, which {bucket.purpose} needs",
                run=f"Create it: aws s3api create-bucket --bucket {bucket.name}",
                subject=subject,
            )
        if error.code in DENIED:
            return fail(
                f"{probe.user} may not list it (s3:ListBucket)",
                run=f"Allow s3:ListBucket on arn:aws:s3:::{bucket.name}",
                subject=subject,
            )
        return refusal(probe, error, subject)
    return ok("is there, and may be listed", subject=subject)


@check(
    "object-store-versioning",
    "object-store",
    why="Backups that can be overwritten or deleted are not backups: versions make both recoverable.",
    run="aws s3api put-bucket-versioning --versioning-configuration Status=Enabled.",
    needs=("object-store-buckets",),
)
def versioning(probe: ObjectStoreProbe) -> Verdicts:
    """Whether buckets keep old versions that should."""
    return side_by_side([each for each in probe.reachable if each.versioned], lambda each: _versioned(probe, each))


def _versioned(probe: ObjectStoreProbe, bucket: Bucket) -> Verdict:
    subject = probe.about(bucket)
    try:
        status = probe.s3.get_bucket_versioning(bucket.name).status
    except S3Error as error:
        return skip(f"{probe.user} may not look at versioning ({error.code})", subject=subject)
    if status == ENABLED:
        return ok("keeps old versions", subject=subject)
    return warn(
        f"keeps no old versions, and holds {bucket.purpose}",
        run=f"Run aws s3api put-bucket-versioning --bucket {bucket.name} --versioning-configuration Status=Enabled",
        subject=subject,
    )


@check(
    "object-store-lifecycle",
    "object-store",
    why="Without a rule objects stay for ever and cost more each month; with a shorter one they vanish while needed.",
    run="aws s3api put-bucket-lifecycle-configuration, or let the bucket Job set it.",
    needs=("object-store-buckets",),
)
def lifecycle(probe: ObjectStoreProbe) -> Verdicts:
    """Whether objects expire when the settings say, and nowhere else."""
    return side_by_side(probe.reachable, lambda bucket: _expiring(probe, bucket))


def _expiring(probe: ObjectStoreProbe, bucket: Bucket) -> Verdict:
    subject, wanted = probe.about(bucket), bucket.lifecycle_days
    try:
        found = probe.s3.get_bucket_lifecycle(bucket.name)
    except S3Error as error:
        return skip(f"{probe.user} may not look at the lifecycle ({error.code})", subject=subject)
    whole = [
        rule.expiration.days
        for rule in (found.rules if found else ())
        if rule.status == ENABLED
        and rule.expiration
        and rule.expiration.days
        and not (
            rule.rule_filter and (rule.rule_filter.prefix or rule.rule_filter.tag or rule.rule_filter.and_operator)
        )
    ]
    days = min(whole, default=None)
    if days == wanted:
        return ok(f"objects expire after {days} days" if days else "objects are kept", subject=subject)
    declared = f"{wanted} days are declared" if wanted else "the settings keep them"
    if days is None and bucket.made:
        return skip(f"objects do not expire yet: the bucket Job sets {wanted} days", subject=subject)
    if days is None:
        return warn(
            f"objects never expire, {declared}",
            run=f"Set a rule: aws s3api put-bucket-lifecycle-configuration --bucket {bucket.name}",
            subject=subject,
        )
    return fail(
        f"objects expire after {days} days, {declared}",
        run=f"Correct the rule: aws s3api put-bucket-lifecycle-configuration --bucket {bucket.name}",
        subject=subject,
    )
