"""Whether whoever makes and removes nodes is at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.cluster.objects import find, seconds_since
from ops.doctor.network import clock

if TYPE_CHECKING:
    from ops.doctor.cluster.api import KubeApi
    from ops.doctor.cluster.probe import ClusterProbe
    from ops.doctor.cluster.target import Autoscaler

LEASES = 4
"""How many times the length of its lease a leader may be silent: less is a change of leaders, or clocks apart."""


@check(
    "cluster-autoscaler",
    "cluster",
    why="Without it no pool grows for pods that wait, and none gives back machines that nobody uses.",
    run="kubectl -n <namespace> get pods, and the log of those that are not ready.",
    needs=("cluster-api",),
    waits=2,
)
def autoscaler(probe: ClusterProbe) -> Verdicts:
    """The autoscaler that Flotilla runs: its replicas are ready, and one of them leads."""
    found = state(probe.api, probe.target.autoscaler)
    return [found] if found else []


def state(api: KubeApi, target: Autoscaler) -> Verdict | None:
    """Return how the autoscaler is; None where the cloud runs it, or there is none."""
    if target.namespace is None:
        return None
    place = f"{target.namespace}/{target.name}"
    deployment = find(api, f"/apis/apps/v1/namespaces/{target.namespace}/deployments/{target.name}")
    if deployment is None:
        return skip(f"{place} comes with Flotilla")
    wanted, ready = deployment["spec"].get("replicas", 1), deployment.get("status", {}).get("readyReplicas", 0)
    look = f"kubectl -n {target.namespace} get pods; kubectl -n {target.namespace} logs deployment/{target.name}"
    if not ready:
        return fail(f"no replica of {place} is ready", run=look)
    silent = _silence(api, target)
    if silent is not None:
        return fail(f"nobody leads {place}: {silent}", run=look)
    if ready < wanted:
        why = "The next fault leaves pools that neither grow nor shrink."
        return warn(f"{ready} of {wanted} replicas of {place} are ready", run=look, why=why)
    return ok(f"{ready} replicas of {place} are ready, and one leads")


def _silence(api: KubeApi, target: Autoscaler) -> str | None:
    """Return what is wrong with the leader's lease; None where somebody holds it."""
    found = find(api, f"/apis/coordination.k8s.io/v1/namespaces/{target.namespace}/leases/{target.lease}")
    if found is None:
        return f"there is no lease {target.lease}"
    lease = found["spec"]
    silent = seconds_since(lease.get("renewTime"), clock.now())
    if not lease.get("holderIdentity"):
        return f"nobody holds the lease {target.lease}"
    if silent > LEASES * lease.get("leaseDurationSeconds", 15):
        return f"{lease['holderIdentity']} has been silent for {silent:.0f} s"
    return None
