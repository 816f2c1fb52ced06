"""What people and programs are shown, and which checks `--only` chooses."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from infra.errors import FlotillaError
from ops.doctor import mysql
from ops.doctor.choose import choose, groups
from ops.doctor.examine import Examination
from ops.doctor.finding import Finding
from ops.doctor.report import print_table, summary, to_json
from tests.unit.doctor_fakes import FakeProbe

FINDINGS = (
    Finding(check="dns", group="network", subject="data.events [b]", status="ok", what="b is 10.0.0.1"),
    Finding(
        check="kafka-login",
        group="kafka",
        subject="data.events [b]",
        status="fail",
        what="refuses the user [bold]alice[/]",
        why="Nothing is delivered.",
        run="Correct the Secret",
    ),
)


def printed() -> str:
    file = io.StringIO()
    print_table(Console(file=file, width=140), "prod-aws", FINDINGS)
    return file.getvalue()


def test_the_table_has_every_finding_under_its_subject() -> None:
    text = printed()

    assert text.count("data.events [b]") == 2  # over its rows, and beside the advice
    assert "b is 10.0.0.1" in text


def test_faults_are_followed_by_why_and_run_and_markup_is_text() -> None:
    text = printed()

    assert "refuses the user [bold]alice[/]" in text
    assert "  why: Nothing is delivered.\n  run: Correct the Secret\n" in text


def test_json_holds_every_field() -> None:
    document = json.loads(to_json("prod-aws", FINDINGS))

    assert document["environment"] == "prod-aws"
    assert document["faults"] is True
    assert document["counts"] == {"fail": 1, "warn": 0, "skipped": 0, "ok": 1}
    assert document["findings"][1] == {
        "check": "kafka-login",
        "group": "kafka",
        "subject": "data.events [b]",
        "status": "fail",
        "what": "refuses the user [bold]alice[/]",
        "why": "Nothing is delivered.",
        "run": "Correct the Secret",
    }


def test_the_summary_leaves_out_what_there_is_none_of() -> None:
    assert summary(FINDINGS) == "1 faults, 1 ok"
    assert summary(()) == "no checks"


def test_a_group_brings_the_checks_it_needs() -> None:
    [chosen] = choose([Examination(probe=FakeProbe(), checks=mysql.WRITER)], groups(["mysql"]))

    assert [check.name for check in chosen.checks[:4]] == ["dns", "tcp", "tls", "mysql-login"]


def test_the_network_alone_needs_nothing_of_the_servers() -> None:
    [chosen] = choose([Examination(probe=FakeProbe(), checks=mysql.WRITER)], groups(["network"]))

    assert [check.name for check in chosen.checks] == ["dns", "tcp", "tls"]


def test_targets_of_other_groups_are_closed_and_left_out() -> None:
    probe = FakeProbe()

    assert choose([Examination(probe=probe, checks=mysql.WRITER)], groups(["cluster"])) == []
    assert probe.closed == [True]


def test_an_unknown_group_is_named_with_what_was_meant() -> None:
    with pytest.raises(FlotillaError, match="Did you mean kafka"):
        groups(["kafak"])
