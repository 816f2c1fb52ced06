"""The names and keys under which each consumer looks for its database, and what stands there.

Sources, read at Kubeflow 26.03.1: https://github.com/kubeflow/pipelines, tag 2.16.1, `manifests/kustomize` and
`backend/src/{apiserver,cache}`; https://github.com/kubeflow/katib, tag v0.19.0, `pkg/db/v1beta1/common/const.go`;
https://github.com/kubeflow/hub, tag v0.3.9, `manifests/kustomize`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.core.database import Server
    from infra.settings.models.data.common import Tls

INSTALL_CONFIG = "pipeline-install-config"
CA_PATH = "/etc/flotilla/database-ca"
"""Where consumers mount the authority of their server's certificate."""

SYSTEM_ROOTS = "/etc/ssl/certs/ca-certificates.crt"
"""Where consumers' images, all Debian or Alpine, keep the authorities they trust."""

Keys: TypeAlias = tuple[str, str, str]
"""A Secret, and the keys of the user's name and password in it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A consumer's database.

    Args:
        server: where it is.
        schema: its name there.
    """

    server: Server
    schema: str

    @property
    def port(self) -> str:
        """The port as text, which is all that ConfigMaps hold."""
        return str(self.server.port)


def secret_of(consumer: str, place: Place) -> Keys:
    """Return where a consumer looks for its user.

    Upstream has Pipelines, cache and metadata share `mysql-secret`. Here each has a user of its own that reaches
    nothing of the others', and the weak plugin that metadata needs protects metadata alone.
    """
    postgresql = place.server.engine == "postgresql"
    match consumer:
        case "pipelines":
            return "mysql-secret", "username", "password"
        case "cache" | "metadata":
            return f"mysql-secret-{consumer}", "username", "password"
        case "katib":
            return ("katib-postgres-secrets" if postgresql else "katib-mysql-secrets"), "DB_USER", "DB_PASSWORD"
        case "modelRegistry":
            prefix = "POSTGRES" if postgresql else "MYSQL"
            return "model-registry-db-secrets", f"{prefix}_USER", f"{prefix}_PASSWORD"
        case _:
            return "model-catalog-postgres", "POSTGRES_USER", "POSTGRES_PASSWORD"


def config_of(places: Mapping[str, Place], lifetime_seconds: int) -> dict[str, dict[str, str]]:
    """Return the contents of every ConfigMap by its name.

    Args:
        places: each consumer's database, by its key in the settings.
        lifetime_seconds: how long Pipelines' API server uses a connection.
    """
    return {
        INSTALL_CONFIG: _pipelines(places["pipelines"], places["cache"], places["metadata"], lifetime_seconds),
        "katib-db-parameters": _katib(places["katib"]),
        "model-registry-db-parameters": _model_registry(places["modelRegistry"]),
        "model-catalog-db-parameters": _model_catalog(places["modelCatalog"]),
    }


def _pipelines(pipelines: Place, cache: Place, metadata: Place, lifetime_seconds: int) -> dict[str, str]:
    """Return both pairs of address keys: the API server reads mysqlHost alone, cache and metadata dbHost alone."""
    return {
        "dbType": "mysql",
        "mysqlHost": pipelines.server.host,
        "mysqlPort": pipelines.port,
        "dbHost": cache.server.host,
        "dbPort": cache.port,
        "pipelineDb": pipelines.schema,
        "cacheDb": cache.schema,
        "mlmdDb": metadata.schema,
        "ConMaxLifeTime": f"{lifetime_seconds}s",
        **_named("mysqlExtraParams", _go_parameters(pipelines.server.tls)),
        **_named("dbExtraParams", _go_parameters(cache.server.tls)),
        **_named("mlmdSslOptions", _mlmd_options(metadata.server.tls)),
    }


def _named(key: str, value: str | None) -> dict[str, str]:
    return {key: value} if value else {}


def _go_parameters(tls: Tls) -> str | None:
    """Return the driver's parameters, as JSON, for `DBCONFIG_MYSQLCONFIG_EXTRAPARAMS` and `--db_extra_params`.

    Go's driver checks the server's name whenever it checks the certificate, so verify-ca is verify-full to it.
    """
    if tls.mode == "disable":
        return None
    return json.dumps({"tls": "skip-verify" if tls.mode == "require" else "true"})


def _mlmd_options(tls: Tls) -> str | None:
    """Return `ssl_options` of metadata's configuration file, which is its only way to TLS."""
    match tls.mode:
        case "disable":
            return None
        case "require":
            return "ssl_options { verify_server_cert: false }"
        case "verify-ca" | "verify-full":
            authority = f"{CA_PATH}/{tls.ca.key}" if tls.ca else SYSTEM_ROOTS
            checked = str(tls.mode == "verify-full").lower()
            return f'ssl_options {{ ca: "{authority}" verify_server_cert: {checked} }}'


def _katib(place: Place) -> dict[str, str]:
    if place.server.engine == "mysql":
        return {
            "DB_NAME": "mysql",
            "KATIB_MYSQL_DB_HOST": place.server.host,
            "KATIB_MYSQL_DB_PORT": place.port,
            "KATIB_MYSQL_DB_DATABASE": place.schema,
        }
    return {
        "DB_NAME": "postgres",
        "KATIB_POSTGRESQL_DB_HOST": place.server.host,
        "KATIB_POSTGRESQL_DB_PORT": place.port,
        "KATIB_POSTGRESQL_DB_DATABASE": place.schema,
        "KATIB_POSTGRESQL_SSL_MODE": place.server.tls.mode,
        **_root_certificate(place.server.tls),
    }


def _model_registry(place: Place) -> dict[str, str]:
    if place.server.engine == "mysql":
        return {"MYSQL_DATABASE": place.schema, "MYSQL_HOST": place.server.host, "MYSQL_PORT": place.port}
    return {
        "POSTGRES_DB": place.schema,
        "POSTGRES_HOST": place.server.host,
        "POSTGRES_PORT": place.port,
        "PGSSLMODE": place.server.tls.mode,
        **_root_certificate(place.server.tls),
    }


def _model_catalog(place: Place) -> dict[str, str]:
    return {
        "PGDATABASE": place.schema,
        "PGHOST": place.server.host,
        "PGPORT": place.port,
        "PGSSLMODE": place.server.tls.mode,
        **_root_certificate(place.server.tls),
    }


def _root_certificate(tls: Tls) -> dict[str, str]:
    """Return where PostgreSQL's clients find the authority, unless they are to trust the system's."""
    return {"PGSSLROOTCERT": f"{CA_PATH}/{tls.ca.key}"} if tls.ca else {}
