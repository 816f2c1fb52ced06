"""The data plane: databases, events and the object store, outside the platform or run by operators in it."""

from __future__ import annotations

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.data.databases import Consumers, Database, DatabaseName
from infra.settings.models.data.events import Events
from infra.settings.models.data.object_store import AnyObjectStore


class Data(Section):
    """Where the platform's state lives; no part of it in a single pod."""

    databases: dict[DatabaseName, Database] = Field(min_length=1)
    """Database servers by name. A name stays with its data: renaming an operated one makes a new, empty cluster."""

    consumers: Consumers
    """Which component keeps its state in which database."""

    events: Events
    """The broker that Kubernetes events, inference logs and teams' messages flow through."""

    object_store: AnyObjectStore
    """Where artifacts, checkpoints, logs and backups lie."""
