"""Scalars that carry meaning: names, addresses and amounts that are checked where they enter."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import core_schema

from infra.settings.problems import invalid
from infra.settings.quantity import Quantity

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

T = TypeVar("T")

MOST_CPUS = Decimal(10_000)
LEAST_REPLICAS = 2
MOST = 2**31 - 1
"""Largest number that Kubernetes' own integer fields hold."""


@dataclass(frozen=True)
class Noun:
    """What a scalar is called in the reference."""

    noun: str


@dataclass(frozen=True)
class Text:
    """A text of one shape.

    Args:
        pattern: regular expression that the whole text matches.
        longest: most characters.
        noun: what it is called.
        remedy: what to write instead of a text of another shape.

    """

    pattern: str
    longest: int
    noun: str
    remedy: str

    def check(self, value: str) -> str:
        """Return the text, or raise what is wrong with it."""
        if not re.fullmatch(self.pattern, value):
            article = "an" if self.noun[0] in "aeiou" else "a"
            raise invalid(f"{value!r} is not {article} {self.noun}", self.remedy)
        if len(value) > self.longest:
            raise invalid(f"has {len(value)} characters", f"Write at most {self.longest}")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "pattern": f"^{self.pattern}$", "maxLength": self.longest}


class NotEmpty:
    """A list of at least one item, checked once its items are valid."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "minItems": 1}

    @staticmethod
    def check(value: tuple[T, ...]) -> tuple[T, ...]:
        """Return the list, or raise that it is empty."""
        if not value:
            raise invalid("the list is empty", "Write at least one item")
        return value


def _cpu(value: Quantity) -> Quantity:
    if value.value > MOST_CPUS:
        thousandths = f"{int(value.value / 10**6)}m" if value.value >= 10**6 else f"{int(value.value)}m"
        raise invalid(f"{value} is {value.value:.0f} CPUs", f"Write {thousandths} for thousandths of a CPU")
    if value.value % Decimal("0.001"):
        raise invalid(f"{value} is finer than a thousandth of a CPU", "Write whole thousandths, such as 1m")
    return value


def _memory(value: Quantity) -> Quantity:
    if value.value % 1:
        number = str(value)[:-1]
        remedy = f"Write {number}M or {number}Mi" if str(value).endswith("m") else "Write whole bytes"
        raise invalid(f"{value} is {float(value.value):g} bytes", remedy)
    return value


def _cidr(value: str) -> str:
    try:
        network = ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise invalid(f"{value!r} is not a range of addresses", "Write one such as 10.0.0.0/8") from None
    if "/" not in value:
        raise invalid(f"{value!r} has no prefix length", f"Write {network} for this one address")
    if not value.startswith(f"{network.network_address}/"):
        raise invalid(f"{value!r} has bits set after its prefix", f"Write {network}")
    return value


def _highly_available(value: int) -> int:
    if value < LEAST_REPLICAS:
        what = f"{value} is not highly available: at least {LEAST_REPLICAS}"
        raise invalid(what, f"Write {LEAST_REPLICAS} or more")
    if value > MOST:
        raise invalid(f"{value} is too large", f"Write {MOST} or less")
    return value


_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = rf"{_LABEL}(\.{_LABEL})*"
_KEY = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_ENDS = "starting and ending with a letter or digit"

DnsLabel = Annotated[str, Text(_LABEL, 63, "DNS label", f"Write lower-case letters, digits and '-', {_ENDS}")]
"""One part of a DNS name, as namespaces and node pools are called."""

DnsName = Annotated[
    str, Text(_NAME, 253, "DNS name", "Write lower-case labels joined by dots, such as kubeflow.example.com")
]
"""A host or object name of several labels."""

LabelKey = Annotated[str, Text(rf"({_NAME}/)?{_KEY}", 317, "label key", "Write name or example.com/name")]
"""Key of a label, annotation or taint, with an optional DNS prefix."""

LabelValue = Annotated[str, Text(rf"({_KEY})?", 63, "label value", f"Write letters, digits, '-', '_' and '.', {_ENDS}")]
"""Value of a label or taint; may be empty."""

EmailAddress = Annotated[
    str,
    Text(
        r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*",
        254,
        "email address",
        "Write one such as name@example.com",
    ),
]
"""Identity of a person, as the identity provider reports it."""

AbsolutePath = Annotated[str, Text(r"/[^\s:]*", 1024, "absolute path", "Start it with '/', without spaces or colons")]
"""Path on a file server."""

Permissions = Annotated[str, Text(r"[0-7]{3,4}", 4, "mode in octal digits", 'Write it quoted, such as "700"')]
"""Mode of a directory."""

EfsId = Annotated[str, Text(r"fs-[0-9a-f]{8,40}", 43, "file system id", "Write one such as fs-0123456789abcdef0")]
"""Id of an EFS file system."""

Word = Annotated[str, Text(r"[A-Za-z0-9]([-A-Za-z0-9_./:=]*[A-Za-z0-9])?", 253, "word", f"Write one word, {_ENDS}")]
"""Name in somebody else's namespace: a region, an instance type, a file system, a mount option."""

Cpu = Annotated[Quantity, AfterValidator(_cpu), Noun("CPUs (`2`, `500m`)")]
"""CPUs: `2`, `0.5` or `500m`."""

Memory = Annotated[Quantity, AfterValidator(_memory), Noun("bytes (`16Gi`)")]
"""Bytes: `512Mi`, `16Gi`, `10G`."""

CidrBlock = Annotated[
    str,
    AfterValidator(_cidr),
    WithJsonSchema({"type": "string", "pattern": "^[0-9a-fA-F.:]+/[0-9]{1,3}$"}),
    Noun("range of addresses (`10.0.0.0/8`)"),
]
"""Range of IP addresses."""

Percent = Annotated[int, Field(ge=1, le=100), Noun("percent")]
"""Share of a whole."""

HaReplicas = Annotated[
    int,
    AfterValidator(_highly_available),
    WithJsonSchema({"type": "integer", "minimum": LEAST_REPLICAS, "maximum": MOST}),
    Noun(f"whole number ≥ {LEAST_REPLICAS}"),
]
"""Number of replicas that survives the loss of one."""

Positive = Annotated[int, Field(ge=1, le=MOST), Noun("whole number ≥ 1")]
Natural = Annotated[int, Field(ge=0, le=MOST), Noun("whole number ≥ 0")]
