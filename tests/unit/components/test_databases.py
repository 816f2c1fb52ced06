"""Database servers: others' are only described; operated ones survive a zone, keep every commit, and are backed up."""

from __future__ import annotations

from typing import Any

import pytest

from infra.components.data.databases.recipe import RESERVED_CONNECTIONS, BackupStore
from infra.components.data.databases.stores import backup_store
from infra.settings.models.data.object_store import AnyObjectStore
from tests.unit.components.databases import BACKUP, EXTERNAL, ROLE, STORE, consumers, declared, operated
from tests.unit.core.parsing import parse

CLUSTERS = {"moco": "MySQLCluster", "cloudnative-pg": "Cluster", "percona-xtradb": "PerconaXtraDBCluster"}
ENGINES = {"moco": "mysql", "cloudnative-pg": "postgresql", "percona-xtradb": "mysql"}
CHARTS = {
    "moco": ["moco"],
    "cloudnative-pg": ["cloudnative-pg", "plugin-barman-cloud"],
    "percona-xtradb": ["pxc-operator"],
}
every = pytest.mark.parametrize("operator", CLUSTERS)


def cluster(operator: str, **more: Any) -> dict[str, Any]:
    """Return the spec of a cluster that all consumers of its engine use."""
    recording, _ = declared({"db": operated(operator, **more)}, consumers("db", "db"))
    return recording.one(CLUSTERS[operator])["spec"]


def spreads(operator: str, spec: dict[str, Any]) -> list[dict[str, Any]]:
    if operator == "moco":
        return spec["podTemplate"]["spec"]["topologySpreadConstraints"]
    return (spec["pxc"] if operator == "percona-xtradb" else spec)["topologySpreadConstraints"]


def test_external_server_is_described_and_nothing_of_it_declared() -> None:
    admin = {"secret": "rds-admin", "namespace": "flotilla-data", "usernameKey": "user"}
    recording, servers = declared({"db": {**EXTERNAL, "hosts": ["w.example.com", "r.example.com"], "admin": admin}})

    assert recording.kinds() == []
    server = servers["db"]
    assert (server.host, server.port, list(server.hosts)) == ("w.example.com", 3306, ["w.example.com", "r.example.com"])
    assert server.admin is not None
    assert (server.admin.secret, server.admin.username_key, server.admin.password_key) == (
        "rds-admin",
        "user",
        "password",
    )


def test_external_server_without_an_administrator_is_left_as_it_is() -> None:
    assert declared({"db": EXTERNAL})[1]["db"].admin is None


@pytest.mark.parametrize(("engine", "port"), [("mysql", 3306), ("postgresql", 5432)])
def test_external_server_listens_at_its_engines_port_unless_another_is_set(engine: str, port: int) -> None:
    assert declared({"db": {**EXTERNAL, "engine": engine}})[1]["db"].port == port
    assert declared({"db": {**EXTERNAL, "engine": engine, "port": 6033}})[1]["db"].port == 6033


@every
def test_cluster_has_as_many_instances_as_set(operator: str) -> None:
    for number in (3, 5):
        spec = cluster(operator, instances=number)
        found = spec.get("replicas") or spec.get("instances") or spec["pxc"]["size"]
        assert found == number


@every
def test_instances_are_spread_over_zones_and_share_no_host(operator: str) -> None:
    spec = cluster(operator)
    (zones,) = spreads(operator, spec)

    assert (zones["topologyKey"], zones["whenUnsatisfiable"]) == ("topology.kubernetes.io/zone", "DoNotSchedule")
    assert "kubernetes.io/hostname" in str(spec)
    assert "requiredDuringScheduling" in str(spec) or spec["affinity"]["podAntiAffinityType"] == "required"


@every
def test_volumes_are_of_the_platforms_block_class_unless_another_is_set(operator: str) -> None:
    fast = cluster(operator, storage={"size": "50Gi", "storageClass": "fast"})

    assert "'gp3'" in str(cluster(operator))
    assert "'gp3'" not in str(fast)
    assert "'fast'" in str(fast)


@every
def test_operator_is_installed_once_unless_the_platform_brings_it(operator: str) -> None:
    both = {"one": operated(operator), "two": operated(operator)}
    installed, _ = declared(both, consumers("one", "two"))
    present, _ = declared(
        {name: {**values, "installed": "present"} for name, values in both.items()}, consumers("one", "two")
    )

    assert [each.inputs["chart"] for each in installed.resources if each.type.endswith(":Release")] == CHARTS[operator]
    assert not [each for each in present.resources if each.type.endswith(":Release")]
    assert len(present.all(CLUSTERS[operator])) == 2


@every
def test_clusters_wait_for_their_operator(operator: str) -> None:
    recording, _ = declared({"db": operated(operator)}, consumers("db", "db"))
    releases = {each.urn for each in recording.resources if each.type.endswith(":Release")}

    assert releases <= recording.awaited(CLUSTERS[operator])


@every
def test_server_is_reached_where_the_operator_says(operator: str) -> None:
    _, servers = declared({"db": operated(operator)}, consumers("db", "db"))
    host = {"moco": "moco-db-primary", "cloudnative-pg": "db-rw", "percona-xtradb": "db-haproxy"}[operator]
    admin = {
        "moco": ("moco-db", "moco-writable", None, "WRITABLE_PASSWORD"),
        "cloudnative-pg": ("db-superuser", None, "username", "password"),
        "percona-xtradb": ("db-secrets", "root", None, "root"),
    }[operator]
    server = servers["db"]

    assert server.engine == ENGINES[operator]
    assert server.host == f"{host}.flotilla-data.svc"
    assert server.admin is not None
    assert (server.admin.secret, server.admin.username, server.admin.username_key, server.admin.password_key) == admin


@every
def test_only_consumers_their_namespace_and_scrapers_reach_the_instances(operator: str) -> None:
    recording, servers = declared({"db": operated(operator)}, consumers("db", "db"))
    ingress = recording.one("NetworkPolicy", "db")["spec"]["ingress"]
    clients = ingress[1]

    assert "ports" not in ingress[0]
    assert "namespaceSelector" not in ingress[0]["from"][0]
    assert clients["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "kubeflow"}
    assert [port["port"] for port in clients["ports"]] == [servers["db"].port]
    assert servers["db"].port not in [port["port"] for port in ingress[2]["ports"]]


@every
def test_metrics_are_scraped_where_prometheus_has_an_operator(operator: str) -> None:
    recording, _ = declared({"db": operated(operator)}, consumers("db", "db"))
    without, _ = declared({"db": operated(operator, podMonitor=False)}, consumers("db", "db"))

    monitor = recording.one("PodMonitor")["spec"]
    assert monitor["selector"]["matchLabels"]
    assert monitor["podMetricsEndpoints"]
    assert "PodMonitor" not in without.kinds()


@every
def test_server_takes_as_many_connections_as_its_consumers_may_open(operator: str) -> None:
    recording, _ = declared({"db": operated(operator, pool={"maxOpen": 100})}, consumers("db", "other"))
    # Pipelines, cache and metadata.
    expected = str(3 * 100 + RESERVED_CONNECTIONS)

    found = {
        "moco": lambda: recording.one("ConfigMap", "db")["data"]["max_connections"],
        "cloudnative-pg": lambda: recording.one("Cluster")["spec"]["postgresql"]["parameters"]["max_connections"],
        "percona-xtradb": lambda: recording.one("PerconaXtraDBCluster")["spec"]["pxc"]["configuration"],
    }[operator]()
    assert expected in found


@pytest.mark.parametrize("operator", ["moco", "percona-xtradb"])
def test_mysql_offers_the_old_plugin_only_where_metadata_needs_it(operator: str) -> None:
    with_metadata, _ = declared({"db": operated(operator)}, consumers("db", "other"))
    without, _ = declared({"db": operated(operator)}, consumers("other", "db"))

    assert "mysql_native_password" in str([each.inputs for each in with_metadata.resources])
    assert "mysql_native_password" not in str([each.inputs for each in without.resources])


def test_galera_is_strict_unless_metadata_keeps_its_table_without_primary_key_there() -> None:
    with_metadata, _ = declared({"db": operated("percona-xtradb")}, consumers("db", "other"))
    without, _ = declared({"db": operated("percona-xtradb")}, consumers("other", "db"))

    def mode(recording: Any) -> str:
        return recording.one("PerconaXtraDBCluster")["spec"]["pxc"]["configuration"]

    assert "pxc_strict_mode=PERMISSIVE" in mode(with_metadata)
    assert "pxc_strict_mode=ENFORCING" in mode(without)


def test_postgresql_acknowledges_no_commit_that_a_failover_would_lose() -> None:
    assert cluster("cloudnative-pg")["postgresql"]["synchronous"] == {
        "method": "any",
        "number": 1,
        "failoverQuorum": True,
    }


def test_postgresql_is_backed_up_by_the_plugin() -> None:
    recording, _ = declared({"db": operated("cloudnative-pg")}, consumers("db", "db"))
    store = recording.one("ObjectStore")["spec"]
    schedule = recording.one("ScheduledBackup")["spec"]

    assert store["retentionPolicy"] == "14d"
    assert store["configuration"]["destinationPath"] == "s3://backups/databases/db"
    assert store["configuration"]["endpointURL"] == "https://s3.example.com"
    assert store["configuration"]["s3Credentials"]["accessKeyId"] == {"name": "backup-keys", "key": "AWS_ACCESS_KEY_ID"}
    assert (schedule["schedule"], schedule["method"]) == ("0 30 2 * * *", "plugin")
    assert recording.one("Cluster")["spec"]["plugins"][0]["parameters"] == {"barmanObjectName": "db"}
    assert "barmanObjectStore" not in str(recording.one("Cluster"))


def test_postgresql_backs_up_by_its_role_where_there_are_no_keys() -> None:
    recording, _ = declared({"db": operated("cloudnative-pg")}, consumers("db", "db"), ROLE)

    assert recording.one("ObjectStore")["spec"]["configuration"]["s3Credentials"] == {"inheritFromIAMRole": True}
    assert recording.one("Cluster")["spec"]["serviceAccountTemplate"]["metadata"]["annotations"] == ROLE.role


def test_moco_backs_up_as_an_account_of_its_own() -> None:
    recording, _ = declared({"db": operated("moco")}, consumers("db", "db"), ROLE)
    policy = recording.one("BackupPolicy")["spec"]

    assert policy["schedule"] == BACKUP["schedule"]
    assert policy["jobConfig"]["bucketConfig"] == {"backendType": "s3", "bucketName": "backups", "region": "eu"}
    assert policy["jobConfig"]["serviceAccountName"] == "db-backup"
    assert "env" not in policy["jobConfig"]
    assert recording.one("ServiceAccount", "db-backup")["metadata"]["annotations"] == ROLE.role
    assert recording.one("MySQLCluster")["spec"]["backupPolicyName"] == "db"


def test_moco_gets_keys_from_a_secret() -> None:
    recording, _ = declared({"db": operated("moco")}, consumers("db", "db"), STORE)
    env = recording.one("BackupPolicy")["spec"]["jobConfig"]["env"]

    assert [each["valueFrom"]["secretKeyRef"]["name"] for each in env] == ["backup-keys"] * 2


def test_percona_keeps_a_backup_for_each_day() -> None:
    backup = cluster("percona-xtradb")["backup"]

    assert backup["schedule"][0]["retention"] == {"type": "count", "count": 14, "deleteFromStorage": True}
    assert backup["storages"]["backups"]["s3"]["bucket"] == "backups/databases/db"


@every
def test_nothing_of_backups_is_declared_where_none_are_made(operator: str) -> None:
    recording, _ = declared({"db": operated(operator, backup=None)}, consumers("db", "db"))

    assert not {"ObjectStore", "ScheduledBackup", "BackupPolicy"} & set(recording.kinds())
    assert not {"plugins", "backupPolicyName", "backup"} & recording.one(CLUSTERS[operator])["spec"].keys()


def test_pods_of_mysql_meet_the_restricted_profile() -> None:
    template = cluster("moco")["podTemplate"]
    contexts = [template["spec"]["containers"][0]["securityContext"]]
    contexts += [each["securityContext"] for each in template["overwriteContainers"]]

    assert len(contexts) == 6
    for context in contexts:
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["runAsNonRoot"] is True


BUCKETS = {key: {"name": f"the-{key}"} for key in ("pipelines", "checkpoints", "logs", "backups")}
KEYS = {"kind": "keys", "secret": "keys", "accessKey": "id", "secretKey": "key"}
INSIDE = "http://store.object-store.svc:8333"
ACCOUNT = "flotilla@my-project.iam.gserviceaccount.com"
IDENTITY = {"account": ACCOUNT, "teamAccount": f"{{team}}-{ACCOUNT}"}
IRSA = {
    "kind": "irsa",
    "role": "arn:aws:iam::111122223333:role/flotilla",
    "teamRole": "arn:aws:iam::111122223333:role/flotilla-{team}",
}


def store_of(**values: Any) -> BackupStore | None:
    store: Any = parse(AnyObjectStore, buckets=BUCKETS, **values)  # pyright: ignore[reportArgumentType] - a union
    return backup_store(store, inside=INSIDE)


@pytest.mark.parametrize(
    ("values", "endpoint", "secret", "access_key"),
    [
        ({"kind": "s3", "region": "eu", "identity": KEYS}, None, "keys", "id"),
        ({"kind": "gcs", "identity": IDENTITY, "hmac": KEYS}, "https://storage.googleapis.com", "keys", "id"),
        (
            {"kind": "s3-compatible", "endpoint": "https://s3.corp:443", "identity": KEYS},
            "https://s3.corp:443",
            "keys",
            "id",
        ),
        ({"kind": "seaweedfs", "volume": {"size": "1Ti"}}, INSIDE, "mlpipeline-minio-artifact", "accesskey"),
        ({"kind": "minio-operator", "volume": {"size": "1Ti"}, "identity": KEYS}, INSIDE, "keys", "id"),
    ],
)
def test_backups_go_to_the_object_store_with_its_keys(
    values: dict[str, Any], endpoint: str | None, secret: str, access_key: str
) -> None:
    store = store_of(**values)

    assert store is not None
    assert (store.bucket, store.endpoint, store.secret, store.access_key) == (
        "the-backups",
        endpoint,
        secret,
        access_key,
    )
    assert not store.role


def test_backups_on_aws_go_by_role() -> None:
    store = store_of(kind="s3", region="eu", identity=IRSA)

    assert store is not None
    assert store.secret is None
    assert store.role == {"eks.amazonaws.com/role-arn": IRSA["role"]}
