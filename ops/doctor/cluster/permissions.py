"""Whether the caller may do with each kind of object what applying an environment does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ops.doctor.check import Verdicts, check, fail, ok
from ops.doctor.cluster.kinds import served_kinds
from ops.doctor.cluster.probe import ClusterProbe

VERBS = ("get", "list", "watch", "create", "patch", "delete")
"""What server-side apply, waiting and removal need of every kind."""

GRANTING = ("escalate", "bind")
"""What declaring a role needs besides, of a caller that does not hold all of the role's permissions itself."""

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_ROLES = frozenset({"clusterroles", "roles"})


@dataclass(frozen=True)
class _Resource:
    group: str
    name: str

    def __str__(self) -> str:
        return f"{self.name}.{self.group}" if self.group else self.name


@check(
    "cluster-permissions",
    "cluster",
    why="An apply that is refused half-way leaves the rest undone.",
    run="Bind the caller to cluster-admin, or to a role with these verbs: kubectl auth can-i --list.",
    needs=("cluster-api",),
    waits=3,
)
def permissions(probe: ClusterProbe) -> Verdicts:
    """Each verb on each kind of object that is applied, by SelfSubjectAccessReview."""
    served = served_kinds(probe)
    wanted = sorted(
        {
            _Resource(kind.group, served[kind.api_version][kind.name]["name"])
            for kind in probe.target.kinds
            if kind.name in served[kind.api_version]
        },
        key=str,
    )
    if not wanted:
        return []
    with ThreadPoolExecutor(max_workers=16) as pool:
        denied = list(pool.map(lambda resource: _denied(probe, resource), wanted))
    return [
        fail(
            f"the caller may not {', '.join(verbs)} {resource}",
            run=f"Check with: kubectl --context {probe.target.context} auth can-i {verbs[0]} {resource}",
        )
        for resource, verbs in zip(wanted, denied, strict=True)
        if verbs
    ] or [ok(f"the caller may do all that is needed with {len(wanted)} kinds of objects")]


def _denied(probe: ClusterProbe, resource: _Resource) -> list[str]:
    """Return the verbs that the caller may not use; one question is enough for one who may use all."""
    if _may(probe, resource, "*"):
        return []
    denied = [verb for verb in VERBS if not _may(probe, resource, verb)]
    if resource.name in _ROLES and not denied:
        denied = [verb for verb in GRANTING if not _may(probe, resource, verb)]
    return denied


def _may(probe: ClusterProbe, resource: _Resource, verb: str) -> bool:
    attributes = {"group": resource.group, "resource": resource.name, "verb": verb}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    return bool(probe.api.post(_REVIEWS, review)["status"].get("allowed"))
