"""Whether jobs wait in their team's queue, and for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip, warn
from ops.doctor.cluster.objects import condition, find, holds, one_line
from ops.doctor.cluster.probe import ClusterProbe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Json = dict[str, Any]

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
MOST_JOBS = 20
_WORST_FIRST = {"fail": 0, "warn": 1, "ok": 2, "skipped": 3}

_NEVER = "> maximum capacity"
_NOT_NOW = "insufficient unused quota"
"""What Kueue says of a flavor that could never hold a job, and of one that is in use.

Source: sigs.k8s.io/kueue v0.15.0, `pkg/scheduler/flavorassigner`.
"""


@check(
    "cluster-queues",
    "cluster",
    why="A job in a queue has no pods, so nothing else shows that it waits.",
    run="kubectl -n <team> get workloads, and describe the one of the job.",
    needs=("cluster-api",),
)
def queues(probe: ClusterProbe) -> Verdicts:
    """Jobs that Kueue holds back, and what for; only where `scheduling.queues` has it."""
    if not probe.target.queues:
        return []
    workloads = find(probe.api, WORKLOADS)
    if workloads is None:
        return [skip("Kueue comes with Flotilla")]
    waiting = [each for each in workloads["items"] if not holds(each, "Finished") and not holds(each, "Admitted")]
    if not waiting:
        return [ok("no job waits in a queue")]
    found = sorted((_verdict(probe, each) for each in waiting), key=lambda each: _WORST_FIRST[each.status])
    return _few(found)


def _few(found: Sequence[Verdict]) -> Iterable[Verdict]:
    yield from found[:MOST_JOBS]
    rest = len(found) - MOST_JOBS
    if rest > 0:
        yield warn(f"{rest} more jobs wait in queues", run="kubectl get workloads -A")


def _verdict(probe: ClusterProbe, workload: Json) -> Verdict:
    metadata, spec = workload["metadata"], workload["spec"]
    made_by = next(iter(metadata.get("ownerReferences") or ()), {"kind": "Workload", "name": metadata["name"]})
    subject = f"{probe.subject} {made_by['kind']} {metadata['namespace']}/{made_by['name']}"
    look = f"kubectl -n {metadata['namespace']} describe workload {metadata['name']}"
    if spec.get("active") is False:
        return fail(
            "is deactivated: Kueue starts it no more",
            why="Somebody said so, or its pods were not ready in time too often.",
            run=f"{look}; to queue it again: kubectl -n {metadata['namespace']} patch workload {metadata['name']} "
            """--type=merge -p '{"spec":{"active":true}}'""",
            subject=subject,
        )
    if holds(workload, "QuotaReserved"):
        return ok(f"has its quota, and waits for {_checks(workload)}", subject=subject)
    reserved = condition(workload, "QuotaReserved")
    said = str(reserved.get("message", ""))
    message = one_line(said) or "Kueue has not looked at it yet"
    if reserved.get("reason") == "Inadmissible":
        return fail(
            f"its queue does not take it: {message}",
            why="A job without a queue that works is never started.",
            run=f"Give it the queue `default`, or apply the settings; kubectl get localqueues,clusterqueues -A; {look}",
            subject=subject,
        )
    if _NEVER in said and _NOT_NOW not in said:
        return fail(
            f"its queue could never hold it: {message}",
            why="What a team is guaranteed and may borrow of one pool bounds each group of a job's pods.",
            run=f"Ask for less, move `shares` to that pool, or raise the quota or `borrowPercent`; {look}",
            subject=subject,
        )
    if not reserved:
        return ok(message, subject=subject)
    return warn(
        f"waits for quota: {message}",
        why="It starts when jobs end that use its team's guarantee, or what the team may borrow.",
        run=f"See who is before it: kubectl get workloads -A --sort-by=.metadata.creationTimestamp; {look}",
        subject=subject,
    )


def _checks(workload: Json) -> str:
    states: list[Json] = workload.get("status", {}).get("admissionChecks") or []
    pending = [each["name"] for each in states if each.get("state") != "Ready"]
    return f"admission checks: {', '.join(pending)}" if pending else "Kueue to start it"
