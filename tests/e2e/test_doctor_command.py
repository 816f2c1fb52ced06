"""`flotilla doctor` as people run it: an environment on a real API server, with Secrets, and with real servers."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.paths import VALUES
from infra.settings import load
from sandbox import users
from sandbox.cluster import Sandbox
from sandbox.nodes import from_settings
from tests.servers.certificates import Authority
from tests.servers.fixtures import Servers
from tests.servers.kafka import Kafka
from tests.servers.mariadb import MariaDb
from tests.servers.minio import MinIo
from tests.servers.postgresql import PostgreSql
from tests.servers.process import Login

pytestmark = pytest.mark.e2e

ENVIRONMENT = "doctored"
NAMESPACES = ("flotilla-data", "kubeflow")
HOST = "localhost"


@dataclass(frozen=True)
class Surroundings:
    """What the environment stands on.

    Args:
        sandbox: its cluster.
        values: the folder of its values.
        passwords: all that must not be shown.
    """

    sandbox: Sandbox
    values: Path
    passwords: tuple[str, ...]

    def doctor(self, *arguments: str, context: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command, and see to it that it shows no password and no trace."""
        command = [sys.executable, "-m", "ops.cli", "doctor", ENVIRONMENT, "--values", str(self.values)]
        done = subprocess.run(
            [*command, "--context", context or self.sandbox.context, *arguments],
            env={**os.environ, "KUBECONFIG": str(self.sandbox.kubeconfig)},
            capture_output=True,
            text=True,
            check=False,
        )
        shown = done.stdout + done.stderr
        assert not [password for password in self.passwords if password in shown]
        assert "Traceback" not in shown
        return done

    def faults(self, *arguments: str, context: str | None = None) -> list[tuple[str, str, str]]:
        """Return check, subject and finding of every fault."""
        done = self.doctor("--json", *arguments, context=context)
        document = json.loads(done.stdout)
        found = [each for each in document["findings"] if each["status"] == "fail"]
        assert done.returncode == (1 if found else 0)
        assert document["faults"] == bool(found)
        assert all(each["why"] and each["run"] for each in found)
        return [(each["check"], each["subject"], each["what"]) for each in found]


def secret(namespace: str, name: str, **entries: str) -> dict[str, Any]:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in entries.items()}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}


def credentials(namespace: str, name: str, login: Login) -> dict[str, Any]:
    return secret(namespace, name, username=login.user, password=login.password)


def folder(item: dict[str, Any]) -> str:
    """Return the path that objects of this kind and namespace are created at."""
    return f"/api/v1/namespaces/{item['metadata']['namespace']}/{item['kind'].lower()}s"


@pytest.fixture(scope="module")
def cluster(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Yield a sandbox with the nodes and people of `local`, and nothing else in it."""
    settings = load("local")
    own = Sandbox("doctor", tmp_path_factory.mktemp("doctor") / "sandbox", tools=tools)
    own.up(from_settings(settings), users=users.from_settings(settings))
    try:
        yield own
    finally:
        own.down()


@pytest.fixture(scope="module")
def mysql(module_servers: Servers, authority: Authority) -> MariaDb:
    settings = {"innodb-flush-log-at-trx-commit": "1", "character-set-server": "utf8mb4", "max-connections": "200"}
    return module_servers.mariadb(tls=authority.issue("command-mysql", HOST, "127.0.0.1"), settings=settings)


@pytest.fixture(scope="module")
def postgres(module_servers: Servers, authority: Authority) -> PostgreSql:
    settings = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "max_connections": "200"}
    return module_servers.postgresql(tls=authority.issue("command-pg", HOST, "127.0.0.1"), settings=settings)


def data(mysql: MariaDb, postgres: PostgreSql, kafka: Kafka, minio: MinIo) -> dict[str, Any]:
    """Return the section `data` of an environment whose servers are all external."""
    ca = {"kind": "configMap", "name": "ca", "namespace": "flotilla-data"}
    tls = {"mode": "verify-full", "ca": ca}

    def database(engine: str, port: int) -> dict[str, Any]:
        admin = {"secret": f"{engine}-admin", "namespace": "flotilla-data"}
        fixed = {"kind": "external", "engine": engine, "hosts": [HOST], "port": port, "tls": tls, "admin": admin}
        return fixed | {"pool": {"maxOpen": 20}}

    user = {"secret": "kafka-admin", "namespace": "flotilla-data"}
    buckets = {"pipelines": "mlpipeline", "checkpoints": "checkpoints", "logs": "logs", "backups": "backups"}
    return {
        "databases": {
            "mysql": database("mysql", mysql.port),
            "postgresql": database("postgresql", postgres.port),
        },
        "events": {
            "kind": "kafka",
            "bootstrapServers": [{"host": HOST, "port": port} for port in kafka.ports],
            "tls": tls,
            "sasl": {"mechanism": kafka.mechanism, "credentials": user},
            "admin": {"credentials": user},
            "topics": {"prefix": "doctor."},
        },
        "objectStore": {
            "kind": "s3-compatible",
            "endpoint": f"https://{HOST}:{minio.port}",
            "ca": ca,
            "identity": {"kind": "keys"},
            "buckets": {purpose: {"name": name} for purpose, name in buckets.items()},
        },
    }


@pytest.fixture(scope="module")
def surroundings(
    cluster: Sandbox,
    mysql: MariaDb,
    postgres: PostgreSql,
    kafka: Kafka,
    minio: MinIo,
    authority: Authority,
    tmp_path_factory: pytest.TempPathFactory,
) -> Surroundings:
    """Return an environment whose Secrets are there and whose servers are good."""
    values = tmp_path_factory.mktemp("values")
    shutil.copy(VALUES / "base.yaml", values)
    settings = yaml.safe_load((VALUES / "local.yaml").read_text())
    given = data(mysql, postgres, kafka, minio)
    settings["data"] = {"consumers": settings["data"]["consumers"], **given}
    (values / f"{ENVIRONMENT}.yaml").write_text(yaml.safe_dump(settings))
    ca = {"name": "ca", "namespace": "flotilla-data"}
    objects = [
        credentials("flotilla-data", "mysql-admin", mysql.admin),
        credentials("flotilla-data", "postgresql-admin", postgres.admin),
        credentials("flotilla-data", "kafka-admin", kafka.admin),
        secret("kubeflow", "mlpipeline-minio-artifact", accesskey=minio.admin.user, secretkey=minio.admin.password),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": ca, "data": {"ca.crt": authority.path.read_text()}},
    ]
    with cluster.api() as api:
        for name in NAMESPACES:
            api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for each in objects:
            api.create(folder(each), each)
    passwords = tuple(server.admin.password for server in (mysql, postgres, kafka, minio))
    return Surroundings(cluster, values, passwords)


def test_good_servers_have_no_fault(surroundings: Surroundings) -> None:
    assert surroundings.faults() == []


def test_the_table_shows_every_server_and_ends_with_the_sum(surroundings: Surroundings) -> None:
    done = surroundings.doctor("--only", "network", "--only", "mysql")

    assert done.returncode == 0
    assert "data.databases.mysql localhost:" in done.stdout
    assert "mysql-privileges" in done.stdout
    assert "kafka-login" not in done.stdout
    assert done.stderr.splitlines()[-1].startswith(f"{ENVIRONMENT}: ")


def test_a_missing_secret_is_named_where_the_settings_name_it(surroundings: Surroundings) -> None:
    path = "/api/v1/namespaces/flotilla-data/secrets/mysql-admin"
    with surroundings.sandbox.api() as api:
        kept = api.get(path)
        api.delete(path)
        try:
            assert surroundings.faults() == [
                (
                    "cluster-references",
                    "data.databases.mysql.admin",
                    "there is no Secret flotilla-data/mysql-admin",
                )
            ]
        finally:
            kept["metadata"] = {"name": "mysql-admin", "namespace": "flotilla-data"}
            api.create(folder(kept), kept)


def test_a_caller_without_permissions_is_told_which_it_lacks(surroundings: Surroundings) -> None:
    found = surroundings.faults("--only", "cluster", context=f"{surroundings.sandbox.context}/vera@example.com")

    lacked = [what for check, _, what in found if check == "cluster-permissions"]
    assert "the caller may not get, list, watch, create, patch, delete deployments.apps" in lacked
    assert ("cluster-references", "data.databases.mysql.admin") in [item[:2] for item in found]


def test_an_unknown_group_is_one_line(surroundings: Surroundings) -> None:
    done = surroundings.doctor("--only", "kafak")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: --only: there is no group of checks called 'kafak'. Did you mean kafka?")


def test_an_unknown_context_is_one_line(surroundings: Surroundings) -> None:
    done = surroundings.doctor(context="nowhere")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: context nowhere: ")
