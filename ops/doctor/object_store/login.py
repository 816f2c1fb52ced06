"""Whether an object store accepts the access key, and what time it has."""

from __future__ import annotations

import os
from pathlib import Path

from minio.error import S3Error

from ops.doctor.check import Verdicts, check, fail, ok, skip
from ops.doctor.network import clock as clocks
from ops.doctor.object_store.probe import DENIED, MISSING_BUCKET, ObjectStoreProbe, refusal


@check("object-store-clock", "object-store", why=clocks.WHY, run=clocks.RUN, needs=("tcp", "tls"))
def clock(probe: ObjectStoreProbe) -> Verdicts:
    """How far the store's clock is from this machine's: from 15 minutes on it refuses all requests."""
    asked = clocks.now()
    date = probe.http.get("/").headers.get("date")
    yield clocks.http_skew(date, asked, clocks.now()) or skip("the store tells no time")


@check(
    "object-store-login",
    "object-store",
    why="Every artifact, checkpoint, log and backup is refused with a wrong key.",
    run="Correct the Secret that the settings name, or make the key anew.",
    needs=("tcp", "tls"),
)
def login(probe: ObjectStoreProbe) -> Verdicts:
    """Whether the store accepts the access key and its secret."""
    if not probe.target.buckets:
        yield skip("the settings declare no buckets")
        return
    if probe.target.login is None and not _has_local_credentials():
        yield fail(
            "there are no credentials: the settings name a cloud identity, which only pods have",
            why="Without credentials of yours nothing inside the store could be checked.",
            run="Export yours for this check: eval $(aws configure export-credentials --format env)",
        )
        return
    try:
        next(iter(probe.s3.list_objects(probe.target.buckets[0].name)), None)
    except S3Error as error:
        if error.code not in DENIED | {MISSING_BUCKET}:
            yield refusal(probe, error)
            return
    yield ok(f"accepts {probe.user}")


def _has_local_credentials() -> bool:
    file = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")).expanduser()
    return "AWS_ACCESS_KEY_ID" in os.environ or file.is_file()
