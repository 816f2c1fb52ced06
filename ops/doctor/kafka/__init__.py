"""Checks of Kafka clusters."""

from __future__ import annotations

from ops.doctor.kafka.access import acls, privileges
from ops.doctor.kafka.cluster import brokers, quorum, settings, version
from ops.doctor.kafka.login import authentication, login
from ops.doctor.kafka.round_trip import round_trip
from ops.doctor.kafka.topics import topics
from ops.doctor.network import REACH

CLUSTER = (
    *REACH,
    authentication,
    login,
    version,
    brokers,
    quorum,
    settings,
    privileges,
    topics,
    acls,
    round_trip,
)
"""What is checked of a cluster, through all its bootstrap brokers."""
