"""Events, whatever the broker: one component for the settings' `data.events`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from infra.components.data.events import flows, rabbitmq, setup, strimzi
from infra.components.data.events.brokers import KafkaBroker, RabbitBroker
from infra.components.data.events.exporter import EventExporter, EventExporterArgs
from infra.core.component import Component
from infra.settings.models.data.common import CaRef, SecretRef
from infra.settings.models.data.events import Kafka, NoEvents, RabbitMq, RabbitMqOperator, Strimzi

if TYPE_CHECKING:
    from infra.components.data.events.brokers import Broker
    from infra.settings.models.data.events import Events as EventsSettings

Ready = list[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class EventsArgs:
    """What events are declared from.

    Args:
        settings: the broker, its topics or queues, and the exporter.
        namespace: where the cluster, the Job and the exporter run; must be out of every team's reach.
        namespace_name: its name, for addresses of Services.
        block_class: StorageClass of brokers' volumes that name none.
        teams: names of the teams.
    """

    settings: EventsSettings
    namespace: pulumi.Input[str]
    namespace_name: str
    block_class: str
    teams: Sequence[str]


class Events(Component):
    """Owns the broker where an operator runs it, its topics or queues, their permissions, and the exporter of events.

    Owns no message and no consumer. Users of somebody else's Kafka are its administrator's to make.

    Attributes:
        ready: what producers and consumers must wait for.
    """

    group = "data"

    def __init__(self, name: str, args: EventsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        settings, namespace, teams = args.settings, args.namespace, args.teams
        self.ready: Ready = []
        match settings:
            case NoEvents():
                self.register_outputs({})
                return
            case Kafka():
                broker: Broker = _kafka(settings)
                self._done(setup.kafka_job(settings, namespace, teams, self.child()))
            case Strimzi():
                broker = _strimzi(settings, args.namespace_name)
                arguments = strimzi.KafkaClusterArgs(
                    settings=settings, namespace=namespace, block_class=args.block_class, teams=teams
                )
                self.ready = strimzi.KafkaCluster("kafka", arguments, opts=self.child()).ready
            case RabbitMq():
                broker = _rabbit(settings)
                if settings.admin:
                    target = _external(settings, settings.admin)
                    self._done([setup.rabbit_job(target, namespace, teams, self.child())])
            case RabbitMqOperator():
                broker = _operated(settings, args.namespace_name)
                arguments = rabbitmq.RabbitClusterArgs(
                    settings=settings, namespace=namespace, block_class=args.block_class
                )
                cluster = rabbitmq.RabbitCluster("rabbitmq", arguments, opts=self.child()).ready
                target = _target(settings, args.namespace_name)
                self._done([setup.rabbit_job(target, namespace, teams, self.child(depends_on=cluster))])
        if settings.exporter:
            EventExporter(
                flows.EXPORTER,
                EventExporterArgs(settings=settings.exporter, broker=broker, namespace=namespace),
                opts=self.child(depends_on=self.ready),
            )
        self.register_outputs({})

    def _done(self, jobs: Sequence[setup.Job]) -> None:
        self.ready = [done for job in jobs for done in job.done]


def _kafka(settings: Kafka) -> KafkaBroker:
    sasl = settings.sasl
    return KafkaBroker(
        encrypted=settings.tls.mode != "disable",
        ca=settings.tls.ca,
        certificate=settings.tls.client_certificate,
        credentials=sasl.credentials if sasl else None,
        servers=tuple(map(str, settings.bootstrap_servers)),
        prefix=settings.topics.prefix,
        mechanism=sasl.mechanism if sasl else None,
    )


def _strimzi(settings: Strimzi, namespace: str) -> KafkaBroker:
    """The operator keeps the authority's certificate and each user's password, without the name, in Secrets."""
    return KafkaBroker(
        encrypted=True,
        ca=_ca(strimzi.CA_SECRET, namespace),
        credentials=_credentials(flows.EXPORTER, namespace),
        servers=(f"{strimzi.SERVERS}.{namespace}.svc:{strimzi.PORT}",),
        prefix=settings.topics.prefix,
        mechanism=strimzi.MECHANISM,
        username=flows.EXPORTER,
    )


def _rabbit(settings: RabbitMq) -> RabbitBroker:
    return RabbitBroker(
        encrypted=settings.tls.mode != "disable",
        ca=settings.tls.ca,
        certificate=settings.tls.client_certificate,
        credentials=settings.credentials,
        address=f"{settings.host}:{settings.port}",
        vhost=settings.vhost,
    )


def _external(settings: RabbitMq, admin: SecretRef) -> setup.RabbitTarget:
    scheme = "http" if settings.tls.mode == "disable" else "https"
    return setup.RabbitTarget(
        management=f"{scheme}://{settings.host}:{settings.management_port}",
        admin=admin,
        exporter=settings.credentials,
        ca=settings.tls.ca,
        vhost=settings.vhost,
        queues=settings.queues,
    )


def _operated(settings: RabbitMqOperator, namespace: str) -> RabbitBroker:
    port = rabbitmq.AMQPS if settings.tls_secret else rabbitmq.AMQP
    return RabbitBroker(
        encrypted=settings.tls_secret is not None,
        ca=_ca(settings.tls_secret, namespace) if settings.tls_secret else None,
        credentials=settings.credentials,
        address=f"{rabbitmq.CLUSTER}.{namespace}.svc:{port}",
        vhost=settings.vhost,
    )


def _target(settings: RabbitMqOperator, namespace: str) -> setup.RabbitTarget:
    scheme, port = ("https", rabbitmq.MANAGEMENT_TLS) if settings.tls_secret else ("http", rabbitmq.MANAGEMENT)
    return setup.RabbitTarget(
        management=f"{scheme}://{rabbitmq.CLUSTER}.{namespace}.svc:{port}",
        admin=_credentials(rabbitmq.ADMIN_SECRET, namespace),
        exporter=settings.credentials,
        ca=_ca(settings.tls_secret, namespace) if settings.tls_secret else None,
        vhost=settings.vhost,
        queues=settings.queues,
    )


def _ca(secret: str, namespace: str) -> CaRef:
    return CaRef.model_validate({"kind": "secret", "name": secret, "namespace": namespace})


def _credentials(secret: str, namespace: str) -> SecretRef:
    return SecretRef.model_validate({"secret": secret, "namespace": namespace})
