"""Writes amounts as people read them: CPUs, bytes with a unit, GPUs, money."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from infra.settings.devices import NVIDIA
from infra.settings.quantity import Quantity

WHOLE = Decimal(1)


def amount(resource: str, value: Decimal | int) -> str:
    """Write an amount of a resource, with its unit.

    Args:
        resource: `cpu`, `memory`, or what pods request a device as.
        value: the amount in CPUs, bytes or pieces.
    """
    match resource:
        case "memory":
            return memory(Decimal(value))
        case "cpu":
            return f"{number(Decimal(value))} CPU{'s' * (value != 1)}"
        case _ if resource == NVIDIA:
            return f"{value} GPU{'s' * (value != 1)}"
        case _:
            return f"{value} {resource}"


def memory(value: Decimal) -> str:
    """Write a number of bytes with the largest binary unit that leaves it whole."""
    return str(Quantity(value, "binary"))


def number(value: Decimal) -> str:
    """Write a number without trailing zeros or exponent."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def money(value: Decimal) -> str:
    """Write an amount of money in whole units, thousands apart."""
    return f"{value.quantize(WHOLE, rounding=ROUND_HALF_UP):,}"
