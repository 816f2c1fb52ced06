"""Stand-ins for what the doctor talks to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ops.doctor.check import Verdict
from ops.doctor.cluster.api import NOT_FOUND, KubeApi, KubeError
from ops.doctor.secret import Secret


@dataclass
class FakeProbe:
    """A probe that connects to nothing."""

    subject: str = "data.fake"
    secrets: frozenset[Secret] = frozenset()
    explained: Verdict | None = None
    closed: list[bool] = field(default_factory=list[bool])

    def explain(self, error: Exception) -> Verdict | None:
        return self.explained

    def close(self) -> None:
        self.closed.append(True)


class FakeApi(KubeApi):
    """An API server with these objects by path, and permissions for these verbs."""

    def __init__(self, objects: dict[str, dict[str, Any]] | None = None, *, may: tuple[str, ...] = ("*",)) -> None:
        self.objects = objects or {}
        self.may = may
        self.asked: list[str] = []

    @property
    def server(self) -> str:
        return "https://api.test:6443"

    def get(self, path: str) -> dict[str, Any]:
        self.asked.append(path)
        if path not in self.objects:
            raise KubeError(NOT_FOUND, f"{path} not found")
        return self.objects[path]

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        verb = body["spec"]["resourceAttributes"]["verb"]
        return {"status": {"allowed": verb in self.may or "*" in self.may}}

    def close(self) -> None:
        """Do nothing."""


class SilentApi(FakeApi):
    """An API server that cannot be reached."""

    def get(self, path: str) -> dict[str, Any]:
        self.asked.append(path)
        raise KubeError(0, "Connection refused")


def resource_list(**kinds: str) -> dict[str, Any]:
    """Return what discovery answers: plurals by kind."""
    return {"resources": [{"kind": kind, "name": plural} for kind, plural in kinds.items()]}
