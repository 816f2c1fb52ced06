"""What the agent knows of the cluster around its pods: Services, endpoints, nodes, ConfigMaps and Secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from infra.errors import FlotillaError
from sandbox.agent.api import Api, ApiError
from sandbox.agent.informer import Informer
from sandbox.agent.routing import Routes, routes

Json = dict[str, Any]
Key = tuple[str, str, str]
"""Kind, namespace and name."""

_COLLECTIONS = {
    "Service": "/api/v1/services",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/endpointslices",
    "Node": "/api/v1/nodes",
    "ConfigMap": "/api/v1/configmaps",
    "Secret": "/api/v1/secrets",
}
_ROUTING = frozenset({"Service", "EndpointSlice"})
_PLURAL = {"ConfigMap": "configmaps", "Secret": "secrets"}
_SYNC_SECONDS = 60.0
_SETTLE_SECONDS = 0.05


class ClusterState:
    """Objects kept up to date by watches.

    Args:
        api: the way to the API server.
        on_routes: called when Services or endpoints changed.
        on_object: called with a ConfigMap's or Secret's key when it changed.
        on_lost_node: called with the name of a node that is gone.
    """

    def __init__(
        self,
        api: Api,
        *,
        on_routes: Callable[[], None],
        on_object: Callable[[Key], None],
        on_lost_node: Callable[[str], None],
    ) -> None:
        self._api = api
        self._loop = asyncio.get_running_loop()
        self._objects: dict[Key, Json] = {}
        self._on_routes = on_routes
        self._on_object = on_object
        self._on_lost_node = on_lost_node
        self._settling: asyncio.TimerHandle | None = None
        self.routes = Routes()
        self.node_addresses: frozenset[str] = frozenset()

    async def start(self) -> None:
        """Start watching, and wait until everything is known once.

        Raises:
            FlotillaError: the API server does not answer in time.
        """
        informers = [Informer(self._api, path, partial(self._post, kind)) for kind, path in _COLLECTIONS.items()]
        for informer in informers:
            informer.start()
        for informer in informers:
            if not await asyncio.to_thread(informer.wait, _SYNC_SECONDS):
                raise FlotillaError("the API server does not answer", remedy="Look at `flotilla sandbox status`")
        await asyncio.sleep(_SETTLE_SECONDS * 2)

    def node(self, name: str) -> Json | None:
        """Return a node."""
        return self._objects.get(("Node", "", name))

    def host_address(self, node_name: str) -> str | None:
        """Return a node's address inside the cluster."""
        addresses: list[Json] = (self.node(node_name) or {}).get("status", {}).get("addresses", [])
        return next((item["address"] for item in addresses if item["type"] == "InternalIP"), None)

    def services(self, namespace: str) -> list[Json]:
        """Return the Services of a namespace."""
        return [item for key, item in list(self._objects.items()) if key[:2] == ("Service", namespace)]

    def find(self, kind: str, namespace: str, name: str) -> Json | None:
        """Return a ConfigMap or Secret; what is not known yet is asked for."""
        return self._objects.get((kind, namespace, name)) or self.read(kind, namespace, name)

    def read(self, kind: str, namespace: str, name: str) -> Json | None:
        """Return a ConfigMap or Secret as it is at this moment."""
        try:
            return self._api.get(f"/api/v1/namespaces/{namespace}/{_PLURAL[kind]}/{name}")
        except ApiError as error:
            if error.missing:
                return None
            raise

    def _post(self, kind: str, before: Json | None, after: Json | None) -> None:
        self._loop.call_soon_threadsafe(self._change, kind, before, after)

    def _change(self, kind: str, before: Json | None, after: Json | None) -> None:
        item = after or before or {}
        key = (kind, item["metadata"].get("namespace", ""), item["metadata"]["name"])
        if after is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = after
        if kind in _ROUTING and not self._settling:
            self._settling = self._loop.call_later(_SETTLE_SECONDS, self._route)
        elif kind == "Node":
            self._note_nodes()
            if after is None:
                self._on_lost_node(item["metadata"]["name"])
        elif kind in _PLURAL:
            self._on_object(key)

    def _route(self) -> None:
        self._settling = None
        by_kind = {kind: [item for key, item in self._objects.items() if key[0] == kind] for kind in _ROUTING}
        fresh = routes(by_kind["Service"], by_kind["EndpointSlice"])
        if fresh != self.routes:
            self.routes = fresh
            self._on_routes()

    def _note_nodes(self) -> None:
        self.node_addresses = frozenset(
            address["address"]
            for key, item in self._objects.items()
            if key[0] == "Node"
            for address in item.get("status", {}).get("addresses", [])
        )
