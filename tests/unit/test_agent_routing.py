"""Routing: Services lead to their ready endpoints, and their names to the addresses."""

from __future__ import annotations

import pytest

from infra.errors import FlotillaError
from sandbox.agent.addresses import AddressPool
from sandbox.agent.routing import Routes, hosts_file, resolver_file, routes
from tests.unit.agent_objects import endpoint, endpoint_slice, service

WEB = service("web", ports=[{"name": "https", "port": 443}, {"name": "metrics", "port": 8080}])
WEB_SLICE = endpoint_slice(
    "web",
    [endpoint("10.200.0.11"), endpoint("10.200.0.12", ready=False)],
    [{"name": "https", "port": 9443}, {"name": "metrics", "port": 8080}],
)


def test_service_port_leads_to_the_target_port_of_ready_endpoints() -> None:
    table = routes([WEB], [WEB_SLICE])
    assert table.resolve("10.96.0.9", 443) == ("10.200.0.11", 9443)
    assert table.resolve("10.96.0.9", 8080) == ("10.200.0.11", 8080)
    assert table.names["10.96.0.9", 443] == "demo/web"


def test_service_without_ready_endpoint_leads_nowhere() -> None:
    assert routes([WEB], []).resolve("10.96.0.9", 443) is None


def test_address_that_is_no_service_stands_for_itself() -> None:
    assert routes([WEB], [WEB_SLICE]).resolve("10.200.0.12", 99) == ("10.200.0.12", 99)


def test_endpoints_of_other_services_and_families_are_left_out() -> None:
    other = endpoint_slice("other", [endpoint("10.200.0.20")], [{"name": "https", "port": 1}])
    six = endpoint_slice("web", [endpoint("fd00::1")], [{"name": "https", "port": 9443}], kind="IPv6")
    elsewhere = endpoint_slice("web", [endpoint("10.200.0.30")], [{"name": "https", "port": 1}], namespace="x")
    table = routes([WEB], [WEB_SLICE, other, six, elsewhere])
    assert table.services["10.96.0.9", 443] == [("10.200.0.11", 9443)]


def test_ports_cover_services_and_endpoints_but_not_udp() -> None:
    dns = service("dns", "10.96.0.10", [{"name": "dns", "port": 53, "protocol": "UDP"}])
    assert routes([WEB, dns], [WEB_SLICE]).ports == {443, 8080, 9443}


def test_hosts_file_has_short_names_for_the_own_namespace_only() -> None:
    table = routes([WEB, service("api", "10.96.0.7", namespace="other")], [WEB_SLICE])
    lines = hosts_file(table, "demo", {"10.200.0.11": "web-0"}).splitlines()
    assert "127.0.0.1 localhost" in lines
    assert "10.200.0.11 web-0" in lines
    assert "10.96.0.9 web.demo.svc.cluster.local web.demo.svc web.demo web" in lines
    assert "10.96.0.7 api.other.svc.cluster.local api.other.svc api.other" in lines


def test_headless_service_goes_by_its_ready_endpoints_and_their_host_names() -> None:
    headless = service("db", "None", [{"port": 5432}])
    members = [endpoint("10.200.0.21", hostname="db-0"), endpoint("10.200.0.22", ready=False, hostname="db-1")]
    table = routes([headless], [endpoint_slice("db", members, [{"port": 5432}])])
    text = hosts_file(table, "demo", {})
    assert "10.200.0.21 db.demo.svc.cluster.local" in text
    assert "10.200.0.21 db-0.db.demo.svc.cluster.local db-0.db.demo.svc db-0.db.demo db-0.db" in text
    assert "10.200.0.22" not in text
    assert table.ports == {5432}


def test_resolver_file_searches_the_namespace_first() -> None:
    assert resolver_file("demo", "10.96.0.1").startswith(
        "search demo.svc.cluster.local svc.cluster.local cluster.local\n"
    )


def test_addresses_are_handed_out_once_and_come_back() -> None:
    pool = AddressPool("10.200.0.0/28")
    taken = [pool.take() for _ in range(4)]
    assert len(set(taken)) == 4
    with pytest.raises(FlotillaError, match="no pod address is left"):
        pool.take()
    pool.give_back(taken[2])
    assert pool.take(taken[2]) == taken[2]


def test_wanted_address_is_kept_unless_somebody_has_it() -> None:
    pool = AddressPool("10.200.0.0/24")
    wanted = "10.200.0.77"
    assert pool.take(wanted) == wanted
    assert pool.take(wanted) != wanted
    assert pool.take("192.168.0.1").startswith("10.200.0.")


def test_hosts_file_has_the_hosts_of_the_outside() -> None:
    lines = hosts_file(Routes(), "demo", {}, {"db.example.com": "10.201.0.1"}).splitlines()

    assert "10.201.0.1 db.example.com" in lines
