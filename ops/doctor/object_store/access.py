"""Whom buckets let in besides their users."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from minio.error import S3Error

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip
from ops.doctor.network.reach import side_by_side
from ops.doctor.object_store.probe import ObjectStoreProbe
from ops.doctor.scratch import scratch_name

if TYPE_CHECKING:
    from ops.doctor.targets import Bucket

_NO_POLICY = "NoSuchBucketPolicy"


@check(
    "object-store-policy",
    "object-store",
    why="Artifacts hold training data, checkpoints whole models and backups every password hash.",
    run="Remove statements with Principal * from the bucket's policy, and block public access.",
    needs=("object-store-buckets",),
)
def policy(probe: ObjectStoreProbe) -> Verdicts:
    """Each bucket's policy: statements that let everybody in without a condition."""
    return side_by_side(probe.reachable, lambda bucket: _read(probe, bucket))


def _read(probe: ObjectStoreProbe, bucket: Bucket) -> Verdict:
    subject = probe.about(bucket)
    try:
        text = probe.s3.get_bucket_policy(bucket.name)
    except S3Error as error:
        if error.code == _NO_POLICY:
            return ok("has no policy of its own", subject=subject)
        return skip(f"{probe.user} may not look at the policy ({error.code})", subject=subject)
    statements = json.loads(text).get("Statement", [])
    for statement in statements if isinstance(statements, list) else [statements]:
        if _is_open(statement):
            actions = statement.get("Action", "*")
            return fail(
                f"its policy lets everybody {actions if isinstance(actions, str) else ', '.join(actions)}",
                run=f"Remove that statement: aws s3api get-bucket-policy --bucket {bucket.name}",
                subject=subject,
            )
    return ok("its policy lets nobody in without a condition", subject=subject)


def _is_open(statement: dict[str, Any]) -> bool:
    principal = statement.get("Principal")
    named = principal.get("AWS") if isinstance(principal, dict) else principal
    everybody = named == "*" or (isinstance(named, list) and "*" in named)
    return statement.get("Effect") == "Allow" and everybody and not statement.get("Condition")


@check(
    "object-store-anonymous",
    "object-store",
    why="Whatever the policies say: what anybody can list or write, somebody will.",
    run="Block public access: aws s3api put-public-access-block.",
    needs=("object-store-buckets",),
    waits=3,
)
def anonymous(probe: ObjectStoreProbe) -> Verdicts:
    """Whether each bucket can be listed or written without any credentials: both are tried."""
    return side_by_side(probe.reachable, lambda bucket: _try(probe, bucket))


def _try(probe: ObjectStoreProbe, bucket: Bucket) -> Verdict:
    subject, name = probe.about(bucket), scratch_name()
    open_for: list[str] = []
    if probe.http.get(f"/{bucket.name}", params={"list-type": "2", "max-keys": "1"}).is_success:
        open_for.append("list")
    if probe.http.put(f"/{bucket.name}/{name}", content=b"").is_success:
        open_for.append("write")
        probe.s3.remove_object(bucket.name, name)
    if open_for:
        return fail(
            f"anybody can {' and '.join(open_for)} it, without credentials",
            run=f"Run aws s3api put-public-access-block --bucket {bucket.name}, or remove its public policy",
            subject=subject,
        )
    return ok("refuses those without credentials", subject=subject)
