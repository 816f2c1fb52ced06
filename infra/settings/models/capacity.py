"""Capacity: what nodes keep for themselves, what machines cost, and the jobs that must be able to run."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Annotated

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from infra.settings.models.base import Section
from infra.settings.problems import invalid
from infra.settings.scalars import (
    Cpu,
    DnsLabel,
    LabelKey,
    LabelValue,
    Memory,
    Natural,
    NotEmpty,
    Noun,
    Positive,
    Text,
    Word,
)

DEAREST = Decimal(1_000_000)
"""No machine costs more an hour; what is above is a price of another unit."""


def _money(value: object) -> Decimal:
    shape = f"{value}"
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise invalid("is not a price", "Write a number, such as 3.06")
    try:
        amount = Decimal(shape) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?", shape) else None
    except InvalidOperation:
        amount = None
    if amount is None:
        raise invalid(f"{shape!r} is not a price", "Write a number without a currency, such as 3.06")
    if not 0 <= amount <= DEAREST:
        raise invalid(f"{shape} is no price of a machine's hour", f"Write 0 to {DEAREST}")
    return amount


Money = Annotated[
    Decimal,
    PlainValidator(_money),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "number", "minimum": 0}),
    Noun("amount of money (`3.06`)"),
]
"""Amount of money, in the currency of its list."""

Currency = Annotated[str, Text(r"[A-Z]{3}", 3, "currency", "Write its ISO 4217 code, such as EUR")]
Day = Annotated[
    str,
    Text(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", 10, "day", 'Write it quoted, such as "2026-03-01"'),
]


class NodeReserve(Section):
    """What the kubelet, the system and agents on every node take from the machine before any pod gets it."""

    cpu: Cpu
    """CPUs of each node that no team's pod gets."""

    memory: Memory
    """Memory of each node that no team's pod gets, in bytes."""


class MachinePrice(Section):
    """What an hour of one machine costs."""

    instance_type: Word
    """Type of the machine, as node pools name it."""

    on_demand: Money
    """Price of an hour, bought on demand; of a machine of your own, its cost spread over its hours."""

    spot: Money | None = None
    """Price of an hour on the spot market; the on-demand price is taken where it is left out."""


class Prices(Section):
    """A price list. Flotilla ships none: prices differ by region, contract and day."""

    currency: Currency
    """Currency of all prices."""

    source: str
    """Where the prices are from, so that a reader can check them."""

    as_of: Day
    """Day the prices were read, shown with every figure that rests on them."""

    machines: Annotated[tuple[MachinePrice, ...], NotEmpty()]
    """The prices; machines without one are left out of the costs, and the report says so."""


class PodGroup(Section):
    """Pods of one job that are alike."""

    name: DnsLabel
    """Name of the group, such as `worker`."""

    pods: Positive
    """How many pods run at the same time."""

    cpu: Cpu
    """CPUs that each pod requests."""

    memory: Memory
    """Memory that each pod requests, in bytes."""

    gpus: Natural = 0
    """NVIDIA's whole GPUs that each pod requests."""

    devices: dict[LabelKey, Positive] = Field(default={})
    """Other accelerators, or parts of GPUs, that each pod requests, by resource: `nvidia.com/gpu.shared: 1`."""

    accelerator: LabelValue | None = None
    """Product the pods insist on, as a pool's `machine.accelerator`; any when left out."""

    pool: DnsLabel | None = None
    """Node pool the pods insist on; any when left out."""

    tolerations: tuple[LabelKey, ...] = ()
    """Keys of the taints that the pods tolerate, such as `nvidia.com/gpu`."""


class ExampleJob(Section):
    """A job that a team must be able to run: declared so that a change that makes it impossible is noticed."""

    name: DnsLabel
    """Name of the job."""

    team: DnsLabel
    """Team that runs it."""

    groups: Annotated[tuple[PodGroup, ...], NotEmpty()]
    """Its pods; all of them run at once."""

    same_zone: bool = False
    """Whether all pods must lie in one zone, as tightly coupled training does."""


class Capacity(Section):
    """What adds up: pools against quotas, jobs against both, and the money behind them."""

    node_reserve: NodeReserve
    """What every node keeps for itself."""

    prices: Prices | None = Field(default=None)
    """Price list; without one, no costs are reported."""

    jobs: tuple[ExampleJob, ...] = ()
    """Jobs that must be able to run: `flotilla settings check` warns of each that never could, and says why."""
