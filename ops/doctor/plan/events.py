"""The external broker of events as a target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from infra.components.data.events import flows
from infra.settings.models.data.databases import DATA_NAMESPACE
from infra.settings.models.data.events import Kafka, RabbitMq
from ops.doctor import kafka, rabbitmq
from ops.doctor.examine import Examination
from ops.doctor.kafka.probe import KafkaProbe
from ops.doctor.network import REACH
from ops.doctor.plan.endpoint import EndpointProbe
from ops.doctor.rabbitmq.probe import RabbitMqProbe
from ops.doctor.targets import Address, EndpointTarget, KafkaTarget, RabbitMqTarget, Tls, Topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings import Settings
    from ops.doctor.plan.references import References

PATH = "data.events"


def events(settings: Settings, known: References, timeout: float) -> Iterator[Examination]:
    """Yield what to check of the broker of events, where it is external."""
    match settings.data.events:
        case Kafka() as broker:
            yield _kafka(settings, broker, known, timeout)
        case RabbitMq() as broker:
            yield _rabbitmq(settings, broker, known, timeout)
        case _:
            return


def _kafka(settings: Settings, broker: Kafka, known: References, timeout: float) -> Examination:
    bootstrap = tuple(Address(host=each.host, port=each.port) for each in broker.bootstrap_servers)
    tls = known.tls(broker.tls, f"{PATH}.tls")
    admin = broker.admin
    if admin and admin.client_certificate and tls:
        where = f"{PATH}.admin.clientCertificate"
        pair = known.pair(admin.client_certificate, DATA_NAMESPACE, ("tls.crt", "tls.key"), where)
        tls = replace(tls, certificate=pair.user, key=pair.password) if pair else None
    writer = known.login(broker.sasl.credentials, f"{PATH}.sasl.credentials") if broker.sasl else None
    ref = admin.credentials if admin else None
    administrator = known.login(ref, f"{PATH}.admin.credentials") if ref else None
    login = administrator if admin else writer
    if tls is None or (broker.sasl and login is None):
        return _only_reach(bootstrap, tls, timeout)
    target = KafkaTarget(
        name=PATH,
        bootstrap=bootstrap,
        tls=tls,
        mechanism=broker.sasl.mechanism if broker.sasl else None,
        login=login,
        administers=admin is not None,
        writers=(writer,) if writer and writer != login else (),
        topics=tuple(_topics(settings, broker)),
        replication=max(topic.keeping.replication for topic in flows.topics(broker.topics, ())),
        acls=broker.sasl is not None or tls.certificate is not None,
    )
    return Examination(probe=KafkaProbe(target, timeout), checks=kafka.CLUSTER)


def _topics(settings: Settings, broker: Kafka) -> Iterator[Topic]:
    teams = [team.name for team in settings.teams]
    granted = list(flows.grants(broker.topics, teams))
    for topic in flows.topics(broker.topics, teams):
        users = dict.fromkeys(
            grant.user
            for grant in granted
            if grant.resource == "topic"
            and (topic.name.startswith(grant.name) if grant.pattern == "prefix" else topic.name == grant.name)
        )
        yield Topic(
            name=topic.name,
            partitions=topic.keeping.partitions,
            replication=topic.keeping.replication,
            min_insync_replicas=topic.keeping.min_in_sync,
            retention_ms=int(topic.config["retention.ms"]),
            principals=tuple(broker.principal.replace("{name}", user) for user in users),
        )


def _rabbitmq(settings: Settings, broker: RabbitMq, known: References, timeout: float) -> Examination:
    hosts = (Address(host=broker.host, port=broker.port),)
    management = Address(host=broker.host, port=broker.management_port)
    tls = known.tls(broker.tls, f"{PATH}.tls")
    login = known.login(broker.credentials, f"{PATH}.credentials")
    admin = known.login(broker.admin, f"{PATH}.admin") if broker.admin else None
    if tls is None or login is None or (broker.admin and admin is None):
        return _only_reach((*hosts, management), tls, timeout)
    queues = flows.queues(broker.queues, broker.vhost, [team.name for team in settings.teams])
    target = RabbitMqTarget(
        name=PATH,
        hosts=hosts,
        management=management,
        vhost=broker.vhost,
        login=login,
        admin=admin,
        tls=tls,
        queues=tuple((queue.vhost, queue.name) for queue in queues),
    )
    return Examination(probe=RabbitMqProbe(target, timeout), checks=rabbitmq.CLUSTER)


def _only_reach(addresses: tuple[Address, ...], tls: Tls | None, timeout: float) -> Examination:
    target = EndpointTarget(name=PATH, addresses=addresses, tls=tls or Tls())
    return Examination(probe=EndpointProbe(target, timeout), checks=REACH)
