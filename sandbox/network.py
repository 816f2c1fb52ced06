"""The sandbox's address plan: which addresses Services, nodes and pods have inside one sandbox.

None of them exists on the host, so any number of sandboxes can use the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

SERVICE_CIDR = "10.96.0.0/16"
API_SERVICE_ADDRESS = "10.96.0.1"
"""First address of the Service range: the `kubernetes` Service."""

NODE_CIDR = "10.128.0.0/16"
CONTROL_PLANE_ADDRESS = "10.128.0.1"
"""What the `kubernetes` Service's endpoint says. Nothing listens there: the agent maps it to the port."""

POD_CIDR = "10.160.0.0/11"
"""Simulated pods: the controller manager hands a /24 of it to each node."""

PROCESS_POD_CIDR = "10.200.0.0/16"
"""Pods that run as processes; apart from the simulated ones, whose addresses kwok picks."""

OUTSIDE_CIDR = "10.201.0.0/16"
"""Servers outside that process pods reach by name: an address for each name, led to local ports by the agent."""

KUBELET_PORT = 10250


def free_node_addresses(taken: Iterable[str]) -> Iterator[str]:
    """Yield node addresses in order, leaving out those that are taken."""
    used = {*taken, CONTROL_PLANE_ADDRESS}
    for address in IPv4Network(NODE_CIDR).hosts():
        if str(address) not in used:
            yield str(address)
