"""Why a job's pods wait, from what they ask for and how the pools stand; plain data in, plain data out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from infra.settings.capacity.placement import crowding, refusal
from infra.settings.capacity.pools import POOL
from infra.settings.suggest import did_you_mean
from ops.doctor.cluster.objects import one_line
from ops.doctor.cluster.waiting.demands import DEFAULT_SCHEDULER, Demand, Owner, job, scheduled
from ops.doctor.cluster.waiting.matching import CHOICE, SIZE, TAINT, Refusal, refusals
from ops.doctor.cluster.waiting.supply import JOINING_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.settings.capacity.pools import Pool
    from ops.doctor.cluster.waiting.supply import Machine, Stand, Supply

    Json = dict[str, Any]

PATIENCE_SECONDS = 60
"""How long scheduler and autoscaler may take to say something of a pod."""

NO_SUCH_POOL = "No autoscaler makes a node that no pool describes."

Outlook: TypeAlias = Literal["never", "later", "soon"]
"""Whether pods wait until somebody changes something, until others end, or only for what is under way."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why pods wait.

    Args:
        outlook: until when.
        what: why, as what follows "n of m pods wait: ".
        why: why it matters.
        run: what to run or change.
    """

    outlook: Outlook
    what: str
    why: str = ""
    run: str = ""


@dataclass(frozen=True, kw_only=True)
class Waiter:
    """A pod that waits.

    Args:
        pod: the object.
        demand: what it asks for.
        seconds: how long it has waited.
        said: what the scheduler and the autoscaler last said of it, each in a line.
    """

    pod: Json
    demand: Demand
    seconds: float
    said: tuple[str, ...] = ()


def whole(owner: Owner, demands: Sequence[Demand], pools: Sequence[Pool]) -> str | None:
    """Return why a job's pods could never all run at once, though each fits a machine; None when they could."""
    asked = job(owner, demands)
    if not all(any(refusal(group, pool) is None for pool in pools) for group in asked.groups):
        return None
    return next(iter(crowding(asked, pools)), None)


def cause(waiter: Waiter, pools: Sequence[Pool], nodes: Sequence[Json], supply: Supply, never: str | None) -> Cause:
    """Return why one pod waits.

    Args:
        waiter: the pod.
        pools: the pools it may use.
        nodes: the cluster's nodes.
        supply: how the pools stand.
        never: why its job could never run whole; None where it could.
    """
    if early := _before_pools(waiter):
        return early
    found = refusals(waiter.demand, pools, nodes)
    fitting = [supply.stands[pool.name] for pool, refused in zip(pools, found, strict=True) if refused is None]
    if not fitting:
        return _unfit(waiter, [each for each in found if each], [pool.name for pool in pools])
    return _growing(waiter, fitting, supply, never)


def _before_pools(waiter: Waiter) -> Cause | None:
    """Return why a pod waits that nobody looks for a node for yet."""
    demand, pod, condition = waiter.demand, waiter.pod, scheduled(waiter.pod)
    look = f"kubectl -n {demand.owner.namespace} describe pod {demand.name}"
    if gates := pod["spec"].get("schedulingGates"):
        names = ", ".join(gate["name"] for gate in gates)
        return Cause(outlook="soon", what=f"held back by {names} until it lifts the gate")
    if node := pod["status"].get("nominatedNodeName"):
        return Cause(outlook="soon", what=f"pods of lower priority are leaving {node} for them")
    scheduler = pod["spec"].get("schedulerName", DEFAULT_SCHEDULER)
    if not condition and waiter.seconds > PATIENCE_SECONDS:
        return Cause(
            outlook="never",
            what=f"no scheduler called {scheduler} has looked at them",
            why="A pod that names a scheduler waits for that one, whether it runs or not.",
            run=f"Install {scheduler}, or remove schedulerName from {demand.owner}; kubectl get pods -A",
        )
    message = str(condition.get("message", ""))
    if "persistentvolumeclaim" in message.lower() or "volume node affinity" in message:
        return Cause(
            outlook="never",
            what=f"their volumes keep them: {_line(message)}",
            why="A pod starts only where all of its volumes can be, and claims are bound.",
            run=f"kubectl -n {demand.owner.namespace} get pvc; {look}",
        )
    if demand.node:
        return Cause(
            outlook="later",
            what=f"each belongs on one node, {demand.node} among them, where there is no room: {_line(message)}",
            why="What runs on every node is missing there.",
            run=look,
        )
    return None


def _unfit(waiter: Waiter, refused: Sequence[Refusal], pools: Sequence[str]) -> Cause:
    """Return why no declared pool takes the pod: by the one it names, or by those that come closest."""
    owner, named = waiter.demand.owner, waiter.demand.selector.get(POOL)
    if named and named not in pools:
        return Cause(
            outlook="never",
            what=f"there is no pool {named} for them; there are {', '.join(pools) or 'none'}",
            why=NO_SUCH_POOL,
            run=f"{did_you_mean(named, pools)}Correct {POOL} in the nodeSelector of {owner}, or declare such a pool",
        )
    closest = [each for each in refused if each.pool == named] or refused
    stage = max((each.stage for each in closest), default=CHOICE)
    listed = "; ".join(f"{each.pool} {each.reason}" for each in closest if each.stage == stage) or "there is none"
    spec = f"kubectl -n {owner.namespace} get pod {waiter.demand.name} -o yaml"
    if stage == TAINT:
        return Cause(
            outlook="never",
            what=f"they do not tolerate the nodes they choose: {listed}",
            why="Taints keep pods off dear machines unless they say that they belong there.",
            run=f"Add the toleration to {owner}: operator: Exists, effect: NoSchedule, and the taint's key",
        )
    if stage == SIZE:
        return Cause(
            outlook="never",
            what=f"one pod asks for more than a machine has: {listed}",
            why="A pod runs on one machine; no number of machines makes up for it.",
            run=f"Ask for less in each pod of {owner} and run more pods, or declare a pool of larger machines",
        )
    return Cause(
        outlook="never",
        what=f"no pool is what they choose: {listed}",
        why=NO_SUCH_POOL,
        run=f"Correct nodeSelector and affinity of {owner}, or declare such a pool; {spec}",
    )


def _growing(waiter: Waiter, fitting: Sequence[Stand], supply: Supply, never: str | None) -> Cause:
    """Return why no node has come of the pools that would take the pod."""
    owner = waiter.demand.owner
    if never:
        return Cause(
            outlook="never",
            what=f"{_states(fitting, waiter)}; of the whole job {never}",
            why="The job's other pods hold their machines and wait for these, which never come.",
            run=f"End it (kubectl -n {owner.namespace} delete {owner.kind.lower()} {owner.name}) and run it with fewer "
            f"pods, or raise `nodes.max` of {_names(fitting)}",
        )
    scaler = supply.autoscaler
    if any(stand.pool.elastic for stand in fitting) and scaler and scaler.status in ("fail", "skipped"):
        return Cause(
            outlook="never",
            what=f"{_names(fitting)} would grow, but the autoscaler is not at work: {scaler.what}",
            why="Only it makes nodes.",
            run=scaler.run or "Apply the settings: pulumi up",
        )
    if making := [machine for stand in fitting for machine in stand.making]:
        return _making(making)
    if all(stand.fault for stand in fitting):
        return Cause(
            outlook="never",
            what="; ".join(f"the pool {stand.pool.name} {stand.fault}" for stand in fitting),
            why="The autoscaler makes nodes only for pools that the cluster knows and finds in order.",
            run=f"Apply the settings: pulumi up; what is not ready: kubectl describe nodepool {fitting[0].pool.name}",
        )
    if _stopped(fitting, waiter):
        return Cause(
            outlook="later",
            what=_states(fitting, waiter),
            why="They start when other pods end or machines are for sale again, and nobody knows when.",
            run=f"See who uses them: kubectl get pods -A -o wide; raise `nodes.max`, add zones or a way of buying to "
            f"{_names(fitting)}, or let jobs queue (scheduling.queues)",
        )
    return _silence(waiter, fitting)


def _making(making: Sequence[Machine]) -> Cause:
    failed = [machine for machine in making if machine.fault]
    late = [machine for machine in making if machine.seconds > JOINING_SECONDS]
    if failed:
        return Cause(
            outlook="later",
            what=f"{failed[0].name} of {failed[0].pool} cannot be made: {_line(failed[0].fault)}",
            why="The autoscaler goes on trying; permissions and quotas of the cloud account do not mend themselves.",
            run=f"kubectl describe {failed[0].kind} {failed[0].name}",
        )
    if late:
        minutes = int(late[0].seconds // 60)
        return Cause(
            outlook="later",
            what=f"{late[0].name} of {late[0].pool} was made {minutes} minutes ago and has not joined the cluster",
            why="A machine that does not join is paid for, and given up only after a while.",
            run=f"Look at its console, image, network and role; kubectl describe {late[0].kind} {late[0].name}",
        )
    pools = ", ".join(dict.fromkeys(machine.pool for machine in making))
    count = f"{len(making)} machine{'s' * (len(making) > 1)}"
    return Cause(outlook="soon", what=f"{count} of {pools} {'are' if len(making) > 1 else 'is'} on the way")


def _stopped(fitting: Sequence[Stand], waiter: Waiter) -> bool:
    """Return whether no fitting pool can grow, for a reason that is known."""
    return all(stand.full or not stand.pool.elastic or _market(stand, waiter) for stand in fitting)


def _states(fitting: Sequence[Stand], waiter: Waiter) -> str:
    """Say of each fitting pool what keeps it from taking the pod."""
    return "; ".join(_state(stand, waiter) for stand in fitting)


def _state(stand: Stand, waiter: Waiter) -> str:
    pool, name = stand.pool, stand.pool.name
    nodes = f"{stand.most} node{'s' * (stand.most != 1)}"
    if not pool.elastic:
        if stand.ready < pool.least:
            return f"{stand.ready} of the {pool.least} nodes of {name} are ready"
        return f"all {nodes} of {name} are taken"
    if stand.full:
        differs = f", and {pool.most} in the settings, which are not applied" if stand.most != pool.most else ""
        return f"{name} is at its limit of {nodes}{differs}"
    if sold := _market(stand, waiter):
        how = "spot or on demand" if pool.falls_back else "spot" if pool.spot else "on demand"
        return f"{pool.instance_type} of {name} is sold out in {', '.join(pool.zones)}, {how} ({_line(sold)})"
    return f"{name} may grow to {nodes}"


def _market(stand: Stand, waiter: Waiter) -> str | None:
    """Return what is known of machines of the pool being sold out: by a claim, or by the pod's own events."""
    if stand.sold_out:
        return stand.sold_out
    chosen = f"karpenter.sh/nodepool In [{stand.pool.name}]"
    for line in waiter.said:
        if any("required offering" in part and chosen in part for part in line.split("; ")):
            return "the autoscaler has no offer left to try"
    return None


def _silence(waiter: Waiter, fitting: Sequence[Stand]) -> Cause:
    """Return what to say where nothing known keeps a pool from growing: the pod's own events say more."""
    owner, names = waiter.demand.owner, _names(fitting)
    if waiter.seconds <= PATIENCE_SECONDS:
        return Cause(outlook="soon", what=f"made less than a minute ago; {names} would take them")
    said = "; ".join(_line(line) for line in waiter.said) or "nobody says why"
    return Cause(
        outlook="later",
        what=f"{names} would take them, but no node has come: {said}",
        why="Settings and cluster disagree on what fits: reserves, agents on each node, labels or spread.",
        run=f"kubectl -n {owner.namespace} describe pod {waiter.demand.name}",
    )


def _names(stands: Sequence[Stand]) -> str:
    return ", ".join(stand.pool.name for stand in stands)


def _line(text: str | None) -> str:
    """Return a message in one line, without the requirements that fill screens."""
    return one_line(re.sub(r", requirements=.*?(?=; |$)", "", str(text)))
