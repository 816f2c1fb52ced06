"""Whether RabbitMQ lets the users in: at the management API, and at each node over AMQP."""

from __future__ import annotations

from pika import BasicProperties, exceptions
from pika.adapters.utils.connection_workflow import AMQPConnectorException

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip
from ops.doctor.network.endpoint import Endpoint
from ops.doctor.network.reach import side_by_side
from ops.doctor.rabbitmq.probe import ApiRefusedError, RabbitMqProbe, text_of
from ops.doctor.scratch import scratch_name

_UNAUTHORIZED, _NOT_FOUND = 401, 404
ADMINISTRATOR = "administrator"


@check(
    "rabbitmq-api",
    "rabbitmq",
    why="Virtual hosts, users, queues and permissions are declared through the management API, by an administrator.",
    run="Enable rabbitmq_management; give the user its tag: rabbitmqctl set_user_tags <user> administrator.",
    needs=("tcp", "tls"),
)
def api(probe: RabbitMqProbe) -> Verdicts:
    """Whether the management API accepts the administrator, else who publishes events; the administrator's tag."""
    login = probe.caller
    try:
        tags = probe.get("whoami").get("tags", [])
    except ApiRefusedError as error:
        if error.status != _UNAUTHORIZED:
            raise
        if "management" in str(error).lower():
            tag = ADMINISTRATOR if probe.target.admin else "management"
            yield fail(
                f"the user {login.user} may not use the management API",
                run=f"Run rabbitmqctl set_user_tags {login.user} {tag}",
            )
        else:
            yield fail(
                f"the management API refuses the user {login.user} of {login.source}: wrong password, or no such user",
                run=f"Correct {login.source}, or run rabbitmqctl change_password {login.user}",
            )
        return
    words = tags.split(",") if isinstance(tags, str) else tags
    if probe.target.admin and ADMINISTRATOR not in words:
        yield fail(
            f"{login.user} lacks the tag {ADMINISTRATOR}, and is to make virtual hosts and users",
            run=f"Run rabbitmqctl set_user_tags {login.user} {ADMINISTRATOR}",
        )
    else:
        yield ok(f"the management API knows {login.user} ({', '.join(words) or 'without tags'})")


@check(
    "rabbitmq-login",
    "rabbitmq",
    why="Publishers log in at any node, into one virtual host, and write to its default exchange.",
    run="Correct the Secret, make the virtual host (rabbitmqctl add_vhost), or permit the user in it.",
    needs=("tcp", "tls"),
    waits=2,
)
def login(probe: RabbitMqProbe) -> Verdicts:
    """Whether each node accepts who publishes events, into the virtual host, and lets it publish."""
    if missing := _not_made_yet(probe):
        return [skip(f"{missing} is not there yet: the setup Job makes it")]
    return side_by_side(probe.nodes, lambda node: _enter(probe, node))


def _not_made_yet(probe: RabbitMqProbe) -> str | None:
    """Return what the setup Job has still to make, as the administrator sees it."""
    if probe.target.admin is None:
        return None
    user, vhost = probe.target.login.user, probe.target.vhost
    for path, what in ((("users", user), f"the user {user}"), (("vhosts", vhost), f"the virtual host {vhost}")):
        if probe.ask(*path).status_code == _NOT_FOUND:
            return what
    return None


def _enter(probe: RabbitMqProbe, node: Endpoint) -> Verdict:
    user, vhost = probe.target.login, probe.target.vhost
    try:
        with probe.connected(node.address, user, vhost) as connection:
            channel = connection.channel()
            channel.basic_publish("", scratch_name(), b"", BasicProperties(delivery_mode=1))
            channel.close()
            return ok(f"{user.user} may publish in virtual host {vhost}", subject=node.subject)
    except exceptions.ConnectionBlockedTimeout:
        return skip("blocks publishers, which the check rabbitmq-alarms reports", subject=node.subject)
    except exceptions.ProbableAuthenticationError:
        return fail(
            f"refuses the user {user.user} of {user.source}: wrong password, or no such user",
            run=f"Correct {user.source}, or run rabbitmqctl change_password {user.user}",
            subject=node.subject,
        )
    except exceptions.ChannelClosedByBroker:
        return fail(
            f"{user.user} may not publish in virtual host {vhost}",
            run=f"Run rabbitmqctl set_permissions -p {vhost} {user.user} '^$' '^amq\\.default$' '^$'",
            subject=node.subject,
        )
    except (exceptions.ConnectionClosedByBroker, exceptions.ProbableAccessDeniedError) as error:
        return _kept_out(probe, node, text_of(error))
    except (exceptions.AMQPConnectionError, AMQPConnectorException) as error:
        return fail(
            f"does not speak AMQP on this port ({type(error).__name__})",
            run="Use 5672 without TLS and 5671 with it, unless the server says otherwise",
            subject=node.subject,
        )


def _kept_out(probe: RabbitMqProbe, node: Endpoint, text: str) -> Verdict:
    """Judge a refusal that comes after the password was accepted."""
    user, vhost = probe.target.login.user, probe.target.vhost
    if "not found" in text:
        return fail(f"there is no virtual host {vhost}", run=f"Run rabbitmqctl add_vhost {vhost}", subject=node.subject)
    if "refused" in text or "NOT_ALLOWED" in text:
        return fail(
            f"{user} has no permissions in virtual host {vhost}",
            run=f"Run rabbitmqctl set_permissions -p {vhost} {user} '^$' '^amq\\.default$' '^$'",
            subject=node.subject,
        )
    return fail(f"ends the connection ({text})", run="Look at the server's log", subject=node.subject)
