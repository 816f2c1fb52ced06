"""All containers of one pod: init containers in order, sidecars beside, then the others together."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sandbox.agent.containers import Container, Running, Terminated, restored
from sandbox.agent.context import PodContext
from sandbox.agent.images import image_of
from sandbox.agent.runner import ContainerRunner
from sandbox.agent.status import is_sidecar
from sandbox.agent.tasks import cancelled

Json = dict[str, Any]

_POLL_SECONDS = 0.1


class ContainerSet:
    """The containers of a pod, with what an earlier agent reported of them.

    Init containers without a program are simulated: a sidecar is said to run, any other to have done its work.
    """

    def __init__(self, context: PodContext) -> None:
        self._context = context
        spec, status = context.pod["spec"], context.pod.get("status", {})
        policy = spec.get("restartPolicy", "Always")
        init_policy = "Never" if policy == "Never" else "OnFailure"
        self._declared_init: list[Json] = spec.get("initContainers", [])
        self._init = [
            self._runner(item, "Always" if is_sidecar(item) else init_policy, status.get("initContainerStatuses"))
            for item in self._declared_init
        ]
        self._main = [self._runner(item, policy, status.get("containerStatuses")) for item in spec["containers"]]

    def _runner(self, declared: Json, policy: str, statuses: list[Json] | None) -> ContainerRunner:
        status = next((item for item in statuses or [] if item["name"] == declared["name"]), None)
        known = restored(declared, status).lost(datetime.now(UTC))
        return ContainerRunner(self._context, declared, known, policy)

    @property
    def init(self) -> list[Container]:
        """What is known of the init containers."""
        return [runner.container for runner in self._init]

    @property
    def main(self) -> list[Container]:
        """What is known of the other containers."""
        return [runner.container for runner in self._main]

    async def run(self) -> None:
        """Run everything until all containers but sidecars have ended for good."""
        sidecars: list[asyncio.Task[None]] = []
        try:
            for declared, runner in zip(self._declared_init, self._init, strict=True):
                if image_of(declared) is None:
                    self._simulate(declared, runner)
                elif is_sidecar(declared):
                    sidecars.append(asyncio.create_task(runner.run()))
                    while not runner.container.started:
                        await asyncio.sleep(_POLL_SECONDS)
                else:
                    await runner.run()
                    if not _succeeded(runner.container):
                        return
            async with asyncio.TaskGroup() as group:
                for runner in self._main:
                    group.create_task(runner.run())
            await self._stop_sidecars(self._context.grace_seconds)
        finally:
            for task in sidecars:
                await cancelled(task)

    async def stop(self, grace_seconds: float) -> None:
        """End every process, sidecars last."""
        initial = [runner for item, runner in zip(self._declared_init, self._init, strict=True) if not is_sidecar(item)]
        await asyncio.gather(*(runner.stop(grace_seconds) for runner in [*initial, *self._main]))
        await self._stop_sidecars(grace_seconds)

    def mark_lost(self) -> None:
        """Note that the processes ended because the pod's namespaces did."""
        for runner in [*self._init, *self._main]:
            if isinstance(runner.container.state, Running):
                runner.container = runner.container.ended(-signal.SIGKILL, datetime.now(UTC))
        self._context.changed()

    async def _stop_sidecars(self, grace_seconds: float) -> None:
        self._context.stopping = True
        pairs = zip(self._declared_init, self._init, strict=True)
        for runner in reversed([runner for item, runner in pairs if is_sidecar(item)]):
            await runner.stop(grace_seconds)

    def _simulate(self, declared: Json, runner: ContainerRunner) -> None:
        now = datetime.now(UTC)
        if is_sidecar(declared):
            runner.container = replace(runner.container, state=Running(now), started=True, ready=True)
        else:
            end = Terminated(exit_code=0, reason="Completed", started_at=now, finished_at=now)
            runner.container = replace(runner.container, state=end, ready=True)
        self._context.changed()


def _succeeded(container: Container) -> bool:
    return isinstance(container.state, Terminated) and container.state.exit_code == 0
