"""Rules about the price list and the example jobs, and what is worth a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.capacity.jobs import declared
from infra.settings.capacity.report import judged
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.settings import Settings

JOBS = ("capacity", "jobs")


@rule("capacity")
def machines_are_priced_once(settings: Settings) -> Iterator[Violation]:
    """Refuse two prices of one machine: nobody could say which of them a cost rests on."""
    prices = settings.capacity.prices
    for index, name in repeated(machine.instance_type for machine in prices.machines) if prices else ():
        path = ("capacity", "prices", "machines", index, "instanceType")
        yield Violation(path, f"{name} has a price already", "Remove one")


@rule("capacity")
def example_jobs_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse two example jobs of one name, and two groups of one job: a warning could mean either."""
    for index, name in repeated(job.name for job in settings.capacity.jobs):
        yield Violation((*JOBS, index, "name"), f"another job is called {name}", "Write another name")
    for number, job in enumerate(settings.capacity.jobs):
        for index, name in repeated(group.name for group in job.groups):
            path = (*JOBS, number, "groups", index, "name")
            yield Violation(path, f"another group is called {name}", "Write another name")


@rule("capacity", "cluster", "teams")
def example_jobs_name_what_there_is(settings: Settings) -> Iterator[Violation]:
    """Refuse example jobs of a team, or on a pool, that there is not: they would prove nothing."""
    teams = [team.name for team in settings.teams]
    pools = [pool.name for pool in settings.cluster.node_pools if pool.purpose != "system"]
    for number, job in enumerate(settings.capacity.jobs):
        if job.team not in teams:
            yield _unknown((*JOBS, number, "team"), job.team, "team", teams)
        for index, group in enumerate(job.groups):
            if group.pool is not None and group.pool not in pools:
                yield _unknown((*JOBS, number, "groups", index, "pool"), group.pool, "cpu or gpu pool", pools)


@rule("capacity", "cluster", "scheduling", "teams")
def example_jobs_can_run(settings: Settings) -> Iterator[Violation]:
    """Warn of an example job that could never run, even on an otherwise empty cluster."""
    jobs = settings.capacity.jobs
    for index, line in enumerate(judged(settings, map(declared, jobs))):
        if line.obstacles and line.job.team in {team.name for team in settings.teams}:
            what = f"{line.job.name} of {line.job.team} can never run: {'; '.join(line.obstacles)}"
            yield Violation((*JOBS, index), what, "Make it smaller, or raise what it meets")


def _unknown(path: tuple[str | int, ...], name: str, kind: str, known: list[str]) -> Violation:
    among = f"Write one of {', '.join(known)}" if known else f"Declare a {kind}"
    return Violation(path, f"there is no {kind} {name}", f"{did_you_mean(name, known)}{among}")
