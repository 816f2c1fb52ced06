"""Whether names resolve and servers accept connections."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip
from ops.doctor.network.endpoint import Endpoint, Networked
from ops.doctor.patience import patience

T = TypeVar("T")


def side_by_side(items: Sequence[T], look: Callable[[T], Verdict]) -> Iterator[Verdict]:
    """Yield what each look sees, in order; all look at once."""
    if items:
        with ThreadPoolExecutor(max_workers=len(items)) as pool:
            yield from pool.map(look, items)


@check(
    "dns",
    "network",
    why="Components reach the server by its name; without an address each of them fails at its start.",
    run="Correct the host in the settings, or add the record to the DNS that the cluster's nodes ask.",
)
def dns(probe: Networked) -> Verdicts:
    """The addresses that each host name resolves to."""
    return side_by_side(probe.endpoints, _resolve)


@check(
    "tcp",
    "network",
    why="A server that cannot be connected to is down, or a firewall stands before it.",
    run="Start the server, or open its port for the cluster's nodes and for this machine.",
    needs=("dns",),
)
def tcp(probe: Networked) -> Verdicts:
    """Whether each address accepts a TCP connection."""
    return side_by_side(probe.endpoints, lambda endpoint: _connect(endpoint, probe.timeout))


class UnreachableError(Exception):
    """Nothing accepts a connection there, which the check `tcp` has reported."""


def open_connection(endpoint: Endpoint, timeout: float) -> socket.socket:
    """Return a connection to an endpoint, whose reads take no longer than the timeout either.

    Raises:
        UnreachableError: there is none to be had.
    """
    try:
        return _dial(endpoint, timeout)
    except OSError as error:
        raise UnreachableError from error


def unreachable(endpoint: Endpoint) -> Verdict:
    """Return that a check leaves out an address that the check `tcp` has reported."""
    return skip("needs tcp, which failed", subject=endpoint.subject)


def _dial(endpoint: Endpoint, timeout: float) -> socket.socket:
    address = endpoint.address
    connection = socket.create_connection((address.host, address.port), timeout=timeout)
    connection.settimeout(timeout)
    return connection


def _resolve(endpoint: Endpoint) -> Verdict:
    host = endpoint.address.host
    try:
        found = socket.getaddrinfo(host, endpoint.address.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        return fail(
            f"the name {host} does not resolve",
            run=f"Correct the host in the settings, or add its record; then: getent hosts {host}",
            subject=endpoint.subject,
        )
    addresses = sorted({str(entry[4][0]) for entry in found})
    return ok(f"{host} is {', '.join(addresses)}", subject=endpoint.subject)


def _connect(endpoint: Endpoint, timeout: float) -> Verdict:
    address = endpoint.address
    try:
        with contextlib.closing(_dial(endpoint, patience(timeout))):
            return ok("accepts connections", subject=endpoint.subject)
    except TimeoutError:
        what, advice = "does not answer: packets are dropped", "Open the port in the firewalls on the way"
    except ConnectionRefusedError:
        what, advice = "refuses connections: nothing listens there", "Start the server, or correct the port"
    except OSError as error:
        what, advice = f"cannot be reached ({error.strerror or error})", "Look at routes and firewalls"
    return fail(what, run=f"{advice}; then: nc -vz {address.host} {address.port}", subject=endpoint.subject)
