"""Whether pods that jobs want to make are refused: by the team's quota or limits, or by an admission rule."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from infra.settings.quantity import Quantity
from ops.doctor.check import Verdict, Verdicts, check, fail, ok, warn
from ops.doctor.cluster.objects import find, items, last_seen, one_line, seconds_since
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.network import clock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.doctor.cluster.api import KubeApi

    Json = dict[str, Any]

REASONS = ("FailedCreate", "FailedCreatePod")
"""What controllers of Kubernetes, and the training operator, call it when a pod is refused to them."""

RECENT_SECONDS = 1800
"""How old the last refusal may be: controllers try again, ever more rarely, for a quarter of an hour at the most."""

_QUOTA = re.compile(r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>.*?), used: ")


@check(
    "cluster-refused-pods",
    "cluster",
    why="A pod that is refused does not exist, so nothing shows that its job waits for it.",
    run="kubectl describe the job, and look at its events.",
    needs=("cluster-api",),
    waits=3,
)
def refused_pods(probe: ClusterProbe) -> Verdicts:
    """Jobs and other owners whose pods were refused a short while ago, and would be again."""
    moment = clock.now()
    with ThreadPoolExecutor(max_workers=8) as threads:
        events = [
            event
            for events in threads.map(lambda reason: _events(probe.api, reason), REASONS)
            for event in events
            if seconds_since(last_seen(event), moment) < RECENT_SECONDS
        ]
        latest = {_key(event): event for event in sorted(events, key=last_seen)}
        found = [each for each in threads.map(lambda event: _verdict(probe, event), latest.values()) if each]
    return found or [ok("no pod is refused")]


def _verdict(probe: ClusterProbe, event: Json) -> Verdict | None:
    """Return what a refusal means; None for one that is over."""
    whose = event["involvedObject"]
    if not _exists(probe.api, whose):
        return None
    subject = f"{probe.subject} {whose['kind']} {whose['namespace']}/{whose['name']}"
    message = str(event.get("message", ""))
    if match := _QUOTA.search(message):
        return _quota(probe, whose["namespace"], match["quota"], match["requested"], subject)
    said = message.partition(" is forbidden: ")[2] or message.removeprefix("Error creating: ")
    return fail(
        f"its pods are refused: {one_line(said)}",
        run=f"Correct its pod template; limits of the namespace: kubectl -n {whose['namespace']} describe limits",
        subject=subject,
    )


def _quota(probe: ClusterProbe, namespace: str, name: str, requested: str, subject: str) -> Verdict | None:
    """Return which resources the quota lacks by now; None where there is room again."""
    quota = find(probe.api, f"/api/v1/namespaces/{namespace}/resourcequotas/{name}")
    if quota is None:
        return None
    hard, used = quota["status"].get("hard", {}), quota["status"].get("used", {})
    asked = dict(part.split("=", 1) for part in requested.split(","))
    short = [key for key, value in asked.items() if key in hard and _amount(used, key) + _of(value) > _of(hard[key])]
    if not short:
        return None
    never = [key for key in short if _of(asked[key]) > _of(hard[key])]
    listed = ", ".join(
        f"{_plain(key)}: {asked[key]} for a pod, {used.get(key, '0')} of {hard[key]} used" for key in never or short
    )
    team = f"the team {namespace}" if namespace in probe.target.teams else namespace
    look = f"kubectl -n {namespace} describe resourcequota {name}"
    if never:
        return fail(
            f"one pod is beyond the quota of {team}: {listed}",
            run=f"Ask for less, or raise the team's `quota`; {look}",
            subject=subject,
        )
    return warn(
        f"the quota of {team} is used up: {listed}",
        why="They are made when others of the team end; a job that has some of its pods holds machines till then.",
        run=f"End other jobs, raise the team's `quota`, or let jobs queue (scheduling.queues); {look}",
        subject=subject,
    )


def _events(api: KubeApi, reason: str) -> Iterable[Json]:
    return items(api, f"/api/v1/events?limit=500&fieldSelector=reason={reason}")


def _exists(api: KubeApi, whose: Json) -> bool:
    """Return whether the owner is still there; who cannot be found by its kind's name is taken to be."""
    version = whose.get("apiVersion", "")
    root = f"/apis/{version}" if "/" in version else f"/api/{version or 'v1'}"
    found = find(api, f"{root}/namespaces/{whose['namespace']}/{whose['kind'].lower()}s/{whose['name']}")
    return found is not None and found["metadata"].get("uid") == whose.get("uid", found["metadata"].get("uid"))


def _key(event: Json) -> tuple[str, str, str]:
    whose = event["involvedObject"]
    return whose["namespace"], whose["kind"], whose["name"]


def _plain(key: str) -> str:
    return key.removeprefix("requests.")


def _amount(amounts: Json, key: str) -> Decimal:
    return _of(amounts.get(key, "0"))


def _of(text: str) -> Decimal:
    return Quantity.parse(text).value
