"""The capacity report as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.capacity.show import amount, memory, money, number
from ops.console import table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from infra.settings.capacity.costs import Cost
    from infra.settings.capacity.pools import Amounts, Pool
    from infra.settings.capacity.report import Report


def show(console: Console, report: Report) -> None:
    """Print the report as tables, and what its costs rest on."""
    console.print(f"[bold]{report.settings.environment}[/]", markup=True)
    for each in (pools(report), quotas(report), teams(report), zones(report)):
        console.print(each)
    if report.jobs:
        console.print(jobs(report))
    console.print(_basis(report), markup=False)


def pools(report: Report) -> Table:
    """Return the table of pools: what they hold at their largest, and what they cost a month."""
    rows = table("Node pools", "pool", "machine", "nodes", "CPUs", "memory", "devices", *_money_columns(report))
    for line in report.pools:
        pool = line.pool
        rows.add_row(
            pool.name,
            pool.instance_type + (" (spot)" if pool.spot else ""),
            f"{pool.least}-{pool.most}" if pool.least != pool.most else str(pool.least),
            number(pool.whole.cpu),
            memory(pool.whole.memory),
            _devices(pool),
            *_money_cells(report, line.cost),
        )
    if report.settings.capacity.prices:
        rows.add_section()
        rows.add_row("all", "", "", "", "", "", *_money_cells(report, report.total))
    return rows


def quotas(report: Report) -> Table:
    """Return the table of resources: what is promised to teams, and whether all of it can be used at once."""
    rows = table("Quotas against cpu and gpu pools", "resource", "promised", "held", "overcommit", "all at once")
    for line in report.resources:
        rows.add_row(
            line.resource,
            amount(line.resource, line.promised),
            amount(line.resource, line.held),
            f"{line.overcommit:.2f}" if line.overcommit is not None else "-",
            f"{amount(line.resource, line.missing)} short" if line.missing else "yes",
        )
    return rows


def teams(report: Report) -> Table:
    """Return the table of teams: the largest job each can start, and what each costs a month."""
    rows = table("Largest single job", "team", "on", "at most", "bound by", "in one zone", *_money_columns(report))
    for line in report.teams:
        for number_, job in enumerate(line.largest):
            rows.add_row(
                line.team.name if not number_ else "",
                job.accelerator or "CPUs",
                amount(job.resource, job.amount),
                "its quota" if job.bound == "quota" else "the pools",
                amount(job.resource, job.in_one_zone),
                *(_money_cells(report, line.cost) if not number_ else [""] * len(_money_columns(report))),
            )
    if report.settings.capacity.prices:
        rows.add_section()
        rows.add_row("platform", "", "", "", "", *_money_cells(report, report.platform))
    return rows


def zones(report: Report) -> Table:
    """Return the table of zones: what teams lose with each when all pools are full, and what they have again."""
    rows = table("Loss of a zone", "zone", "lost at once", "left once elastic pools have regrown", "pools gone")
    for line in report.zones:
        rows.add_row(line.zone, _amounts(line.lost), _amounts(line.remains), ", ".join(line.gone) or "-")
    return rows


def jobs(report: Report) -> Table:
    """Return the table of jobs, and why each could never run."""
    rows = table("Jobs", "job", "team", "pods", "requests", "can run")
    for line in report.jobs:
        rows.add_row(
            line.job.name,
            line.job.team,
            str(line.job.pods),
            _amounts(line.job.requests),
            "never: " + "; ".join(line.obstacles) if line.obstacles else "yes",
        )
    return rows


def _devices(pool: Pool) -> str:
    held = ", ".join(amount(resource, pool.whole.device(resource)) for resource in sorted(pool.node.devices))
    return f"{held} ({pool.accelerator})" if held else "-"


def _amounts(amounts: Amounts) -> str:
    parts = [amount(resource, value) for resource in amounts.resources if (value := amounts.of(resource))]
    return ", ".join(parts) or "nothing"


def _money_columns(report: Report) -> tuple[str, ...]:
    prices = report.settings.capacity.prices
    return (f"{prices.currency} a month", "at most") if prices else ()


def _money_cells(report: Report, cost: Cost | None) -> tuple[str, ...]:
    if not report.settings.capacity.prices:
        return ()
    return (money(cost.floor), money(cost.ceiling)) if cost else ("-", "-")


def _basis(report: Report) -> str:
    """Say what the costs rest on, or why there are none."""
    prices = report.settings.capacity.prices
    if prices is None:
        return "No costs: capacity.prices declares no price list."
    return f"Prices in {prices.currency} as of {prices.as_of}: {prices.source}."
