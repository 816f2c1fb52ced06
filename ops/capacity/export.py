"""The capacity report as JSON, and what of it deserves a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decimal import Decimal

    from infra.settings.capacity.costs import Cost
    from infra.settings.capacity.pools import Amounts
    from infra.settings.capacity.report import (
        JobLine,
        LargestJob,
        PoolLine,
        Report,
        ResourceLine,
        TeamLine,
        ZoneLine,
    )

    Json = dict[str, Any]


def document(report: Report) -> Json:
    """Return the report as plain data: CPUs and money as numbers, memory in bytes, null for what is not known."""
    prices = report.settings.capacity.prices
    return {
        "environment": report.settings.environment,
        "prices": {"currency": prices.currency, "source": prices.source, "asOf": prices.as_of} if prices else None,
        "pools": [_pool(line) for line in report.pools],
        "resources": [_resource(line) for line in report.resources],
        "teams": [_team(line) for line in report.teams],
        "zones": [_zone(line) for line in report.zones],
        "jobs": [_job(line) for line in report.jobs],
        "monthlyCost": {"platform": _cost(report.platform), "total": _cost(report.total)},
        "warnings": warnings(report),
    }


def warnings(report: Report) -> list[str]:
    """Return what a reader should not miss, one sentence each."""
    found = [
        f"{line.job.name} of {line.job.team} can never run: {'; '.join(line.obstacles)}"
        for line in report.jobs
        if line.obstacles
    ]
    if report.settings.capacity.prices and report.unpriced:
        found.append(f"no price of {', '.join(report.unpriced)}: the totals they belong to are left out")
    return found


def _pool(line: PoolLine) -> Json:
    pool = line.pool
    return {
        "name": pool.name,
        "purpose": pool.purpose,
        "instanceType": pool.instance_type,
        "accelerator": pool.accelerator,
        "zones": list(pool.zones),
        "nodes": {"min": pool.least, "max": pool.most},
        "perNode": _amounts(pool.node),
        "atMost": _amounts(pool.whole),
        "monthlyCost": _cost(line.cost),
    }


def _resource(line: ResourceLine) -> Json:
    return {
        "resource": line.resource,
        "quotas": _number(line.promised),
        "pools": _number(line.held),
        "overcommit": None if line.overcommit is None else round(float(line.overcommit), 3),
        "allQuotasFitAtOnce": not line.missing,
        "missing": _number(line.missing),
    }


def _team(line: TeamLine) -> Json:
    return {
        "name": line.team.name,
        "quota": _amounts(line.quota),
        "largestJobs": [_largest(each) for each in line.largest],
        "monthlyCost": _cost(line.cost),
    }


def _largest(job: LargestJob) -> Json:
    return {
        "accelerator": job.accelerator,
        "resource": job.resource,
        "amount": _number(job.amount),
        "boundBy": job.bound,
        "inOneZone": _number(job.in_one_zone),
    }


def _zone(line: ZoneLine) -> Json:
    return {
        "zone": line.zone,
        "lostAtOnce": _amounts(line.lost),
        "remains": _amounts(line.remains),
        "poolsGone": list(line.gone),
    }


def _job(line: JobLine) -> Json:
    return {
        "name": line.job.name,
        "team": line.job.team,
        "pods": line.job.pods,
        "requests": _amounts(line.job.requests),
        "canRun": not line.obstacles,
        "obstacles": list(line.obstacles),
    }


def _cost(cost: Cost | None) -> Json | None:
    return {"floor": round(float(cost.floor), 2), "ceiling": round(float(cost.ceiling), 2)} if cost else None


def _amounts(amounts: Amounts) -> Json:
    return {"cpu": _number(amounts.cpu), "memory": _number(amounts.memory), "devices": dict(amounts.devices)}


def _number(value: Decimal | int) -> int | float:
    return int(value) if value == int(value) else float(value)
