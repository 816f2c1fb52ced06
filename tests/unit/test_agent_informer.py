"""The informer: every change is told once, also across lost and expired watches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from sandbox.agent.api import Api
from sandbox.agent.informer import Informer

Json = dict[str, Any]
Change = tuple[int | None, int | None]


def item(uid: str, version: int, *, kept: bool = True) -> Json:
    return {"metadata": {"uid": uid, "resourceVersion": str(version)}, "kept": kept}


class FakeApi:
    """Answers each list and each watch from a script."""

    def __init__(self, lists: list[list[Json]], watches: list[list[Json]]) -> None:
        self.lists = lists
        self.watches = watches
        self.versions: list[str] = []

    def get(self, _path: str, **_query: str) -> Json:
        return {"items": self.lists.pop(0), "metadata": {"resourceVersion": "1"}}

    def watch(self, _path: str, version: str, **_query: str) -> Iterator[Json]:
        self.versions.append(version)
        yield from self.watches.pop(0)


def version(value: Json | None) -> int | None:
    return int(value["metadata"]["resourceVersion"]) if value else None


def changes(api: FakeApi, steps: str) -> list[Change]:
    """Run some lists (`l`) and watches (`w`) and return what the handler was told."""
    told: list[Change] = []
    informer = Informer(
        cast("Api", api),
        "/api/v1/pods",
        lambda before, after: told.append((version(before), version(after))),
        keep=lambda value: value["kept"],
    )
    at = ""
    for step in steps:
        at = informer.list_once() if step == "l" else informer.watch_once(at)
    return told


def test_list_and_watch_tell_each_change() -> None:
    events = [
        {"type": "MODIFIED", "object": item("a", 5)},
        {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}},
        {"type": "DELETED", "object": item("a", 8)},
    ]
    api = FakeApi([[item("a", 1)]], [events, []])
    assert changes(api, "lww") == [(None, 1), (1, 5), (5, None)]
    assert api.versions == ["1", "8"]


def test_expired_watch_leads_to_a_new_list() -> None:
    gone = [{"type": "ERROR", "object": {"code": 410}}]
    api = FakeApi([[item("a", 1)], [item("b", 9)]], [gone])
    assert changes(api, "lwl") == [(None, 1), (1, None), (None, 9)]


def test_object_that_stops_mattering_counts_as_deleted() -> None:
    dropped = {"type": "MODIFIED", "object": item("a", 3, kept=False)}
    api = FakeApi([[item("a", 1), item("x", 2, kept=False)]], [[dropped]])
    assert changes(api, "lw") == [(None, 1), (1, None)]
