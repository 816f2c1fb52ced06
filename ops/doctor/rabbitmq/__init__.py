"""Checks of RabbitMQ clusters."""

from __future__ import annotations

from ops.doctor.network import REACH
from ops.doctor.rabbitmq.cluster import alarms, clock, cluster, version
from ops.doctor.rabbitmq.login import api, login
from ops.doctor.rabbitmq.queues import queues
from ops.doctor.rabbitmq.round_trip import quorum_queue

CLUSTER = (*REACH, api, clock, version, cluster, alarms, login, queues, quorum_queue)
"""What is checked of a cluster, through all its nodes."""
