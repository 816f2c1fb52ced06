"""Events as a kubelet writes them; repeated ones are counted, and a failure to write one is no failure."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import Any

from sandbox.agent.api import Api, ApiError
from sandbox.agent.containers import timestamp

Json = dict[str, Any]

COMPONENT = "flotilla-agent"
_SPAM_SECONDS = 30.0


class Recorder:
    """Writes events about one pod."""

    def __init__(self, api: Api, pod: Json) -> None:
        self._api = api
        self._pod = pod
        self._latest: dict[tuple[str, str], tuple[float, Json]] = {}

    def record(self, reason: str, message: str, *, container: str | None = None, warning: bool = False) -> None:
        """Write an event, or count it up when the same one was written before."""
        key = (reason, message)
        written_at, event = self._latest.get(key, (0.0, {}))
        now = timestamp(datetime.now(UTC))
        collection = f"/api/v1/namespaces/{self._pod['metadata']['namespace']}/events"
        try:
            if not event:
                event = self._api.create(collection, self._event(reason, message, container, now, warning=warning))
            elif time.monotonic() - written_at > _SPAM_SECONDS:
                change = {"count": event["count"] + 1, "lastTimestamp": now}
                event = self._api.patch(f"{collection}/{event['metadata']['name']}", change)
            else:
                return
        except ApiError:
            return
        self._latest[key] = (time.monotonic(), event)

    def _event(self, reason: str, message: str, container: str | None, now: str, *, warning: bool) -> Json:
        metadata = self._pod["metadata"]
        return {
            "metadata": {"name": f"{metadata['name']}.{secrets.token_hex(8)}", "namespace": metadata["namespace"]},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
                "fieldPath": f"spec.containers{{{container}}}" if container else None,
            },
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "message": message[:1024],
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "source": {"component": COMPONENT, "host": self._pod["spec"].get("nodeName")},
            "reportingComponent": COMPONENT,
            "reportingInstance": self._pod["spec"].get("nodeName") or COMPONENT,
        }
