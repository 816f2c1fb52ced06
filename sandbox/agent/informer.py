"""A thread that keeps up with one collection of the API server and tells what changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from sandbox.agent.api import Api, ApiError

_log = logging.getLogger(__name__)

Json = dict[str, Any]
Handler = Callable[[Json | None, Json | None], None]
"""Gets an object before and after a change; None before it existed, and after it was deleted."""

_PAUSE_SECONDS = 1.0


class Informer:
    """Lists a collection, then watches it; lists again when the server has forgotten where we were.

    Args:
        api: the way to the API server.
        path: the collection, for all namespaces.
        handler: called in the informer's thread for each change.
        keep: which objects matter; all others are treated as if they did not exist.
        query: field and label selectors.
    """

    def __init__(
        self,
        api: Api,
        path: str,
        handler: Handler,
        *,
        keep: Callable[[Json], bool] = lambda _: True,
        query: dict[str, str] | None = None,
    ) -> None:
        self._api = api
        self._path = path
        self._handler = handler
        self._keep = keep
        self._query = query or {}
        self._known: dict[str, Json] = {}
        self._synced = threading.Event()

    def start(self) -> None:
        """Start the thread; it ends with the program."""
        threading.Thread(target=self._run, name=f"informer {self._path}", daemon=True).start()

    def wait(self, timeout_seconds: float) -> bool:
        """Wait for the first list; return whether it came in time."""
        return self._synced.wait(timeout_seconds)

    def knows(self, uid: str) -> bool:
        """Return whether an object exists and matters."""
        return uid in self._known

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            try:
                version = self.list_once()
                self._synced.set()
                while version:
                    version = self.watch_once(version)
            except Exception as error:
                if not isinstance(error, ApiError):
                    _log.error("watching %s failed", self._path, exc_info=error)
            pause.wait(_PAUSE_SECONDS)

    def list_once(self) -> str:
        """Tell what changed since the latest look at the whole collection; return its version."""
        answer = self._api.get(self._path, **self._query)
        present = {item["metadata"]["uid"]: item for item in answer.get("items", []) if self._keep(item)}
        for uid in set(self._known) - set(present):
            self._change(uid, None)
        for uid, item in present.items():
            self._change(uid, item)
        return answer["metadata"]["resourceVersion"]

    def watch_once(self, version: str) -> str:
        """Tell what changes until the server ends the stream; return the version reached, none if it was forgotten."""
        for event in self._api.watch(self._path, version, **self._query):
            item: Json = event["object"]
            if event["type"] == "ERROR":
                return ""
            version = item["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                kept = event["type"] != "DELETED" and self._keep(item)
                self._change(item["metadata"]["uid"], item if kept else None)
        return version

    def _change(self, uid: str, after: Json | None) -> None:
        before = self._known.get(uid)
        if after is None:
            self._known.pop(uid, None)
        else:
            self._known[uid] = after
        if before is not after:
            self._handler(before, after)
