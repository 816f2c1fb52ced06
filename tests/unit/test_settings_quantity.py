"""Quantities read, compare and write as Kubernetes' own do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils import parse_quantity
from pydantic_core import PydanticCustomError

from infra.settings.quantity import BINARY, DECIMAL, LARGEST, Quantity

UNITS = [*DECIMAL, *BINARY]
WHOLE = st.integers(min_value=0, max_value=9000).map(str)
FRACTIONS = st.decimals(min_value=0, max_value=8, places=3).map(str)
QUANTITIES = st.one_of(
    st.tuples(WHOLE, st.sampled_from([unit for unit in UNITS if unit not in {"E", "Ei", "Pi"}])).map("".join),
    st.tuples(FRACTIONS, st.sampled_from([unit for unit in UNITS if unit not in {"n", "u", "E", "Ei"}])).map("".join),
    st.tuples(WHOLE, st.sampled_from(["e3", "E6", "e0", "e+3", "e-3"])).map("".join),
)


@given(QUANTITIES)
def test_value_is_what_kubernetes_client_reads(text: str) -> None:
    assert Quantity.parse(text).value == parse_quantity(text.replace("e+3", "e3"))


@given(QUANTITIES)
def test_writing_and_reading_keeps_the_value(text: str) -> None:
    quantity = Quantity.parse(text)
    assert Quantity.parse(str(quantity)) == quantity


@given(QUANTITIES)
def test_writing_is_stable(text: str) -> None:
    written = str(Quantity.parse(text))
    assert str(Quantity.parse(written)) == written


@given(QUANTITIES, QUANTITIES)
def test_order_is_that_of_the_values(one: str, other: str) -> None:
    left, right = Quantity.parse(one), Quantity.parse(other)
    assert (left < right, left == right, left > right) == (
        left.value < right.value,
        left.value == right.value,
        left.value > right.value,
    )
    assert left != right or hash(left) == hash(right)


@given(st.text(max_size=20))
def test_any_text_is_a_quantity_or_explained(text: str) -> None:
    context = explanation(text)
    assert context is None or (context["what"] and context["remedy"])


def explanation(text: str) -> dict[str, Any] | None:
    try:
        Quantity.parse(text)
    except PydanticCustomError as error:
        return error.context
    return None


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("0", "0"),
        ("0Gi", "0"),
        ("1000m", "1"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1000Mi", "1000Mi"),
        ("0.5Ki", "512"),
        ("0.1Gi", "107374182400m"),
        ("1000k", "1M"),
        ("1500", "1500"),
        ("2000", "2k"),
        ("1e3", "1e3"),
        ("100e1", "1e3"),
        ("1E", "1E"),
        ("7Ei", "7Ei"),
        ("0.1n", "1n"),
    ],
)
def test_text_is_what_the_api_server_returns(written: str, canonical: str) -> None:
    assert str(Quantity.parse(written)) == canonical


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("10GB", "Write 10G (powers of 1000) or 10Gi (powers of 1024)"),
        ("10gb", "Write 10G (powers of 1000) or 10Gi (powers of 1024)"),
        ("10g", "Write 10G (powers of 1000) or 10Gi (powers of 1024)"),
        ("4K", "Write 4k (powers of 1000) or 4Ki (powers of 1024)"),
        ("10GiB", "Write 10Gi"),
        ("10gi", "Write 10Gi"),
        ("512 Mi", "Write 512Mi"),
        ("4 vCPUs", "Write 4"),
        ("1024 bytes", "Write 1024, which is a number of bytes"),
        ("3 apples", "Write one of the units m, k, M, G, T, Ki, Mi, Gi, Ti, or none"),
        ("-1", "Write 0 or more"),
        ("", "Write a number with a unit, such as 500m or 16Gi"),
        ("1,5Gi", "Write a number with a unit, such as 500m or 16Gi"),
        ("9Ei", f"Write at most {LARGEST}"),
    ],
)
def test_wrong_unit_is_explained(text: str, remedy: str) -> None:
    context = explanation(text)
    assert context is not None
    assert context["remedy"] == remedy


def test_equal_amounts_are_equal_however_written() -> None:
    assert Quantity.parse("1Gi") == Quantity.parse("1024Mi")
    assert len({Quantity.parse("1"), Quantity.parse("1000m"), Quantity.parse("1e0")}) == 1


def test_amount_is_written_like_another() -> None:
    assert str(Quantity.of(2**31, like=Quantity.parse("1Gi"))) == "2Gi"
    assert str(Quantity.of(Decimal(2000), like=Quantity.parse("1"))) == "2k"


def test_quantity_is_nothing_else() -> None:
    assert Quantity.parse("1") != 1
