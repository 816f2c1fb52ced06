"""Objects that the agent's tests share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Json = dict[str, Any]
T = TypeVar("T")


def pod(*, restart_policy: str = "Always", init: list[Json] | None = None, **spec: Any) -> Json:
    return {
        "metadata": {
            "name": "web-0",
            "namespace": "demo",
            "uid": "u-1",
            "generation": 3,
            "labels": {"app": "web", "tier": "a"},
            "annotations": {"note": 'say "hi"'},
        },
        "spec": {
            "nodeName": "n1",
            "serviceAccountName": "runner",
            "restartPolicy": restart_policy,
            "initContainers": init or [],
            "containers": [{"name": "main", "image": "example.org/app:1"}],
            **spec,
        },
        "status": {"podIP": "10.200.0.11", "hostIP": "10.128.0.2"},
    }


def service(name: str, address: str = "10.96.0.9", ports: list[Json] | None = None, namespace: str = "demo") -> Json:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterIP": address, "ports": ports or [{"port": 80}]},
    }


def endpoint_slice(
    service_name: str, endpoints: list[Json], ports: list[Json], namespace: str = "demo", kind: str = "IPv4"
) -> Json:
    labels = {"kubernetes.io/service-name": service_name}
    return {
        "metadata": {"name": f"{service_name}-x", "namespace": namespace, "labels": labels},
        "addressType": kind,
        "endpoints": endpoints,
        "ports": ports,
    }


def endpoint(address: str, *, ready: bool = True, hostname: str | None = None) -> Json:
    content: Json = {"addresses": [address], "conditions": {"ready": ready}}
    return content | ({"hostname": hostname} if hostname else {})


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own; unlike `asyncio.run` this leaves the thread's current loop alone."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
