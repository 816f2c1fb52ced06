"""How each pool stands: its nodes, the machines on their way, and what keeps it from growing."""

from __future__ import annotations

import datetime
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra.core.names import NODE_POOL
from ops.doctor.cluster.autoscaler import state
from ops.doctor.cluster.objects import age, condition, ends, holds, items, labels, last_seen, one_line, seconds_since

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.settings.capacity.pools import Pool
    from ops.doctor.check import Verdict
    from ops.doctor.cluster.api import KubeApi
    from ops.doctor.cluster.target import Autoscaler, ClusterTarget

    Json = dict[str, Any]

KARPENTER = "/apis/karpenter.sh/v1"
CLUSTER_API = "/apis/cluster.x-k8s.io/v1beta2"
EVENTS = "/api/v1/events?limit=500&fieldSelector="
SOLD_OUT = f"{EVENTS}involvedObject.kind=NodeClaim,reason=InsufficientCapacityError"
RECENT_SECONDS = 600
"""How long the market's last answer counts; Karpenter asks again after three minutes."""

JOINING_SECONDS = 600
"""How long a machine may take to join; Karpenter gives it up after fifteen minutes."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine that an autoscaler asked for, by its own object.

    Args:
        kind: kind of the object.
        name: name of the object.
        pool: the pool.
        joined: whether it is a node that pods can run on.
        seconds: how long ago it was asked for.
        fault: what the cloud has against making it; None where nothing is known.
    """

    kind: str
    name: str
    pool: str
    joined: bool
    seconds: float
    fault: str | None


@dataclass(frozen=True, kw_only=True)
class Stand:
    """How a pool stands.

    Args:
        pool: the pool.
        nodes: how many nodes or machines there are, on their way or leaving included.
        ready: how many nodes are ready.
        most: the largest number the cluster allows, which may not be the settings' yet.
        making: machines on their way.
        sold_out: what the cloud said when it had no machine, a short while ago.
        fault: what is wrong with the pool's own object in the cluster.
    """

    pool: Pool
    nodes: int
    ready: int
    most: int
    making: tuple[Machine, ...] = ()
    sold_out: str | None = None
    fault: str | None = None

    @property
    def full(self) -> bool:
        """Whether there may be no more nodes."""
        return self.nodes >= self.most


@dataclass(frozen=True, kw_only=True)
class Supply:
    """All pools, and who makes their nodes.

    Args:
        stands: how each pool stands, by its name.
        autoscaler: how the autoscaler is; None where it cannot be seen, or there is none.
    """

    stands: Mapping[str, Stand]
    autoscaler: Verdict | None


def read(api: KubeApi, target: ClusterTarget, nodes: Sequence[Json], now: datetime.datetime) -> Supply:
    """Look how each pool stands."""
    karpenter = target.autoscaler.kind == "karpenter"
    with ThreadPoolExecutor(max_workers=4) as threads:
        scaling = threads.submit(state, api, target.autoscaler)
        made = threads.submit(_machines, api, target.autoscaler, now)
        objects = threads.submit(items, api, f"{KARPENTER}/nodepools") if karpenter else None
        market = threads.submit(items, api, SOLD_OUT) if karpenter else None
        machines = made.result()
        events = (
            [each for each in market.result() if seconds_since(last_seen(each), now) < RECENT_SECONDS] if market else []
        )
        pools = {each["metadata"]["name"]: each for each in objects.result()} if objects else None
        stands = {
            pool.name: _stand(
                pool,
                [node for node in nodes if labels(node).get(NODE_POOL) == pool.name],
                [each for each in machines if each.pool == pool.name],
                pools if pool.elastic else None,
                _market(pool.name, events),
            )
            for pool in target.pools
        }
        return Supply(stands=stands, autoscaler=scaling.result())


def is_ready(node: Json) -> bool:
    """Return whether pods can run on a node."""
    return holds(node, "Ready")


def _stand(
    pool: Pool,
    nodes: Sequence[Json],
    machines: Sequence[Machine],
    objects: Mapping[str, Json] | None,
    sold_out: str | None,
) -> Stand:
    declared = objects.get(pool.name) if objects is not None else None
    limit = ((declared or {}).get("spec", {}).get("limits") or {}).get("nodes")
    return Stand(
        pool=pool,
        nodes=max(len(nodes), len(machines)),
        ready=sum(is_ready(node) and not node.get("spec", {}).get("unschedulable") for node in nodes),
        most=min(pool.most, int(limit)) if limit else pool.most,
        making=tuple(each for each in machines if not each.joined),
        sold_out=sold_out,
        fault=_fault(declared) if objects is not None else None,
    )


def _fault(declared: Json | None) -> str | None:
    if declared is None:
        return "is in the settings, and not in the cluster"
    ready = condition(declared, "Ready")
    if ready.get("status") == "False":
        return f"is not ready: {one_line(ready.get('message') or ready.get('reason'))}"
    return None


def _machines(api: KubeApi, target: Autoscaler, now: datetime.datetime) -> list[Machine]:
    match target.kind:
        case "karpenter":
            return [_claim(each, now) for each in items(api, f"{KARPENTER}/nodeclaims")]
        case "cluster-api":
            path = f"{CLUSTER_API}/namespaces/{target.machines}/machines?labelSelector={NODE_POOL}"
            return [_machine(each, now) for each in items(api, path)]
        case _:
            return []


def _claim(claim: Json, now: datetime.datetime) -> Machine:
    launched = condition(claim, "Launched")
    failed = launched.get("status") != "True" and launched.get("reason") not in (None, "", "AwaitingReconciliation")
    return Machine(
        kind="nodeclaim",
        name=claim["metadata"]["name"],
        pool=labels(claim).get("karpenter.sh/nodepool", ""),
        joined=holds(claim, "Initialized") or ends(claim),
        seconds=age(claim, now),
        fault=f"{launched.get('reason')}: {launched.get('message')}" if failed else None,
    )


def _machine(machine: Json, now: datetime.datetime) -> Machine:
    made = condition(machine, "InfrastructureReady")
    failed = made.get("status") == "False" and made.get("reason") not in ("NotReady", "DoesNotExist")
    return Machine(
        kind="machine",
        name=machine["metadata"]["name"],
        pool=labels(machine)[NODE_POOL],
        joined=bool(machine.get("status", {}).get("nodeRef")) or ends(machine),
        seconds=age(machine, now),
        fault=f"{made.get('reason')}: {made.get('message')}" if failed else None,
    )


def _market(pool: str, events: Sequence[Json]) -> str | None:
    """Return what was said last of a claim of the pool; the claim is gone, and only its name tells whose it was."""
    claim = re.compile(rf"{re.escape(pool)}-[a-z0-9]{{5}}")
    said = [each for each in events if claim.fullmatch(each["involvedObject"]["name"])]
    return said[-1]["message"].partition(" event: ")[2] or said[-1]["message"] if said else None
