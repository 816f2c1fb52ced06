"""What is known of one container, and what follows from it: when it restarts, and how it is reported."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

_FIRST_DELAY_SECONDS = 10.0
_LONGEST_DELAY_SECONDS = 300.0
_FORGIVEN_AFTER_SECONDS = 600.0


@dataclass(frozen=True)
class Waiting:
    """The container has no process."""

    reason: str
    message: str = ""

    def to_json(self) -> Json:
        """Return the API's form."""
        return {"waiting": {"reason": self.reason} | ({"message": self.message} if self.message else {})}


@dataclass(frozen=True)
class Running:
    """The container's process runs."""

    started_at: datetime

    def to_json(self) -> Json:
        """Return the API's form."""
        return {"running": {"startedAt": timestamp(self.started_at)}}


@dataclass(frozen=True, kw_only=True)
class Terminated:
    """The container's process ended."""

    exit_code: int
    reason: str
    started_at: datetime
    finished_at: datetime
    message: str = ""

    @property
    def seconds(self) -> float:
        """How long it ran."""
        return (self.finished_at - self.started_at).total_seconds()

    def to_json(self) -> Json:
        """Return the API's form."""
        content = {
            "exitCode": self.exit_code,
            "reason": self.reason,
            "startedAt": timestamp(self.started_at),
            "finishedAt": timestamp(self.finished_at),
        }
        return {"terminated": content | ({"message": self.message} if self.message else {})}


State = Waiting | Running | Terminated


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container of a pod, as its status tells.

    Args:
        name: its name.
        image: its image, as declared.
        state: what it does now.
        last: how its process before this one ended.
        restarts: how many times it was started again.
        started: whether it runs and passed its startup probe.
        ready: whether it may get traffic.
        crashes: ends in a row that count for the delay before the next start.
    """

    name: str
    image: str
    state: State = Waiting("ContainerCreating")
    last: Terminated | None = None
    restarts: int = 0
    started: bool = False
    ready: bool = False
    crashes: int = 0

    def waits(self, reason: str, message: str = "") -> Container:
        """Return it waiting for the next start; how it ended before is kept as its last state."""
        last = self.state if isinstance(self.state, Terminated) else self.last
        return replace(self, state=Waiting(reason, message), last=last, started=False, ready=False)

    def runs(self, now: datetime) -> Container:
        """Return it with a process; any start but the first counts as a restart."""
        last = self.state if isinstance(self.state, Terminated) else self.last
        restarts = self.restarts + 1 if last else self.restarts
        return replace(self, state=Running(now), last=last, restarts=restarts, started=False, ready=False)

    def ended(self, code: int, now: datetime, message: str = "") -> Container:
        """Return it after its process ended with a code, `-n` for signal n."""
        started_at = self.state.started_at if isinstance(self.state, Running) else now
        end = Terminated(
            exit_code=exit_code(code),
            reason="Completed" if code == 0 else "Error",
            started_at=started_at,
            finished_at=now,
            message=message,
        )
        crashes = 1 if end.seconds > _FORGIVEN_AFTER_SECONDS else self.crashes + 1
        return replace(self, state=end, started=False, ready=False, crashes=crashes)

    def lost(self, now: datetime) -> Container:
        """Return it after whoever ran it was gone for a while: how its process ended is not known."""
        if not isinstance(self.state, Running):
            return self
        end = Terminated(
            exit_code=exit_code(-signal.SIGKILL),
            reason="ContainerStatusUnknown",
            started_at=self.state.started_at,
            finished_at=now,
            message="The agent was started again; the container could not be located",
        )
        return replace(self, state=end, started=False, ready=False)

    @property
    def outcome(self) -> Terminated | None:
        """How it ended most recently, unless it runs."""
        if isinstance(self.state, Running):
            return None
        return self.state if isinstance(self.state, Terminated) else self.last

    def to_json(self) -> Json:
        """Return the container status in the API's form."""
        return {
            "name": self.name,
            "image": self.image,
            "imageID": "",
            "state": self.state.to_json(),
            "lastState": self.last.to_json() if self.last else {},
            "restartCount": self.restarts,
            "started": self.started,
            "ready": self.ready,
        }


def restart_delay(crashes: int) -> float:
    """Return how many seconds lie between the latest end and the next start.

    The first restart is immediate; then the delay doubles, up to five minutes.
    """
    if crashes <= 1:
        return 0.0
    return min(_FIRST_DELAY_SECONDS * 2.0 ** min(crashes - 2, 10), _LONGEST_DELAY_SECONDS)


def should_restart(policy: str, code: int) -> bool:
    """Return whether a container that ended with this exit code is started again."""
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def exit_code(code: int) -> int:
    """Return the exit code a runtime reports: 128 + n for a process ended by signal n."""
    return 128 - code if code < 0 else code


def timestamp(moment: datetime) -> str:
    """Return a time as the API writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def restored(container: Json, status: Json | None) -> Container:
    """Return what an earlier run of the agent reported of a container."""
    fresh = Container(name=container["name"], image=container["image"])
    if not status:
        return fresh
    state = _state(status.get("state", {})) or fresh.state
    last = _state(status.get("lastState", {}))
    return replace(
        fresh,
        state=state,
        last=last if isinstance(last, Terminated) else None,
        restarts=status.get("restartCount", 0),
    )


def _state(content: Json) -> State | None:
    if running := content.get("running"):
        return Running(_moment(running.get("startedAt")))
    if terminated := content.get("terminated"):
        return Terminated(
            exit_code=terminated.get("exitCode", 0),
            reason=terminated.get("reason", ""),
            started_at=_moment(terminated.get("startedAt")),
            finished_at=_moment(terminated.get("finishedAt")),
            message=terminated.get("message", ""),
        )
    if waiting := content.get("waiting"):
        return Waiting(waiting.get("reason", ""), waiting.get("message", ""))
    return None


def _moment(text: str | None) -> datetime:
    return datetime.fromisoformat(text) if text else datetime.now(UTC)
