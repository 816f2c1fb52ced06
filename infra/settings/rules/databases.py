"""Rules about databases and the components that keep their state in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.data.common import Tls
from infra.settings.models.data.databases import (
    CONSUMERS_NAMESPACE,
    DATA_NAMESPACE,
    ExternalDatabase,
)
from infra.settings.rules.rule import Violation, each, rule
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from infra.settings.locate import KeyPath
    from infra.settings.models.data.databases import Consumer, Database, Engine
    from infra.settings.models.settings import Settings

DATABASES = ("data", "databases")
CONSUMERS = ("data", "consumers")

ONLY: Mapping[str, tuple[Engine, str]] = {
    "pipelines": ("mysql", "Pipelines speaks MySQL's dialect to every server, PostgreSQL included"),
    "cache": ("mysql", "Pipelines' cache speaks MySQL's dialect to every server, PostgreSQL included"),
    "metadata": ("mysql", "metadata reads the same address as Pipelines' cache, which speaks MySQL only"),
    "modelCatalog": ("postgresql", "the model catalog speaks PostgreSQL only"),
}
"""Consumers that one engine alone will do for on this release, and why.

Source: https://github.com/kubeflow/pipelines, tag 2.16.1, `backend/src/apiserver/client_manager` and
`manifests/kustomize/base`; https://github.com/kubeflow/hub, tag v0.3.9, `catalog/cmd`.
"""


def _consumers(settings: Settings) -> Iterator[tuple[str, Consumer, Database | None]]:
    """Yield each consumer's key, the consumer and its database; None where that does not exist."""
    consumers = settings.data.consumers
    for name, field in type(consumers).model_fields.items():
        consumer: Consumer = getattr(consumers, name)
        yield field.alias or name, consumer, settings.data.databases.get(consumer.database)


@rule("data")
def consumers_use_databases_that_exist(settings: Settings) -> Iterator[Violation]:
    """Refuse a database that is not declared: its consumer would have nowhere to start."""
    known = settings.data.databases
    for key, consumer, database in _consumers(settings):
        if database is None:
            remedy = f"{did_you_mean(consumer.database, known)}Write one of {', '.join(known)}, or declare it"
            what = f"{consumer.database} is not a database of data.databases"
            yield Violation((*CONSUMERS, key, "database"), what, remedy)


@rule("data")
def consumers_speak_what_their_database_speaks(settings: Settings) -> Iterator[Violation]:
    """Refuse an engine that a consumer cannot use: it would fail only when it starts."""
    for key, consumer, database in _consumers(settings):
        if key in ONLY and database is not None and database.engine != ONLY[key][0]:
            engine, reason = ONLY[key]
            fitting = [name for name, other in settings.data.databases.items() if other.engine == engine]
            what = f"{consumer.database} is {database.engine}, and {reason}"
            remedy = f"Write {' or '.join(fitting)}" if fitting else f"Declare a database with engine {engine}"
            yield Violation((*CONSUMERS, key, "database"), what, remedy)


@rule("data")
def cache_and_metadata_share_a_database(settings: Settings) -> Iterator[Violation]:
    """Refuse two servers for cache and metadata: both read one address, `dbHost` of pipeline-install-config."""
    cache, metadata = settings.data.consumers.cache, settings.data.consumers.metadata
    if cache.database != metadata.database:
        what = f"the cache uses {cache.database}, and both read the address from dbHost of pipeline-install-config"
        yield Violation((*CONSUMERS, "metadata", "database"), what, f"Write {cache.database}, or move the cache too")


@rule("data")
def katib_reaches_mysql_in_the_clear(settings: Settings) -> Iterator[Violation]:
    """Refuse TLS between Katib and MySQL: its client has no option for it, so the server would refuse it."""
    consumer = settings.data.consumers.katib
    database = settings.data.databases.get(consumer.database)
    if isinstance(database, ExternalDatabase) and database.engine == "mysql" and database.tls.mode != "disable":
        what = f"Katib's MySQL client speaks no TLS, which {consumer.database} asks for"
        yield Violation((*CONSUMERS, "katib", "database"), what, "Write a PostgreSQL database; there Katib speaks TLS")


@rule("data")
def consumers_keep_apart(settings: Settings) -> Iterator[Violation]:
    """Refuse one schema, or one user, for two consumers: each could change what the other keeps."""
    schemas: dict[tuple[str, str], str] = {}
    users: dict[tuple[str, str], str] = {}
    for key, consumer, _ in _consumers(settings):
        place = (consumer.database, consumer.schema_name)
        if other := schemas.get(place):
            what = f"{other} keeps its state in {consumer.schema_name} of {consumer.database} too"
            yield Violation((*CONSUMERS, key, "schemaName"), what, "Write another name")
        schemas.setdefault(place, key)
        if (ref := consumer.credentials) is None:
            continue
        user = (ref.secret, ref.username_key)
        if other := users.get(user):
            what = f"{other} uses {ref.username_key} of {ref.secret} too"
            remedy = "Make a Secret for each, or remove it: Flotilla then generates one"
            yield Violation((*CONSUMERS, key, "credentials", "secret"), what, remedy)
        users.setdefault(user, key)


@rule("data")
def database_secrets_are_where_they_are_mounted(settings: Settings) -> Iterator[Violation]:
    """Refuse Secrets in other namespaces than their pods': an administrator's stays out of the consumers' reach."""
    for name, database in settings.data.databases.items():
        admin = database.admin if isinstance(database, ExternalDatabase) else None
        if admin is not None and admin.namespace != DATA_NAMESPACE:
            what = f"only {DATA_NAMESPACE} is out of every component's reach, and the bootstrap Job runs there"
            yield Violation((*DATABASES, name, "admin", "namespace"), what, f"Write {DATA_NAMESPACE}")
    for key, consumer, _ in _consumers(settings):
        if consumer.credentials is not None and consumer.credentials.namespace != CONSUMERS_NAMESPACE:
            what = f"{key} runs in {CONSUMERS_NAMESPACE} and cannot mount a Secret of another namespace"
            yield Violation((*CONSUMERS, key, "credentials", "namespace"), what, f"Write {CONSUMERS_NAMESPACE}")


@rule("data")
def certificates_are_checked_against_something(settings: Settings) -> Iterator[Violation]:
    """Refuse to verify certificates against no authority, or to name one that is not asked."""
    for path, tls in each(Tls, settings.data, ("data",)):
        verifies = tls.mode.startswith("verify-")
        if verifies and tls.ca is None and not tls.system_roots:
            what = f"{tls.mode} has no authority to check the server's certificate against"
            yield Violation((*path, "mode"), what, "Add ca, or systemRoots: true for a public certificate")
        yield from _without_effect(path, tls, verifies=verifies)


def _without_effect(path: KeyPath, tls: Tls, *, verifies: bool) -> Iterator[Violation]:
    if tls.ca is not None and not verifies:
        yield Violation((*path, "ca"), f"{tls.mode} verifies nothing", "Write mode: verify-full, or remove it")
    if tls.system_roots and not verifies:
        yield Violation((*path, "systemRoots"), f"{tls.mode} verifies nothing", "Write mode: verify-full, or remove it")
    if tls.ca is not None and tls.system_roots:
        yield Violation((*path, "systemRoots"), "is given together with ca", "Remove one of the two")
    if tls.client_certificate is not None and tls.mode == "disable":
        yield Violation((*path, "clientCertificate"), "disable shows no certificate", "Write mode: verify-full")
