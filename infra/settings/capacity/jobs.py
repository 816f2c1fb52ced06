"""Whether a job's pods can ever all run at once, and what stands in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.capacity.placement import Job, Pods, crowding, misfit, refusal
from infra.settings.capacity.pools import ACCELERATOR, POOL, Amounts
from infra.settings.capacity.show import amount
from infra.settings.devices import NVIDIA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.settings.capacity.pools import Pool
    from infra.settings.models.capacity import ExampleJob, PodGroup
    from infra.settings.models.teams import Team


def declared(job: ExampleJob) -> Job:
    """Return a job of the settings as capacity sees it."""
    return Job(
        name=job.name,
        team=job.team,
        same_zone=job.same_zone,
        groups=tuple(
            Pods(
                name=group.name,
                count=group.pods,
                each=Amounts(cpu=group.cpu.value, memory=group.memory.value, devices=_devices(group)),
                selector={
                    **({POOL: group.pool} if group.pool else {}),
                    **({ACCELERATOR: group.accelerator} if group.accelerator else {}),
                },
                tolerations=frozenset(group.tolerations),
            )
            for group in job.groups
        ),
    )


def obstacles(
    job: Job, pools: Sequence[Pool], team: Team, quota: Amounts, queue: Mapping[str, Amounts] | None = None
) -> list[str]:
    """Return why the job could never run, even on an otherwise empty cluster; empty when it could.

    Args:
        job: the job.
        pools: the pools that teams' pods run on.
        team: the job's team, whose limits bind each pod.
        quota: what its pods may request together.
        queue: what the team's queue gives at most of each pool; None where jobs do not queue.
    """
    found = [*_beyond_quota(job, team, quota), *(each for group in job.groups for each in _beyond_limits(group, team))]
    misfits = [reason for group in job.groups if (reason := misfit(group, pools))]
    return found + (misfits or crowding(job, pools) or _beyond_queue(job, pools, team, queue))


def _devices(group: PodGroup) -> dict[str, int]:
    return {**({NVIDIA: group.gpus} if group.gpus else {}), **group.devices}


def _beyond_quota(job: Job, team: Team, quota: Amounts) -> Iterator[str]:
    asked = job.requests
    for resource in asked.resources:
        if asked.of(resource) > quota.of(resource):
            yield (
                f"its pods request {amount(resource, asked.of(resource))} together, "
                f"and the quota of {team.name} is {amount(resource, quota.of(resource))}"
            )
    if job.pods > team.quota.pods:
        yield f"it has {job.pods} pods, and the quota of {team.name} is {team.quota.pods}"


def _beyond_limits(group: Pods, team: Team) -> Iterator[str]:
    for resource in ("cpu", "memory"):
        asked, most = group.each.of(resource), getattr(team.limits.max, resource).value
        if asked > most:
            yield (
                f"a {group.name} pod requests {amount(resource, asked)}, "
                f"and {team.name} admits at most {amount(resource, most)} a container"
            )


def _beyond_queue(job: Job, pools: Sequence[Pool], team: Team, queue: Mapping[str, Amounts] | None) -> list[str]:
    """Return the groups that no single pool's part of the queue holds: Kueue places a group on one pool as a whole."""
    if queue is None:
        return []
    found: list[str] = []
    for group in job.groups:
        asked = group.each.times(group.count)
        places = [pool.name for pool in pools if refusal(group, pool) is None]
        if not any(queue[name].holds(asked) for name in places):
            most = "; ".join(f"{name} {_missed(asked, queue[name])}" for name in places)
            found.append(f"the queue of {team.name} has no room for its {group.name} pods on one pool: {most}")
    return found


def _missed(asked: Amounts, given: Amounts) -> str:
    short = [resource for resource in asked.resources if asked.of(resource) > given.of(resource)]
    return ", ".join(f"{amount(name, given.of(name))} of {amount(name, asked.of(name))}" for name in short)
