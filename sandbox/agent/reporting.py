"""Tells the API server how a pod is, whenever that changed, and at last that it is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sandbox.agent.api import Api, ApiError
from sandbox.agent.status import Facts, pod_status

_log = logging.getLogger(__name__)

Json = dict[str, Any]

_RETRY_SECONDS = 1.0


class Reporter:
    """Writes one pod's status.

    Args:
        api: the way to the API server.
        pod: the pod.
        facts: returns what is known of the pod now.
    """

    def __init__(self, api: Api, pod: Json, facts: Callable[[], Facts]) -> None:
        metadata = pod["metadata"]
        self._api = api
        self._path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        self._uid = metadata["uid"]
        self._facts = facts
        self._pod = pod
        self._written: Json = {}
        self._due = asyncio.Event()
        self._lock = asyncio.Lock()
        self.silent = False
        """Whether nobody is left who could report."""

    def silence(self) -> None:
        """Report nothing from now on."""
        self.silent = True

    def touch(self) -> None:
        """Have the status written soon."""
        self._due.set()

    def merge(self, pod: Json) -> Json:
        """Return the newer of the pod that is given and the one the latest write returned."""
        if int(pod["metadata"]["resourceVersion"]) >= int(self._pod["metadata"]["resourceVersion"]):
            self._pod = pod
        return self._pod

    @property
    def pod(self) -> Json:
        """The pod as it was seen last."""
        return self._pod

    async def run(self) -> None:
        """Write the status whenever it is due."""
        while True:
            await self._due.wait()
            self._due.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write the status now, if it changed; gives up when the pod is gone."""
        async with self._lock:
            while True:
                status = pod_status(self._facts(), datetime.now(UTC))
                if self.silent or status == self._written:
                    return
                change = {"metadata": {"uid": self._uid}, "status": status}
                try:
                    pod = await asyncio.to_thread(self._api.patch, f"{self._path}/status", change)
                except ApiError as error:
                    if error.missing:
                        return
                    _log.warning("status of %s: %s", self._path, error)
                    await asyncio.sleep(_RETRY_SECONDS)
                else:
                    self._written = status
                    self.merge(pod)

    async def delete(self) -> None:
        """Tell the API server that nothing of the pod is left, so that it can be forgotten."""
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": self._uid}}
        while True:
            try:
                await asyncio.to_thread(self._api.delete, self._path, body)
            except ApiError as error:
                if error.missing:
                    return
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return
