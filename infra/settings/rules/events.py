"""Rules about the broker of events: nothing acknowledged may be lost, and nobody gets in without a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.data.common import CaRef, SecretRef
from infra.settings.models.data.databases import DATA_NAMESPACE
from infra.settings.models.data.events import Kafka, RabbitMq, Strimzi, Topic
from infra.settings.rules.rule import Violation, each, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.locate import KeyPath
    from infra.settings.models.settings import Settings

EVENTS = ("data", "events")
FEWEST_SERVERS = 2


@rule("data")
def topics_survive_the_loss_of_a_broker(settings: Settings) -> Iterator[Violation]:
    """Refuse topics that lose acknowledged messages, or stop taking any, with the first broker that is lost."""
    for path, topic in each(Topic, settings.data.events, EVENTS):
        if topic.min_in_sync < FEWEST_SERVERS:
            what = "what only one broker has written is acknowledged, and lost with it"
            yield Violation((*path, "minInSync"), what, f"Write {FEWEST_SERVERS} or more")
        if topic.replication <= topic.min_in_sync:
            what = f"{topic.replication} copies of which {topic.min_in_sync} must be written spare no broker"
            yield Violation((*path, "replication"), what, f"Write {topic.min_in_sync + 1} or more")


@rule("data")
def topics_have_a_broker_for_each_copy(settings: Settings) -> Iterator[Violation]:
    """Refuse more copies than the operated cluster has brokers: the topic could not be made."""
    events = settings.data.events
    if isinstance(events, Strimzi):
        for path, topic in each(Topic, events, EVENTS):
            if topic.replication > events.brokers.replicas:
                what = f"{topic.replication} copies need as many brokers, and there are {events.brokers.replicas}"
                yield Violation((*path, "replication"), what, f"Write {events.brokers.replicas}, or add brokers")


@rule("data")
def kafka_clients_start_without_any_one_broker(settings: Settings) -> Iterator[Violation]:
    """Refuse a single bootstrap server: while it is down, no client can start."""
    events = settings.data.events
    if isinstance(events, Kafka) and len(set(map(str, events.bootstrap_servers))) < FEWEST_SERVERS:
        what = "clients that start from one broker cannot start while it is down"
        yield Violation((*EVENTS, "bootstrapServers"), what, "List two brokers or more")


@rule("data")
def kafka_clients_say_who_they_are(settings: Settings) -> Iterator[Violation]:
    """Refuse Kafka without password or certificate: permissions are given to names, and `ANONYMOUS` is everybody."""
    events = settings.data.events
    if not isinstance(events, Kafka):
        return
    if events.sasl is None and events.tls.client_certificate is None:
        what = "the exporter has neither password nor certificate, so nothing can be permitted to it alone"
        yield Violation((*EVENTS, "sasl"), what, "Add sasl, or tls.clientCertificate")
    if events.admin is None:
        return
    if events.admin.credentials is None and events.admin.client_certificate is None:
        yield Violation((*EVENTS, "admin"), "names nobody", "Add credentials or clientCertificate, or write null")
    if events.admin.credentials and events.sasl is None:
        what = "how the password is proven is not said"
        yield Violation((*EVENTS, "admin", "credentials"), what, "Add sasl.mechanism")


@rule("data")
def passwords_of_events_are_not_sent_in_the_clear(settings: Settings) -> Iterator[Violation]:
    """Refuse passwords without TLS where the protocol sends them as they are."""
    events = settings.data.events
    if isinstance(events, Kafka):
        readable = events.sasl is not None and events.sasl.mechanism == "PLAIN"
    else:
        readable = isinstance(events, RabbitMq)
    if isinstance(events, Kafka | RabbitMq) and readable and events.tls.mode == "disable":
        what = "the password would cross the network as it is"
        yield Violation((*EVENTS, "tls", "mode"), what, "Write verify-full, or choose a SCRAM mechanism")


@rule("data")
def brokers_are_checked_or_not_encrypted(settings: Settings) -> Iterator[Violation]:
    """Refuse TLS modes that Kafka's and RabbitMQ's clients cannot keep: they check everything or nothing."""
    events = settings.data.events
    if isinstance(events, Kafka | RabbitMq) and events.tls.mode in ("require", "verify-ca"):
        what = f"{events.tls.mode} is unknown to clients of a broker: they check certificate and name, or nothing"
        yield Violation((*EVENTS, "tls", "mode"), what, "Write verify-full")


@rule("data")
def secrets_of_events_lie_where_they_are_used(settings: Settings) -> Iterator[Violation]:
    """Refuse Secrets outside the namespace of the exporter and the Job: pods read none of another namespace."""
    for path, reference in _references(settings):
        if reference.namespace != DATA_NAMESPACE:
            what = f"the exporter and its Job run in {DATA_NAMESPACE}, and read no Secret of {reference.namespace}"
            yield Violation((*path, "namespace"), what, f"Write namespace: {DATA_NAMESPACE}")


def _references(settings: Settings) -> Iterator[tuple[KeyPath, SecretRef | CaRef]]:
    yield from each(SecretRef, settings.data.events, EVENTS)
    yield from each(CaRef, settings.data.events, EVENTS)
