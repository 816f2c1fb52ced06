"""Whether objects can be written, read, listed and deleted, whole and in parts: it is tried."""

from __future__ import annotations

import contextlib
import datetime
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx
from minio.error import S3Error

from ops.doctor.check import Verdict, Verdicts, check, fail, ok
from ops.doctor.network.reach import side_by_side
from ops.doctor.object_store.probe import DENIED, ObjectStoreProbe, refusal
from ops.doctor.scratch import scratch_name

if TYPE_CHECKING:
    from ops.doctor.targets import Bucket

CONTENT = b"flotilla doctor"
_MOMENT = datetime.timedelta(minutes=5)
_FORBIDDEN = 403


@check(
    "object-store-objects",
    "object-store",
    why="Writing, reading, listing and deleting are separate permissions; a component finds out which one it lacks in "
    "the middle of a run.",
    run="Allow s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket in the user's policy.",
    needs=("object-store-buckets",),
    waits=4,
)
def objects(probe: ObjectStoreProbe) -> Verdicts:
    """A scratch object in each bucket: put, read again, listed, deleted."""
    return side_by_side(probe.reachable, lambda bucket: _put_and_get(probe, bucket))


def _put_and_get(probe: ObjectStoreProbe, bucket: Bucket) -> Verdict:
    name, s3, subject = scratch_name(), probe.s3, probe.about(bucket)
    steps: tuple[tuple[str, str, Callable[[], object]], ...] = (
        ("put objects", "s3:PutObject", lambda: s3.put_object(bucket.name, name, io.BytesIO(CONTENT), len(CONTENT))),
        ("get objects", "s3:GetObject", lambda: _same(probe, bucket, name)),
        ("list objects", "s3:ListBucket", lambda: list(s3.list_objects(bucket.name, prefix=name))),
        ("delete objects", "s3:DeleteObject", lambda: s3.remove_object(bucket.name, name)),
    )
    for number, (words, action, step) in enumerate(steps):
        try:
            result = step()
        except S3Error as error:
            if 0 < number < len(steps) - 1:
                with contextlib.suppress(S3Error):
                    s3.remove_object(bucket.name, name)
            if error.code not in DENIED:
                return refusal(probe, error, subject)
            left = f"; {name} is left there" if number == len(steps) - 1 else ""
            return fail(
                f"{probe.user} may not {words} ({action}){left}",
                run=f"Allow {action} on arn:aws:s3:::{bucket.name}/*; look for a Deny in the bucket's policy too",
                subject=subject,
            )
        if not result and number in (1, 2):
            s3.remove_object(bucket.name, name)
            return fail("an object that was put is not found as it was", run="Look at the store's log", subject=subject)
    return ok("put, get, list and delete work", subject=subject)


def _same(probe: ObjectStoreProbe, bucket: Bucket, name: str) -> bool:
    answer = probe.s3.get_object(bucket.name, name)
    try:
        return answer.read() == CONTENT
    finally:
        answer.close()
        answer.release_conn()


@check(
    "object-store-multipart",
    "object-store",
    why="Checkpoints and large artifacts are uploaded in parts; a policy or proxy may break just that.",
    run="Allow s3:PutObject and s3:AbortMultipartUpload; let proxies pass query parameters.",
    needs=("object-store-buckets", "object-store-objects"),
    waits=5,
)
def multipart(probe: ObjectStoreProbe) -> Verdicts:
    """An upload in parts to each bucket: begun, one part, completed, deleted; and another one, given up."""
    return side_by_side(probe.reachable, lambda bucket: _upload(probe, bucket))


def _upload(probe: ObjectStoreProbe, bucket: Bucket) -> Verdict:
    name, subject = scratch_name(), probe.about(bucket)

    def send(method: str, step: str, content: bytes = b"", **query: str) -> httpx.Response:
        url = probe.s3.get_presigned_url(method, bucket.name, name, _MOMENT, extra_query_params=dict(query))
        answer = probe.http.request(method, url, content=content)
        if answer.is_error:
            raise _StepError(step, answer.status_code)
        return answer

    try:
        begun = _upload_id(send("POST", "begin", uploads=""))
        part = send("PUT", "upload a part", CONTENT, partNumber="1", uploadId=begun)
        listed = f"<Part><PartNumber>1</PartNumber><ETag>{part.headers.get('etag', '')}</ETag></Part>"
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        send("POST", "complete", body, uploadId=begun)
        probe.s3.remove_object(bucket.name, name)
        send("DELETE", "give up", uploadId=_upload_id(send("POST", "begin", uploads="")))
    except _StepError as error:
        action = "s3:AbortMultipartUpload" if error.step == "give up" else "s3:PutObject"
        return fail(
            f"{probe.user} may not {error.step} an upload in parts ({action})"
            if error.status == _FORBIDDEN
            else f"cannot {error.step} an upload in parts (HTTP {error.status})",
            run=f"Allow {action} on arn:aws:s3:::{bucket.name}/*"
            if error.status == _FORBIDDEN
            else "Look at the store's log, and at proxies on the way",
            subject=subject,
        )
    return ok("uploads in parts work", subject=subject)


class _StepError(Exception):
    """A step of an upload in parts was refused."""

    def __init__(self, step: str, status: int) -> None:
        self.step = step
        self.status = status
        super().__init__(step)


def _upload_id(answer: httpx.Response) -> str:
    found = re.search(r"<UploadId>([^<]+)</UploadId>", answer.text)
    if not found:
        raise _StepError("begin", answer.status_code)
    return found[1]
