"""What each rule about events refuses, and what it says."""

from __future__ import annotations

import json
from typing import Any

PATH = "data.events"
HERE = {"namespace": "flotilla-data"}
RESOURCES = {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"memory": "1Gi"}}
NODES: dict[str, Any] = {"storage": {"size": "10Gi"}, "resources": RESOURCES}
KAFKA: dict[str, Any] = {
    "kind": "kafka",
    "bootstrapServers": [{"host": "kafka-0.example.com", "port": 9093}, {"host": "kafka-1.example.com", "port": 9093}],
    "tls": {"mode": "verify-full", "systemRoots": True},
    "sasl": {"mechanism": "SCRAM-SHA-512", "credentials": {"secret": "exporter", **HERE}},
    "admin": {"credentials": {"secret": "admin", **HERE}},
}
RABBITMQ: dict[str, Any] = {
    "kind": "rabbitmq",
    "host": "rabbitmq.example.com",
    "tls": {"mode": "verify-full", "systemRoots": True},
    "credentials": {"secret": "exporter", **HERE},
}
STRIMZI: dict[str, Any] = {"kind": "strimzi", "controllers": NODES, "brokers": NODES}
CLEAR = {"mode": "disable"}


def events(values: dict[str, Any], **changes: Any) -> str:
    """Return an overlay with these events."""
    return json.dumps({"data": {"events": {**values, **changes}}})


VIOLATIONS = {
    "topics survive the loss of a broker": (
        events(KAFKA, topics={"training": {"replication": 2}}),
        f"{PATH}.topics.training.replication: 2 copies of which 2 must be written spare no broker. Write 3 or more.",
    ),
    "topics have a broker for each copy": (
        events(STRIMZI, topics={"teams": {"replication": 5}}),
        f"{PATH}.topics.teams.replication: 5 copies need as many brokers, and there are 3. Write 3, or add brokers.",
    ),
    "kafka clients start without any one broker": (
        events(KAFKA, bootstrapServers=KAFKA["bootstrapServers"][:1]),
        f"{PATH}.bootstrapServers: clients that start from one broker cannot start while it is down."
        " List two brokers or more.",
    ),
    "kafka clients say who they are": (
        events(KAFKA, sasl=None, admin=None),
        f"{PATH}.sasl: the exporter has neither password nor certificate, so nothing can be permitted to it alone."
        " Add sasl, or tls.clientCertificate.",
    ),
    "passwords of events are not sent in the clear": (
        events(KAFKA, tls=CLEAR, sasl={**KAFKA["sasl"], "mechanism": "PLAIN"}),
        f"{PATH}.tls.mode: the password would cross the network as it is."
        " Write verify-full, or choose a SCRAM mechanism.",
    ),
    "brokers are checked or not encrypted": (
        events(KAFKA, tls={"mode": "require"}),
        f"{PATH}.tls.mode: require is unknown to clients of a broker: they check certificate and name, or nothing."
        " Write verify-full.",
    ),
    "secrets of events lie where they are used": (
        events(KAFKA, admin={"credentials": {"secret": "admin"}}),
        f"{PATH}.admin.credentials: the exporter and its Job run in flotilla-data, and read no Secret of"
        " kubeflow. Write namespace: flotilla-data.",
    ),
}
"""By rule: an overlay of the valid base, and the line a user sees."""

FURTHER = (
    (
        events(KAFKA, topics={"training": {"minInSync": 1}}),
        f"{PATH}.topics.training.minInSync: what only one broker has written is acknowledged, and lost with it",
    ),
    (events(KAFKA, admin={}), f"{PATH}.admin: names nobody"),
    (
        events(KAFKA, sasl=None, tls={**KAFKA["tls"], "clientCertificate": "exporter"}),
        f"{PATH}.admin.credentials: how the password is proven is not said",
    ),
    (events(RABBITMQ, tls=CLEAR), f"{PATH}.tls.mode: the password would cross the network as it is"),
    (
        events(KAFKA, tls={**KAFKA["tls"], "systemRoots": False, "ca": {"name": "ca"}}),
        f"{PATH}.tls.ca: the exporter and its Job run in flotilla-data",
    ),
    (events(KAFKA, topics={"prefix": "Flotilla."}), f"{PATH}.topics.prefix: 'Flotilla.' is not a prefix"),
    (events(KAFKA, principal="User:name"), f"{PATH}.principal: 'User:name' is not a principal"),
    (
        events(STRIMZI, controllers={**NODES, "replicas": 2}),
        f"{PATH}.controllers.replicas: 2 instances are not highly available",
    ),
)
"""Further violations, and a part of what a user sees."""

VALID = (
    events(KAFKA),
    events(KAFKA, tls=CLEAR),
    events(
        KAFKA, sasl=None, admin={"clientCertificate": "admin"}, tls={**KAFKA["tls"], "clientCertificate": "exporter"}
    ),
    events(RABBITMQ),
    events(STRIMZI),
    events({"kind": "rabbitmq-operator", **NODES, "tlsSecret": None, "credentials": {"secret": "exporter", **HERE}}),
)
"""Overlays that no rule refuses."""
