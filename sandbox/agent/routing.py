"""Where a cluster address leads, and which names stand for it; pure functions over Services and EndpointSlices."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Address = tuple[str, int]

DOMAIN = "cluster.local"
_SERVICE_NAME = "kubernetes.io/service-name"


@dataclass(frozen=True)
class Routes:
    """A snapshot of the cluster's Services.

    Args:
        services: ready endpoints by cluster address and port.
        names: the Service behind each cluster address and port, for messages.
        ports: every TCP port a Service or one of its endpoints has.
        hosts: addresses by Service as namespace and name, headless ones by their ready endpoints.
        members: addresses of a headless Service's endpoints that have host names of their own.
    """

    services: Mapping[Address, Sequence[Address]] = field(default_factory=dict[Address, Sequence[Address]])
    names: Mapping[Address, str] = field(default_factory=dict[Address, str])
    ports: frozenset[int] = frozenset()
    hosts: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict[tuple[str, str], Sequence[str]])
    members: Mapping[tuple[str, str], Mapping[str, str]] = field(
        default_factory=dict[tuple[str, str], Mapping[str, str]]
    )

    def resolve(
        self, host: str, port: int, choose: Callable[[Sequence[Address]], Address] = random.choice
    ) -> Address | None:
        """Return the endpoint for a Service's address, or the address itself when it is none.

        None means that it is a Service without a ready endpoint.
        """
        endpoints = self.services.get((host, port))
        if endpoints is None:
            return host, port
        return choose(endpoints) if endpoints else None


def routes(services: Iterable[Json], slices: Iterable[Json]) -> Routes:
    """Return the routes that Services and their EndpointSlices describe."""
    by_service: dict[tuple[str, str], list[Json]] = {}
    for item in slices:
        if item.get("addressType", "IPv4") == "IPv4":
            name = item["metadata"].get("labels", {}).get(_SERVICE_NAME, "")
            by_service.setdefault((item["metadata"]["namespace"], name), []).append(item)
    table: dict[Address, Sequence[Address]] = {}
    names: dict[Address, str] = {}
    ports: set[int] = set()
    hosts: dict[tuple[str, str], Sequence[str]] = {}
    members: dict[tuple[str, str], Mapping[str, str]] = {}
    for service in services:
        key = (service["metadata"]["namespace"], service["metadata"]["name"])
        own_slices = by_service.get(key, [])
        ports |= {port["port"] for item in own_slices for port in _tcp(item)}
        address = service["spec"].get("clusterIP")
        if address and address != "None":
            hosts[key] = [address]
            for port in _tcp(service["spec"]):
                table[address, port["port"]] = _endpoints(own_slices, port.get("name", ""))
                names[address, port["port"]] = f"{key[0]}/{key[1]}"
                ports.add(port["port"])
        elif address == "None":
            hosts[key] = sorted({each for item in own_slices for each in _ready(item)})
            members[key] = _members(own_slices)
    return Routes(table, names, frozenset(ports), hosts, members)


def hosts_file(table: Routes, namespace: str, own: Mapping[str, str], outside: Mapping[str, str] | None = None) -> str:
    """Return what a pod's `/etc/hosts` says.

    Args:
        table: the routes whose Services get names.
        namespace: the pod's namespace, whose Services go by their bare name too.
        own: the pod's own names, by address.
        outside: addresses of hosts outside the cluster, by name.
    """
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback"]
    lines += [f"{address} {names}" for address, names in own.items()]
    lines += [f"{address} {name}" for name, address in sorted((outside or {}).items())]
    for (place, name), addresses in sorted(table.hosts.items()):
        names = _names(name, place, namespace)
        lines += [f"{address} {' '.join(names)}" for address in addresses]
    for (place, name), hosts in sorted(table.members.items()):
        for host, address in sorted(hosts.items()):
            names = [f"{host}.{each}" for each in _names(name, place, namespace)]
            lines.append(f"{address} {' '.join(names)}")
    return "\n".join(lines) + "\n"


def resolver_file(namespace: str, server: str) -> str:
    """Return what a pod's `/etc/resolv.conf` says: the usual search path, so that short names are looked up alike."""
    search = f"{namespace}.svc.{DOMAIN} svc.{DOMAIN} {DOMAIN}"
    return f"search {search}\nnameserver {server}\noptions ndots:5 timeout:1 attempts:1\n"


def _names(name: str, place: str, namespace: str) -> list[str]:
    full = [f"{name}.{place}.svc.{DOMAIN}", f"{name}.{place}.svc", f"{name}.{place}"]
    return [*full, name] if place == namespace else full


def _tcp(item: Json) -> list[Json]:
    ports: list[Json] = item.get("ports") or []
    return [port for port in ports if port.get("protocol", "TCP") == "TCP" and port.get("port")]


def _ready(item: Json) -> list[str]:
    return [
        address
        for endpoint in item.get("endpoints") or []
        if endpoint.get("conditions", {}).get("ready") is not False
        for address in endpoint["addresses"]
    ]


def _endpoints(slices: Iterable[Json], port_name: str) -> list[Address]:
    return sorted(
        {
            (address, port["port"])
            for item in slices
            for port in _tcp(item)
            if (port.get("name") or "") == port_name
            for address in _ready(item)
        }
    )


def _members(slices: Iterable[Json]) -> dict[str, str]:
    return {
        endpoint["hostname"]: endpoint["addresses"][0]
        for item in slices
        for endpoint in item.get("endpoints") or []
        if endpoint.get("hostname") and endpoint.get("conditions", {}).get("ready") is not False
    }
