"""Clients of one object store, and what its errors mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import urllib3
from minio import Minio
from minio.credentials.providers import AWSConfigProvider, ChainedProvider, EnvAWSProvider, StaticProvider
from minio.error import InvalidResponseError, S3Error, ServerError
from urllib3.exceptions import HTTPError

from ops.doctor.check import Verdict, fail
from ops.doctor.network.endpoint import Endpoint, direct
from ops.doctor.server_probe import ServerProbe

if TYPE_CHECKING:
    from ops.doctor.targets import Bucket, ObjectStoreTarget

DENIED = frozenset({"AccessDenied", "AllAccessDisabled", "AccountProblem"})
MISSING_BUCKET = "NoSuchBucket"
_ELSEWHERE = frozenset({"AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException"})
_DEFAULT_REGION = "us-east-1"


class ObjectStoreProbe(ServerProbe["ObjectStoreTarget"]):
    """A store.

    Args:
        target: the target.
        timeout: seconds that one answer may take.
    """

    def __init__(self, target: ObjectStoreTarget, timeout: float) -> None:
        super().__init__(target, [Endpoint(name=target.name, address=target.endpoint, upgrade=direct)], timeout)
        self.reachable: tuple[Bucket, ...] = ()
        login = target.login
        credentials = (
            StaticProvider(login.user, login.password.value)
            if login
            else ChainedProvider([EnvAWSProvider(), AWSConfigProvider()])
        )
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=self.patience, read=self.patience),
            retries=urllib3.Retry(total=0, redirect=0, raise_on_status=False),
            ssl_context=self.files.context() if target.tls.enabled else None,
        )
        self.s3 = Minio(
            str(target.endpoint),
            credentials=credentials,
            secure=target.tls.enabled,
            region=target.region or _DEFAULT_REGION,
            http_client=self._pool,
        )
        self.http = httpx.Client(
            base_url=f"{'https' if target.tls.enabled else 'http'}://{target.endpoint}",
            verify=self.files.context() if target.tls.enabled else True,
            timeout=self.patience,
            trust_env=False,
        )

    def about(self, bucket: Bucket) -> str:
        """Return what a bucket is called in findings."""
        return f"{self.target.name} bucket {bucket.name}"

    @property
    def user(self) -> str:
        """Return whom the store is asked as."""
        return self.target.login.user if self.target.login else "the user of this machine's AWS configuration"

    def explain(self, error: Exception) -> Verdict | None:
        """Return what a client's error means."""
        if isinstance(error, S3Error):
            return refusal(self, error)
        if isinstance(error, InvalidResponseError | ServerError):
            return fail("does not answer as an S3 store", run="Correct host and port; it must be the S3 API's")
        if isinstance(error, HTTPError | httpx.HTTPError):
            return fail(f"does not answer ({type(error).__name__})", run="Look at the store's log and load")
        return None

    def close(self) -> None:
        """Close all connections, and remove the certificates' files."""
        self.files.close()
        self.http.close()
        self._pool.clear()


def refusal(probe: ObjectStoreProbe, error: S3Error, subject: str | None = None) -> Verdict:
    """Return what the store's refusal means."""
    code, login = error.code, probe.target.login
    source = login.source if login else "this machine's AWS configuration"
    if code == "InvalidAccessKeyId":
        return fail(f"does not know the access key of {source}", run=f"Correct {source}", subject=subject)
    if code in ("SignatureDoesNotMatch", "InvalidSecurity"):
        return fail(f"refuses the secret key of {source}", run=f"Correct {source}", subject=subject)
    if code in ("ExpiredToken", "InvalidToken", "InvalidTokenId"):
        return fail(f"the session of {source} has expired", run="Log in again", subject=subject)
    if code == "RequestTimeTooSkewed":
        return fail(
            "refuses requests because the clocks differ by more than 15 minutes",
            run="Run a time daemon on both sides",
            subject=subject,
        )
    if code in _ELSEWHERE:
        return fail(
            f"the bucket or store is not in the region {probe.target.region or _DEFAULT_REGION}",
            run="Correct `region` to the bucket's own: aws s3api get-bucket-location",
            subject=subject,
        )
    if code in DENIED:
        return fail(
            f"{probe.user} may not do that", run="Grant it in the user's or the bucket's policy", subject=subject
        )
    return fail(f"refuses ({code})", run="Look at the store's log", subject=subject)
