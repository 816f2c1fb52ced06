"""Whether Kafka's brokers let the user in, asked of each of them."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from kafka import errors

from ops.doctor.check import Verdict, Verdicts, check, fail, ok
from ops.doctor.kafka.probe import KafkaProbe, name_of
from ops.doctor.kafka.sasl import (
    NO_SASL_HERE,
    UNSUPPORTED_MECHANISM,
    NoKafkaError,
    SaslRefusedError,
    authenticate,
    handshake,
)
from ops.doctor.network.reach import UnreachableError, open_connection, side_by_side, unreachable

if TYPE_CHECKING:
    from ops.doctor.network.endpoint import Endpoint
    from ops.doctor.targets import Login

_ANY = "SCRAM-SHA-512"
"""Mechanism to ask for where none is wanted, to see whether the broker wants one."""


@check(
    "kafka-authentication",
    "kafka",
    why="Clients retry a refused login for ever and say nothing of it: no event is delivered, and nothing fails.",
    run="Correct the Secret, the mechanism, or the user: kafka-configs.sh --alter --entity-type users.",
    needs=("tcp", "tls"),
    waits=2,
)
def authentication(probe: KafkaProbe) -> Verdicts:
    """Whether each bootstrap broker offers the mechanism of the settings, and accepts the users with it."""
    users = (probe.target.login, *probe.target.writers)
    asked = [(endpoint, user) for endpoint in probe.endpoints for user in users]
    return side_by_side(asked, lambda pair: _look(probe, *pair))


def _look(probe: KafkaProbe, endpoint: Endpoint, login: Login | None) -> Verdict:
    address, subject = endpoint.address, endpoint.subject
    try:
        with contextlib.ExitStack() as stack:
            connection: socket.socket = stack.enter_context(open_connection(endpoint, probe.patience))
            if probe.files.tls.enabled:
                context = probe.files.context()
                connection = stack.enter_context(context.wrap_socket(connection, server_hostname=address.host))
            return _talk(probe, connection, login, subject)
    except UnreachableError:
        return unreachable(endpoint)
    except NoKafkaError:
        clear = "" if probe.files.tls.enabled else " in the clear: its listener may be one for TLS"
        return fail(
            f"does not speak Kafka's protocol{clear}", run="Correct the port, or declare `tls`", subject=subject
        )
    except OSError:
        return fail(
            "ends the connection at the first request",
            run="Look whether the port's listener is one for "
            + ("TLS" if probe.files.tls.enabled else "clients without TLS")
            + ", and at the broker's log",
            subject=subject,
        )


def _talk(probe: KafkaProbe, connection: socket.socket, login: Login | None, subject: str) -> Verdict:
    wanted = probe.target.mechanism
    answer = handshake(connection, wanted or _ANY)
    offered = ", ".join(answer.mechanisms)
    if wanted is None:
        if answer.error == NO_SASL_HERE:
            return ok("asks for no SASL, as declared", subject=subject)
        return fail(
            f"asks for SASL ({offered}), and the settings declare none",
            run="Declare `sasl` with its mechanism and credentials, or use the port of another listener",
            subject=subject,
        )
    if answer.error == NO_SASL_HERE:
        return fail(
            f"has no SASL on this port, and the settings declare {wanted}",
            run="Use the port of the SASL listener, or drop `sasl` where certificates identify clients",
            subject=subject,
        )
    if answer.error == UNSUPPORTED_MECHANISM:
        return fail(
            f"does not offer {wanted}; it offers {offered or 'none'}",
            run="Declare a mechanism that it offers, or add it to sasl.enabled.mechanisms",
            subject=subject,
        )
    if login is None:
        return fail(f"wants {wanted}, and there are no credentials", run="Declare `sasl.credentials`", subject=subject)
    try:
        authenticate(connection, wanted, login)
    except SaslRefusedError:
        return fail(
            f"refuses the user {login.user} of {login.source}: wrong password, or no such {wanted} user",
            run=f"Correct {login.source}, or set it: kafka-configs.sh --alter --entity-type users "
            f"--entity-name {login.user} --add-config '{wanted}=[password=...]'",
            subject=subject,
        )
    return ok(f"accepts {login.user} with {wanted}", subject=subject)


@check(
    "kafka-login",
    "kafka",
    why="The bootstrap brokers tell clients where all the others are; without that no client starts.",
    run="Look at the brokers' logs.",
    needs=("kafka-authentication",),
    waits=2,
)
def login(probe: KafkaProbe) -> Verdicts:
    """Whether the brokers describe their cluster to the user."""
    try:
        probe.open()
    except errors.KafkaError as error:
        yield fail(
            f"the brokers do not describe their cluster ({name_of(error)})",
            run="Look at the brokers' logs, and whether advertised.listeners name hosts that resolve here",
        )
        return
    cluster = probe.admin.describe_cluster()
    yield ok(f"{probe.user} sees the cluster {cluster['cluster_id']}")
