"""Rules about the object store. Maps of values merge, so another kind of store is put in place as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from infra.settings import Settings
from infra.settings.models.data.object_store import AnyObjectStore
from infra.settings.rules import RULES, Violation
from tests.unit.core.parsing import everything, parse

ROLE = "arn:aws:iam::111122223333:role/flotilla"
CLIENT, OTHER = "11111111-2222-3333-4444-555555555555", "11111111-2222-3333-4444-666666666666"
BUCKETS = {key: {"name": f"{key}-1"} for key in ("pipelines", "checkpoints", "logs", "backups")}
KEYS = {"kind": "keys"}
S3 = {"kind": "s3", "region": "r", "identity": {"kind": "irsa", "role": ROLE, "teamRole": f"{ROLE}-{{team}}"}}
COMPATIBLE = {"kind": "s3-compatible", "endpoint": "https://s3.example.com", "identity": KEYS}
AZURE = {
    "kind": "azure",
    "account": "training",
    "identity": {"clientId": CLIENT, "teamClientIds": {"vision": OTHER}},
    "pipelines": {"endpoint": "https://s3.example.com", "identity": KEYS},
}
SEAWEED = {"kind": "seaweedfs", "volume": {"size": "1Gi"}}
MINIO = {"kind": "minio-operator", "volume": {"size": "1Gi"}, "identity": KEYS}

VIOLATIONS: dict[str, tuple[dict[str, Any], Violation]] = {
    "buckets are apart": (
        {**S3, "buckets": {**BUCKETS, "logs": {"name": "pipelines-1"}}},
        Violation(
            ("data", "objectStore", "buckets", "logs", "name"),
            "another of the buckets is called pipelines-1",
            "Write another name",
        ),
    ),
    "endpoints are encrypted": (
        {**COMPATIBLE, "endpoint": "http://s3.example.com:9000"},
        Violation(
            ("data", "objectStore", "endpoint"),
            "http://s3.example.com:9000 is not encrypted",
            "Write https://s3.example.com:9000",
        ),
    ),
    "authorities are for encrypted endpoints": (
        {**COMPATIBLE, "endpoint": "http://s3.storage.svc", "ca": {"name": "ca"}},
        Violation(
            ("data", "objectStore", "ca"),
            "is given although the endpoint has no TLS",
            "Remove it, or write https://",
        ),
    ),
    "access keys have two names": (
        {**COMPATIBLE, "identity": {**KEYS, "accessKey": "key", "secretKey": "key"}},
        Violation(
            ("data", "objectStore", "identity", "secretKey"),
            "key holds the access key's id already",
            "Write another key of the Secret",
        ),
    ),
    "teams sign in as themselves": (
        {**AZURE, "identity": {"clientId": CLIENT, "teamClientIds": {"vision": CLIENT}}},
        Violation(
            ("data", "objectStore", "identity", "teamClientIds", "vision"),
            "is the client id of somebody else too",
            "Write the team's own",
        ),
    ),
    "teams have an identity": (
        {**AZURE, "identity": {"clientId": CLIENT, "teamClientIds": {}}},
        Violation(
            ("data", "objectStore", "identity", "teamClientIds"), "the team vision has no client id", "Add vision"
        ),
    ),
    "stores have their disks": (
        {**SEAWEED, "volume": {"size": "1Gi", "storageClass": "buckets"}},
        Violation(
            ("data", "objectStore", "volume", "storageClass"),
            "buckets has driver mountpoint-s3, which makes no disks for claims",
            "Name a class of disks",
        ),
    ),
    "stores span zones": (
        SEAWEED,
        Violation(
            ("data", "objectStore", "kind"),
            "a cluster of one zone has nowhere to put a second copy",
            "Use an object store outside, or a cluster of several zones",
        ),
    ),
}


def settings(store: dict[str, Any], zones: tuple[str, ...] = ("a", "b", "c")) -> Settings:
    parsed = parse(AnyObjectStore, **{"buckets": BUCKETS, **store})  # pyright: ignore[reportArgumentType] - a union
    whole = everything()
    data = whole.data.model_copy(update={"object_store": parsed})
    return whole.model_copy(update={"data": data, "cluster": whole.cluster.model_copy(update={"zones": zones})})


def found(store: dict[str, Any], zones: tuple[str, ...] = ("a", "b", "c")) -> list[Violation]:
    return [violation for rule in RULES if rule.name in VIOLATIONS for violation in rule.check(settings(store, zones))]


@pytest.mark.parametrize("rule", VIOLATIONS)
def test_rule_alone_refuses_its_violation(rule: str) -> None:
    store, violation = VIOLATIONS[rule]

    assert found(store, ("a",) if rule == "stores span zones" else ("a", "b", "c")) == [violation]


@pytest.mark.parametrize(
    "store",
    [
        S3,
        COMPATIBLE,
        AZURE,
        SEAWEED,
        MINIO,
        {**COMPATIBLE, "endpoint": "http://minio.storage.svc.cluster.local:9000"},
        {**MINIO, "volume": {"size": "1Gi", "storageClass": "gp3"}},
    ],
)
def test_rules_accept_what_is_valid(store: dict[str, Any]) -> None:
    assert found(store) == []


def test_unknown_class_is_named_with_those_there_are() -> None:
    (violation,) = found({**MINIO, "volume": {"size": "1Gi", "storageClass": "gp"}})

    assert violation.what == "gp is not a class of cluster.storage.classes"
    assert "Did you mean gp3?" in violation.remedy


def test_identity_of_a_team_that_is_gone_is_refused() -> None:
    ids = {"vision": OTHER, "sales": "11111111-2222-3333-4444-777777777777"}
    (violation,) = found({**AZURE, "identity": {"clientId": CLIENT, "teamClientIds": ids}})

    assert violation.what == "sales is not a team"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("endpoint", "s3.example.com", "is not an address of a server"),
        ("endpoint", "https://s3.example.com/path", "is not an address of a server"),
        ("buckets", {**BUCKETS, "logs": {"name": "Logs"}}, "is not a bucket name"),
        ("identity", {"kind": "keys", "password": "hunter2"}, "Extra inputs are not permitted"),
    ],
)
def test_shape_is_checked_where_it_enters(key: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings({**COMPATIBLE, key: value})


def test_role_of_teams_needs_a_place_for_their_name() -> None:
    with pytest.raises(ValueError, match=r"role ARN with \{team\}"):
        settings({**S3, "identity": {"kind": "irsa", "role": ROLE, "teamRole": ROLE}})
