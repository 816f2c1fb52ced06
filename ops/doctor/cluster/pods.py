"""Whether pods wait for a node, and why: by job, in the terms of the settings' pools."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from infra.settings.capacity.pools import for_teams
from ops.doctor.check import Verdict, Verdicts, check, fail, ok, warn
from ops.doctor.cluster.objects import age, items, last_seen
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.cluster.waiting import supply
from ops.doctor.cluster.waiting.demands import Demand, Owner, owner, runs, waits
from ops.doctor.cluster.waiting.explain import Cause, Waiter, cause, whole
from ops.doctor.network import clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Json = dict[str, Any]

PENDING = "/api/v1/pods?fieldSelector=status.phase=Pending,spec.nodeName="
REFUSED = "events?limit=500&fieldSelector=reason=FailedScheduling"
MOST_JOBS = 20
"""How many jobs are explained; whoever reads about so many has found the cause in the first."""

_WORST_FIRST = {"fail": 0, "warn": 1, "ok": 2, "skipped": 3}


@check(
    "cluster-pods",
    "cluster",
    why="A pod that no node takes waits without end, and its job with it.",
    run="kubectl describe pod says what the scheduler and the autoscaler think of it.",
    needs=("cluster-api",),
    waits=4,
)
def pods(probe: ClusterProbe) -> Verdicts:
    """Every pod that no node has been found for, by job.

    Which pools would take it, and what keeps those from growing; or why none would.
    """
    waiting = [pod for pod in probe.api.get(PENDING)["items"] if waits(pod)]
    if not waiting:
        return [ok("no pod waits for a node")]
    found = sorted(_explained(probe, waiting), key=lambda each: _WORST_FIRST[each.status])
    if len(found) <= MOST_JOBS:
        return found
    rest = len(found) - MOST_JOBS
    return [*found[:MOST_JOBS], warn(f"{rest} more jobs wait", run="Mend those above, and run this again")]


def _explained(probe: ClusterProbe, waiting: Sequence[Json]) -> Iterable[Verdict]:
    moment = clock.now()
    jobs: defaultdict[Owner, list[Json]] = defaultdict(list)
    for pod in waiting:
        jobs[owner(pod)].append(pod)
    spaces = sorted({each.namespace for each in jobs})
    with ThreadPoolExecutor(max_workers=8) as threads:
        reading = threads.submit(supply.read, probe.api, probe.target, probe.nodes, moment)
        others = threads.map(lambda space: _items(probe, space, "pods"), spaces)
        events = threads.map(lambda space: _items(probe, space, REFUSED), spaces)
        alive = dict(zip(spaces, others, strict=True))
        said = dict(zip(spaces, map(_said, events), strict=True))
        stood = reading.result()
    for whose, theirs in jobs.items():
        everyone = [Demand.of(pod) for pod in alive[whose.namespace] if owner(pod) == whose and runs(pod)]
        heard = said[whose.namespace]
        waiters = [_waiter(pod, heard, moment) for pod in theirs]
        yield from _job(probe, whose, waiters, everyone, stood)


def _waiter(pod: Json, heard: Mapping[str, tuple[str, ...]], moment: datetime.datetime) -> Waiter:
    lines = heard.get(pod["metadata"]["name"], ())
    return Waiter(pod=pod, demand=Demand.of(pod), seconds=age(pod, moment), said=lines)


def _job(
    probe: ClusterProbe, whose: Owner, waiters: Sequence[Waiter], everyone: Sequence[Demand], stood: supply.Supply
) -> Iterable[Verdict]:
    """Yield a verdict for each cause that keeps pods of one job."""
    mine = whose.namespace in probe.target.teams
    pools = for_teams(probe.target.pools) if mine else probe.target.pools
    never = whole(whose, everyone, pools)
    causes = [cause(waiter, pools, probe.nodes, stood, never) for waiter in waiters]
    counts = Counter((each.outlook, each.what) for each in causes)
    first = {(each.outlook, each.what): each for each in reversed(causes)}
    subject = f"{probe.subject} {whose}"
    for key, count in counts.items():
        total = max(len(everyone), len(waiters))
        verb = "waits" if count == 1 else "wait"
        pods_ = verb if whose.kind == "Pod" else f"{count} of its {total} pods {verb}"
        yield _verdict(first[key], f"{pods_}: {first[key].what}", subject)


def _verdict(found: Cause, what: str, subject: str) -> Verdict:
    if found.outlook == "soon":
        return ok(what, subject=subject)
    judge = fail if found.outlook == "never" else warn
    return judge(what, why=found.why, run=found.run, subject=subject)


def _items(probe: ClusterProbe, namespace: str, rest: str) -> list[Json]:
    return items(probe.api, f"/api/v1/namespaces/{namespace}/{rest}")


def _said(events: Iterable[Json]) -> dict[str, tuple[str, ...]]:
    """Return what each component last said of each pod, by the pod's name."""
    last: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for event in sorted(events, key=last_seen):
        who = event.get("reportingComponent") or (event.get("source") or {}).get("component", "")
        last[event["involvedObject"]["name"]][who] = event.get("message", "")
    return {pod: tuple(lines.values()) for pod, lines in last.items()}
