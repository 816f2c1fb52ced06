"""Checks of MySQL and MariaDB servers."""

from __future__ import annotations

from ops.doctor.mysql.consumers import consumers
from ops.doctor.mysql.login import clock, login
from ops.doctor.mysql.privileges import privileges
from ops.doctor.mysql.replication import replication, role
from ops.doctor.mysql.settings import auth_plugin, charset, connections, durability, primary_keys, sql_mode, version
from ops.doctor.network import REACH

WRITER = (
    *REACH,
    login,
    clock,
    version,
    role,
    replication,
    auth_plugin,
    charset,
    sql_mode,
    primary_keys,
    connections,
    durability,
    privileges,
    consumers,
)
"""What is checked of the server that takes writes."""

REPLICA = (*REACH, login, clock, version, role, replication)
"""What is checked of its replicas."""
