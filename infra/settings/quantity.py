"""Kubernetes quantities: an amount with a unit, parsed, compared and written as Kubernetes does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from functools import total_ordering
from typing import TYPE_CHECKING

from pydantic_core import CoreSchema, core_schema

from infra.settings.problems import invalid

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
LARGEST = Decimal(2**63 - 1)
SMALLEST_STEP = Decimal(10) ** -9

PATTERN = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
"""The same grammar for the JSON schema, in the subset of regular expressions all editors know."""

_NUMBER = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
_QUANTITY = re.compile(
    rf"(?P<number>{_NUMBER})(?:(?P<unit>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]{{1,2}}))?"
)
_ALMOST = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>[A-Za-z]+)")


@total_ordering
@dataclass(frozen=True, eq=False)
class Quantity:
    """An amount of a resource. Equal amounts are equal however they are written: `1Gi == 1024Mi`.

    Args:
        value: the amount in its base unit: CPUs, bytes or pieces.
        style: how it was written (`decimal`, `binary` or `exponent`), and so will be written again.

    """

    value: Decimal
    style: str = "decimal"

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Read a quantity such as `500m`, `1.5Gi` or `2e3`.

        Raises:
            PydanticCustomError: it is not one; the message names the likely intention.

        """
        match = _QUANTITY.fullmatch(text)
        if match is None:
            raise _explain(text)
        unit, exponent = match["unit"] or "", match["exponent"]
        if unit in BINARY:
            scale, style = Decimal(1024) ** BINARY[unit], "binary"
        elif exponent is not None:
            scale, style = Decimal(10) ** int(exponent), "exponent"
        else:
            scale, style = Decimal(10) ** DECIMAL[unit], "decimal"
        value = Decimal(match["number"]) * scale
        if value > LARGEST:
            raise invalid(f"{text} is more than Kubernetes can count", f"Write at most {LARGEST}")
        return cls(value.quantize(SMALLEST_STEP, rounding=ROUND_UP), style)

    @classmethod
    def of(cls, amount: Decimal | int, *, like: Quantity) -> Quantity:
        """Return an amount, written as another one is."""
        return cls(Decimal(amount), like.style)

    def __str__(self) -> str:
        """Write it as the API server would return it, so that nothing looks changed after applying."""
        if not self.value:
            return "0"
        if self.style == "binary" and self.value >= 1024 and self.value == int(self.value):
            return _shorten(int(self.value), 1024, BINARY, 0)
        units = (
            DECIMAL if self.style != "exponent" else {f"e{power}" if power else "": power for power in DECIMAL.values()}
        )
        return _shorten(int(self.value / SMALLEST_STEP), 1000, units, -9)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.value == other.value

    def __lt__(self, other: Quantity) -> bool:
        return self.value < other.value

    def __hash__(self) -> int:
        return hash(self.value)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._validate, serialization=core_schema.to_string_ser_schema()
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": ["string", "number"], "pattern": PATTERN}

    @classmethod
    def _validate(cls, value: object) -> Quantity:
        if isinstance(value, Quantity):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return cls.parse(format(Decimal(str(value)), "f"))
        raise invalid("is not a quantity", "Write a number with a unit, such as 500m or 16Gi")


def _shorten(number: int, base: int, units: dict[str, int], power: int) -> str:
    """Write a number of `base ** power`s with the largest unit that leaves it whole."""
    step = 1 if base == 1024 else 3
    names = {rank: name for name, rank in units.items()}
    while number % base == 0 and power + step in names:
        number //= base
        power += step
    return f"{number}{names.get(power, '')}"


def _explain(text: str) -> Exception:
    if text.startswith("-"):
        return invalid(f"{text} is negative", "Write 0 or more")
    if not (match := _ALMOST.fullmatch(text)):
        return invalid(f"{text!r} is not a quantity", "Write a number with a unit, such as 500m or 16Gi")
    number, unit = match["number"], match["unit"]
    if _QUANTITY.fullmatch(number + unit):
        return invalid(f"{text!r} has a space before its unit", f"Write {number}{unit}")
    return invalid(f"{text!r} has a unit that Kubernetes does not know: {unit!r}", f"Write {_meant(number, unit)}")


def _meant(number: str, unit: str) -> str:
    """Say what a person who wrote this unit meant."""
    letter = unit[0].upper()
    if unit.lower() in {"c", "core", "cores", "cpu", "cpus", "vcpu", "vcpus", "gpu", "gpus"}:
        return number
    if unit.lower() in {"b", "byte", "bytes"}:
        return f"{number}, which is a number of bytes"
    if letter in "KMGTPE" and unit.lower()[1:] in {"", "b", "i", "ib"}:
        decimal, binary = letter.replace("K", "k"), f"{letter}i"
        if unit.lower()[1:].startswith("i"):
            return f"{number}{binary}"
        return f"{number}{decimal} (powers of 1000) or {number}{binary} (powers of 1024)"
    return "one of the units m, k, M, G, T, Ki, Mi, Gi, Ti, or none"
