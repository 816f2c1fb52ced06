"""The Job that creates topics, queues and permissions on a broker that no operator keeps in line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pulumi

from infra import versions
from infra.components.data.events import flows
from infra.components.data.events.trust import ca_volume
from infra.core.job import FILES_PATH, Job, JobArgs
from infra.core.parts import Container, EnvironmentValue, Volume
from infra.core.script_files import script_files
from infra.settings.models.resources import Resources

if TYPE_CHECKING:
    from infra.settings.models.data.common import CaRef, SecretRef
    from infra.settings.models.data.events import Kafka, Queues

NAME = "events-setup"
PART_OF = "data"
SCRIPTS = Path(__file__).parents[1] / "scripts"
WAIT_SECONDS = 240

ADMIN_PATH = "/etc/credentials/admin"
CERTIFICATE_PATH = "/etc/credentials/admin-certificate"
EXPORTER_PATH = "/etc/credentials/exporter"
CA_PATH = "/etc/credentials/ca"

KAFKA_USER = 1000
CURL_USER = 100
"""The users of the images."""


def _resources(cpu: str, request: str, limit: str) -> Resources:
    return Resources.model_validate({"requests": {"cpu": cpu, "memory": request}, "limits": {"memory": limit}})


KAFKA_RESOURCES = _resources("200m", "256Mi", "512Mi")
CURL_RESOURCES = _resources("50m", "32Mi", "64Mi")


@dataclass(frozen=True, kw_only=True)
class RabbitTarget:
    """A RabbitMQ cluster that is to be set up.

    Args:
        management: address of its management interface.
        admin: who sets it up, by a Secret in the Job's namespace.
        exporter: the exporter's user, by a Secret in the Job's namespace.
        ca: authority whose certificates are trusted; None for those the image brings.
        vhost: virtual host of the platform.
        queues: how queues are kept.
    """

    management: str
    admin: SecretRef
    exporter: SecretRef
    ca: CaRef | None
    vhost: str
    queues: Queues


def kafka_job(
    settings: Kafka, namespace: pulumi.Input[str], teams: Sequence[str], opts: pulumi.ResourceOptions
) -> list[Job]:
    """Return the Job that sets up somebody else's Kafka; none where its administrator does."""
    if settings.admin is None:
        return []
    admin, tls = settings.admin, settings.tls
    volumes = [*_ca(tls.ca)]
    environment: dict[str, EnvironmentValue] = {
        "BOOTSTRAP_SERVERS": ",".join(map(str, settings.bootstrap_servers)),
        "TLS": str(tls.mode != "disable").lower(),
        "TLS_CA": _ca_file(tls.ca),
        "SASL_MECHANISM": settings.sasl.mechanism if settings.sasl and admin.credentials else "",
        "TOPICS_FILE": f"{FILES_PATH}/topics.txt",
        "GRANTS_FILE": f"{FILES_PATH}/grants.txt",
        **_certificate(admin.client_certificate),
    }
    if admin.client_certificate:
        volumes.append(Volume(name="admin-certificate", path=CERTIFICATE_PATH, secret=admin.client_certificate))
    if admin.credentials:
        volumes.append(Volume(name="admin", path=ADMIN_PATH, secret=admin.credentials.secret))
        environment |= _files_of("ADMIN", ADMIN_PATH, admin.credentials)
    return [
        _job(
            "kafka.sh",
            {
                "topics.txt": topic_lines(flows.topics(settings.topics, teams)),
                "grants.txt": grant_lines(flows.grants(settings.topics, teams), settings.principal),
            },
            Container(
                image=versions.KAFKA_TOOLS, probes=None, environment=environment, volumes=volumes, user=KAFKA_USER
            ),
            KAFKA_RESOURCES,
            namespace,
            opts,
        )
    ]


def rabbit_job(
    target: RabbitTarget, namespace: pulumi.Input[str], teams: Sequence[str], opts: pulumi.ResourceOptions
) -> Job:
    """Return the Job that sets up a RabbitMQ cluster, whoever runs it."""
    environment: dict[str, EnvironmentValue] = {
        "MANAGEMENT": target.management,
        "TLS_CA": _ca_file(target.ca),
        "USERS_FILE": f"{FILES_PATH}/users.txt",
        "REQUESTS_FILE": f"{FILES_PATH}/requests.txt",
        **_certificate(None),
        **_files_of("ADMIN", ADMIN_PATH, target.admin),
    }
    users = {flows.EXPORTER: f"{EXPORTER_PATH}/{target.exporter.password_key}", flows.INFERENCE_LOGGER: ""}
    files = {
        "users.txt": "".join(f"{user} {file}\n" for user, file in (users | dict.fromkeys(sorted(teams), "")).items()),
        "requests.txt": request_lines(
            flows.queues(target.queues, target.vhost, teams), flows.accesses(target.vhost, teams)
        ),
    }
    container = Container(
        image=versions.CURL,
        probes=None,
        environment=environment,
        volumes=[
            Volume(name="admin", path=ADMIN_PATH, secret=target.admin.secret),
            Volume(name="exporter", path=EXPORTER_PATH, secret=target.exporter.secret),
            *_ca(target.ca),
        ],
        user=CURL_USER,
    )
    return _job("rabbitmq.sh", files, container, CURL_RESOURCES, namespace, opts)


def topic_lines(topics: Iterable[flows.NamedTopic]) -> str:
    """Return a line for each topic, as `kafka.sh` reads them."""
    return "".join(
        f"{topic.name} {topic.keeping.partitions} {topic.keeping.replication} "
        f"{','.join(f'{key}={value}' for key, value in topic.config.items())}\n"
        for topic in topics
    )


def grant_lines(grants: Iterable[flows.Grant], principal: str) -> str:
    """Return a line for each permission, as `kafka.sh` reads them."""
    words = {"transactionalId": "transactional-id", "prefix": "prefixed"}
    return "".join(
        "\t".join(
            (
                principal.replace("{name}", grant.user),
                words.get(grant.resource, grant.resource),
                words.get(grant.pattern, grant.pattern),
                grant.name,
                ",".join(grant.operations),
            )
        )
        + "\n"
        for grant in grants
    )


def request_lines(queues: Sequence[flows.NamedQueue], accesses: Iterable[flows.Access]) -> str:
    """Return a line for each request, as `rabbitmq.sh` reads them: virtual hosts, queues, policies, permissions.

    How long messages are kept stands in a policy, which can be changed; a queue's own arguments cannot.
    """
    lines: list[tuple[str, str, Mapping[str, object]]] = [
        (f"virtual host {vhost}", f"vhosts/{_encoded(vhost)}", {"default_queue_type": "quorum"})
        for vhost in dict.fromkeys(queue.vhost for queue in queues)
    ]
    for queue in queues:
        where = f"{_encoded(queue.vhost)}/{queue.name}"
        arguments = {"x-queue-type": "quorum"}
        definition = {"message-ttl": queue.time_to_live, "overflow": "reject-publish"}
        lines += [
            (f"queue {queue.vhost}/{queue.name}", f"queues/{where}", {"durable": True, "arguments": arguments}),
            (
                f"policy {queue.vhost}/{queue.name}",
                f"policies/{where}",
                {"pattern": f"^{queue.name}$", "apply-to": "queues", "definition": definition},
            ),
        ]
    for access in accesses:
        allowed = {"configure": access.configure, "write": access.write, "read": access.read}
        path = f"permissions/{_encoded(access.vhost)}/{access.user}"
        lines.append((f"permissions of {access.user} in {access.vhost}", path, allowed))
    return "".join(f"{what}\t{path}\t{json.dumps(body, sort_keys=True)}\n" for what, path, body in lines)


def _ca(ca: CaRef | None) -> list[Volume]:
    return [ca_volume(ca, CA_PATH)] if ca else []


def _ca_file(ca: CaRef | None) -> str:
    return f"{CA_PATH}/{ca.key}" if ca else ""


def _certificate(secret: str | None) -> dict[str, EnvironmentValue]:
    return {
        "TLS_CERT": f"{CERTIFICATE_PATH}/tls.crt" if secret else "",
        "TLS_KEY": f"{CERTIFICATE_PATH}/tls.key" if secret else "",
    }


def _files_of(user: str, path: str, credentials: SecretRef) -> dict[str, EnvironmentValue]:
    return {
        f"{user}_USERNAME_FILE": f"{path}/{credentials.username_key}",
        f"{user}_PASSWORD_FILE": f"{path}/{credentials.password_key}",
    }


def _encoded(name: str) -> str:
    return quote(name, safe="")


def _job(
    script: str,
    files: Mapping[str, str],
    container: Container,
    resources: Resources,
    namespace: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> Job:
    running = replace(
        container,
        command=("/bin/sh", f"{FILES_PATH}/{script}"),
        environment={**container.environment, "WAIT_SECONDS": str(WAIT_SECONDS)},
    )
    return Job(
        NAME,
        JobArgs(
            namespace=namespace,
            part_of=PART_OF,
            container=running,
            resources=resources,
            files={**script_files(SCRIPTS / script), **files},
        ),
        opts=opts,
    )
