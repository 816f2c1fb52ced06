"""Checks of PostgreSQL servers."""

from __future__ import annotations

from ops.doctor.network import REACH
from ops.doctor.postgresql.consumers import consumers
from ops.doctor.postgresql.login import auth_method, clock, login
from ops.doctor.postgresql.privileges import privileges
from ops.doctor.postgresql.replication import replication, role
from ops.doctor.postgresql.settings import connections, dialect, durability, encoding, version

WRITER = (
    *REACH,
    login,
    clock,
    version,
    role,
    replication,
    auth_method,
    encoding,
    dialect,
    connections,
    durability,
    privileges,
    consumers,
)
"""What is checked of the server that takes writes."""

REPLICA = (*REACH, login, clock, version, role, replication)
"""What is checked of its standbys."""
