"""Runs the real engine on one of the checkout's stacks, and says in a line what went wrong."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from pulumi import automation as auto

from infra import paths
from infra.errors import FlotillaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pulumi.automation.events import EngineEvent, OpType

RPC_PREFIX = "Exception calling application: "
"""What gRPC puts before the message of a Python provider."""

CHANGING = ("create", "update", "delete", "replace")
"""Operations that change the cluster. The engine counts a replacement once, as `replace`."""


class Stack:
    """A stack of this checkout, for the engine that the toolchain brings.

    Args:
        name: the stack, which is the environment's name.
        toolchain: folder that holds the engine as `bin/pulumi`.
        environment: variables the engine runs with.
        log: file that gets the engine's whole output.
    """

    def __init__(self, name: str, *, toolchain: Path, environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        self._problems: list[str] = []
        self._stack = auto.create_or_select_stack(
            name,
            work_dir=str(paths.ROOT),
            opts=auto.LocalWorkspaceOptions(
                pulumi_command=auto.PulumiCommand(root=str(toolchain)), env_vars=dict(environment)
            ),
        )

    def up(self, tell: Callable[[str], None]) -> int:
        """Bring the cluster in line with the program and return how many resources that changed.

        Previews first, drift included and under the mandatory policies, so that a refusal leaves all as it was.

        Args:
            tell: is told how far it is.

        Raises:
            FlotillaError: the engine, a policy or the cluster refused.
        """
        with self._log.open("w", encoding="utf-8") as log:
            write = partial(print, file=log, end="", flush=True)
            try:
                tell("looking for changes")
                plan = self._stack.preview(
                    refresh=True,
                    policy_packs=[str(paths.POLICIES)],
                    color="never",
                    on_event=self._note,
                    on_output=write,
                )
                if not (planned := _changes(plan.change_summary)):
                    return 0
                self._stack.up(
                    refresh=True,
                    policy_packs=[str(paths.POLICIES)],
                    color="never",
                    on_event=partial(self._watch, tell, Counter(), planned),
                    on_output=write,
                )
            except auto.CommandError as error:
                raise self._failure(error) from error
        return planned

    def forget(self) -> None:
        """Drop the stack's state without touching what it describes, which is gone."""
        name = self._stack.name
        self._stack.workspace.remove_stack(name, force=True, preserve_config=True)
        self._stack.workspace.create_stack(name)

    @property
    def has_resources(self) -> bool:
        """Whether the state describes anything."""
        deployment = self._stack.export_stack().deployment or {}
        return bool(deployment.get("resources"))

    def _watch(self, tell: Callable[[str], None], done: Counter[OpType], planned: int, event: EngineEvent) -> None:
        self._note(event)
        if event.res_outputs_event:
            done[event.res_outputs_event.metadata.op] += 1
            tell(f"{_changes(done)} of {planned} resources")

    def _note(self, event: EngineEvent) -> None:
        if (diagnostic := event.diagnostic_event) and diagnostic.severity == "error":
            self._problems.append(_one_line(diagnostic.urn, diagnostic.message))
        if (policy := event.policy_event) and policy.enforcement_level == "mandatory":
            self._problems.append(_one_line(policy.resource_urn, f"{policy.policy_name}: {policy.message}"))

    def _failure(self, error: auto.CommandError) -> FlotillaError:
        lines = [line for line in str(error).splitlines() if line.strip()]
        first = self._problems[0] if self._problems else lines[-1]
        more = f" (and {len(self._problems) - 1} more)" if len(self._problems) > 1 else ""
        return FlotillaError(f"{first}{more}", where="pulumi up", remedy=f"The whole output is in {_shown(self._log)}")


def _changes(counts: Mapping[OpType, int]) -> int:
    return sum(count for operation, count in counts.items() if operation in CHANGING)


def _one_line(urn: str | None, message: str) -> str:
    place = f"{urn.rpartition('::')[2]}: " if urn else ""
    return place + " ".join(message.replace(RPC_PREFIX, "").split())


def _shown(path: Path) -> str:
    return str(path.relative_to(paths.ROOT)) if path.is_relative_to(paths.ROOT) else str(path)
