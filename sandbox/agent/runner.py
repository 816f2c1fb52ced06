"""Runs one container: starts it, probes it, starts it again as the pod's policy says, ends it with grace."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from infra.errors import FlotillaError
from sandbox.agent.containers import Container, Terminated, restart_delay, should_restart
from sandbox.agent.context import PodContext
from sandbox.agent.environment import ConfigError
from sandbox.agent.launching import ImageError, launch_spec
from sandbox.agent.namespace import Process
from sandbox.agent.probes import ProbeState, Verdict, plan
from sandbox.agent.probing import ask
from sandbox.agent.tasks import cancelled

Json = dict[str, Any]

_RETRY_SECONDS = 5.0
_START_ERROR = 128
_HOOK_SECONDS = 600.0


class ContainerRunner:
    """One container of a pod.

    Args:
        context: what the pod's containers share.
        declared: the container as declared.
        known: what is known of it already.
        policy: when it is started again: `Always`, `OnFailure` or `Never`.
    """

    def __init__(self, context: PodContext, declared: Json, known: Container, policy: str) -> None:
        self._context = context
        self._declared = declared
        self._policy = policy
        self._process: Process | None = None
        self._spec: Json = {}
        self._ending: asyncio.Task[None] | None = None
        self.container = known

    async def run(self) -> None:
        """Run the container until it has ended for good."""
        while not (self._finished() or self._context.stopping):
            await self._back_off()
            if await self._start():
                await self._attend()

    async def stop(self, grace_seconds: float) -> None:
        """End the process, if there is one: its hook, SIGTERM, and SIGKILL when the grace is over."""
        if self._process and not self._process.ended.done():
            self._begin_end(self._process, grace_seconds)
            await asyncio.wait([self._process.ended])

    def _finished(self) -> bool:
        end = self.container.state
        return isinstance(end, Terminated) and not should_restart(self._policy, end.exit_code)

    def _set(self, container: Container) -> None:
        self.container = container
        self._context.changed()

    async def _back_off(self) -> None:
        delay = restart_delay(self.container.crashes)
        if not delay or not isinstance(self.container.state, Terminated):
            return
        name = self._declared["name"]
        message = f"back-off {delay:.0f}s restarting failed container={name}"
        self._set(self.container.waits("CrashLoopBackOff", message))
        await self._context.event("BackOff", message, name, warning=True)
        await asyncio.sleep(delay)

    async def _start(self) -> bool:
        name = self._declared["name"]
        try:
            self._spec = await asyncio.to_thread(launch_spec, self._context, self._declared)
        except ImageError as error:
            await self._wait_for_better("ErrImagePull", str(error))
            return False
        except ConfigError as error:
            await self._wait_for_better("CreateContainerConfigError", str(error))
            return False
        output = self._context.folder.open_log(name)
        try:
            self._process = await self._context.namespace.start(self._spec, output)
        except FlotillaError as error:
            if self._context.namespace.lost.done():
                await asyncio.Future()
            os.write(output, f"{error}\n".encode())
            await self._fail_to_start(str(error))
            return False
        finally:
            os.close(output)
        self._context.folder.pid(name).write_text(f"{self._process.host_pid}\n")
        self._set(self.container.runs(datetime.now(UTC)))
        await self._context.event("Started", f"Started container {name}", name)
        return True

    async def _wait_for_better(self, reason: str, message: str) -> None:
        self._set(self.container.waits(reason, message))
        await self._context.event("Failed", f"Error: {message}", self._declared["name"], warning=True)
        await asyncio.sleep(_RETRY_SECONDS)

    async def _fail_to_start(self, message: str) -> None:
        ended = self.container.runs(datetime.now(UTC)).ended(_START_ERROR, datetime.now(UTC), message)
        if isinstance(ended.state, Terminated):
            ended = replace(ended, state=replace(ended.state, reason="StartError"))
        self._set(ended)
        await self._context.event("Failed", f"Error: {message}", self._declared["name"], warning=True)

    async def _attend(self) -> None:
        """Probe the process until it ends, then note how it ended."""
        process = self._process
        if process is None:
            return
        self._ending = None
        care = asyncio.create_task(self._care(process))
        try:
            await asyncio.wait([process.ended])
        finally:
            await cancelled(care)
        name = self._declared["name"]
        self._context.folder.pid(name).unlink(missing_ok=True)
        code = process.ended.result()
        from_log = self._declared.get("terminationMessagePolicy") == "FallbackToLogsOnError" and code != 0
        words = self._context.folder.last_words(name, from_log=from_log)
        self._set(self.container.ended(code, datetime.now(UTC), words))

    async def _care(self, process: Process) -> None:
        hook = self._declared.get("lifecycle", {}).get("postStart")
        if hook and (fault := await self._ask(hook, process, _HOOK_SECONDS)):
            await self._context.event("FailedPostStartHook", fault, self._declared["name"], warning=True)
            self._begin_end(process, self._context.grace_seconds)
            return
        if startup := self._declared.get("startupProbe"):
            await self._watch_liveness("Startup", startup, process, until_passing=True)
        self._set(replace(self.container, started=True, ready="readinessProbe" not in self._declared))
        async with asyncio.TaskGroup() as group:
            if probe := self._declared.get("readinessProbe"):
                group.create_task(self._watch_readiness(probe, process))
            if probe := self._declared.get("livenessProbe"):
                group.create_task(self._watch_liveness("Liveness", probe, process))

    async def _watch_readiness(self, probe: Json, process: Process) -> None:
        async for state in self._results("Readiness", probe, process):
            ready = state.verdict is Verdict.PASSING and self._ending is None
            if ready != self.container.ready:
                self._set(replace(self.container, ready=ready))

    async def _watch_liveness(self, kind: str, probe: Json, process: Process, *, until_passing: bool = False) -> None:
        async for state in self._results(kind, probe, process):
            if state.verdict is Verdict.FAILING:
                name = self._declared["name"]
                message = f"Container {name} failed {kind.lower()} probe, will be restarted"
                await self._context.event("Killing", message, name)
                grace = probe.get("terminationGracePeriodSeconds", self._context.grace_seconds)
                self._begin_end(process, grace)
                await asyncio.Future()
            if until_passing and state.verdict is Verdict.PASSING:
                return

    async def _results(self, kind: str, probe: Json, process: Process) -> AsyncIterator[ProbeState]:
        state = ProbeState(plan=plan(probe))
        await asyncio.sleep(state.plan.initial_delay_seconds)
        while True:
            fault = await self._ask(probe, process, state.plan.timeout_seconds)
            if self._ending is None:
                state = state.after(success=fault is None)
                yield state
                if fault is not None:
                    message = f"{kind} probe failed: {fault}"
                    await self._context.event("Unhealthy", message, self._declared["name"], warning=True)
            await asyncio.sleep(state.plan.period_seconds)

    async def _ask(self, handler: Json, process: Process, timeout_seconds: float) -> str | None:
        async def execute(command: list[str], seconds: float) -> tuple[int, str]:
            return await self._execute(process, command, seconds)

        return await ask(
            handler,
            self._declared,
            timeout_seconds=timeout_seconds,
            connect=self._context.connect,
            execute=execute,
        )

    async def _execute(self, process: Process, command: list[str], seconds: float) -> tuple[int, str]:
        output = os.memfd_create("output")
        try:
            spec = {**self._spec, "join": process.pid, "arguments": command}
            started = await self._context.namespace.start(spec, output)
            done, _ = await asyncio.wait([started.ended], timeout=seconds)
            if not done:
                await self._context.namespace.signal(started, signal.SIGKILL, session=True)
                raise TimeoutError
            os.lseek(output, 0, os.SEEK_SET)
            return started.ended.result(), os.read(output, 4096).decode(errors="replace")
        except FlotillaError as error:
            return 126, str(error)
        finally:
            os.close(output)

    def _begin_end(self, process: Process, grace_seconds: float) -> None:
        hook = self._declared.get("lifecycle", {}).get("preStop") if self._ending is None else None
        if self._ending:
            self._ending.cancel()
        self._ending = asyncio.create_task(self._end(process, grace_seconds, hook))

    async def _end(self, process: Process, grace_seconds: float, hook: Json | None) -> None:
        if self.container.ready:
            self._set(replace(self.container, ready=False))
        namespace = self._context.namespace
        with suppress(FlotillaError):
            try:
                async with asyncio.timeout(grace_seconds):
                    if hook:
                        await self._ask(hook, process, grace_seconds)
                    await namespace.signal(process, signal.SIGTERM)
                    await asyncio.wait([process.ended])
            except TimeoutError:
                await namespace.signal(process, signal.SIGKILL, session=True)
                await asyncio.wait([process.ended])
