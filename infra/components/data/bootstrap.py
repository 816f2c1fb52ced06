"""The Job that prepares a database server: databases, users and grants for its consumers, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from infra import versions
from infra.core.component import Component
from infra.core.job import FILES_PATH, Job, JobArgs
from infra.core.parts import Container, Image, Volume
from infra.core.script_files import script_files
from infra.settings.models.resources import Resources

if TYPE_CHECKING:
    from infra.core.database import Server, User
    from infra.settings.models.data.databases import Engine

PART_OF = "data"
PLAN = "consumers"
SCRIPTS = Path(__file__).parent / "scripts"
SECRETS = "/run/flotilla"
"""Folder of everything that is mounted from Secrets."""

CLIENTS: dict[Engine, tuple[Image, int]] = {
    "mysql": (versions.MYSQL_CLIENT, 999),
    "postgresql": (versions.POSTGRESQL_CLIENT, 999),
}
"""The client's image by engine, and its unprivileged user."""

RESOURCES = Resources.model_validate(
    {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}}, by_alias=True
)
COLUMNS = ("name", "schema", "plugin", "connections", "keys", "username", "password")


@dataclass(frozen=True, kw_only=True)
class BootstrapArgs:
    """What a server is prepared from.

    Args:
        server: the server; it has an administrator.
        users: users of the server's consumers.
        namespace: where the Job runs: that of the administrator's Secret, out of reach of the consumers.
    """

    server: Server
    users: Sequence[User]
    namespace: pulumi.Input[str]


class Bootstrap(Component):
    """Owns the Job; owns neither the server nor what the consumers keep in it, and deletes nothing of theirs.

    Attributes:
        done: what has to wait until the consumers can connect.
    """

    group = "data"

    def __init__(self, name: str, args: BootstrapArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        server = args.server
        image, user = CLIENTS[server.engine]
        script = f"{server.engine}.sh"
        users = [each for each in args.users if each.server == server.name]
        waits = [*server.ready, *(resource for each in users for resource in each.ready)]
        job = Job(
            f"bootstrap-{server.name}",
            JobArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=Container(
                    image=image,
                    probes=None,
                    command=("/bin/sh", f"{FILES_PATH}/{script}"),
                    environment=environment(server),
                    volumes=volumes(server, users),
                    user=user,
                ),
                resources=RESOURCES,
                files=script_files(SCRIPTS / script) | {PLAN: plan(server, users)},
            ),
            opts=self.child(depends_on=waits),
        )
        self.done: list[pulumi.Resource] = job.done
        self.register_outputs({})


def plan(server: Server, users: Sequence[User]) -> str:
    """Return what the script is to prepare: a line for each consumer, whose columns the script explains."""
    rows = [
        (
            user.consumer,
            user.schema,
            user.plugin or "default",
            str(server.pool.max_open),
            "keyless" if user.keyless else "keyed",
            user.credentials.username_key or "",
            user.credentials.password_key,
        )
        for user in users
    ]
    return "".join(f"{' '.join(row)}\n" for row in [(f"# {COLUMNS[0]}", *COLUMNS[1:]), *rows])


def environment(server: Server) -> dict[str, str]:
    """Return the script's environment; the script explains each variable."""
    admin, tls = server.admin, server.tls
    if admin is None:
        raise ValueError(f"{server.name} has no administrator to prepare it")
    user = (
        {"ADMIN_USER": admin.username}
        if admin.username
        else {"ADMIN_USER_FILE": f"{SECRETS}/admin/{admin.username_key}"}
    )
    authority = {"TLS_CA": f"{SECRETS}/ca/{tls.ca.key}"} if tls.ca else {}
    identity = (
        {"TLS_CERT": f"{SECRETS}/certificate/tls.crt", "TLS_KEY": f"{SECRETS}/certificate/tls.key"}
        if tls.client_certificate
        else {}
    )
    return {
        "DATABASE_HOSTS": " ".join(server.hosts),
        "DATABASE_PORT": str(server.port),
        "TLS_MODE": tls.mode,
        **authority,
        **identity,
        **user,
        "ADMIN_PASSWORD_FILE": f"{SECRETS}/admin/{admin.password_key}",
        "CONSUMERS_FILE": f"{FILES_PATH}/{PLAN}",
        "CREDENTIALS": f"{SECRETS}/credentials",
        "WAIT_SECONDS": str(server.starting_seconds),
    }


def volumes(server: Server, users: Sequence[User]) -> list[Volume]:
    """Return what the script reads besides its files."""
    admin, tls = server.admin, server.tls
    found = [
        Volume(
            name=f"user-{number}",
            path=f"{SECRETS}/credentials/{user.consumer}",
            secret=user.credentials.secret,
        )
        for number, user in enumerate(users)
    ]
    if admin:
        found.append(Volume(name="admin", path=f"{SECRETS}/admin", secret=admin.secret))
    if tls.ca:
        secret, config_map = (tls.ca.name, None) if tls.ca.kind == "secret" else (None, tls.ca.name)
        found.append(Volume(name="ca", path=f"{SECRETS}/ca", secret=secret, config_map=config_map))
    if tls.client_certificate:
        found.append(Volume(name="certificate", path=f"{SECRETS}/certificate", secret=tls.client_certificate))
    return found
