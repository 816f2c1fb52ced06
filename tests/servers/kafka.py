"""Kafka without ZooKeeper: brokers that are controllers too."""

from __future__ import annotations

import base64
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kafka.admin
from kafka.errors import KafkaError

from tests.servers import kafka_program
from tests.servers.install import clean_environment
from tests.servers.kafka_plan import BrokerPlan
from tests.servers.process import (
    HOST,
    Login,
    ServerError,
    ServerProcess,
    free_port,
    listens,
    new_password,
    run_tool,
    wait_until,
)
from tests.servers.server import Server

if TYPE_CHECKING:
    from tests.servers.certificates import Certificate

MECHANISM = "SCRAM-SHA-512"

admin: Any = kafka.admin
"""The library's own module; the type stubs around are of an older one."""

_JAVA = "-Xms128m -Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_START_SECONDS = 180.0


class Kafka(Server):
    """A Kafka cluster.

    Args:
        folder: a folder that nothing else uses.
        brokers: how many brokers, each a controller too.
        tls: certificate of every broker; without one clients connect unprotected.
        sasl: whether clients must prove who they are, with SCRAM.
        acls: whether clients may only do what they were allowed to; needs `sasl`.
        users: SCRAM users by name, besides the administrator; None stands for a random password.
        replication: default replication factor of topics, and that of Kafka's own.
        min_insync: how many replicas must have a record before it is acknowledged.
        settings: lines of every broker's `server.properties`.
        names: host names for a second listener, one for each broker: brokers send clients of that one to
            `names[i]` and the port in `pod_ports[i]`.
    """

    mechanism = MECHANISM

    def __init__(
        self,
        folder: Path,
        *,
        brokers: int = 3,
        tls: Certificate | None = None,
        sasl: bool = True,
        acls: bool = True,
        users: Mapping[str, str | None] | None = None,
        replication: int | None = None,
        min_insync: int | None = None,
        settings: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> None:
        super().__init__(folder)
        if acls and not sasl:
            raise ValueError("without SASL all users are the same: pass acls=False")
        self.numbers = range(brokers)
        self.tls = tls
        self.sasl = sasl
        self.admin = Login("admin", new_password())
        self.logins = {name: Login(name, password or new_password()) for name, password in (users or {}).items()}
        self.ports = [free_port() for _ in self.numbers]
        self.pod_ports = [free_port() for _ in names]
        self.names = tuple(names)
        self._program = kafka_program.PROGRAM.ensure()
        copies = replication or min(3, brokers)
        self._plan = BrokerPlan(
            folder=folder,
            ports=self.ports,
            names=self.names,
            pod_ports=self.pod_ports,
            protocol=self.protocol,
            mechanism=MECHANISM if sasl else None,
            administrator=self.admin.user if acls else None,
            tls=tls,
            settings={
                "default.replication.factor": str(copies),
                "min.insync.replicas": str(min_insync or max(1, copies - 1)),
                "offsets.topic.replication.factor": str(copies),
                "transaction.state.log.replication.factor": str(copies),
                "transaction.state.log.min.isr": str(max(1, copies - 1)),
                **(settings or {}),
            },
        )
        self._environment = clean_environment(KAFKA_OPTS=_JAVA, LOG_DIR=str(folder))
        self._processes = [self._process(number) for number in self.numbers]

    @property
    def bootstrap(self) -> str:
        """Every broker's `host:port`, separated by commas."""
        return ",".join(f"{HOST}:{port}" for port in self.ports)

    @property
    def port(self) -> int:
        """Port of the first broker."""
        return self.ports[0]

    @property
    def log(self) -> Path:
        """Log of the first broker."""
        return self._log(0)

    @property
    def running(self) -> bool:
        """Whether every broker runs."""
        return all(process.running for process in self._processes)

    @property
    def pids(self) -> list[int]:
        """The brokers' process ids while they run."""
        return [process.pid for process in self._processes]

    @property
    def protocol(self) -> str:
        """Kafka's name for how clients connect."""
        return f"{'SASL_' if self.sasl else ''}{'SSL' if self.tls else 'PLAINTEXT'}"

    def start(self, broker: int | None = None) -> None:
        """Start every broker, or one; with the data they had."""
        wanted = self._chosen(broker)
        for number in wanted:
            self._prepare(number)
            self._processes[number].start()
        for number in wanted:
            self._processes[number].wait_ready(lambda port=self.ports[number]: listens(port), _START_SECONDS)
        if broker is None:
            wait_until(self._whole, "the brokers do not find one another", _START_SECONDS)

    def stop(self, broker: int | None = None) -> None:
        """Ask every broker, or one, to end."""
        for number in self._chosen(broker):
            if broker is None:
                self._processes[number].kill()
            else:
                self._processes[number].stop()

    def kill(self, broker: int | None = None) -> None:
        """Kill every broker, or one, as a crash would."""
        for number in self._chosen(broker):
            self._processes[number].kill()

    def client_settings(self, login: Login | None = None) -> dict[str, Any]:
        """Return what kafka-python's clients must be given to connect as a user, or as the administrator."""
        who = login or self.admin
        settings: dict[str, Any] = {"bootstrap_servers": self.bootstrap, "security_protocol": self.protocol}
        if self.sasl:
            settings |= {
                "sasl_mechanism": MECHANISM,
                "sasl_plain_username": who.user,
                "sasl_plain_password": who.password,
            }
        if self.tls:
            settings["ssl_cafile"] = str(self.tls.authority)
        return settings

    def admin_client(self) -> Any:
        """Return a `KafkaAdminClient` of the administrator; close it."""
        return admin.KafkaAdminClient(**self.client_settings(), client_id="tests")

    def create_user(self, name: str, password: str | None = None) -> Login:
        """Create a SCRAM user, who may do nothing yet where ACLs are in force."""
        login = self.logins[name] = Login(name, password or new_password())
        with closing(self.admin_client()) as client:
            upsertion = admin.UserScramCredentialUpsertion(name, MECHANISM, login.password)
            refused = client.alter_user_scram_credentials([upsertion])
        if any(refused.values()):
            raise ServerError(f"{name} was not created: {refused}")
        return login

    def create_topic(
        self, name: str, partitions: int = 3, replication: int | None = None, config: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic and wait until every partition has a leader."""
        options = {"num_partitions": partitions, "replication_factor": replication or -1, "configs": dict(config or {})}
        with closing(self.admin_client()) as client:
            client.create_topics({name: options})
            wait_until(lambda: _led(client, name), f"topic {name} gets no leaders", _START_SECONDS)

    def allow(self, user: str, operation: str, *, prefixed: bool = False, **resource: str) -> None:
        """Let a user do something.

        Args:
            user: the user's name.
            operation: `READ`, `WRITE`, `DESCRIBE`, `CREATE` …
            prefixed: whether it concerns every resource whose name begins so.
            resource: `topic=`, `group=` or `cluster=` and the name; a cluster is called `kafka-cluster`.
        """
        ((kind, name),) = resource.items()
        matched = admin.ACLResourcePatternType["PREFIXED" if prefixed else "LITERAL"]
        pattern = admin.ResourcePattern(admin.ResourceType[kind.upper()], name, matched)
        allowed = admin.ACLPermissionType.ALLOW
        rule = admin.ACL(f"User:{user}", "*", admin.ACLOperation[operation], allowed, pattern)
        with closing(self.admin_client()) as client:
            client.create_acls([rule])

    def read(self, topic: str, idle_seconds: float = 10.0) -> list[str]:
        """Return the records of a topic, by Kafka's own consumer: also while a broker is down.

        Args:
            topic: the topic.
            idle_seconds: how long nothing may come until all have been read.
        """
        file = self.folder / "consumer.properties"
        _write(file, self._plan.client(self.admin))
        tool = str(self._program / "bin" / "kafka-console-consumer.sh")
        command = [tool, "--bootstrap-server", self.bootstrap, "--topic", topic, "--from-beginning"]
        options = ["--consumer.config", str(file), "--timeout-ms", str(int(idle_seconds * 1000))]
        said = run_tool([*command, *options], environment=self._environment, errors=self.folder / "consumer.log")
        return said.splitlines()

    def _chosen(self, broker: int | None) -> Sequence[int]:
        return self.numbers if broker is None else [broker]

    def _log(self, number: int) -> Path:
        return self.folder / f"broker-{number}.log"

    def _file(self, number: int) -> Path:
        return self.folder / f"broker-{number}.properties"

    def _process(self, number: int) -> ServerProcess:
        script = self._program / "bin" / "kafka-server-start.sh"
        return ServerProcess(
            [str(script), str(self._file(number))],
            log=self._log(number),
            folder=self.folder,
            environment=self._environment,
            grace_seconds=20,
        )

    def _prepare(self, number: int) -> None:
        """Write a broker's properties, and make its folder: a copy of the formatted one."""
        _write(self._file(number), self._plan.properties(number))
        if self._plan.data(number).exists():
            return
        shutil.copytree(self._formatted(), self._plan.data(number))
        meta = self._plan.data(number) / "meta.properties"
        fresh = re.sub(r"(?m)^directory\.id=.*$", f"directory.id={_identifier()}", meta.read_text())
        meta.write_text(re.sub(r"(?m)^node\.id=.*$", f"node.id={number}", fresh))

    def _formatted(self) -> Path:
        """Return a folder as Kafka's tool formats it, with the users in it; made once."""
        folder = self.folder / "formatted"
        if not folder.exists():
            file = self.folder / "format.properties"
            _write(file, {**self._plan.properties(0), "log.dirs": str(folder)})
            users = [
                word
                for login in (self.admin, *self.logins.values())
                for word in ("--add-scram", f"{MECHANISM}=[name={login.user},password={login.password}]")
            ]
            tool = str(self._program / "bin" / "kafka-storage.sh")
            command = [tool, "format", "--cluster-id", _identifier(), "--config", str(file), *users]
            run_tool(command, environment=self._environment)
        return folder

    def _whole(self) -> bool:
        try:
            with closing(self.admin_client()) as client:
                return len(client.describe_cluster()["brokers"]) == len(self.numbers)
        except KafkaError:
            return False


def _write(file: Path, properties: Mapping[str, str]) -> None:
    file.touch(mode=0o600)
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))


def _led(client: Any, topic: str) -> bool:
    (found,) = client.describe_topics([topic])
    return bool(found["partitions"]) and all(part["leader_id"] >= 0 for part in found["partitions"])


def _identifier() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
