"""Pods that wait, as the objects tell: whose they are, what they ask of a node, and how long they have waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra.settings.capacity.placement import Job, Pods
from ops.capacity.manifest import requests, tolerated
from ops.doctor.cluster.objects import condition, ends, labels

if TYPE_CHECKING:
    from infra.settings.capacity.pools import Amounts

    Json = dict[str, Any]

HASH = "pod-template-hash"
JOB_SET = "jobset.sigs.k8s.io/jobset-name"
ROLE = "training.kubeflow.org/replica-type"
ENDED = ("Succeeded", "Failed")
DEFAULT_SCHEDULER = "default-scheduler"


@dataclass(frozen=True, kw_only=True, order=True)
class Owner:
    """What people call the pods' job."""

    namespace: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What one pod asks for.

    Args:
        name: its name.
        owner: whose it is.
        role: what its job calls it, such as `worker`.
        each: what it requests.
        selector: labels its node must carry.
        affinity: terms of which its node must satisfy one; none where it may be any.
        tolerations: keys of the taints it tolerates; None tolerates all.
    """

    name: str
    owner: Owner
    role: str
    each: Amounts
    selector: Mapping[str, str]
    affinity: tuple[Json, ...]
    tolerations: frozenset[str] | None

    @classmethod
    def of(cls, pod: Json) -> Demand:
        """Read a pod."""
        spec, metadata = pod["spec"], pod["metadata"]
        required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        ) or {}
        return cls(
            name=metadata["name"],
            owner=owner(pod),
            role=labels(pod).get(ROLE, "pod"),
            each=requests(spec),
            selector=spec.get("nodeSelector") or {},
            affinity=tuple(required.get("nodeSelectorTerms") or ()),
            tolerations=tolerated(spec.get("tolerations") or []),
        )

    @property
    def node(self) -> str | None:
        """The one node it may run on, as pods of a DaemonSet have it."""
        for term in self.affinity:
            for field in term.get("matchFields") or ():
                if field["key"] == "metadata.name" and field.get("values"):
                    return str(field["values"][0])
        return None

    def pods(self, count: int = 1) -> Pods:
        """Return so many of it as capacity sees them."""
        return Pods(name=self.role, count=count, each=self.each, selector=self.selector, tolerations=self.tolerations)


def owner(pod: Json) -> Owner:
    """Return whose a pod is: its job, or what else made it; itself where nobody did."""
    metadata, marks = pod["metadata"], labels(pod)
    made_by = next((each for each in metadata.get("ownerReferences") or () if each.get("controller")), None)
    if JOB_SET in marks:
        kind, name = "JobSet", marks[JOB_SET]
    elif made_by is None:
        kind, name = "Pod", metadata["name"]
    elif made_by["kind"] == "ReplicaSet" and HASH in marks:
        kind, name = "Deployment", made_by["name"].removesuffix(f"-{marks[HASH]}")
    else:
        kind, name = made_by["kind"], made_by["name"]
    return Owner(namespace=metadata["namespace"], kind=kind, name=name)


def waits(pod: Json) -> bool:
    """Return whether no node has been found for a pod that is to run."""
    return pod["status"].get("phase") == "Pending" and not pod["spec"].get("nodeName") and not ends(pod)


def runs(pod: Json) -> bool:
    """Return whether a pod has not ended yet."""
    return pod["status"].get("phase") not in ENDED and not ends(pod)


def scheduled(pod: Json) -> Json:
    """Return the condition by which the scheduler says what it thinks of a pod; empty where it said nothing."""
    return condition(pod, "PodScheduled")


def job(whose: Owner, demands: Iterable[Demand]) -> Job:
    """Return the whole job as capacity sees it: its pods, like ones together."""
    like: Counter[tuple[object, ...]] = Counter()
    first: dict[tuple[object, ...], Demand] = {}
    for demand in demands:
        key = (
            demand.role,
            demand.each.cpu,
            demand.each.memory,
            *sorted(demand.each.devices.items()),
            *sorted(demand.selector.items()),
            demand.tolerations,
        )
        like[key] += 1
        first.setdefault(key, demand)
    groups = tuple(first[key].pods(count) for key, count in like.items())
    return Job(name=whose.name, team=whose.namespace, groups=groups)
