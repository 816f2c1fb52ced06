"""What is measured: the engine on a program, and kubectl on the same objects."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import yaml

from infra.core.crds.sources import KIND
from infra.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from bench.bed import Bed
    from ops.manifests import Manifest

UP = "pulumi up"
PREVIEW = "pulumi preview"
REFRESH = "pulumi preview --refresh"
APPLY = "kubectl apply"
READY = "kubectl apply, wait"
DIFF = "kubectl diff"

CHEAP_SECONDS = 15.0
"""What only reads is repeated until this is used up."""

Times = dict[str, list[float]]
"""Seconds of each run, by command."""

_KUBECTL_WAIT = "--timeout=300s"
_SAME_OR_NOT = (0, 1)
"""Exit codes of a diff that worked: it also reports what the API server alone changes, such as a generation."""
_AWAITED = ("Deployment", "DaemonSet")


class Side(Protocol):
    """One way to bring objects into a cluster and to look for changes."""

    @property
    def name(self) -> str:
        """What the report calls it."""
        ...

    def measure(self, bed: Bed, repeat: int) -> Times:
        """Create everything, then look for changes, up to `repeat` times."""
        ...


@dataclass(frozen=True, kw_only=True)
class Pulumi:
    """The engine on one program, with a new state in a local folder and every checkpoint written.

    Args:
        name: what the report calls it.
        program: the program's folder.
        stack: the stack's name.
        config: the stack's configuration, besides the cluster's context.
        objects: what the program reads from the file it finds in `bench:objects`, where it does.
    """

    name: str
    program: Path
    stack: str
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    objects: tuple[Manifest, ...] = ()

    def measure(self, bed: Bed, repeat: int) -> Times:
        """Measure `up`, and previews with and without a look at the cluster; fails where one plans a change."""
        project = self._project(bed)
        options = ("--stack", self.stack, "--non-interactive", "--color=never")
        bed.run("pulumi", "stack", "init", *options, folder=project)
        up = bed.run("pulumi", "up", "--yes", "--skip-preview", *options, folder=project)
        preview = ("pulumi", "preview", "--expect-no-changes", *options)
        return {
            UP: [up],
            PREVIEW: _repeat(bed, repeat, *preview, folder=project),
            REFRESH: _repeat(bed, repeat, *preview, "--refresh", folder=project),
        }

    def _project(self, bed: Bed) -> Path:
        """Return a project with the checkout's settings, so that a running environment's stack stays untouched."""
        project = bed.folder / "project"
        project.mkdir()
        settings: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
        settings |= {"main": "program", "stackConfigDir": "."}
        (project / "Pulumi.yaml").write_text(yaml.safe_dump(settings))
        (project / "program").symlink_to(self.program)
        config = {"flotilla:context": bed.context, **self.config}
        if self.objects:
            config["bench:objects"] = str(_write(bed.folder / "objects.json", self.objects))
        (project / f"Pulumi.{self.stack}.yaml").write_text(yaml.safe_dump({"config": config}))
        return project


@dataclass(frozen=True, kw_only=True)
class Kubectl:
    """Server-side kubectl on the same objects, in an order that works.

    Args:
        name: what the report calls it.
        waves: the objects; definitions in one wave are awaited before the next.
    """

    name: str = "kubectl"
    waves: tuple[tuple[Manifest, ...], ...]

    def measure(self, bed: Bed, repeat: int) -> Times:
        """Measure `apply`, the wait for what it started, and `diff`."""
        kubectl = ("kubectl", f"--context={bed.context}")
        files = [f"--filename={_write(bed.folder / f'{i}.json', wave)}" for i, wave in enumerate(self.waves)]
        create = 0.0
        for wave, file in zip(self.waves, files, strict=True):
            create += bed.run(*kubectl, "apply", "--server-side", file)
            if names := [f"crd/{each['metadata']['name']}" for each in wave if each["kind"] == KIND]:
                create += bed.run(*kubectl, "wait", "--for=condition=Established", _KUBECTL_WAIT, *names)
        times: Times = {APPLY: [create]}
        if workloads := [each for wave in self.waves for each in wave if each["kind"] in _AWAITED]:
            times[READY] = [create + sum(_rolled_out(bed, kubectl, each) for each in workloads)]
        return times | {DIFF: _repeat(bed, repeat, *kubectl, "diff", "--server-side", *files, allowed=_SAME_OR_NOT)}


def _rolled_out(bed: Bed, kubectl: tuple[str, ...], workload: Manifest) -> float:
    metadata = workload["metadata"]
    which = f"{workload['kind'].lower()}/{metadata['name']}"
    return bed.run(*kubectl, "rollout", "status", f"--namespace={metadata['namespace']}", which, _KUBECTL_WAIT)


def _repeat(
    bed: Bed, repeat: int, *command: str, folder: Path | None = None, allowed: tuple[int, ...] = (0,)
) -> list[float]:
    seconds: list[float] = []
    while len(seconds) < repeat and sum(seconds) < CHEAP_SECONDS:
        seconds.append(bed.run(*command, folder=folder, allowed=allowed))
    return seconds


def _write(path: Path, manifests: Iterable[Manifest]) -> Path:
    """Write one list, as JSON: the form that costs kubectl least."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}))
    return path
