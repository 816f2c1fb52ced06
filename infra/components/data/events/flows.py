"""What flows through the broker: the topics or queues of the platform and its teams, and who may do what with them.

Plain values, the same for every broker; how each is told of them is its own module's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from infra.settings.models.data.events import Queue, Queues, Topic, Topics

KUBERNETES = "kubernetes-events"
TRAINING = "training-events"
INFERENCE_LOGS = "inference-logs"
TEAM_EVENTS = "events"

EXPORTER = "event-exporter"
"""User that writes events, and only writes."""

INFERENCE_LOGGER = "inference-logger"
"""User that writes inference logs, and only writes."""

Resource = Literal["topic", "group", "transactionalId"]
Pattern = Literal["literal", "prefix"]
Operation = Literal["Read", "Write", "Describe"]

MILLISECONDS_AN_HOUR = 3_600_000


@dataclass(frozen=True, kw_only=True)
class NamedTopic:
    """A topic by its full name, and how it is kept."""

    name: str
    keeping: Topic

    @property
    def config(self) -> dict[str, str]:
        """Its settings, as Kafka calls them."""
        return {
            "cleanup.policy": "delete",
            "min.insync.replicas": str(self.keeping.min_in_sync),
            "retention.ms": str(self.keeping.retention_hours * MILLISECONDS_AN_HOUR),
            "unclean.leader.election.enable": "false",
        }


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a user may do with the resources of a name, or of all names with that prefix."""

    user: str
    resource: Resource
    pattern: Pattern
    name: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, kw_only=True)
class NamedQueue:
    """A quorum queue, the virtual host it lies in, and how it is kept."""

    vhost: str
    name: str
    keeping: Queue

    @property
    def time_to_live(self) -> int:
        """How long a message waits for a consumer, in milliseconds."""
        return self.keeping.retention_hours * MILLISECONDS_AN_HOUR


@dataclass(frozen=True, kw_only=True)
class Access:
    """What a user may configure, write and read in a virtual host, as regular expressions of queues and exchanges."""

    user: str
    vhost: str
    configure: str
    write: str
    read: str


def topics(settings: Topics, teams: Iterable[str]) -> list[NamedTopic]:
    """Return every topic, the platform's first."""
    own = ((KUBERNETES, settings.kubernetes), (TRAINING, settings.training), (INFERENCE_LOGS, settings.inference_logs))
    return [
        *(NamedTopic(name=f"{settings.prefix}{name}", keeping=keeping) for name, keeping in own),
        *(
            NamedTopic(name=f"{team_prefix(settings, team)}{TEAM_EVENTS}", keeping=settings.teams)
            for team in sorted(teams)
        ),
    ]


def team_prefix(settings: Topics, team: str) -> str:
    """Return what the names of a team's topics and groups start with; its last dot keeps `a` out of `ab`."""
    return f"{settings.prefix}team.{team}."


def grants(settings: Topics, teams: Sequence[str]) -> Iterator[Grant]:
    """Yield who may do what: writers only write, a team uses whatever starts with its prefix and creates nothing."""
    writers = ((EXPORTER, KUBERNETES), (EXPORTER, TRAINING), (INFERENCE_LOGGER, INFERENCE_LOGS))
    for user, topic in writers:
        yield Grant(
            user=user,
            resource="topic",
            pattern="literal",
            name=f"{settings.prefix}{topic}",
            operations=("Write", "Describe"),
        )
    for team in sorted(teams):
        uses: tuple[tuple[Resource, tuple[Operation, ...]], ...] = (
            ("topic", ("Read", "Write", "Describe")),
            ("group", ("Read", "Describe")),
            ("transactionalId", ("Write", "Describe")),
        )
        for resource, operations in uses:
            prefix = team_prefix(settings, team)
            yield Grant(user=team, resource=resource, pattern="prefix", name=prefix, operations=operations)


def queues(settings: Queues, vhost: str, teams: Iterable[str]) -> list[NamedQueue]:
    """Return every queue, the platform's first."""
    own = ((KUBERNETES, settings.kubernetes), (TRAINING, settings.training), (INFERENCE_LOGS, settings.inference_logs))
    return [
        *(NamedQueue(vhost=vhost, name=name, keeping=keeping) for name, keeping in own),
        *(
            NamedQueue(vhost=team_vhost(vhost, team), name=TEAM_EVENTS, keeping=settings.teams)
            for team in sorted(teams)
        ),
    ]


def team_vhost(vhost: str, team: str) -> str:
    """Return the virtual host of a team."""
    return f"{vhost}.{team}"


def accesses(vhost: str, teams: Iterable[str]) -> Iterator[Access]:
    """Yield who may do what: writers publish through the default exchange, a team owns all in its virtual host."""
    for user in (EXPORTER, INFERENCE_LOGGER):
        yield Access(user=user, vhost=vhost, configure="^$", write=r"^amq\.default$", read="^$")
    for team in sorted(teams):
        yield Access(user=team, vhost=team_vhost(vhost, team), configure=".*", write=".*", read=".*")
