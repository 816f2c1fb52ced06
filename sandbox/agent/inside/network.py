"""A pod's network: an inner namespace the containers live in, an outer one where the agent listens for them.

A virtual cable joins the two. The inner end has the pod's address; the outer end takes every other address of the
cluster for its own, so that whatever a container connects to arrives at a socket the agent holds. As the
agent's sockets live in the outer namespace, they never take a port that a container wants.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.agent.inside import syscalls
from sandbox.agent.inside.netlink import Netlink

_INNER, _OUTER = "eth0", "cable0"


@dataclass(frozen=True)
class Network:
    """The inner namespace, as a descriptor; this process itself is in the outer one."""

    inner: int


def make_network(address: str, gateway: str, networks: list[str]) -> Network:
    """Create both namespaces and join them.

    Args:
        address: the pod's address.
        gateway: where connections from outside seem to come from.
        networks: the cluster's address ranges, all of which lead to the agent.
    """
    syscalls.unshare(syscalls.NEW_NET)
    inner = _this_namespace()
    syscalls.unshare(syscalls.NEW_NET)
    outer = _this_namespace()
    with Netlink() as link:
        link.add_cable(_OUTER, _INNER, inner)
        link.set_up("lo")
        link.add_address(_OUTER, gateway)
        link.set_up(_OUTER)
        link.add_route(f"{address}/32", _OUTER)
        for network in networks:
            link.accept_network(network)
    syscalls.enter(inner, syscalls.NEW_NET)
    with Netlink() as link:
        link.set_up("lo")
        link.add_address(_INNER, address)
        link.set_up(_INNER)
        for network in networks:
            link.add_route(network, _INNER)
    with suppress(OSError):
        Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
    syscalls.enter(outer, syscalls.NEW_NET)
    os.close(outer)
    return Network(inner)


def _this_namespace() -> int:
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
