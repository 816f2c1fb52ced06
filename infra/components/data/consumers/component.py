"""The consumers' users and addresses: Secrets and ConfigMaps with the keys they know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.components.data.consumers.keys import INSTALL_CONFIG, Place, config_of, secret_of
from infra.core import names
from infra.core.component import Component
from infra.core.database import Credentials, User
from infra.core.generated import GeneratedPassword

if TYPE_CHECKING:
    from infra.core.database import Server
    from infra.settings.models.data.databases import Consumer
    from infra.settings.models.data.databases import Consumers as ConsumersSettings

PART_OF = "data"
LONGEST_USER = 32
"""Most characters that MySQL allows in a user's name."""

NATIVE = "mysql_native_password"


@dataclass(frozen=True, kw_only=True)
class ConsumersArgs:
    """What the consumers' Secrets and ConfigMaps are declared from.

    Args:
        consumers: which database each uses.
        servers: the servers by name.
        namespace: where the consumers run.
        data_namespace: where databases are prepared.
        install_config: entries of pipeline-install-config besides the databases', such as the bucket's.
    """

    consumers: ConsumersSettings
    servers: Mapping[str, Server]
    namespace: pulumi.Input[str]
    data_namespace: pulumi.Input[str]
    install_config: Mapping[str, pulumi.Input[str]] = field(default_factory=dict[str, pulumi.Input[str]])


@dataclass(frozen=True, kw_only=True)
class Connection:
    """How a consumer connects.

    Args:
        place: its server and database.
        credentials: its user, in the consumers' namespace.
    """

    place: Place
    credentials: Credentials


class Consumers(Component):
    """Owns each consumer's user and address; owns neither databases nor the components that use them.

    Attributes:
        users: the users to be made on the servers.
        connections: how each consumer connects, by its key in the settings.
    """

    group = "data"

    def __init__(self, name: str, args: ConsumersArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        self.users: list[User] = []
        self.connections: dict[str, Connection] = {}
        for attribute, section in type(args.consumers).model_fields.items():
            self._consumer(section.alias or attribute, getattr(args.consumers, attribute))
        self._addresses()
        self.register_outputs({})

    def _consumer(self, consumer: str, settings: Consumer) -> None:
        place = Place(server=self._args.servers[settings.database], schema=settings.schema_name)
        if settings.credentials:
            ref = settings.credentials
            own = prepared = Credentials(
                secret=ref.secret, username_key=ref.username_key, password_key=ref.password_key
            )
            ready: list[pulumi.Resource] = []
        else:
            own, prepared, ready = self._generate(consumer, place)
        self.connections[consumer] = Connection(place=place, credentials=own)
        self.users.append(
            User(
                consumer=consumer,
                server=settings.database,
                schema=place.schema,
                credentials=prepared,
                plugin=NATIVE if consumer == "metadata" else None,
                keyless=consumer == "metadata",
                ready=ready,
            )
        )

    def _generate(self, consumer: str, place: Place) -> tuple[Credentials, Credentials, list[pulumi.Resource]]:
        """Make a user, in the Secret that the consumer reads and in one for the bootstrap Job."""
        secret, username_key, password_key = secret_of(consumer, place)
        own = Credentials(secret=secret, username_key=username_key, password_key=password_key)
        prepared = Credentials(secret=f"user-{secret}", username_key="username", password_key="password")  # noqa: S106 - a key
        generated = GeneratedPassword(f"{secret}-password", purpose=f"{consumer}'s user", opts=self.child())
        user = names.bounded(place.schema, LONGEST_USER)
        made = [
            k8s.core.v1.Secret(
                each.secret,
                metadata=self._meta(each.secret, namespace),
                string_data={
                    str(each.username_key): user,
                    each.password_key: pulumi.Output.secret(generated.password),
                },
                opts=self.child(),
            )
            for each, namespace in ((own, self._args.namespace), (prepared, self._args.data_namespace))
        ]
        return own, prepared, [*made]

    def _addresses(self) -> None:
        places = {consumer: connection.place for consumer, connection in self.connections.items()}
        lifetime = places["pipelines"].server.pool.max_lifetime_seconds
        for name, data in config_of(places, lifetime).items():
            more = self._args.install_config if name == INSTALL_CONFIG else {}
            k8s.core.v1.ConfigMap(
                name, metadata=self._meta(name, self._args.namespace), data={**data, **more}, opts=self.child()
            )

    def _meta(self, name: str, namespace: pulumi.Input[str]) -> k8s.meta.v1.ObjectMetaArgs:
        return k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=names.labels(name, part_of=PART_OF))
