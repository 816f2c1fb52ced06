"""External databases as targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.data.databases import ExternalDatabase
from ops.doctor import mysql, postgresql
from ops.doctor.examine import Examination
from ops.doctor.mysql.probe import MySqlProbe
from ops.doctor.network import REACH
from ops.doctor.plan.endpoint import EndpointProbe
from ops.doctor.postgresql.probe import PostgresProbe
from ops.doctor.targets import Address, Consumer, EndpointTarget, MySqlTarget, PostgresTarget, Tls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings import Settings
    from ops.doctor.plan.references import References
    from ops.doctor.targets import Login

OLD_CLIENTS = frozenset({"metadata"})
"""Consumers whose clients know neither caching_sha2_password nor rules about primary keys."""


def databases(settings: Settings, known: References, timeout: float) -> Iterator[Examination]:
    """Yield what to check of each external database, host by host."""
    for name, database in settings.data.databases.items():
        if not isinstance(database, ExternalDatabase):
            continue
        path = f"data.databases.{name}"
        hosts = tuple(Address(host=host, port=database.listens_at) for host in database.hosts)
        tls = known.tls(database.tls, f"{path}.tls")
        admin = known.login(database.admin, f"{path}.admin") if database.admin else None
        consumers = tuple(_consumers(settings, known, name))
        if tls is None or (database.admin and admin is None):
            without = EndpointTarget(name=path, addresses=hosts, tls=tls or Tls())
            yield Examination(probe=EndpointProbe(without, timeout, database.engine), checks=REACH)
            continue
        kind = MySqlTarget if database.engine == "mysql" else PostgresTarget
        target = kind(
            name=path,
            hosts=hosts,
            tls=tls,
            admin=admin,
            consumers=consumers,
            connections=database.pool.max_open * len(consumers),
        )
        for host in hosts:
            writer = host == hosts[0]
            if isinstance(target, MySqlTarget):
                checks = mysql.WRITER if writer else mysql.REPLICA
                yield Examination(probe=MySqlProbe(target, host, timeout), checks=checks)
            else:
                checks = postgresql.WRITER if writer else postgresql.REPLICA
                yield Examination(probe=PostgresProbe(target, host, timeout), checks=checks)


def _consumers(settings: Settings, known: References, database: str) -> Iterator[Consumer]:
    """Yield the consumers of a database. Generated users have no login here: the bootstrap Job makes them."""
    sections = settings.data.consumers
    for attribute, field in type(sections).model_fields.items():
        consumer = getattr(sections, attribute)
        name = field.alias or attribute
        if consumer.database != database:
            continue
        path = f"data.consumers.{name}.credentials"
        login: Login | None = known.login(consumer.credentials, path) if consumer.credentials else None
        yield Consumer(name=name, database=consumer.schema_name, login=login, old_client=attribute in OLD_CLIENTS)
