"""The doctor, on a good MinIO server and on ones that are broken in one way each."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from minio.commonconfig import ENABLED
from minio.error import S3Error
from minio.lifecycleconfig import Expiration, LifecycleConfig, Rule
from minio.versioningconfig import VersioningConfig

from ops.doctor.examine import Examination
from ops.doctor.object_store import STORE
from ops.doctor.object_store.probe import ObjectStoreProbe
from ops.doctor.scratch import PREFIX
from ops.doctor.targets import Bucket, ObjectStoreTarget, Tls
from tests.e2e.doctor_cases import Case, Seen, address, eventually, examined, login, names, seen, wrong
from tests.servers.certificates import Authority
from tests.servers.fixtures import Servers
from tests.servers.minio import MinIo
from tests.servers.process import Login

pytestmark = pytest.mark.e2e

PIPELINES = Bucket(name="doctor-pipelines", purpose="pipelines")
BACKUPS = Bucket(name="doctor-backups", purpose="backups", lifecycle_days=14, versioned=True)
EVERYTHING = ("s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:ListBucket", "s3:AbortMultipartUpload")


@pytest.fixture(scope="module")
def server(module_servers: Servers, authority: Authority) -> MinIo:
    """Return a server as the bucket Job leaves it; every test puts back what it changes."""
    made = module_servers.minio(tls=authority.issue("doctor-minio", "127.0.0.1"))
    eventually(lambda: initialised(made))
    for bucket in (PIPELINES, BACKUPS):
        made.create_bucket(bucket.name)
    client = made.client()
    client.set_bucket_versioning(BACKUPS.name, VersioningConfig(ENABLED))
    client.set_bucket_lifecycle(BACKUPS.name, expiring(14))
    return made


def initialised(server: MinIo) -> bool:
    """Return whether a server that answers has also read its configuration."""
    try:
        server.client().list_buckets()
    except S3Error:
        return False
    return True


def expiring(days: int) -> LifecycleConfig:
    """Return a rule that deletes every object after some days."""
    return LifecycleConfig([Rule(ENABLED, rule_id="all", expiration=Expiration(days=days))])


def target(server: MinIo, **changes: Any) -> ObjectStoreTarget:
    """Return a server as settings would declare it."""
    return replace(
        ObjectStoreTarget(
            name="data.objectStore",
            endpoint=address(server.port),
            tls=Tls(mode="verify-full", ca=server.tls.authority.read_text()) if server.tls else Tls(),
            region="us-east-1",
            login=login(server.admin),
            buckets=(PIPELINES, BACKUPS),
        ),
        **changes,
    )


def looked(target: ObjectStoreTarget) -> Seen:
    return seen(examined(Examination(probe=ObjectStoreProbe(target, 5), checks=STORE)))


@contextmanager
def changed(server: MinIo, **changes: Any) -> Generator[ObjectStoreTarget]:
    """Break the declaration."""
    yield target(server, **changes)


@contextmanager
def user_without(action: str, server: MinIo) -> Generator[ObjectStoreTarget]:
    """Log in as a user who may do everything with objects but one thing."""
    allowed = [each for each in EVERYTHING if each != action]
    statement = {"Effect": "Allow", "Action": allowed, "Resource": ["arn:aws:s3:::doctor-pipelines*"]}
    user = server.create_user("limited", policy={"Version": "2012-10-17", "Statement": [statement]})
    try:
        yield target(server, login=login(user), buckets=(PIPELINES,))
    finally:
        server.admin_client().user_remove("limited")


@contextmanager
def bucket_policy(effect: str, action: str, server: MinIo) -> Generator[ObjectStoreTarget]:
    """Give a bucket a policy for everybody."""
    statement = {
        "Effect": effect,
        "Principal": {"AWS": ["*"]},
        "Action": [action],
        "Resource": [f"arn:aws:s3:::{PIPELINES.name}", f"arn:aws:s3:::{PIPELINES.name}/*"],
    }
    server.set_bucket_policy(PIPELINES.name, {"Version": "2012-10-17", "Statement": [statement]})
    try:
        yield target(server, buckets=(PIPELINES,))
    finally:
        server.client().delete_bucket_policy(PIPELINES.name)


@contextmanager
def lifecycle(days: int | None, server: MinIo) -> Generator[ObjectStoreTarget]:
    """Let objects expire at another time, or never."""
    client = server.client()
    if days:
        client.set_bucket_lifecycle(BACKUPS.name, expiring(days))
    else:
        client.delete_bucket_lifecycle(BACKUPS.name)
    try:
        yield target(server)
    finally:
        client.set_bucket_lifecycle(BACKUPS.name, expiring(14))


CASES: tuple[Case[MinIo], ...] = (
    Case(
        name="the access key is unknown",
        breaking=partial(changed, login=login(Login("nobody", "password-of-nobody"))),
        seen=[("fail", "object-store-login", "does not know the access key of Secret data/user")],
    ),
    Case(
        name="the secret key is wrong",
        breaking=partial(changed, login=wrong("admin")),
        seen=[("fail", "object-store-login", "refuses the secret key of Secret data/user")],
    ),
    Case(
        name="the region is another one",
        breaking=partial(changed, region="eu-west-1"),
        seen=[("fail", "object-store-login", "the bucket or store is not in the region eu-west-1")],
    ),
    Case(
        name="a bucket is missing",
        breaking=partial(changed, buckets=(PIPELINES, Bucket(name="doctor-missing", purpose="logs"))),
        seen=[("fail", "object-store-buckets", "there is no bucket doctor-missing, which logs needs")],
    ),
    Case(
        name="the user may not put objects",
        breaking=partial(user_without, "s3:PutObject"),
        seen=[("fail", "object-store-objects", "limited may not put objects (s3:PutObject)")],
    ),
    Case(
        name="the user may not get objects",
        breaking=partial(user_without, "s3:GetObject"),
        seen=[("fail", "object-store-objects", "limited may not get objects (s3:GetObject)")],
    ),
    Case(
        name="the user may not list objects",
        breaking=partial(user_without, "s3:ListBucket"),
        seen=[("fail", "object-store-buckets", "limited may not list it (s3:ListBucket)")],
    ),
    Case(
        name="the user may not give up uploads",
        breaking=partial(user_without, "s3:AbortMultipartUpload"),
        seen=[
            (
                "fail",
                "object-store-multipart",
                "limited may not give up an upload in parts (s3:AbortMultipartUpload)",
            )
        ],
    ),
    Case(
        name="anybody may list a bucket",
        breaking=partial(bucket_policy, "Allow", "s3:ListBucket"),
        seen=[
            ("fail", "object-store-policy", "its policy lets everybody s3:ListBucket"),
            ("fail", "object-store-anonymous", "anybody can list it, without credentials"),
        ],
    ),
    Case(
        name="anybody may write to a bucket",
        breaking=partial(bucket_policy, "Allow", "s3:PutObject"),
        seen=[
            ("fail", "object-store-policy", "its policy lets everybody s3:PutObject"),
            ("fail", "object-store-anonymous", "anybody can write it, without credentials"),
        ],
    ),
    Case(
        name="backups can be overwritten",
        breaking=partial(changed, buckets=(replace(PIPELINES, purpose="backups", versioned=True),)),
        seen=[("warn", "object-store-versioning", "keeps no old versions, and holds backups")],
    ),
    Case(
        name="objects expire too early",
        breaking=partial(lifecycle, 3),
        seen=[("fail", "object-store-lifecycle", "objects expire after 3 days, 14 days are declared")],
    ),
    Case(
        name="objects never expire",
        breaking=partial(lifecycle, None),
        seen=[("warn", "object-store-lifecycle", "objects never expire, 14 days are declared")],
    ),
)


def test_a_good_store_has_no_fault(server: MinIo) -> None:
    assert looked(target(server)) == []


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_fault_is_named_where(server: MinIo, case: Case[MinIo]) -> None:
    with case.breaking(server) as broken:
        assert looked(broken) == case.seen


def test_buckets_that_the_job_will_make_are_no_fault(server: MinIo) -> None:
    later = Bucket(name="doctor-later", purpose="logs", lifecycle_days=3, made=True)

    assert looked(target(server, buckets=(PIPELINES, later))) == []


def test_a_session_without_credentials_is_named(server: MinIo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")

    found = looked(target(server, login=None))

    assert found == [
        (
            "fail",
            "object-store-login",
            "there are no credentials: the settings name a cloud identity, which only pods have",
        )
    ]


def test_nothing_stays_of_what_was_tried(server: MinIo) -> None:
    looked(target(server))

    client = server.client()
    left = [item.object_name for item in client.list_objects(PIPELINES.name, prefix=PREFIX)]
    assert left == []
