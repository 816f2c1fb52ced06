"""The few network settings a pod needs, said to the kernel directly: no `ip` program has to be installed."""

from __future__ import annotations

import errno
import os
import socket
import struct
from types import TracebackType

_NEW_LINK, _NEW_ADDRESS, _NEW_ROUTE = 16, 20, 24
_REQUEST, _ACKNOWLEDGE, _CREATE, _EXCLUSIVE = 0x1, 0x4, 0x400, 0x200
_ERROR = 2
_NAME, _LINK_INFO, _NAMESPACE = 3, 18, 28
_INFO_KIND, _INFO_DATA, _PEER = 1, 2, 1
_ADDRESS, _LOCAL = 1, 2
_DESTINATION, _OUTPUT = 1, 4
_UP = 1
_MAIN_TABLE, _STATIC = 254, 4
_UNICAST, _LOCAL_ROUTE = 1, 2
_LINK_SCOPE, _HOST_SCOPE = 253, 254
_HEADER = struct.Struct("=IHHII")


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def _text(kind: int, text: str) -> bytes:
    return _attribute(kind, text.encode() + b"\0")


def _link(index: int = 0, flags: int = 0) -> bytes:
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, flags)


class Netlink:
    """A conversation with the kernel about the network namespace it was opened in."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._sequence = 0

    def __enter__(self) -> Netlink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def add_cable(self, name: str, peer: str, peer_namespace: int) -> None:
        """Create a virtual cable: one end here, the other in the namespace of a file descriptor."""
        other_end = _link() + _text(_NAME, peer) + _attribute(_NAMESPACE, struct.pack("=I", peer_namespace))
        kind = _text(_INFO_KIND, "veth") + _attribute(_INFO_DATA, _attribute(_PEER, other_end))
        self._request(_NEW_LINK, _link() + _text(_NAME, name) + _attribute(_LINK_INFO, kind), create=True)

    def set_up(self, name: str) -> None:
        """Switch an interface on."""
        self._request(_NEW_LINK, _link(socket.if_nametoindex(name), _UP))

    def add_address(self, name: str, address: str) -> None:
        """Give an interface a single address, without a route to its neighbours."""
        packed = socket.inet_aton(address)
        message = struct.pack("=BBBBI", socket.AF_INET, 32, 0, 0, socket.if_nametoindex(name))
        message += _attribute(_LOCAL, packed) + _attribute(_ADDRESS, packed)
        self._request(_NEW_ADDRESS, message, create=True)

    def add_route(self, network: str, name: str) -> None:
        """Send what goes to a network out of an interface."""
        self._add_route(network, name, _UNICAST, _LINK_SCOPE)

    def accept_network(self, network: str, name: str = "lo") -> None:
        """Take every address of a network for our own, unless a narrower route says otherwise."""
        self._add_route(network, name, _LOCAL_ROUTE, _HOST_SCOPE)

    def _add_route(self, network: str, name: str, kind: int, scope: int) -> None:
        address, _, bits = network.partition("/")
        message = struct.pack("=BBBBBBBBI", socket.AF_INET, int(bits or 32), 0, 0, _MAIN_TABLE, _STATIC, scope, kind, 0)
        message += _attribute(_DESTINATION, socket.inet_aton(address))
        message += _attribute(_OUTPUT, struct.pack("=I", socket.if_nametoindex(name)))
        self._request(_NEW_ROUTE, message, create=True)

    def _request(self, kind: int, payload: bytes, *, create: bool = False) -> None:
        self._sequence += 1
        flags = _REQUEST | _ACKNOWLEDGE | (_CREATE | _EXCLUSIVE if create else 0)
        self._socket.send(_HEADER.pack(_HEADER.size + len(payload), kind, flags, self._sequence, 0) + payload)
        answer = self._socket.recv(65536)
        _, answered, *_ = _HEADER.unpack_from(answer)
        if answered != _ERROR:
            raise OSError(errno.EPROTO, "the kernel answered something else than an acknowledgement")
        code = -struct.unpack_from("=i", answer, _HEADER.size)[0]
        if code:
            raise OSError(code, f"network set-up: {os.strerror(code)}")
