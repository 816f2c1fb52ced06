"""Every check is described, and the page of all checks is up to date."""

from __future__ import annotations

import pytest

from infra.components.data.bootstrap import SCRIPTS
from ops.doctor import mysql, postgresql
from ops.doctor.check import Check
from ops.doctor.mysql.privileges import GRANTED
from ops.doctor.network import REACH
from ops.doctor.reference import ALL, PAGE, render


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m ops.doctor.reference"


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_a_check_says_what_it_looks_at_why_and_what_to_run(check: Check[object]) -> None:
    for text in (check.looks_at, check.why, check.run):
        assert text.endswith("."), text
        assert text[0] == text[0].upper() or text.startswith(("kubectl", "kafka", "rabbitmq", "aws", "chronyc")), text


def test_a_check_needs_only_checks_that_come_before_it() -> None:
    for checks in (mysql.WRITER, mysql.REPLICA, postgresql.WRITER, postgresql.REPLICA):
        known: set[str] = set()
        for check in checks:
            assert set(check.needs) <= known, check.name
            known.add(check.name)


def test_every_check_but_those_of_the_network_carries_its_group_in_its_name() -> None:
    assert [each.name for each in ALL if each not in REACH and not each.name.startswith(f"{each.group}-")] == []


def test_what_is_tried_to_grant_is_what_the_bootstrap_job_grants() -> None:
    assert f'PRIVILEGES="{GRANTED}"' in (SCRIPTS / "mysql.sh").read_text(encoding="utf-8")
