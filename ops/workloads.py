"""The platform's workloads as they run: how many replicas each should have, and how many are ready."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from infra.errors import FlotillaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.api import ApiClient
    from sandbox.cluster import Sandbox

Json = dict[str, Any]
OURS = "labelSelector=app.kubernetes.io/managed-by=flotilla"
READY_WITHIN_SECONDS = 120


@dataclass(frozen=True, kw_only=True)
class Running:
    """A Deployment or DaemonSet of the platform.

    Args:
        manifest: the object.
        wanted: replicas it should have by now; an autoscaler's floor counts before it has acted.
        ready: replicas that are ready.
    """

    manifest: Json
    wanted: int
    ready: int

    @property
    def name(self) -> str:
        """Namespace and name."""
        metadata = self.manifest["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"


def running(api: ApiClient) -> list[Running]:
    """Return every workload of the platform."""
    floors = {
        (each["metadata"]["namespace"], each["spec"]["scaleTargetRef"]["name"]): each["spec"].get("minReplicas", 1)
        for each in api.get(f"/apis/autoscaling/v2/horizontalpodautoscalers?{OURS}")["items"]
    }
    found: list[Running] = []
    for item in api.get(f"/apis/apps/v1/deployments?{OURS}")["items"]:
        metadata = item["metadata"]
        wanted = max(item["spec"]["replicas"], floors.get((metadata["namespace"], metadata["name"]), 0))
        found.append(Running(manifest=item, wanted=wanted, ready=item["status"].get("readyReplicas", 0)))
    for item in api.get(f"/apis/apps/v1/daemonsets?{OURS}")["items"]:
        status = item["status"]
        wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        found.append(Running(manifest=item, wanted=wanted, ready=ready))
    return found


def wait_ready(sandbox: Sandbox, tell: Callable[[str], None]) -> None:
    """Wait until every replica of every workload is ready.

    Raises:
        FlotillaError: they are not in two minutes; names those that miss some.
    """
    with sandbox.api() as api:

        def missing() -> list[Running]:
            every = running(api)
            short = [each for each in every if each.ready < each.wanted]
            tell(f"{len(every) - len(short)} of {len(every)} workloads complete")
            return short

        patient = Retrying(
            stop=stop_after_delay(READY_WITHIN_SECONDS), wait=wait_fixed(0.5), retry=retry_if_result(bool)
        )
        try:
            patient(missing)
        except RetryError as error:
            short: list[Running] = error.last_attempt.result()
            counts = ", ".join(f"{each.name} has {each.ready} of {each.wanted} replicas ready" for each in short)
            raise FlotillaError(
                f"after {READY_WITHIN_SECONDS} s {counts}",
                remedy="See: kubectl get pods -A, flotilla sandbox status",
            ) from error
