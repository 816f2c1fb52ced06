"""Consumers find their databases under the names and keys they know, each with a user of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pulumi.runtime import rpc

from infra.components.data.consumers.component import Connection, Consumers, ConsumersArgs
from infra.core.database import User
from infra.settings.models.data.databases import Consumers as ConsumersSettings
from tests.unit.components.databases import EXTERNAL, POSTGRESQL, consumers, declared
from tests.unit.core.recording import Recording, record

CA = {"kind": "configMap", "name": "rds-ca", "key": "global-bundle.pem"}
SECURE = {"mode": "verify-full", "ca": CA}
OWN = {"secret": "katib-own", "usernameKey": "user", "passwordKey": "pass"}

SECRETS = {
    "mysql-secret": {"username", "password"},
    "mysql-secret-cache": {"username", "password"},
    "mysql-secret-metadata": {"username", "password"},
    "katib-postgres-secrets": {"DB_USER", "DB_PASSWORD"},
    "model-registry-db-secrets": {"POSTGRES_USER", "POSTGRES_PASSWORD"},
    "model-catalog-postgres": {"POSTGRES_USER", "POSTGRES_PASSWORD"},
}
PASSWORD = "pulumi-python:dynamic/flotilla:GeneratedPassword"


class Made:
    """What was declared for the consumers."""

    recording: Recording
    component: Consumers

    @property
    def users(self) -> dict[str, User]:
        return {user.consumer: user for user in self.component.users}

    @property
    def connections(self) -> dict[str, Connection]:
        return self.component.connections

    def config(self, name: str = "pipeline-install-config") -> dict[str, str]:
        return self.recording.one("ConfigMap", name)["data"]

    def secrets(self, namespace: str) -> dict[str, dict[str, Any]]:
        return {
            each["metadata"]["name"]: rpc.unwrap_rpc_secret(each["stringData"])
            for each in self.recording.all("Secret")
            if each["metadata"]["namespace"] == namespace
        }


def made(
    users: ConsumersSettings | None = None, install_config: dict[str, str] | None = None, **databases: dict[str, Any]
) -> Made:
    chosen = users or consumers()
    _, servers = declared({"mysql": EXTERNAL, "postgresql": POSTGRESQL} | databases, chosen)
    result = Made()

    def declare() -> None:
        result.component = Consumers(
            "consumers",
            ConsumersArgs(
                consumers=chosen,
                servers=servers,
                namespace="kubeflow",
                data_namespace="flotilla-data",
                install_config=install_config or {},
            ),
        )

    result.recording = record(declare)
    return result


def test_every_secret_has_the_name_and_keys_its_consumer_knows() -> None:
    assert {name: set(data) for name, data in made().secrets("kubeflow").items()} == SECRETS


def test_bootstrap_gets_a_copy_of_every_user_in_its_own_namespace() -> None:
    everything = made()

    assert everything.secrets("flotilla-data").keys() == {f"user-{name}" for name in SECRETS}
    for user in everything.users.values():
        assert user.credentials.secret in everything.secrets("flotilla-data")


def test_every_password_is_generated_and_secret() -> None:
    recording = made().recording

    assert len([each for each in recording.resources if each.type == PASSWORD]) == len(SECRETS)
    for secret in recording.all("Secret"):
        assert rpc.is_rpc_secret(secret["stringData"])


def test_every_user_is_called_as_its_schema_within_what_mysql_allows() -> None:
    schema = "a_very_long_name_of_a_database_" * 2
    users = consumers(pipelines={"schemaName": schema.rstrip("_")})
    secret: Any = made(users).secrets("kubeflow")

    assert len(secret["mysql-secret"]["username"]) <= 32
    assert secret["mysql-secret-cache"]["username"] == "cachedb"


def test_user_of_a_secret_that_exists_is_neither_made_nor_copied() -> None:
    everything = made(consumers(katib={"credentials": OWN}))

    assert not [name for name in everything.secrets("kubeflow") if "katib" in name]
    assert not [name for name in everything.secrets("flotilla-data") if "katib" in name]
    credentials = everything.users["katib"].credentials
    assert (credentials.secret, credentials.username_key, credentials.password_key) == ("katib-own", "user", "pass")
    assert everything.connections["katib"].credentials == credentials


def test_pipelines_finds_both_pairs_of_address_keys() -> None:
    second = {**EXTERNAL, "hosts": ["second.example.com"], "port": 3307}
    users = consumers(cache={"database": "second"}, metadata={"database": "second"})
    config = made(users, second=second).config()

    assert (config["mysqlHost"], config["mysqlPort"]) == ("db.example.com", "3306")
    assert (config["dbHost"], config["dbPort"]) == ("second.example.com", "3307")
    assert (config["pipelineDb"], config["cacheDb"], config["mlmdDb"]) == ("mlpipeline", "cachedb", "metadb")
    assert (config["dbType"], config["ConMaxLifeTime"]) == ("mysql", "120s")
    assert "mlpipelineDb" not in config


def test_pipelines_config_has_the_bucket_as_well() -> None:
    config = made(install_config={"bucketName": "pipelines"}).config()

    assert config["bucketName"] == "pipelines"
    assert config["dbHost"] == "db.example.com"


@pytest.mark.parametrize(
    ("tls", "parameters", "options"),
    [
        ({"mode": "disable"}, None, None),
        ({"mode": "require"}, "skip-verify", "ssl_options { verify_server_cert: false }"),
        (
            {"mode": "verify-ca", "ca": CA},
            "true",
            'ssl_options { ca: "/etc/flotilla/database-ca/global-bundle.pem" verify_server_cert: false }',
        ),
        (
            {"mode": "verify-full", "systemRoots": True},
            "true",
            'ssl_options { ca: "/etc/ssl/certs/ca-certificates.crt" verify_server_cert: true }',
        ),
    ],
)
def test_mysql_is_reached_as_protected_as_set(tls: dict[str, Any], parameters: str | None, options: str | None) -> None:
    config = made(mysql={**EXTERNAL, "tls": tls}).config()

    for key in ("mysqlExtraParams", "dbExtraParams"):
        assert (json.loads(config[key])["tls"] if key in config else None) == parameters
    assert config.get("mlmdSslOptions") == options


def test_consumers_of_postgresql_find_host_database_and_certificate() -> None:
    everything = made(postgresql={**POSTGRESQL, "tls": SECURE})
    root = "/etc/flotilla/database-ca/global-bundle.pem"

    assert everything.config("katib-db-parameters") == {
        "DB_NAME": "postgres",
        "KATIB_POSTGRESQL_DB_HOST": "pg.example.com",
        "KATIB_POSTGRESQL_DB_PORT": "5432",
        "KATIB_POSTGRESQL_DB_DATABASE": "katib",
        "KATIB_POSTGRESQL_SSL_MODE": "verify-full",
        "PGSSLROOTCERT": root,
    }
    assert everything.config("model-registry-db-parameters") == {
        "POSTGRES_DB": "model_registry",
        "POSTGRES_HOST": "pg.example.com",
        "POSTGRES_PORT": "5432",
        "PGSSLMODE": "verify-full",
        "PGSSLROOTCERT": root,
    }
    assert everything.config("model-catalog-db-parameters")["PGHOST"] == "pg.example.com"


def test_katib_and_the_registry_may_use_mysql() -> None:
    users = consumers(katib={"database": "mysql"}, modelRegistry={"database": "mysql"})
    everything = made(users)

    assert everything.config("katib-db-parameters") == {
        "DB_NAME": "mysql",
        "KATIB_MYSQL_DB_HOST": "db.example.com",
        "KATIB_MYSQL_DB_PORT": "3306",
        "KATIB_MYSQL_DB_DATABASE": "katib",
    }
    assert everything.config("model-registry-db-parameters")["MYSQL_HOST"] == "db.example.com"
    assert everything.secrets("kubeflow")["katib-mysql-secrets"].keys() == {"DB_USER", "DB_PASSWORD"}
    assert everything.secrets("kubeflow")["model-registry-db-secrets"].keys() == {"MYSQL_USER", "MYSQL_PASSWORD"}


def test_only_metadata_gets_the_old_plugin_and_tables_without_primary_key() -> None:
    users = made().users

    assert {name for name, user in users.items() if user.plugin} == {"metadata"}
    assert {name for name, user in users.items() if user.keyless} == {"metadata"}
    assert users["metadata"].plugin == "mysql_native_password"
