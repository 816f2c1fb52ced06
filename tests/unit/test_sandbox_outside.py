"""Servers outside the sandbox: which address a name gets, where it leads, and that both survive a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.errors import FlotillaError
from sandbox.agent.outside import OutsideView
from sandbox.cluster import Sandbox
from sandbox.outside import OutsideHosts

DB, BROKER = "db.example.com:3306", "broker.example.com:9092"


def test_each_host_gets_an_address_that_all_its_ports_share() -> None:
    hosts = OutsideHosts().mapped({DB: 1, "db.example.com:33060": 2, BROKER: 3})

    assert hosts.addresses == {"db.example.com": "10.201.0.1", "broker.example.com": "10.201.0.2"}
    assert hosts.targets == {("10.201.0.1", 3306): 1, ("10.201.0.1", 33060): 2, ("10.201.0.2", 9092): 3}
    assert hosts.ports == {3306, 33060, 9092}


def test_host_keeps_its_address_when_others_come_and_go() -> None:
    hosts = OutsideHosts().mapped({DB: 1, BROKER: 2}).mapped({BROKER: 4, "new.example.com:80": 5})

    assert hosts.addresses == {"broker.example.com": "10.201.0.2", "new.example.com": "10.201.0.1"}
    assert hosts.places == {BROKER: 4, "new.example.com:80": 5}


@pytest.mark.parametrize("place", ["db.example.com", "db.example.com:", "db.example.com:70000", "DB:1", ":3306", "-:1"])
def test_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(FlotillaError, match=r"is no host and port\. Write one such as db\.example\.com:3306"):
        OutsideHosts().mapped({place: 1})


def test_written_hosts_are_read_again(tmp_path: Path) -> None:
    hosts = OutsideHosts().mapped({DB: 1, BROKER: 2})
    hosts.write(tmp_path / "outside.json")

    assert OutsideHosts.read(tmp_path / "outside.json") == hosts


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"addresses": {}, "targets": [1]}'])
def test_damaged_file_leads_nowhere(tmp_path: Path, content: str) -> None:
    (tmp_path / "outside.json").write_text(content)

    assert OutsideHosts.read(tmp_path / "outside.json") == OutsideHosts()


def test_agent_sees_changes_at_once(tmp_path: Path) -> None:
    file = tmp_path / "outside.json"
    view = OutsideView(file)
    assert view.hosts == OutsideHosts()

    first = OutsideHosts().mapped({DB: 1})
    first.write(file)
    assert view.hosts == first

    first.mapped({}).write(file)
    assert view.hosts == OutsideHosts()


def test_sandbox_remembers_what_leads_where(tmp_path: Path) -> None:
    Sandbox("other", tmp_path / "other").outside = {DB: 1}

    assert Sandbox("other", tmp_path / "other").outside == {DB: 1}


def test_sandbox_keeps_what_it_had_when_a_name_is_refused(tmp_path: Path) -> None:
    sandbox = Sandbox("other", tmp_path / "other")
    sandbox.outside = {DB: 1}

    with pytest.raises(FlotillaError):
        sandbox.outside = {BROKER: 2, "nonsense": 3}

    assert sandbox.outside == {DB: 1}
